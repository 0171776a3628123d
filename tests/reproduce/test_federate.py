"""Fig. 9, Fig. 10 and Table I of Zhao, Wu on networks small enough for a test."""

from __future__ import annotations

import math

import pytest

from pubplan.errors import InputError
from pubplan.pages.figures import figures_text
from pubplan.reproduce import Figure, Reproduction, options_of, reproduce
from pubplan.reproduce.federate import MIN_SCALE
from pubplan.reproduce.federate.figures import BOUND, PAPER_SECONDS, order_of, times_table
from pubplan.reproduce.federate.runs import (
    CLUSTERING,
    GREEDY,
    METHODS,
    MIXING,
    MOVES,
    NUM_CLIENTS,
    RANDOM,
    RATIOS,
    SETTINGS,
    SHARED,
    TITLES,
    Costs,
    Point,
    Times,
)

NAMES = [
    *("Fig. 9, shared", "Fig. 9, replicating", "Fig. 9, niche"),
    *("Fig. 10, shared", "Fig. 10, replicating", "Fig. 10, niche"),
    "Table I",
]


@pytest.fixture(scope="module")
def reproduction() -> Reproduction:
    return reproduce("federate", MIN_SCALE, runs=2)


def reductions(reproduction: Reproduction) -> list[Figure]:
    """The figures of cost reduction ratios."""
    return [figure for figure in reproduction.figures if figure.name.startswith("Fig.")]


def values_of(figure: Figure, name: str) -> list[float]:
    (line,) = [line for line in figure.lines if line.name == name]
    assert all(value is not None for value in line.values)
    return [value for value in line.values if value is not None]


def test_all_figures_are_there(reproduction: Reproduction) -> None:
    """Two figures and a table, the figures under three settings; every line has a value for each column."""
    assert [figure.name for figure in reproduction.figures] == NAMES
    for figure in reproduction.figures:
        for line in figure.lines:
            assert len(line.values) == len(figure.x_values)
            assert all(value is not None and value >= 0 for value in line.values)


def test_local_moves_are_between_all_methods_and_the_bound(reproduction: Reproduction) -> None:
    """It starts from the others, so it costs no more than they do; and no plan costs less than the bound."""
    for figure in reductions(reproduction):
        moves = values_of(figure, TITLES[MOVES])
        for method in (GREEDY, CLUSTERING, MIXING):
            pairs = zip(values_of(figure, TITLES[method]), moves, strict=True)
            assert all(one <= other for one, other in pairs)
        assert all(one <= other for one, other in zip(moves, values_of(figure, BOUND), strict=True))


def test_figures_share_the_point_that_they_have_in_common(reproduction: Reproduction) -> None:
    """The largest networks of Fig. 9 are those of Fig. 10 at equal prices."""
    figures = reductions(reproduction)
    for by_size, by_ratio in zip(figures[:3], figures[3:], strict=True):
        assert by_size.x_values[-1] == reproduction.setting["clients"] == NUM_CLIENTS * MIN_SCALE
        for one, other in zip(by_size.lines, by_ratio.lines, strict=True):
            assert one.values[-1] == other.values[RATIOS.index("1")]


def test_free_links_between_brokers_leave_greedy_packing(reproduction: Reproduction) -> None:
    """With links between brokers at a hundredth, mixing finds the cheapest broker of each client, as greedy does."""
    for figure in reductions(reproduction)[3:]:
        greedy, mixing = (values_of(figure, TITLES[method])[-1] for method in (GREEDY, MIXING))
        assert mixing == pytest.approx(greedy, rel=0.02)


def test_the_same_seed_gives_the_same_ratios(reproduction: Reproduction) -> None:
    """Everything but the seconds of Table I, and the setting says from what it was made."""
    again = reproduce("federate", MIN_SCALE, runs=2)
    assert again.figures[:-1] == reproduction.figures[:-1]
    assert again.setting == reproduction.setting
    assert again.setting["networks per point"] == 2
    assert again.setting["channels"] == 50


def test_every_figure_says_how_it_compares(reproduction: Reproduction) -> None:
    """Notes are sentences, and the text of all figures holds them."""
    text = figures_text(reproduction)
    for figure in reproduction.figures:
        assert figure.notes
        for note in figure.notes:
            assert note.endswith(".")
            assert note in text


def test_ratios_are_means_over_networks() -> None:
    """Costs 12 and 6, then 12 and 2: ratios 2 and 6, on average 4, not 24 / 8 = 3."""
    networks = tuple(Costs({RANDOM: 12.0, GREEDY: cost, CLUSTERING: 12.0, MIXING: 6.0}, 1.0) for cost in (6.0, 2.0))
    point = Point(100, "1", {"shared": networks})
    assert point.reduction(SHARED, GREEDY) == 4
    assert point.largest_reduction(SHARED) == 12
    assert order_of(SHARED, point) == (GREEDY, MIXING, CLUSTERING)


@pytest.mark.parametrize("num_clients", [NUM_CLIENTS, NUM_CLIENTS // 2])
def test_seconds_of_the_paper_stand_beside_its_size_only(num_clients: int) -> None:
    """Table I is of 10,000 clients; with half of them there is nothing to compare with."""
    seconds = {(setting.name, method): 1.0 for setting in SETTINGS for method in METHODS}
    table = times_table(Times(num_clients, seconds, {setting.name: 0.5 for setting in SETTINGS}))
    printed = {line.name: line.paper[0] for line in table.lines if line.paper}
    whole = {TITLES[method]: paper for method, paper in PAPER_SECONDS.items()}
    assert printed == (whole if num_clients == NUM_CLIENTS else {})
    assert "shared 50.0% (laminar)" in table.notes[-1]


@pytest.mark.parametrize("scale", [0, MIN_SCALE / 2, 11, math.nan])
def test_scales_out_of_range_are_refused(scale: float) -> None:
    """One or two brokers leave nothing to choose."""
    with pytest.raises(InputError, match="must be between"):
        reproduce("federate", scale)


def test_runs_are_its_only_option() -> None:
    """Networks per point, at least one."""
    assert options_of("federate") == ("runs",)
    with pytest.raises(InputError, match="at least 1"):
        reproduce("federate", MIN_SCALE, runs=0)
