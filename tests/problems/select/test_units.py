"""Capacities per second and per window, costs in bytes, and thresholds of all events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.oracles.select import Case, best_value, cases

from pubplan.errors import InputError
from pubplan.problems.select import OBJECTIVES, Problem, solve, verify
from pubplan.workload import Window

MINUTE = Window("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", 60.0)
SIZES = {"a": 10, "b": 1}


@pytest.fixture
def workload(make_workload):
    """a: 2 events of 10 bytes to x; b: 30 events of 1 byte to x and y; over a minute."""
    return make_workload({"a": 2, "b": 30}, {"x": ["a", "b"], "y": ["b"]}, message_bytes=SIZES, window=MINUTE)


@pytest.mark.parametrize(
    ("capacity", "per_window", "cost", "unit"),
    [
        ("1 msg/s", 60, None, "deliveries per window"),
        ("0.05 msg/s", 3, None, "deliveries per window"),
        ("1 B/s", 60, "bytes", "bytes per window"),
        ("10 bit/s", 75, "bytes", "bytes per window"),  # 60 x 10 / 8
        ("1.5 kbit/s", 11250, "bytes", "bytes per window"),
    ],
)
def test_rates_are_counted_over_the_window(workload, capacity: str, per_window: int, cost, unit: str) -> None:
    """A rate times the seconds of the window, rounded down; a bandwidth makes topics cost their bytes."""
    problem = Problem(workload, capacity, 1)
    assert (problem.capacity, problem.capacity_cost, problem.cost) == (capacity, per_window, cost)
    parameters = problem.to_parameters()
    assert (parameters["capacity"], parameters["capacity_cost"], parameters["cost"]) == (capacity, per_window, cost)
    result = solve(problem)
    assert verify(problem, result.plan).ok
    assert unit in result.reasons[0].sentence if result.reasons else True


def test_bytes_are_what_topics_deliver(workload) -> None:
    """a costs 2 x 1 x 10 bytes, b 30 x 2 x 1; a share is one of the 80 bytes."""
    problem = Problem(workload, "50%", 1, cost="bytes")
    assert (problem.costs.tolist(), problem.total_cost, problem.capacity_cost) == ([20, 60], 80, 40)
    assert solve(problem).plan.decisions("served")["topic_id"].to_pylist() == ["a"]


@pytest.mark.parametrize(
    ("capacity", "cost", "said"),
    [
        ("64 Mbit/s", "rate", "counts bytes, but topics cost events per window (rate): pass cost='bytes'"),
        ("1200 msg/s", "bytes", "counts messages, but topics cost bytes per window (bytes): leave out cost"),
        ("1200 msg/s", "subscribers", "leave out cost"),
    ],
)
def test_rates_and_costs_count_the_same(workload, capacity: str, cost: str, said: str) -> None:
    """A rate limits nothing that is counted otherwise; the sentence says which --cost to pass."""
    with pytest.raises(InputError) as refusal:
        Problem(workload, capacity, 1, cost=cost)
    assert said in str(refusal.value)
    assert capacity in str(refusal.value)


def test_a_rate_needs_a_window(make_workload) -> None:
    """A workload of ready rates need not say what they are counted over."""
    timeless = make_workload({"a": 2}, {"x": ["a"]})
    with pytest.raises(InputError, match=r"does not say how long its window is, so the capacity cannot be 5 msg/s"):
        Problem(timeless, "5 msg/s", 1)


def test_another_capacity_may_count_otherwise(workload) -> None:
    """The same question at a bandwidth costs bytes, and does not take over what was read for deliveries."""
    problem = Problem(workload, "100%", 1)
    assert problem.costs.tolist() == [2, 60]
    assert problem.at_capacity("1 B/s").costs.tolist() == [20, 60]
    assert problem.at_capacity(5).instance is problem.instance


@pytest.mark.parametrize("capacity", ["0.01 msg/s", "0.01 B/s", "1%", 1])
def test_verify_recomputes_the_capacity(workload, monkeypatch: pytest.MonkeyPatch, capacity) -> None:
    """Where the planner takes the capacity for larger than it is, verify does not, however it is written."""
    monkeypatch.setattr(Problem, "capacity_cost", property(lambda problem: 10**6))
    problem = Problem(workload, capacity, 1)
    verdict = verify(problem, solve(problem, verify=False).plan)
    assert "cost above the capacity" in [violation.fault for violation in verdict.violations]


@given(case=cases())
def test_all_events_by_trying_everything(case: Case, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With everything asked for as the threshold, exact plans are what trying every set of topics gives."""
    case = replace(case, threshold="all", thresholds=None)
    problem = case.problem(tmp_path_factory.mktemp("all"))
    for objective in OBJECTIVES:
        result = solve(replace(problem, objective=objective), "exact")
        assert result.exact.value == best_value(case, objective)
        assert result.plan.record["parameters"]["threshold"] == "all"


def test_all_events_are_what_the_largest_threshold_gives(workload) -> None:
    """A threshold that nobody reaches asks for everything too: the same topics, the same objective."""
    asked = [Problem(workload, "90%", threshold) for threshold in ("all", 1000)]
    (everything, plenty) = map(solve, asked)
    assert everything.exact == plenty.exact
    assert everything.plan.decisions("served") == plenty.plan.decisions("served")


def test_more_than_can_be_counted_is_refused(make_workload) -> None:
    """All events may be more than 2^31 - 1, which select does not count to; the sentence says what to do."""
    workload = make_workload({"a": 2**30, "b": 2**30}, {"x": ["a", "b"], "y": ["a"]})
    with pytest.raises(InputError, match=r"asks for 2,147,483,648 events per window.*Pass a smaller threshold"):
        solve(Problem(workload, "50%", "all"))
    assert solve(Problem(workload, "50%", 2**31 - 1)).objective > 0


@pytest.mark.parametrize("threshold", ["everything", "ALL", True, 2.5])
def test_other_thresholds_are_refused(workload, threshold) -> None:
    """Only the word all stands for all events."""
    with pytest.raises(InputError, match="a whole number of events, or 'all' of them"):
        Problem(workload, "50%", threshold)
