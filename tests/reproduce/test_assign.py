"""The tables and figures of Yu et al. on workloads small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubplan.errors import InputError
from pubplan.pages.figures import PAGE, figures_text, write_figures
from pubplan.reproduce import Figure, Reproduction, options_of, reproduce
from pubplan.reproduce.assign import MIN_SCALE
from pubplan.reproduce.assign.runs import NUM_BROKERS, NUM_CLIENTS

NAMES = [
    "Fig. 7",
    "Fig. 8",
    "Fig. 9",
    "Fig. 10(a)",
    "Table I",
    "Table II",
    "Fig. 10(c, d)",
    "Fig. 11, 12",
    "Fig. 13",
    "Table III",
]


@pytest.fixture(scope="module")
def reproduction() -> Reproduction:
    return reproduce("assign", MIN_SCALE)


def figure(reproduction: Reproduction, name: str) -> Figure:
    (wanted,) = [each for each in reproduction.figures if each.name == name]
    return wanted


@pytest.mark.soak
def test_all_figures_are_there(reproduction: Reproduction) -> None:
    """Every line has a value, or None, for each column, and so has what the paper prints."""
    assert [each.name for each in reproduction.figures] == NAMES
    for each in reproduction.figures:
        assert each.lines
        for line in each.lines:
            assert len(line.values) == len(each.x_values)
            assert len(line.paper) in (0, len(each.x_values))
            assert all(value is None or value >= 0 for value in line.values)


@pytest.mark.soak
def test_the_setting_is_said(reproduction: Reproduction) -> None:
    """Brokers stay as many as in the paper, clients are a hundredth of them."""
    assert reproduction.setting["clients"] == NUM_CLIENTS * MIN_SCALE
    assert reproduction.setting["brokers"] == NUM_BROKERS
    assert "ICDE 2011" in reproduction.source


@pytest.mark.soak
def test_gr_star_is_the_measure(reproduction: Reproduction) -> None:
    """Bandwidths are multiples of what Gr* needs: its own are 1."""
    (line,) = [line for line in figure(reproduction, "Fig. 7").lines if line.name == "Gr*"]
    assert line.values[0] == pytest.approx(1)


@pytest.mark.soak
def test_every_figure_says_how_it_compares(reproduction: Reproduction) -> None:
    """Notes are sentences, and the text of all figures holds them."""
    text = figures_text(reproduction)
    for each in reproduction.figures:
        for note in each.notes:
            assert note.endswith(".")
            assert note in text
    assert any(each.notes for each in reproduction.figures)


def test_titles_have_no_empty_brackets(reproduction: Reproduction, tmp_path: Path) -> None:
    """A figure without one y axis says no unit, on the terminal and on the page."""
    lines = figures_text(reproduction).splitlines()
    write_figures(tmp_path / "figures", {}, [reproduction], replace=False)
    page = (tmp_path / "figures" / PAGE).read_text()
    for each in reproduction.figures:
        assert f"{each.name}: {each.title}" + (f" ({each.y})" if each.y else "") in lines
    assert "()" not in "".join(lines)
    assert ">. The paper" not in page


@pytest.mark.parametrize("scale", [0, MIN_SCALE / 2, 11])
def test_scales_out_of_range_are_refused(scale: float) -> None:
    """Fewer clients than ten per broker say nothing about loads."""
    with pytest.raises(InputError, match="must be between"):
        reproduce("assign", scale)


def test_there_are_no_further_options() -> None:
    """Thresholds and VM types are those of other papers."""
    assert options_of("assign") == ()
