"""The figures of Setty et al. (ICDCS 2014) on workloads small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vl_convert

from pubplan.cli.reproduce import _chart
from pubplan.problems.provision import Problem
from pubplan.reproduce import Figure, Line, Reproduction, reproduce
from pubplan.reproduce.provision import (
    BASELINE,
    BOUND,
    CUSTOM,
    EXACT,
    GREEDY,
    JOINT,
    LEAST_PAIRS,
    METHODS,
    PAPER_BOUND,
    PEAK_FACTOR,
    THRESHOLDS,
    message_bytes,
)
from pubplan.workload import Window

SCALE = 0.001


@pytest.fixture(scope="module")
def found() -> Reproduction:
    return reproduce("provision", SCALE)


def figure(found: Reproduction, name: str, title: str = "") -> Figure:
    return next(each for each in found.figures if each.name == name and each.title.endswith(title))


def lines(found: Figure) -> dict[str, Line]:
    return {line.label: line for line in found.lines}


def test_all_figures_are_there(found: Reproduction) -> None:
    """Cost, VMs, bandwidth and savings for two shapes and two VM types, all savings, four times, five of the trace."""
    names = [each.name for each in found.figures]
    expected = [f"Fig. {name}" for place in "23" for name in (*[f"{place}a"] * 4, *[f"{place}b"] * 4, place)]
    assert names == expected + [f"Fig. {number}" for number in range(4, 13)]
    for each in found.figures:
        for line in each.lines:
            assert len(line.values) == len(each.at)
            assert len(line.paper) in (0, len(each.at))
            assert any(value is not None for value in line.values)


@pytest.mark.parametrize("name", ["Fig. 2a", "Fig. 2b", "Fig. 3a", "Fig. 3b"])
def test_no_fleet_is_below_the_bound(found: Reproduction, name: str) -> None:
    """Our method is never dearer than the paper's best; our bound is below it and above the paper's bound."""
    shown = {line.name: line.values for line in figure(found, name, "cost").lines}
    assert list(shown) == [*METHODS, PAPER_BOUND, BOUND]
    for place in range(len(THRESHOLDS)):
        cost = {method: values[place] for method, values in shown.items()}
        assert cost[PAPER_BOUND] <= cost[BOUND] <= cost[JOINT] <= min(cost[CUSTOM], cost[EXACT])
        assert max(cost[CUSTOM], cost[GREEDY]) <= cost[BASELINE]


def test_savings_are_those_of_the_costs(found: Reproduction) -> None:
    """GSP against RSP as a share of the cost of RSP, the paper's percentages beside."""
    costs = {line.name: line.values for line in figure(found, "Fig. 2a", "cost").lines}
    saved = lines(figure(found, "Fig. 2a", "saved by each step"))[f"{GREEDY}, against {BASELINE}"]
    expected = [100 * (1 - new / old) for old, new in zip(costs[BASELINE], costs[GREEDY], strict=True)]
    assert saved.values == pytest.approx(expected)
    assert saved.paper == (33.0, 27.6, 10.9)


def test_bandwidth_falls_with_better_covers(found: Reproduction) -> None:
    """What joint and exact send is never more than what the greedy sends, and more VMs carry more."""
    for name in ("Fig. 2a", "Fig. 3a"):
        traffic = {line.name: line.values for line in figure(found, name, "bandwidth").lines}
        vms = {line.name: line.values for line in figure(found, name, "VMs").lines}
        assert all(ours <= theirs for ours, theirs in zip(traffic[JOINT], traffic[CUSTOM], strict=True))
        assert all(value == int(value) and value >= 1 for values in vms.values() for value in values)


