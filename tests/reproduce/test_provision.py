"""The figures of Setty et al. (ICDCS 2014) on workloads small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vl_convert

from pubplan.errors import InputError
from pubplan.pages.figures import _chart
from pubplan.problems.provision import Problem
from pubplan.reproduce import Figure, Line, Reproduction, reproduce
from pubplan.reproduce.provision import MIN_PAIRS, PEAK_FACTOR, THRESHOLDS, message_bytes
from pubplan.reproduce.provision import reproduce as reproduce_provision
from pubplan.reproduce.provision.figures import in_range, more_percent, saved_percent
from pubplan.reproduce.provision.paper import printed
from pubplan.reproduce.provision.runs import (
    BASELINE,
    BASELINE_BY_TOPIC,
    BOUND,
    CUSTOM,
    GREEDY,
    GREEDY_BY_TOPIC,
    JOINT,
    LEAST_TRAFFIC,
    METHODS,
    ORDERS,
    PAPER_BOUND,
    STEPS,
)
from pubplan.reproduce.provision.traces import audience
from pubplan.workload import Window

SCALE = 0.001


@pytest.fixture(scope="module")
def reproduction() -> Reproduction:
    return reproduce("provision", SCALE)


def figure(reproduction: Reproduction, name: str, title: str = "") -> Figure:
    return next(each for each in reproduction.figures if each.name == name and each.title.endswith(title))


def lines(drawn: Figure) -> dict[str, Line]:
    return {line.label: line for line in drawn.lines}


def test_all_figures_are_there(reproduction: Reproduction) -> None:
    """Six for each of two shapes and two VM types, two of all savings, six of times, five of the trace."""
    names = [each.name for each in reproduction.figures]
    expected = [f"Fig. {n}{part}" for n in (2, 3) for part in ("a",) * 6 + ("b",) * 6 + ("",) * 2]
    expected += [f"Fig. {number}" for number in (4, 5, 6, 7)] + ["Section IV-E"] * 2
    assert names == expected + [f"Fig. {number}" for number in range(8, 13)]
    for each in reproduction.figures:
        for line in each.lines:
            assert len(line.values) == len(each.x_values)
            assert len(line.paper) in (0, len(each.x_values))
            assert any(value is not None for value in line.values)


@pytest.mark.parametrize("name", ["Fig. 2a", "Fig. 2b", "Fig. 3a", "Fig. 3b"])
def test_no_fleet_is_below_the_bound(reproduction: Reproduction, name: str) -> None:
    """Our method is never more expensive than the paper's best; our bound is below it and above the paper's bound."""
    shown = {line.name: line.values for line in figure(reproduction, name, "cost").lines}
    assert list(shown) == [*METHODS, PAPER_BOUND, BOUND]
    for column in range(len(THRESHOLDS)):
        cost = {method: values[column] for method, values in shown.items()}
        assert cost[PAPER_BOUND] <= cost[BOUND] <= cost[JOINT] <= min(cost[CUSTOM], cost[LEAST_TRAFFIC])
        assert max(cost[CUSTOM], cost[GREEDY]) <= cost[BASELINE]


def test_savings_are_those_of_the_costs(reproduction: Reproduction) -> None:
    """GSP against RSP as a share of the cost of RSP, the paper's percentages next to it."""
    costs = {line.name: line.values for line in figure(reproduction, "Fig. 2a", "cost").lines}
    saved = lines(figure(reproduction, "Fig. 2a", "saved by each step"))[f"{GREEDY}, against {BASELINE}"]
    expected = [100 * (1 - new / old) for old, new in zip(costs[BASELINE], costs[GREEDY], strict=True)]
    assert saved.values == pytest.approx(expected)
    assert saved.paper == (33.0, 27.6, 10.9)


