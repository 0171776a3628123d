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
from oracles.select import FULL, Case, best_value, cases, eager_greedy

from pubplan.problems.select import Problem, solve
from pubplan.problems.select.kernels import ANY_KEY, lazy_greedy, topic_gain
from pubplan.problems.select.problem import start_state
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
    state, weights = start_state("fb3m", np.array([threshold])), np.ones(1, dtype=np.int64)
    subscribers, received, reached = np.zeros(1, dtype=np.int32), 0, 0
    earlier = [topic_gain(state, weights, subscribers, 0, 1, more) for more in events]
    for number, more in enumerate(events):
        gain = topic_gain(state, weights, subscribers, 0, 1, more)
        assert gain <= earlier[number]
        state[0, 0] -= gain
        reached, received = reached + gain, received + more
        real = Fraction(min(received, threshold), threshold) * FULL
        assert real <= reached < real + threshold
        assert received < threshold or reached == FULL


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
    """A topic nobody needs any more stays out although it fits; so does one of rate 0."""
    workload = make_workload({"a": 5, "b": 5, "c": 0}, {"x": ["a", "b", "c"]})
    result = solve(Problem(workload, "100%", 5))
    assert result.plan.decisions("served")["topic_id"].to_pylist() == ["a"]
    assert result.reasons == ()


def test_the_reason_names_what_no_longer_fits(make_workload) -> None:
    """Capacity 6 leaves 1 after topic a; the cheapest topic that would help costs 7."""
    workload = make_workload({"a": 5, "b": 7, "c": 9}, {"x": ["a"], "y": ["b"], "z": ["c"]})
    result = solve(Problem(workload, 6, 5))
    assert [(r.limit, r.need, r.have) for r in result.reasons] == [("capacity", 7, 1)]


def test_gains_are_compared_as_integers() -> None:
    """Gains of 2^53 and 2^53 + 1 are the same float; the larger one is chosen all the same."""
    state = np.array([[2**53, 2**53], [2**53 + 1, 2**53 + 1]], dtype=np.int64)
    order, spent, gained = np.empty(2, np.int32), np.empty(2, np.int64), np.empty(2, np.int64)
    ones, offsets = np.ones(2, dtype=np.int64), np.array([0, 1, 2])
    topics = np.array([0, 1], dtype=np.int32)
    is_open, nothing = np.ones(2, dtype=bool), np.empty(0, dtype=np.int32)
    none = np.zeros(2, dtype=np.int64)
    arguments = (state, ones, ones, ones, none, topics, offsets, is_open, nothing, order, spent, gained, 1, False)
    assert lazy_greedy(*arguments, ANY_KEY, 0) == 1
    assert order[0] == 1


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
    everybody = solve(Problem(make_workload({"a": 1, "b": 2}, {"x": ["a"], "y": ["a", "b"]}), "100%", 10))
    assert (everybody.objective, everybody.gap) == (2.0, 0.0)
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
