"""The figures of Setty et al. on a workload small enough for a test, and the command that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubplan.reproduce import OPTION_NAMES, PAPERS, Figure, Line, Reproduction, papers_named, reproduce
from pubplan.reproduce.select import THRESHOLDS

SCALE = 0.002
PERCENTS = (1, 2, 5, 10)


@pytest.fixture(scope="module")
def reproduction() -> Reproduction:
    return reproduce("select", SCALE)


def test_the_four_figures_are_there(reproduction: Reproduction) -> None:
    """Two runs against capacity, their shares of the bounds, and the times of four methods, all with values."""
    assert [figure.name for figure in reproduction.figures] == ["Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4"]
    assert [len(figure.lines) for figure in reproduction.figures] == [8, 8, 4, 4]
    for figure in reproduction.figures:
        assert figure.x_values in (PERCENTS, THRESHOLDS)
        for line in figure.lines:
            assert len(line.values) == len(figure.x_values)
            assert all(value is not None and value >= 0 for value in line.values)
            assert len(line.paper) in (0, len(figure.x_values))


@pytest.mark.parametrize("number", [0, 1])
def test_more_capacity_satisfies_more_but_never_beats_the_bound(reproduction: Reproduction, number: int) -> None:
    """Lines rise with capacity, and the bound stays above them at every capacity."""
    lines = reproduction.figures[number].lines
    for satisfied, bound in zip(lines[::2], lines[1::2], strict=True):
        assert (satisfied.name, satisfied.is_bound, bound.is_bound) == (bound.name, False, True)
        assert list(satisfied.values) == sorted(satisfied.values)
        assert all(s <= b <= 1 for s, b in zip(satisfied.values, bound.values, strict=True))


def test_shares_agree_between_figures(reproduction: Reproduction) -> None:
    """At full capacity, satisfied / bound of Fig. 1 is GreedyB3M's share in Fig. 3, give or take a subscriber."""
    progress, _, shares, _ = reproduction.figures
    for position, share in enumerate(shares.lines[0].values):
        satisfied, bound = (line.values[-1] for line in progress.lines[2 * position : 2 * position + 2])
        assert share == pytest.approx(satisfied / bound, abs=1 / reproduction.setting["subscribers"])


def test_the_lagrangian_bound_is_tighter(reproduction: Reproduction) -> None:
    """The certified share is the larger one, and never more than everything."""
    lines = reproduction.figures[2].lines
    for of_paper, of_lagrangian in zip(lines[::2], lines[1::2], strict=True):
        pairs = zip(of_paper.values, of_lagrangian.values, strict=True)
        assert all(paper <= lagrangian <= 1 for paper, lagrangian in pairs)


def test_the_same_seed_gives_the_same_shares(reproduction: Reproduction) -> None:
    """Everything but the times is the same again; the setting says from what it was made."""
    again = reproduce("select", SCALE)
    assert again.figures[:3] == reproduction.figures[:3]
    assert again.setting == reproduction.setting
    assert again.setting["subscribers"] == 9800


def test_times_are_compared_at_every_threshold(reproduction: Reproduction) -> None:
    """The notes of Fig. 4 have the paper's baseline and the incremental method against the lazy one, tau by tau."""
    times = {line.name: line.values for line in reproduction.figures[3].lines}
    lazy = times["ModifiedGreedyFB3M"]
    for name, note in (
        ("ModifiedGreedyFB3MSlow", reproduction.figures[3].notes[0]),
        ("ModifiedGreedyFB3M with incremental updates", reproduction.figures[3].notes[1]),
    ):
        ratios = ", ".join(f"{one / other:.3g}" for one, other in zip(times[name], lazy, strict=True))
        assert note.startswith(f"{name} takes {ratios} times as long as ModifiedGreedyFB3M")
        assert "at tau = 2, 27, 276, 2763" in note
    assert "contradict" in reproduction.figures[3].notes[2]
    assert "medians of 3 runs" in reproduction.figures[3].notes[3]


def test_the_experiments_can_be_changed() -> None:
    """Other thresholds, another capacity and another number of runs are what is planned, drawn and recorded."""
    reproduction = reproduce("select", SCALE, thresholds=(27, 5), capacity="20%", runs=1)
    first, _, shares, times = reproduction.figures
    assert first.x_values == (1, 2, 5, 10, 20)
    assert [line.name for line in first.lines[::2]] == ["tau = 27", "tau = 5"]
    assert shares.x_values == times.x_values == (27, 5)
    assert (reproduction.setting["capacity"], reproduction.setting["runs"]) == ("20%", 1)
    # What the paper prints is about 10 %.
    assert all(value is None for figure in reproduction.figures for line in figure.lines for value in line.paper)
    assert "capacity 20%" in shares.title
    assert "single runs" in times.notes[3]


def test_numbers_stay_with_their_threshold() -> None:
    """The paper's numbers go by threshold, not by position; where it prints none, none is shown."""
    shares = reproduce("select", SCALE, thresholds=(276, 3, 2763), runs=1).figures[2]
    assert shares.lines[0].paper == (0.75, None, 0.82)
    assert shares.lines[2].paper == (None, None, 0.9)


def test_differences_are_told_with_their_reason() -> None:
    """0.76 is 0.01 from 0.75 and passes; 0.8 is 0.05 from it and does not."""
    lines = (Line("G", "share", (0.76, 0.8, 0.9), (0.75, 0.75, None)), Line("H", "share", (0.1, 0.2, 0.3)))
    figure = Figure("Fig. 9", "title", "tau", "", (1, 2, 3), "share", "share", lines)
    noted = figure.with_notes("Because.", "Also.")
    assert noted.notes == ("G, share at tau 2: 0.800 here, 0.75 in the paper.", "Because.", "Also.")
    agreeing = Figure("Fig. 9", "title", "tau", "", (1, 2, 3), "share", "share", lines[1:])
    assert agreeing.with_notes("Because.").notes == ()