def test_each_step_does_what_the_paper_says(reproduction: Reproduction) -> None:
    """(b) and (c) let in as few streams as there are topics that fit a VM; (d) has fewer VMs for at most a little more
    traffic. First fit by topic fills all VMs but the last, so (b) has no fewer VMs, and no more traffic.
    """
    saves = []
    for name in ("Fig. 2a", "Fig. 2b", "Fig. 3a", "Fig. 3b"):
        vms = {
            line.name: line.values
            for line in figure(reproduction, name, "c3.large: VMs" if "a" in name else "VMs").lines
        }
        traffic = {line.name: line.values for line in figure(reproduction, name, "bandwidth").lines}
        order = {line.name: line.values for line in figure(reproduction, name, "cost by order of pairs").lines}
        assert traffic[STEPS["b"]] == traffic[STEPS["bc"]]
        assert all(new <= old for old, new in zip(vms[STEPS["bc"]], vms[STEPS["bcd"]], strict=True))
        assert all(
            old <= new <= 1.02 * old for old, new in zip(traffic[STEPS["bc"]], traffic[STEPS["bcd"]], strict=True)
        )
        assert list(order) == list(ORDERS)
        assert all(new <= old for old, new in zip(order[GREEDY], order[GREEDY_BY_TOPIC], strict=True))
        assert all(new <= old for old, new in zip(order[BASELINE], order[BASELINE_BY_TOPIC], strict=True))
        saves += saved_percent(vms[STEPS["bc"]], vms[STEPS["bcd"]])
    assert max(saves) > 3


def test_numbers_that_the_paper_prints_are_next_to_ours(reproduction: Reproduction) -> None:
    """Sections IV-C to IV-F: VMs and bandwidth of GSP and of (b), dollars, all of stage 2, seconds of both stages."""
    changes = lines(figure(reproduction, "Fig. 2a", "by step"))
    assert changes[f"{GREEDY}, VMs against {BASELINE}"].paper == (-33.0, None, None)
    assert changes[f"{GREEDY}, bandwidth against {BASELINE}"].paper == (-22.9, None, None)
    grouped = lines(figure(reproduction, "Fig. 3b", "by step"))
    assert grouped[f"{STEPS['b']}, VMs against {GREEDY}"].paper == (None, None, 0.5)
    assert grouped[f"{STEPS['b']}, bandwidth against {GREEDY}"].paper == (None, None, -8.0)
    both = figure(reproduction, "Section IV-E", "Twitter shape: seconds of both stages on c3.large")
    assert [line.paper for line in both.lines] == [(None, None, 1484.7), (None, None, 2186.0)]
    notes = " ".join(note for each in reproduction.figures for note in each.notes)
    for text in (
        "VMs +2 to +4 % and bandwidth -8 to -10 %",
        "in the paper $2,000. If that is its 38 %, its RSP + FFBP costs $5,263",
        "in the paper $4,000. If that is its 74 %, its RSP + FFBP costs $5,405",
        "in the paper up to 5 %",
        "in the paper under 30 s",
        "in the paper about 25 minutes",
        "0.68 on Twitter at tau = 1000",
        "so they are about 200",
    ):
        assert text in notes


def test_changes_are_those_of_the_fleets(reproduction: Reproduction) -> None:
    """In percent of the VMs one step before; the sum of both stages is that of the stages."""
    vms = {line.name: line.values for line in figure(reproduction, "Fig. 2b", "c3.xlarge: VMs").lines}
    changes = lines(figure(reproduction, "Fig. 2b", "by step"))[f"{STEPS['bcd']}, VMs against {STEPS['bc']}"]
    assert changes.values == pytest.approx(
        [100 * (new / old - 1) for old, new in zip(vms[STEPS["bc"]], vms[STEPS["bcd"]], strict=True)]
    )
    dollars = lines(figure(reproduction, "Fig. 2", "Spotify shape: dollars saved altogether"))
    costs = {line.name: line.values for line in figure(reproduction, "Fig. 2b", "c3.xlarge: cost").lines}
    saved = [old - new for old, new in zip(costs[BASELINE], costs[CUSTOM], strict=True)]
    assert dollars[f"{CUSTOM}, c3.xlarge, saved"].values == pytest.approx(saved)


