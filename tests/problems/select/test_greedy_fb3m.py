"""greedy-fb3m, its eager and slow twins against one that values everything, and on the instances of the paper."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import MANY
from oracles.select import FIXED_POINT_ONE, Case, best_value, cases, eager_greedy

from pubplan.problems.select import Problem, solve
from pubplan.problems.select.instance import start_state
from pubplan.problems.select.kernels.greedy import lazy_greedy
from pubplan.problems.select.kernels.values import MIN_KEY, DemandByTopic, Run, topic_gain
from pubplan.problems.select.runs import run_eager, run_lazy, run_recomputing

pytestmark = pytest.mark.kernel


@MANY
@given(cases(max_topics=8, max_subscribers=9))
def test_lazy_equals_eager(case: Case) -> None:
    """Both rules, lazy, eager and slow, choose what the greedy chooses that values everything in every round."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        for by_ratio in (True, False):
            expected = eager_greedy(case, by_ratio=by_ratio)
            values = [case.value(expected[: length + 1], "fb3m") for length in range(len(expected))]
            for choice in (
                run_lazy(problem, by_ratio=by_ratio),
                run_eager(problem, is_whole=False, by_ratio=by_ratio),
                run_recomputing(problem, by_ratio=by_ratio),
            ):
                assert [case.topics[topic] for topic in choice.order] == expected
                assert choice.objective == case.value(expected, "fb3m")
                assert choice.cost == case.total_cost(expected)
                assert choice.reached.tolist() == values


@given(st.integers(1, 2**20), st.lists(st.integers(0, 2**20), min_size=1, max_size=8))
def test_fixed_point_is_close_and_gains_only_fall(threshold: int, events: list[int]) -> None:
    """What the kernel counts is never below the real satisfaction, above it by less than tau / 2^32, and exactly full
    once the threshold is reached; the same topic never gains more later.
    """
    state, weights = start_state(np.array([threshold]), is_whole=False), np.ones(1, dtype=np.int64)
    received, reached = 0, 0
    num_topics = len(events)
    nothing = np.zeros(num_topics, dtype=np.int64)
    demand = DemandByTopic(
        offsets=np.arange(num_topics + 1),
        subscribers=np.zeros(num_topics, dtype=np.int32),
        weights=weights,
        events=np.array(events),
        costs=nothing,
        single_topic_weight=nothing,
    )
    earlier = [topic_gain(state, demand, topic) for topic in range(num_topics)]
    for topic, more in enumerate(events):
        gain = topic_gain(state, demand, topic)
        assert gain <= earlier[topic]
        state[0, 0] -= gain
        reached, received = reached + gain, received + more
        real = Fraction(min(received, threshold), threshold) * FIXED_POINT_ONE
        assert real <= reached < real + threshold
        assert received < threshold or reached == FIXED_POINT_ONE


def test_the_ratio_rule_alone_can_be_arbitrarily_bad(make_workload) -> None:
    """Section VI-A: a small topic with the better ratio blocks a large one that is worth many times as much.

    t1 satisfies one subscriber for 1 delivery: ratio 1. t2 satisfies nine and half of a tenth for 10: ratio 0.95.
    Capacity 10 holds either, not both.
    """
    interests = {"one": ["t1"], **{f"many{n}": ["t2"] for n in range(9)}, "half": ["t2", "t3"]}
    workload = make_workload({"t1": 1, "t2": 1, "t3": 1}, interests)
    problem = Problem(workload, capacity=10, threshold=2)
    by_ratio = solve(problem, parameters={"rule": "ratio"})
    best = solve(problem)
    assert by_ratio.objective == 1.5  # t1, then t3 for half of "half"
    assert best.objective == 9.5
    assert best.plan.decisions("served")["topic_id"].to_pylist() == ["t2"]


def test_maximum_coverage(make_workload) -> None:
    """Appendix A: with unit rates and threshold 1, F-B3M counts covered elements.

    Sets {1,2,3}, {3,4}, {4,5,6}: every set costs its size; 6 deliveries hold the two disjoint ones, which cover all.
    """
    sets = {"a": [1, 2, 3], "b": [3, 4], "c": [4, 5, 6]}
    interests = {str(e): [name for name, members in sets.items() if e in members] for e in range(1, 7)}
    result = solve(Problem(make_workload(dict.fromkeys(sets, 1), interests), 6, 1))
    assert result.objective == 6.0
    assert result.plan.decisions("served")["topic_id"].to_pylist() == ["a", "c"]