def test_all_means_every_paper() -> None:
    """One name is one paper, all are all."""
    assert papers_named("all") == PAPERS
    assert papers_named("select") == ("select",)


@pytest.fixture
def quick(reproduction: Reproduction, monkeypatch: pytest.MonkeyPatch) -> Reproduction:
    """Lets the command answer with figures made before."""
    monkeypatch.setattr("pubplan.reproduce.reproduce", lambda *_, **__: reproduction)
    return reproduction


def test_the_command_prints_tables(cli, tmp_path: Path) -> None:
    """Every figure with its lines, the paper's numbers below ours, and the source."""
    answer = cli("reproduce", "select", "--scale", 0.001, "--quiet")
    assert (answer.code, answer.err) == (0, "")
    for part in ("10.1109/INFOCOM.2014.6848205", "Fig. 4: Planning time", "ModifiedGreedyFB3MSlow", "subscribers 4900"):
        assert part in answer.out
    lines = answer.out.splitlines()
    row = next(
        position for position, line in enumerate(lines) if line.startswith("GreedyB3M, share of the paper's bound")
    )
    assert lines[row + 1].split() == ["printed", "in", "the", "paper", "0.87", "0.83", "0.75", "0.82"]
    assert len(lines[row - 1]) == len(lines[row]) == len(lines[row + 1])


def test_the_command_answers_in_json_and_files(cli, quick: Reproduction, tmp_path: Path) -> None:
    """--json prints what figures.json holds; the page shows four charts."""
    out = tmp_path / "figures"
    answer = cli("reproduce", "all", "--out", out, "--json", "--quiet")
    assert answer.code == 0
    value = json.loads(answer.out)
    assert value == json.loads((out / "figures.json").read_text())
    assert value["papers"] == len(PAPERS) * [json.loads(json.dumps(quick.to_dict()))]
    page = (out / "page.html").read_text()
    assert page.count('class="chart"') == 4 * len(PAPERS)
    assert "Diamonds: printed in the paper." in page
    assert sorted(path.name for path in out.iterdir()) == ["figures.json", "page.html"]

    refused = cli("reproduce", "select", "--out", out)
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert cli("reproduce", "select", "--out", out, "--replace", "--quiet").code == 0
    (tmp_path / "other").mkdir()
    foreign = cli("reproduce", "select", "--out", tmp_path / "other", "--replace")
    assert (foreign.code, "not written by pubplan" in foreign.err) == (2, True)


def test_options_reach_the_reproduction(cli, reproduction: Reproduction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of the command line becomes a value that the paper's function takes; what is not given stays out."""
    asked: list[dict] = []

    def make(*_: object, **options: object) -> Reproduction:
        asked.append(options)
        return reproduction

    monkeypatch.setattr("pubplan.reproduce.reproduce", make)
    monkeypatch.setattr("pubplan.reproduce.options_of", lambda paper: tuple(OPTION_NAMES))
    options = ["--threshold", "5,27,5", "--capacity", "20%", "--runs", 7, "--vm-type", "c3.large,m1.large"]
    assert cli("reproduce", "select", *options, "--peak-factor", "48", "--quiet").code == 0
    assert cli("reproduce", "select", "--peak-factor", "1.5", "--quiet").code == 0
    given = {"thresholds": (5, 27), "capacity": "20%", "runs": 7, "vm_types": ("c3.large", "m1.large")}
    assert asked == [{**given, "peak_factor": 48}, {"peak_factor": 1.5}]
    assert isinstance(asked[0]["peak_factor"], int)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["selekt"], "Did you mean 'select'"),
        (["federation"], "Known: all, assign, federate, overlay, provision, select"),
        (["overlay", "--scale", "2"], "--scale must be between 0.001 and 1"),
        (["select", "--scale", "2"], "--scale must be between 0.001 and 1"),
        (["select", "--scale", "nan"], "--scale must be between 0.001 and 1"),
        (["select", "--scale", "all"], "'--scale'"),
        (["select", "--conf", "x"], "--conf"),
        (["select", "--runs", "0"], "--runs must be at least 1, not 0"),
        (["select", "--capacity", "0.5%"], "--capacity must be at least 1%"),
        (["select", "--capacity", "0.1"], "Did you mean '10%'"),
        (["select", "--threshold", "27,x"], "--threshold must be a whole number, or several"),
        (["select", "--threshold", "-1"], "between 0 and"),
        (["select", "--vm-type", "c3.large"], "'reproduce select' does not take --vm-type; it takes --threshold, "),
        (["select", "--peak-factor", "2"], "'reproduce select' does not take --peak-factor"),
        (["overlay", "--capacity", "10%"], "'reproduce overlay' does not take --capacity; it takes --runs"),
        (["overlay", "--runs", "0"], "--runs must be at least 1, not 0"),
        (["all", "--capacity", "20%"], "'reproduce provision' does not take --capacity"),
        ([], "PAPER"),
    ],
)
def test_wrong_input_exits_with_2(cli, tmp_path: Path, arguments: list[str], said: str) -> None:
    """A sentence that helps, and nothing written."""
    answer = cli("reproduce", *arguments, "--out", tmp_path / "figures")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert list(tmp_path.iterdir()) == []
