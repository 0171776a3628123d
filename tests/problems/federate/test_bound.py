"""Bounds of federate: never above the best plan, and near it where they should be."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.federate import Case, best_cost, cases

from pubplan.generate import content_exchange, generate
from pubplan.planning import Draft
from pubplan.problems.federate import laminar
from pubplan.problems.federate.bound import bound_of
from pubplan.problems.federate.clusters import clusters_of
from pubplan.problems.federate.family import FAMILY, solve
from pubplan.problems.federate.laminar import Multipliers, find_multipliers
from pubplan.problems.federate.problem import Problem


def moved(problem: Problem) -> Draft:
    method = FAMILY.methods["local-moves"]
    return method.run(problem, method.parameters(), 0, None)


@given(
    cases(),
    st.sampled_from(["spanning", "steiner", "acyclic"]),
    st.sampled_from(["shared", "replicating"]),
    st.integers(0, 2**32 - 1),
)
def test_any_multipliers_prove_a_bound(case: Case, routing: str, cost: str, seed: int) -> None:
    """Whatever prices of room and shares are taken, no plan is cheaper than what they prove."""
    case = replace(case, routing=routing, cost=cost)
    best = best_cost(case)
    if best is None:
        return
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory) / "workload")
        instance, clusters = problem.instance, clusters_of(problem.instance.link_prices)
        rooms = np.where(np.array(case.capacities) > 0, rng.integers(0, 40, case.num_brokers), 0)
        clients = np.repeat(np.arange(instance.num_clients), np.diff(instance.wanted_offsets))
        kinds = rng.integers(0, max(1, clusters.number), len(clients))
        shares = rng.integers(0, 60, len(clients)) if clusters.number else np.zeros(len(clients), dtype=np.int64)
        keep = shares > 0
        multipliers = Multipliers(
            clusters, 2, rooms, clients[keep], kinds[keep].astype(np.int32), instance.wanted[keep], shares[keep]
        )
        assert bound_of(problem, multipliers) <= best


@pytest.mark.parametrize(("ratio", "bar"), [(1, 0.01), ("0.05", 0.15)])
def test_laminar_is_near(ratio: object, bar: float, tmp_path: Path) -> None:
    """500 clients, 10 brokers, 10 channels: within 1 % where access costs as much as links, 15 % where less."""
    workload = generate(content_exchange(500, 10, price_ratio=ratio), tmp_path / "workload")
    result = solve(Problem(workload, channels=10))
    assert result.gap is not None
    assert 0 <= result.gap <= bar
    assert result.bounds["access"] <= result.bounds["laminar"]


def test_subgradients_do_without_a_linear_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the solver, clients near a cluster pay for it, and steps up the dual come close to the same bound."""
    problem = Problem(generate(content_exchange(200, 6), tmp_path / "workload"), channels=8)
    cost = moved(problem).claimed.value // problem.message_bytes
    by_program = bound_of(problem, find_multipliers(problem, cost, with_clusters=True))
    monkeypatch.setattr(laminar, "MAX_LP_ENTRIES", 0)
    by_steps = bound_of(problem, find_multipliers(problem, cost, with_clusters=True))
    monkeypatch.setattr(laminar, "MAX_ENTRIES", 0)
    near_only = bound_of(problem, find_multipliers(problem, cost, with_clusters=True))
    assert 0.98 * by_program <= by_steps <= cost
    assert 0.97 * by_program <= near_only <= cost


def test_a_solver_that_fails_leaves_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the linear program has no answer, subgradients start from nothing."""
    problem = Problem(generate(content_exchange(60, 5), tmp_path / "workload"), channels=5)
    cost = moved(problem).claimed.value // problem.message_bytes
    monkeypatch.setattr(laminar, "solve_relaxation", lambda dual: None)
    assert 0 < bound_of(problem, find_multipliers(problem, cost, with_clusters=True)) <= cost


def test_both_bounds_hold_for_both_costs(tmp_path: Path) -> None:
    """Copies for every subscriber never cost less than one tree, so what is proven for trees holds for them."""
    workload = generate(content_exchange(30, 4), tmp_path / "workload")
    for cost in ("shared", "replicating"):
        bounds = solve(Problem(workload, channels=4, cost=cost)).bounds  # type: ignore[arg-type]
        assert 0 < bounds["access"] < bounds["laminar"]
