"""greedy-b3m against its naive twin, improved-b3m against it, and the instances of the paper's proofs."""

from __future__ import annotations

import tempfile
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from oracles.examples import MANY
from oracles.select import Case, best_value, cases, naive_greedy_b3m

from pubplan.problems.select import Problem, solve
from pubplan.problems.select.runs import run_eager

pytestmark = pytest.mark.kernel


@MANY
@given(cases(max_topics=8, max_subscribers=9))
def test_it_equals_its_naive_twin(case: Case) -> None:
    """The same topics in the same order as the greedy that computes every value anew in every round, ties included."""
    with tempfile.TemporaryDirectory() as directory:
        choice = run_eager(case.problem(Path(directory), "b3m"), is_whole=True)
        expected = naive_greedy_b3m(case)
        assert [case.topics[topic] for topic in choice.order] == expected
        assert choice.reached.tolist() == [case.value(expected[: n + 1], "b3m") for n in range(len(expected))]
        assert choice.cost == case.total_cost(expected)


@given(cases())
def test_improvement_never_harms(case: Case) -> None:
    """improved-b3m is at least greedy-b3m, and never serves a topic that no subscriber needs."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory), "b3m")
        greedy, improved = (solve(problem, name, bound="none") for name in ("greedy-b3m", "improved-b3m"))
        assert greedy.exact.value <= improved.exact.value <= best_value(case, "b3m")


def test_values_rise_and_are_seen_to(make_workload) -> None:
    """x misses 3 of 4 after a, so b, worth 3/4 of x before, is worth all of x then: it overtakes c.

    Values per cost at first: a 1.25/2 (all of y, a quarter of x), c 0.9/3 for z, b 0.75/3 for x. After a: b 1/3.
    """
    workload = make_workload(
        {"a": 1, "b": 3, "c": 3, "d": 3},
        {"x": ["a", "b"], "y": ["a"], "z": ["c", "d"]},
        thresholds={"x": 4, "y": 1, "z": 4},
    )
    result = solve(Problem(workload, 5, objective="b3m"), "greedy-b3m")
    assert result.plan.trajectory()["topic"].to_pylist() == [0, 1]
    assert result.objective == 2.0


def test_idle_topics_make_room(make_workload) -> None:
    """The greedy takes a for the sake of x, whom it cannot satisfy in the end; improvement serves b instead.

    a fills 5/6 of x for 5 deliveries, the best ratio; d, the rest of x, costs 10 and does not fit into 7. With a
    dropped b fits, which satisfies y.
    """
    workload = make_workload(
        {"a": 5, "b": 7, "d": 10},
        {"x": ["a", "d"], "y": ["b"]},
        thresholds={"x": 6, "y": 7},
    )
    problem = Problem(workload, 7, objective="b3m")
    assert solve(problem, "greedy-b3m").objective == 0.0
    assert solve(problem, "improved-b3m").objective == 1.0


def test_densest_k_subgraph(make_workload) -> None:
    """Section V-A: nodes are topics of rate 1 and cost 1, edges are subscribers who need both of their ends.

    With capacity k, B3M asks for the k nodes with most edges among them: here 4 nodes of a clique hold 6. The greedy
    starts with d, which has four edges, each worth 1/2; then a is worth 1 + 1/2 + 1/2 and e 1 + 1/2, then b 2 + 1/2,
    then c 3.
    """
    clique, path = "abcd", "efghij"
    edges = [*combinations(clique, 2), *pairwise(path), ("d", "e")]
    workload = make_workload(
        dict.fromkeys(clique + path, 1),
        {f"{one}{other}": [one, other] for one, other in edges},
        costs=dict.fromkeys(clique + path, 1),
    )
    problem = Problem(workload, 4, 2, "b3m", cost="cost")
    best = solve(problem, "exact")
    assert (best.objective, best.bounds["search"]) == (6.0, 6.0)
    assert best.plan.decisions("served")["topic_id"].to_pylist() == list(clique)
    greedy = solve(problem, "greedy-b3m")
    assert [(clique + path)[topic] for topic in greedy.plan.trajectory()["topic"].to_pylist()] == list("dabc")
    assert greedy.objective == 6.0


def test_densest_k_subgraph_beyond_the_greedy(make_workload) -> None:
    """A hub with five leaves, 5/2, comes before the nodes of a triangle, 2/2. Each leaf then is worth 1, as much as a
    node of the triangle, and comes first by name: of three nodes, the greedy's hold 2 edges, those of the triangle 3.
    """
    leaves, triangle = ["l1", "l2", "l3", "l4", "l5"], "xyz"
    nodes = ["hub", *leaves, *triangle]
    edges = [*(("hub", leaf) for leaf in leaves), *combinations(triangle, 2)]
    workload = make_workload(
        dict.fromkeys(nodes, 1),
        {f"{one}{other}": [one, other] for one, other in edges},
        costs=dict.fromkeys(nodes, 1),
    )
    problem = Problem(workload, 3, 2, "b3m", cost="cost")
    greedy = solve(problem, "greedy-b3m")
    assert greedy.plan.decisions("served")["topic_id"].to_pylist() == ["hub", "l1", "l2"]
    assert (greedy.objective, solve(problem, "exact").objective) == (2.0, 3.0)


@pytest.mark.parametrize("method", ["greedy-b3m", "improved-b3m", "exact", "blockwise-b3m"])
def test_odd_instances(make_workload, method: str) -> None:
    """Capacity below the cheapest topic, everything served, nothing asked, no subscribers: plans that verify."""

    def solved(workload, capacity, threshold):
        return solve(Problem(workload, capacity, threshold, "b3m"), method)

    too_small = solved(make_workload({"a": 5}, {"x": ["a"], "y": ["a"]}), 9, 5)
    assert (too_small.objective, too_small.plan.decisions("served").num_rows) == (0.0, 0)
    assert [(reason.need, reason.have) for reason in too_small.reasons] == [(10, 9)]
    all_served = solved(make_workload({"a": 1, "b": 2}, {"x": ["a"], "y": ["a", "b"]}), "100%", 10)
    assert (all_served.objective, all_served.gap) == (2.0, 0.0)
    nothing_asked = solved(make_workload({"a": 1}, {"x": ["a"], "y": []}), 0, 0)
    assert (nothing_asked.objective, nothing_asked.gap) == (2.0, 0.0)
    zero_rates = solved(make_workload({"a": 0}, {"x": ["a"]}), 5, 3)
    assert (zero_rates.objective, zero_rates.gap) == (1.0, 0.0)
    no_subscribers = solved(make_workload({"a": 1}, {}), "10%", 1)
    assert (no_subscribers.objective, no_subscribers.bound, no_subscribers.gap) == (0.0, 0.0, 0.0)
    nothing = solved(make_workload({}, {}), 5, 1)
    assert (nothing.objective, nothing.gap) == (0.0, 0.0)
