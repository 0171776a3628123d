"""Verification: what is right passes, and nothing that is wrong does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from oracles.forge import forge
from oracles.overlay import (
    Case,
    best_degree,
    cases,
    distance,
    forced_bound,
    is_connected,
    joins_bound,
    links_of,
    node_bound,
    told_of,
)

import pubplan
from pubplan.planning import Plan
from pubplan.problems.overlay import Problem, solve, verify
from pubplan.problems.overlay.verify_trees import _depths

CASE = Case(
    {
        "a": ("x", "y", "z"),
        "b": ("x", "y"),
        "c": ("y", "z"),
        "d": ("x", "z"),
        "e": ("x", "y", "z"),
        "f": ("w",),
        "g": ("w", "x"),
    }
)


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    return solve(problem, "dcbr-m", parameters={"eta": 2, "parts": 2, "coverage": 1}).plan


def test_removing_any_link_that_matters_is_caught(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Each link in turn: the verdict is that of the definition; a link that is not needed may go if no tree uses it."""
    links, trees = links_of(plan), plan.decisions("links")["trees"].to_pylist()
    for place in range(len(links)):
        left = links[:place] + links[place + 1 :]
        forged = forge(plan, tmp_path / f"without-{place}", **told_of(CASE, plan, left))
        limits = {reason.limit for reason in verify(problem, forged).violations}
        assert ("topics connected" in limits) == (not is_connected(CASE.sets, left))
        assert bool(limits) == (trees[place] > 0)


def test_every_removal_from_a_larger_overlay_is_caught(tmp_path: Path) -> None:
    workload = pubplan.generate.generate(pubplan.generate.uniform(60, 12, 1), tmp_path / "workload")
    problem = Problem(workload)
    plan = solve(problem).plan
    rows = plan.decisions("links").num_rows
    for place in range(0, rows, 7):

        def without(table: pa.Table, place: int = place) -> pa.Table:
            return pa.concat_tables([table.slice(0, place), table.slice(place + 1)])

        forged = forge(plan, tmp_path / f"without-{place}", tables={"decisions/links.parquet": without})
        assert not verify(problem, forged).ok


def column(name: str, change: Callable[[list], list]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        field = table.schema.field(name)
        values = pa.array(change(table[name].to_pylist()), field.type)
        return table.set_column(table.schema.get_field_index(name), field, values)

    return changed


def first_other(values: list) -> list:
    return [values[0] + 1, *values[1:]]


@pytest.mark.parametrize(
    ("table", "name", "change", "limit"),
    [
        ("nodes", "part", lambda values: [0] * len(values), "parts as eta says"),
        ("nodes", "part", lambda values: [min(value, 0) for value in values], "parts of the same size"),
        ("nodes", "representative", lambda values: [False] * len(values), "topics of parts represented"),
        ("nodes", "topics", first_other, "topics as recomputed"),
        ("nodes", "node_id", lambda values: values[::-1], "names of nodes"),
        ("nodes", "node", first_other, "node as recomputed"),
        ("topics", "topic_id", lambda values: values[::-1], "names of topics"),
        ("topics", "nodes", first_other, "nodes as recomputed"),
        ("topics", "root", lambda values: [-1, *values[1:]], "root as recomputed"),
        ("links", "node_id", lambda values: ["z", *values[1:]], "names of nodes"),
        ("division", "known", first_other, "known as recomputed"),
        ("division", "bulk", first_other, "bulk as recomputed"),
        ("division", "eta", first_other, "parts as eta says"),
        ("division", "coverage", lambda values: [9], "topics of parts represented"),
    ],
)
def test_wrong_numbers_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, name: str, change: Callable[[list], list], limit: str
) -> None:
    forged = forge(plan, tmp_path / "forged", tables={f"decisions/{table}.parquet": column(name, change)})
    assert limit in {reason.limit for reason in verify(problem, forged).violations}


def test_a_second_division_is_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    twice = {"decisions/division.parquet": lambda table: pa.concat_tables([table, table])}
    forged = forge(plan, tmp_path / "forged", tables=twice)
    assert "one division, or none" in {reason.limit for reason in verify(problem, forged).violations}


def parents(change: Callable[[list[list[int]]], list[list[int]]]) -> dict[str, Callable[[pa.Table], pa.Table]]:
    return {"decisions/forwarding/00000.parquet": column("parents", change)}


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        (lambda lists: [[node] * len(row) for node, row in enumerate(lists)], "one root per topic"),
        (lambda lists: [[len(lists) - 1 - node] * len(row) for node, row in enumerate(lists)], "topic"),
        (lambda lists: [row[1:] for row in lists], "forwarding lists the topics of every node"),
    ],
)
def test_wrong_trees_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, change: Callable[[list], list], limit: str
) -> None:
    forged = forge(plan, tmp_path / "forged", tables=parents(change))
    assert any(limit in reason.limit for reason in verify(problem, forged).violations)


def test_circles_never_reach_a_root() -> None:
    ahead = np.array([0, 0, 3, 4, 2, 1])
    is_root = np.array([True, False, False, False, False, False])
    assert _depths(ahead, is_root).tolist() == [0, 1, -1, -1, -1, 2]


def test_blocks_of_forwarding_are_counted(problem: Problem, plan: Plan) -> None:
    """A plan that does not list its forwarding tells nobody what to forward."""
    left = {name: sha256 for name, sha256 in plan.record["files"].items() if "forwarding" not in name}
    forged = Plan(plan.path, {**plan.record, "files": left})
    (violation,) = verify(problem, forged).violations
    assert (violation.limit, violation.where) == ("file expected", "decisions/forwarding/00000.parquet")


@pytest.mark.parametrize("bound", ["forced", "joins", "node"])
@pytest.mark.parametrize("by", [-1, 1])
def test_other_bounds_than_recomputed_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, bound: str, by: int
) -> None:
    def change(content: dict) -> dict:
        return {**content, "bound": {**content["bound"], "value": content["bound"]["value"] + by}}

    forged = forge(plan, tmp_path / "forged", certificates={bound: change})
    assert "bound as recomputed" in {reason.limit for reason in verify(problem, forged).violations}


def test_other_evidence_is_named(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    def change(content: dict) -> dict:
        return {**content, "evidence": {**content["evidence"], "joins": 1}}

    forged = forge(plan, tmp_path / "forged", certificates={"joins": change})
    assert "evidence as recomputed" in {reason.limit for reason in verify(problem, forged).violations}


@given(cases(max_nodes=6))
def test_bounds_and_diameters_are_those_of_the_definitions(case: Case) -> None:
    with tempfile.TemporaryDirectory() as directory:
        plan = solve(case.problem(Path(directory)), "gm-m").plan
        bounds, links = plan.record["bounds"], links_of(plan)
        told = {"forced": forced_bound(case.sets), "joins": joins_bound(case.sets), "node": node_bound(case.sets)}
        assert bounds == told
        told = {row["topic_id"]: row["diameter"] for row in plan.decisions("topics").to_pylist()}
        assert told == {topic: distance(case.sets, topic, links) for topic in case.topics}


@given(cases(max_nodes=5))
def test_bounds_are_never_above_the_best(case: Case) -> None:
    best = best_degree(case.sets)
    assert max(joins_bound(case.sets), node_bound(case.sets), forced_bound(case.sets)) <= best