def test_percentages_as_text() -> None:
    """The least and the most, or one if they round to the same; no sign on a zero; what has no value is left out."""
    assert in_range([1.0, -2.04, None]) == "-2.0 to 1.0 %"
    assert in_range([-0.01, 0.01]) == "0.0 %"
    assert in_range([None]) == "0.0 %"
    assert saved_percent([200, 0], [150, 5]) == (25.0, None)
    assert more_percent([200, 0], [150, 5]) == (-25.0, None)
    assert printed({10: 1.5}, (5, 10)) == (None, 1.5)
    assert printed({10: 1.5}, (5,)) == printed(None, (10,)) == ()


def test_thresholds_types_and_peak_factor_can_be_set(monkeypatch) -> None:
    """Figures have the thresholds in ascending order and the VM types named; only the paper's have its numbers."""
    made = reproduce_provision(
        SCALE, thresholds=(100, 20), vm_types=["c3.xlarge", "aws-us-east-1/c7g.medium"], peak_factor="60"
    )
    assert made.setting["peak factor"] == "60"
    fleets = [each for each in made.figures if each.name.startswith(("Fig. 2", "Fig. 3"))]
    assert all(each.x_values == (20, 100) for each in fleets)
    assert [each.name for each in fleets[:14]] == ["Fig. 2b"] * 6 + ["Fig. 2"] * 8
    saved = lines(figure(made, "Fig. 2b", "saved by each step"))[f"{GREEDY}, against {BASELINE}"]
    assert saved.paper == (None, 17.6)
    other = lines(figure(made, "Fig. 2", "c7g.medium: saved by each step"))[f"{GREEDY}, against {BASELINE}"]
    assert other.paper == ()
    assert "60 times the mean traffic" in " ".join(figure(made, "Fig. 2b", "cost").notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": ()}, "No threshold"),
        ({"thresholds": (10, 0)}, "at least 1, not 0"),
        ({"thresholds": (1.5,)}, "whole number of at least 1, not 1.5"),
        ({"thresholds": (True,)}, "whole number"),
        ({"thresholds": (10, 10)}, "named twice"),
        ({"vm_types": ()}, "No VM type"),
        ({"vm_types": ("c3.larg",)}, "c3.large"),
        ({"vm_types": ("c3.large", "paper-2013/c3.large")}, "named twice"),
        ({"peak_factor": 0}, "peak_factor must be at least 1"),
        ({"peak_factor": "much"}, "peak_factor is a number"),
        ({"peak_factor": 10**9}, "Use a smaller peak factor or a larger VM type"),
    ],
)
def test_options_are_checked(options: dict, message: str) -> None:
    """What cannot be planned for is refused before the workloads are made."""
    with pytest.raises(InputError, match=message):
        reproduce_provision(SCALE, **options)


def test_bandwidth_falls_with_better_covers(reproduction: Reproduction) -> None:
    """What joint and least-traffic send is never more than what the greedy sends, and more VMs carry more."""
    for name in ("Fig. 2a", "Fig. 3a"):
        traffic = {line.name: line.values for line in figure(reproduction, name, "bandwidth").lines}
        vms = {line.name: line.values for line in figure(reproduction, name, "VMs").lines}
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
    assert message_bytes(large, 0.001) == 14_400_000_000 // ((1 + MIN_PAIRS) * 10**5)
    problem = Problem(large, ["paper-2013/c3.large"], 1, peak_factor=PEAK_FACTOR)
    assert problem.limit(problem.types[0]) == 14_400_000_000


def test_the_trace_has_its_marks(reproduction: Reproduction) -> None:
    """Half of the topics below 10 events and 46 000 of 8 M above 1000 at every scale; cardinality grows."""
    rates = figure(reproduction, "Fig. 9").lines[0]
    at = dict(zip(figure(reproduction, "Fig. 9").x_values, rates.values, strict=True))
    assert at[10] == pytest.approx(0.5, abs=0.01)
    assert at[1000] == pytest.approx(46_000 / 8e6, rel=0.1)
    means = [value for value in figure(reproduction, "Fig. 12").lines[0].values if value is not None]
    assert means[0] < means[1] < means[-1]
    shares = [value for value in figure(reproduction, "Fig. 8").lines[1].values if value is not None]
    assert shares == sorted(shares, reverse=True)


