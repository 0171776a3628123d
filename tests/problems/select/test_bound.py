"""The bounds: valid, the paper's equal to what its algorithm gives, the Lagrangian one tight and never above it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.select import FIXED_POINT_ONE, Case, best_value, cases, paper_knapsack

from pubplan.errors import NotApplicable
from pubplan.planning import Exact
from pubplan.problems.select import FAMILY, Problem, solve
from pubplan.problems.select.bound import _cut_item, lagrangian_bound, paper_bound
from pubplan.workload import Workload


@given(cases(plain=True))
def test_the_papers_number(case: Case) -> None:
    """Theorems V.7 and VI.4, less what exceeds the number of subscribers."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        filled, nothing = paper_knapsack(case), Exact(0)
        assert paper_bound(case.problem(Path(one), "b3m"), nothing).bound.value == filled
        bound = paper_bound(case.problem(Path(two), "fb3m"), nothing).bound.value
        assert bound == FIXED_POINT_ONE * min(filled + 1, len(case.interests))


@given(st.lists(st.integers(1, 2**62), max_size=20), st.integers(0, 2**63 - 1))
def test_prefixes_do_not_wrap(needs: list[int], capacity: int) -> None:
    """Sums beyond 64 bits are still compared rightly."""
    ordered = sorted(needs)
    fits = sum(sum(ordered[: length + 1]) <= capacity for length in range(len(ordered)))
    expected = None if fits == len(needs) else (ordered[fits], 1)
    assert _cut_item(np.array(needs, dtype=np.int64), np.ones(len(needs), dtype=np.int64), capacity) == expected


def test_weights_fill_the_knapsack_by_weight_per_need(make_workload) -> None:
    """x needs 2 for weight 4, y 3 for weight 3, z 5 for weight 1: capacity 4 holds x and two thirds of y."""
    workload = make_workload(
        {"a": 2, "b": 3, "c": 5}, {"x": ["a"], "y": ["b"], "z": ["c"]}, weights={"x": 4, "y": 3, "z": 1}
    )
    certificate = paper_bound(Problem(workload, 4, 9, "b3m"), Exact(0))
    assert (certificate.bound.value, certificate.evidence) == (6, {"cut_need": 3, "cut_weight": 3})


def test_the_papers_bound_needs_its_costs(make_workload) -> None:
    """With costs from a column it is refused by name, and left out with the Lagrangian one."""
    workload = make_workload({"a": 2}, {"x": ["a"]}, costs={"a": 1})
    problem = Problem(workload, 1, 2, cost="cost")
    with pytest.raises(NotApplicable, match="rate x subscribers"):
        solve(problem, bound="paper")
    assert set(solve(problem).bounds) == {"lagrangian"}


@given(cases(max_topics=9, max_subscribers=5))
def test_the_tighter_bound_counts(case: Case) -> None:
    """The paper's is computed with the Lagrangian one, so a plan's bound is never worse than it; both hold."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory), "b3m")
        result = solve(problem)
        assert result.bound == min(result.bounds.values())
        assert best_value(case, "b3m") <= result.bound


def test_a_subscriber_cannot_be_satisfied_in_part(make_workload) -> None:
    """Rows of whole subscribers see that a and b are both needed, which no fraction of topics shows.

    Three subscribers each need two topics of rate 1; capacity 3 pays for three topics of which at most two belong
    together. Fractions would satisfy half of each.
    """
    workload = make_workload(dict.fromkeys("abcdef", 1), {"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"]})
    result = solve(Problem(workload, 3, 2, "b3m"))
    assert (result.objective, result.bounds["lagrangian"]) == (1.0, 1.0)


def test_long_rows_are_bounded_too(make_workload) -> None:
    """Twelve topics of rate 1, nine needed: 8 deliveries give 8/9 of x, and no plan much more."""
    topics = [f"t{number:02}" for number in range(12)]
    workload = make_workload(dict.fromkeys(topics, 1), {"x": topics})
    result = solve(Problem(workload, 8, 9))
    assert 8 / 9 <= result.bounds["lagrangian"] < 0.95


@pytest.mark.parametrize(("objective", "least"), [("fb3m", 0.985), ("b3m", 0.975)])
def test_it_is_tight_on_spotify_shape(spotify: Workload, objective: str, least: float) -> None:
    """The share of the bound that the greedy reaches is far above what the paper's bound lets it show."""
    result = solve(Problem(spotify, "10%", 27, objective))
    assert 1 - result.gap > least
    assert result.objective / result.bounds["paper"] < 0.9


@pytest.mark.parametrize("objective", ["fb3m", "b3m"])
def test_blocks_on_spark_give_the_same_certificate(spotify: Workload, objective: str, spark, monkeypatch) -> None:
    """Steps over Spark tasks end at the same multipliers as steps in this process: one digest."""
    monkeypatch.setattr("pubplan.problems.select.bound.MAX_STEPS", 4)
    problem = Problem(spotify, "10%", 27, objective)
    here, there = solve(problem), solve(problem, spark=spark)
    assert here.plan.digest == there.plan.digest
    assert any(name.startswith("certificate/lagrangian-multipliers/") for name in here.plan.record["files"])


def test_the_curve_bounds_every_capacity(spotify: Workload) -> None:
    """At every cost of a trajectory the bound is at least what a plan made for that cost reaches."""
    problem = Problem(spotify, "10%", 27)
    trajectory = solve(problem).plan.trajectory()
    costs, bounds = trajectory["cost"].to_numpy(), trajectory["bound"].to_numpy()
    assert (bounds >= trajectory["satisfied"].to_numpy()).all()
    assert (np.diff(bounds) >= 0).all()
    for share in (0.1, 0.5, 0.9):
        position = int(share * len(costs))
        smaller = solve(Problem(spotify, int(costs[position]), 27), bound="none", verify=False)
        assert smaller.objective <= bounds[position] <= 1.5 * smaller.objective


def test_bounds_meet_what_was_reached(make_workload) -> None:
    """A bound that meets the plan stops there: steps that cannot help are not taken."""
    workload = make_workload({"a": 1}, {"x": ["a"]})
    certificate = lagrangian_bound(Problem(workload, 5, 1, "b3m"), Exact(1))
    assert certificate.bound == Exact(1)
    assert set(FAMILY.bounds) == {"paper", "lagrangian", "search"}