def test_topics_without_gain_are_not_taken(make_workload) -> None:
    """A topic that no subscriber needs any more stays out although it fits; so does one of rate 0."""
    workload = make_workload({"a": 5, "b": 5, "c": 0}, {"x": ["a", "b", "c"]})
    result = solve(Problem(workload, "100%", 5))
    assert result.plan.decisions("served")["topic_id"].to_pylist() == ["a"]
    assert result.reasons == ()


def test_the_reason_names_what_no_longer_fits(make_workload) -> None:
    """Capacity 6 leaves 1 after topic a; the cheapest topic that would help costs 7."""
    workload = make_workload({"a": 5, "b": 7, "c": 9}, {"x": ["a"], "y": ["b"], "z": ["c"]})
    result = solve(Problem(workload, 6, 5))
    assert [(r.limit, r.need, r.have) for r in result.reasons] == [("capacity", 7, 1)]
    sentence = "capacity: 7 deliveries per window needed, 1 left, for the cheapest topic that would help"
    assert [str(reason) for reason in result.reasons] == [sentence]
    events = solve(Problem(workload, 6, 5, cost="rate"))
    assert "capacity: 7 events per window needed, 1 left" in str(events.reasons[0])


def test_gains_are_compared_as_integers() -> None:
    """Gains of 2^53 and 2^53 + 1 are the same float; the larger one is chosen all the same."""
    state = np.array([[2**53, 2**53], [2**53 + 1, 2**53 + 1]], dtype=np.int64)
    run = Run(np.empty(2, np.int32), np.empty(2, np.int64), np.empty(2, np.int64))
    ones = np.ones(2, dtype=np.int64)
    subscribers = np.array([0, 1], dtype=np.int32)
    demand = DemandByTopic(np.array([0, 1, 2]), subscribers, ones, ones, ones, np.zeros(2, dtype=np.int64))
    is_open, nothing = np.ones(2, dtype=bool), np.empty(0, dtype=np.int32)
    assert lazy_greedy(state, demand, is_open, nothing, run, 1, False, MIN_KEY, 0) == 1
    assert run.order[0] == 1


@pytest.mark.parametrize("rate", [2**31 - 1, 2**31, 2**40, 2**60])
def test_huge_rates_do_not_wrap(make_workload, rate: int) -> None:
    """A rate far above every threshold satisfies its subscribers exactly, whatever its size."""
    workload = make_workload({"a": rate, "b": 1}, {"x": ["a"], "y": ["b", "a"]}, message_bytes=1)
    for threshold in (1, 3, 2**31 - 1):
        result = solve(Problem(workload, "100%", threshold))
        assert result.objective == 2.0
        assert result.gap == 0.0


def test_odd_instances(make_workload) -> None:
    """Nothing to serve, nothing to want, nothing to spend: plans that verify, with objective and bound."""
    all_served = solve(Problem(make_workload({"a": 1, "b": 2}, {"x": ["a"], "y": ["a", "b"]}), "100%", 10))
    assert (all_served.objective, all_served.gap) == (2.0, 0.0)
    nothing_asked = solve(Problem(make_workload({"a": 1}, {"x": ["a"], "y": []}), 0, 0))
    assert (nothing_asked.objective, nothing_asked.gap) == (2.0, 0.0)
    too_small = solve(Problem(make_workload({"a": 5}, {"x": ["a"], "y": ["a"]}), 9, 5))
    assert too_small.objective == 0.0
    assert [(r.need, r.have) for r in too_small.reasons] == [(10, 9)]
    alone = solve(Problem(make_workload({"a": 1}, {}), "10%", 1))
    assert (alone.objective, alone.bound, alone.gap) == (0.0, 0.0, 0.0)
    empty = solve(Problem(make_workload({}, {}), 5, 1))
    assert (empty.objective, empty.gap) == (0.0, 0.0)


@given(cases())
def test_at_least_its_guarantee(case: Case) -> None:
    """(1 - 1/e) / 2 of the best possible, found by trying all sets."""
    with tempfile.TemporaryDirectory() as directory:
        result = solve(case.problem(Path(directory)), bound="none")
        assert result.exact.value >= 0.316 * best_value(case, "fb3m")
