"""greedy-max, enumerate-fb3m and the blockwise methods."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from oracles.examples import MANY
from oracles.select import Case, best_value, cases

from pubplan.errors import InputError, NotApplicable
from pubplan.problems.select import Problem, solve
from pubplan.problems.select.runs import run_eager, run_lazy
from pubplan.workload import Workload


@pytest.mark.kernel
@given(cases())
def test_enumeration_and_completion_keep_their_guarantees(case: Case) -> None:
    """1/2 for greedy-max, 1 - 1/e for enumerate-fb3m."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        best = best_value(case, "fb3m")
        completed, enumerated = (
            solve(problem, name, bound="none").exact.value for name in ("greedy-max", "enumerate-fb3m")
        )
        assert 0.5 * best <= completed <= best
        assert 0.632 * best <= enumerated <= best
        assert enumerated >= run_lazy(problem, by_ratio=True).objective


def test_one_large_topic_completes_a_prefix(make_workload) -> None:
    """Section VI-A again: the ratio greedy takes t1 and then has no room for t2; greedy-max takes t2 instead."""
    interests = {"one": ["t1"], **{f"many{n}": ["t2"] for n in range(9)}, "half": ["t2", "t3"]}
    workload = make_workload({"t1": 1, "t2": 1, "t3": 1}, interests)
    assert solve(Problem(workload, 10, 2), "greedy-max").objective == 9.5


def test_greedy_max_takes_the_greedy_by_gain_where_it_is_better(make_workload) -> None:
    """Two small topics of ratio 2 fill two of ten units; then of the large ones, 6 for 5 each, only one still fits.

    By ratio: s, t, a are worth 2 + 2 + 6 = 10, and no prefix with another topic is worth more. By gain: a, b = 12.
    """
    topics = dict.fromkeys("abst", 1)
    workload = make_workload(
        topics,
        {f"of {topic}": [topic] for topic in topics},
        weights={"of a": 6, "of b": 6, "of s": 2, "of t": 2},
        costs={"a": 5, "b": 5, "s": 1, "t": 1},
    )
    problem = Problem(workload, 10, 1, cost="cost")
    assert solve(problem, "greedy-fb3m", parameters={"rule": "ratio"}).objective == 10
    assert solve(problem, "greedy-max").objective == 12


@MANY
@given(cases(max_topics=8, max_subscribers=9))
def test_greedy_max_is_never_worse_than_greedy_fb3m(case: Case) -> None:
    """Whatever the rule that wins there."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        values = [
            solve(problem, name, bound="none", verify=False).exact.value for name in ("greedy-fb3m", "greedy-max")
        ]
        assert values == sorted(values)


@pytest.mark.parametrize("pairs", [2, 1000])
@given(case=cases(max_topics=8, max_subscribers=9))
def test_blockwise_methods_give_the_greedy(case: Case, pairs: int) -> None:
    """blockwise-fb3m chooses as the greedy by gain per cost, unless a single topic is worth more; blockwise-b3m does
    when everything fits.
    """
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        problem = case.problem(Path(one))
        result = solve(problem, "blockwise-fb3m", parameters={"pairs": pairs}, bound="none")
        greedy = run_lazy(problem, by_ratio=True)
        assert result.exact.value >= greedy.objective
        if result.exact.value == greedy.objective:
            assert result.plan.trajectory()["topic"].to_pylist() == greedy.order.tolist()
        whole = case.problem(Path(two), "b3m")
        result = solve(whole, "blockwise-b3m", parameters={"pairs": pairs}, bound="none")
        if pairs == 1000:
            order = run_eager(whole, is_whole=True).order.tolist()
            assert result.plan.trajectory()["topic"].to_pylist() == order


@pytest.mark.parametrize(("method", "greedy"), [("blockwise-fb3m", "greedy-fb3m"), ("blockwise-b3m", "greedy-b3m")])
def test_blockwise_methods_in_many_passes(spotify: Workload, method: str, greedy: str, spark) -> None:
    """With a tenth of the interests at a time the result is within 1 % of the greedy's, and the same on Spark."""
    problem = Problem(spotify, "10%", 276, "b3m" if greedy.endswith("-b3m") else "fb3m")
    parameters = {"pairs": spotify.counts.pairs // 10}
    here = solve(problem, method, parameters=parameters, bound="none")
    there = solve(problem, method, parameters=parameters, bound="none", spark=spark)
    assert here.plan.digest == there.plan.digest
    assert here.objective >= 0.99 * solve(problem, greedy, bound="none").objective


def test_large_instances_are_refused_by_name(spotify: Workload) -> None:
    """enumerate-fb3m and exact say how much there would be to do."""
    for method in ("enumerate-fb3m", "exact"):
        with pytest.raises(NotApplicable, match=f"{method} cannot answer this.*,"):
            solve(Problem(spotify, "10%", 27), method)


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("improved-b3m", {"rounds": -1}),
        ("improved-b3m", {"rounds": 1.5}),
        ("blockwise-b3m", {"pairs": 0}),
        ("exact", {"search_nodes": 0}),
        ("exact", {"time_limit": "soon"}),
    ],
)
def test_parameters_out_of_range_are_refused(make_workload, method: str, parameters) -> None:
    """With the name of the parameter."""
    problem = Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 1, "b3m")
    with pytest.raises(InputError, match=next(iter(parameters))):
        solve(problem, method, parameters=parameters)


@pytest.mark.parametrize(("method", "objective"), [("blockwise-fb3m", "fb3m"), ("blockwise-b3m", "b3m")])
def test_blockwise_serves_what_must_be_served_without_subscribers(make_workload, method: str, objective: str) -> None:
    """A workload without subscribers has topics that can be asked for: they are served and satisfy no subscriber."""
    problem = Problem(make_workload({"a": 2, "b": 3}, {}), 5, 1, objective=objective, must_serve=["a"])
    result = solve(problem, method)
    assert (result.plan.decisions("served")["topic_id"].to_pylist(), result.objective) == (["a"], 0)