def test_notes_of_the_trace_say_what_the_scale_does(reproduction: Reproduction) -> None:
    """At a thousandth, of 30 000 subscribers a tenth is 3000: 10^5 followers become 10^5 / (1 + 10^5 x (1/3000 -
    1/3 000 000)) = 2915, 10^4 become 2309; and no subscriber follows more than a quarter of 8000 topics.
    """
    assert audience(10**5, 1) == 10**5
    assert (round(audience(10**5, SCALE)), round(audience(10**4, SCALE))) == (2915, 2309)
    assert "at scale 1 has 2,309 here" in " ".join(figure(reproduction, "Fig. 8").notes)
    assert "the turn at 10^5 followers is at 2,915 here" in " ".join(figure(reproduction, "Fig. 10").notes)
    busiest = " ".join(figure(reproduction, "Fig. 11").notes)
    assert "nobody follows more than 2,000 topics here" in busiest
    assert "of those at scale 1; in the paper 18 M, 4 %" in busiest


def test_the_same_seed_gives_the_same_figures(reproduction: Reproduction) -> None:
    """Everything but the times is the same again."""
    again = reproduce("provision", SCALE)
    timed = [*(f"Fig. {number}" for number in (4, 5, 6, 7)), "Section IV-E"]
    for one, other in zip(reproduction.figures, again.figures, strict=True):
        assert one == other or one.name in timed
    assert again.setting == reproduction.setting


def test_percentages_and_counts_have_their_own_tolerance() -> None:
    """2 points of percentages, a tenth of other values; what rounds to 0 has no sign."""
    percents = Figure("F", "t", "x", "", (1, 2), "y", "percent", (Line("a", "b", (31.5, 30.9), (33, 33)),))
    assert percents.differences() == ["a, b at x 2: 30.9 here, 33 in the paper."]
    counts = Figure("F", "t", "x", "", (1, 2), "y", "number", (Line("a", "b", (0.92, 0.89), (1, 1)),), is_log=True)
    assert counts.differences() == ["a, b at x 2: 0.89 here, 1 in the paper."]
    assert [percents.format_y(value) for value in (-0.01, -0.06, 0.0)] == ["0.0", "-0.1", "0.0"]


def test_the_command_prints_and_draws(cli, reproduction: Reproduction, monkeypatch, tmp_path: Path) -> None:
    """Tables with the paper's numbers below ours, and a page with a chart per figure."""
    monkeypatch.setattr("pubplan.reproduce.reproduce", lambda *_: reproduction)
    answer = cli("reproduce", "provision", "--out", tmp_path / "figures", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    for part in ("10.1109/ICDCS.2014.63", "Fig. 3b: Twitter shape, c3.xlarge: cost", "peak factor 480", "986 s"):
        assert part in answer.out
    text = answer.out.splitlines()
    row = next(number for number, line in enumerate(text) if line.startswith("GSP + FFBP (a), against RSP"))
    assert text[row + 1].split()[-3:] == ["33", "27.6", "10.9"]
    page = (tmp_path / "figures" / "page.html").read_text()
    assert page.count('class="chart"') == len(reproduction.figures)
    value = json.loads((tmp_path / "figures" / "figures.json").read_text())
    assert value["papers"][0]["paper"] == "provision"


def test_charts_of_the_trace_are_logarithmic(reproduction: Reproduction) -> None:
    """Shares from 1 down to a millionth differ visibly, and every chart can be drawn."""
    chart = _chart(figure(reproduction, "Fig. 8"))
    assert '"log"' in json.dumps(chart.spec)
    for each in reproduction.figures:
        assert vl_convert.vegalite_to_svg({**_chart(each).spec, "width": 300}).startswith("<svg")