def test_messages_grow_as_the_workload_shrinks(make_workload) -> None:
    """At a hundredth, 200 bytes become 20 000; but of a topic with 10^5 events three pairs must fit a VM.

    A c3.large carries 8 MB/s for 864 000 s / 480 = 1800 s, 14.4 GB; with the stream in, that is four times the topic.
    """
    window = Window("2013-10-30T00:00:00Z", "2013-11-09T00:00:00Z", 864_000.0)
    small = make_workload({"a": 10}, {"x": ["a"]}, window=window)
    assert message_bytes(small, 0.01) == 20_000
    large = make_workload({"a": 10**5}, {"x": ["a"]}, window=window)
    assert message_bytes(large, 0.001) == 14_400_000_000 // ((1 + LEAST_PAIRS) * 10**5)
    problem = Problem(large, ["paper-2013/c3.large"], 1, peak_factor=PEAK_FACTOR)
    assert problem.limit(problem.types[0]) == 14_400_000_000


def test_the_trace_has_its_marks(found: Reproduction) -> None:
    """Half of the topics below 10 events and 46 000 of 8 M above 1000 at every scale; cardinality grows."""
    rates = figure(found, "Fig. 9").lines[0]
    at = dict(zip(figure(found, "Fig. 9").at, rates.values, strict=True))
    assert at[10] == pytest.approx(0.5, abs=0.01)
    assert at[1000] == pytest.approx(46_000 / 8e6, rel=0.1)
    means = [value for value in figure(found, "Fig. 12").lines[0].values if value is not None]
    assert means[0] < means[1] < means[-1]
    shares = [value for value in figure(found, "Fig. 8").lines[1].values if value is not None]
    assert shares == sorted(shares, reverse=True)


def test_the_same_seed_gives_the_same_figures(found: Reproduction) -> None:
    """Everything but the times is the same again."""
    again = reproduce("provision", SCALE)
    timed = [f"Fig. {number}" for number in (4, 5, 6, 7)]
    for one, other in zip(found.figures, again.figures, strict=True):
        assert one == other or one.name in timed
    assert again.setting == found.setting


def test_percentages_and_counts_have_their_own_tolerance() -> None:
    """2 points of percentages, a tenth of other values; what rounds to 0 has no sign."""
    percents = Figure("F", "t", "x", "", (1, 2), "y", "percent", (Line("a", "b", (31.5, 30.9), (33, 33)),))
    assert percents.differences() == ["a, b at x 2: 30.9 here, 33 in the paper."]
    counts = Figure("F", "t", "x", "", (1, 2), "y", "number", (Line("a", "b", (0.92, 0.89), (1, 1)),), is_log=True)
    assert counts.differences() == ["a, b at x 2: 0.89 here, 1 in the paper."]
    assert [percents.told(value) for value in (-0.01, -0.06, 0.0)] == ["0.0", "-0.1", "0.0"]


def test_the_command_prints_and_draws(cli, found: Reproduction, monkeypatch, tmp_path: Path) -> None:
    """Tables with the paper's numbers below ours, and a page with a chart per figure."""
    monkeypatch.setattr("pubplan.reproduce.reproduce", lambda *_: found)
    answer = cli("reproduce", "provision", "--out", tmp_path / "figures", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    for part in ("10.1109/ICDCS.2014.63", "Fig. 3b: Twitter shape, c3.xlarge: cost", "peak factor 480", "986 s"):
        assert part in answer.out
    text = answer.out.splitlines()
    row = next(place for place, line in enumerate(text) if line.startswith("GSP + FFBP (a), against RSP"))
    assert text[row + 1].split()[-3:] == ["33", "27.6", "10.9"]
    page = (tmp_path / "figures" / "page.html").read_text()
    assert page.count('class="chart"') == len(found.figures)
    value = json.loads((tmp_path / "figures" / "figures.json").read_text())
    assert value["papers"][0]["paper"] == "provision"


def test_charts_of_the_trace_are_logarithmic(found: Reproduction) -> None:
    """Shares from 1 down to a millionth can be told apart, and every chart can be drawn."""
    chart = _chart(figure(found, "Fig. 8"))
    assert '"log"' in json.dumps(chart.spec)
    for each in found.figures:
        assert vl_convert.vegalite_to_svg({**_chart(each).spec, "width": 300}).startswith("<svg")
