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
    changes_for,
    distance,
    forced_bound,
    is_connected,
    joins_bound,
    links_of,
    node_bound,
)

import pubplan
from pubplan.planning import Plan
from pubplan.problems.overlay import FAMILY, Problem, solve, verify
from pubplan.problems.overlay.verifier.trees import _depths

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

WRONG_PART = "nodes in a part that does not exist or does not follow from eta"
WRONG_SIZES = "parts whose sizes differ by more than 1"
UNCOVERED = "topics of parts with too few representatives"
NOTHING_REPRESENTED = "representatives that have no part to represent"


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    return solve(problem, "dcbr-m", parameters={"eta": 2, "parts": 2, "coverage": 1}).plan


def faults(problem: Problem, plan: Plan) -> set[str]:
    """What is wrong with a plan, without numbers."""
    violations = verify(problem, plan).violations
    return {violation.fault for violation in violations}


def test_removing_any_link_that_matters_is_caught(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Each link in turn: the verdict is that of the definition; a link that is not needed may go if no tree uses it."""
    links, trees = links_of(plan), plan.decisions("links")["trees"].to_pylist()
    for row in range(len(links)):
        left = links[:row] + links[row + 1 :]
        forged = forge(plan, tmp_path / f"without-{row}", **changes_for(CASE, plan, left))
        broken = faults(problem, forged)
        assert ("topics not connected" in broken) == (not is_connected(CASE.sets, left))
        assert bool(broken) == (trees[row] > 0)


def test_every_removal_from_a_larger_overlay_is_caught(tmp_path: Path) -> None:
    """Every seventh link of the default method."""
    workload = pubplan.generate.generate(pubplan.generate.uniform(60, 12, 1), tmp_path / "workload")
    problem = Problem(workload)
    plan = solve(problem).plan
    for row in range(0, plan.decisions("links").num_rows, 7):

        def without(table: pa.Table, row: int = row) -> pa.Table:
            return pa.concat_tables([table.slice(0, row), table.slice(row + 1)])

        forged = forge(plan, tmp_path / f"without-{row}", tables={"decisions/links.parquet": without})
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
    ("table", "name", "change", "fault"),
    [
        (
            "nodes",
            "part",
            lambda values: [0] * len(values),
            WRONG_PART,
        ),
        (
            "nodes",
            "part",
            lambda values: [min(value, 0) for value in values],
            WRONG_SIZES,
        ),
        (
            "nodes",
            "representative",
            lambda values: [False] * len(values),
            UNCOVERED,
        ),
        ("nodes", "topics", first_other, "wrong topics"),
        ("nodes", "node_id", lambda values: values[::-1], "node ids other than the workload's"),
        ("nodes", "node", first_other, "wrong node"),
        ("topics", "topic_id", lambda values: values[::-1], "topic ids other than the workload's"),
        ("topics", "nodes", first_other, "wrong nodes"),
        ("topics", "root", lambda values: [-1, *values[1:]], "wrong root"),
        ("links", "node_id", lambda values: ["z", *values[1:]], "node ids other than the workload's"),
        ("division", "known", first_other, "wrong known"),
        ("division", "bulk", first_other, "wrong bulk"),
        ("division", "eta", first_other, "wrong eta"),
        ("division", "coverage", lambda values: [9], "wrong coverage"),
        ("division", "coverage", lambda values: [-1], "wrong coverage"),
        ("division", "eta", lambda values: [-1], "wrong eta"),
        ("division", "parts", lambda values: [2**31 - 1], "wrong number of parts"),
        ("division", "parts", lambda values: [-1], "wrong number of parts"),
        (
            "nodes",
            "representative",
            lambda values: [True] * len(values),
            NOTHING_REPRESENTED,
        ),
        ("topics", "diameter", lambda values: [-1] * len(values), "diameter not computed"),
        ("topics", "diameter", lambda values: [-7, *values[1:]], "diameter not computed"),
    ],
)
def test_wrong_numbers_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, name: str, change: Callable[[list], list], fault: str
) -> None:
    """A column that does not hold what follows from links, workload and parameters."""
    forged = forge(plan, tmp_path / "forged", tables={f"decisions/{table}.parquet": column(name, change)})
    assert fault in faults(problem, forged)


def test_a_second_division_is_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Nodes are divided once."""
    twice = {"decisions/division.parquet": lambda table: pa.concat_tables([table, table])}
    forged = forge(plan, tmp_path / "forged", tables=twice)
    assert "wrong number of divisions" in faults(problem, forged)


def test_a_division_is_missed(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A plan of a method that divides nodes says how, and one of a method that does not has nothing to say."""
    without = {
        "decisions/division.parquet": lambda table: table.slice(0, 0),
        "decisions/nodes.parquet": lambda table: column("part", lambda values: [-1] * len(values))(
            column("representative", lambda values: [False] * len(values))(table)
        ),
    }
    forged = forge(plan, tmp_path / "forged", tables=without)
    assert "wrong number of divisions" in faults(problem, forged)
    undivided = solve(problem, "gm-m").plan
    added = {"decisions/division.parquet": lambda table: plan.decisions("division")}
    forged = forge(undivided, tmp_path / "added", tables=added)
    assert "wrong number of divisions" in faults(problem, forged)


@pytest.mark.parametrize(("name", "value"), [("eta", 3), ("parts", 3), ("coverage", 2), ("parts", None), ("eta", 1)])
def test_divisions_are_what_was_asked_for(
    problem: Problem, plan: Plan, tmp_path: Path, name: str, value: int | None
) -> None:
    """A plan whose parameters say otherwise is refused; two parts may also have been chosen by the method."""
    forged = forge(plan, tmp_path / "forged", record={"parameters": {**plan.record["parameters"], name: value}})
    assert verify(problem, forged).ok == (value is None)


@pytest.mark.parametrize("value", [None, 10**39], ids=str)
def test_coverages_that_cannot_be_asked_for_are_refused(
    problem: Problem, plan: Plan, tmp_path: Path, value: int | None
) -> None:
    """No number, or one that fits no array."""
    forged = forge(plan, tmp_path / "forged", record={"parameters": {**plan.record["parameters"], "coverage": value}})
    assert not verify(problem, forged).ok


def test_missing_nodes_are_named(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A table of nodes with a row too few is wrong, and nothing looks up a node in it."""
    forged = forge(plan, tmp_path / "forged", tables={"decisions/nodes.parquet": lambda table: table.slice(1)})
    assert "wrong number of rows" in faults(problem, forged)


def test_the_bulk_share_is_recomputed(tmp_path: Path) -> None:
    """Of ten nodes at most two are bulk: with 1, 1, 2, 2, 3, 3, 4, 4, 5 and 6 topics the least eta is 4."""
    sizes = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6)
    case = Case({f"n{number}": tuple("uvwxyz"[:size]) for number, size in enumerate(sizes)})
    problem = case.problem(tmp_path)
    plan = solve(problem, "dcb-m", parameters={"parts": 2}).plan
    assert plan.decisions("division")["eta"].to_pylist() == [4]
    forged = forge(plan, tmp_path / "f", record={"parameters": {**plan.record["parameters"], "eta": 5}})
    assert "wrong eta" in faults(problem, forged)


def trajectory(change: Callable[[pa.Table], pa.Table]) -> dict[str, Callable[[pa.Table], pa.Table]]:
    return {"trajectory.parquet": change}


@pytest.mark.parametrize("method", FAMILY.methods)
def test_the_order_of_choice_is_replayed(problem: Problem, tmp_path: Path, method: str) -> None:
    """Turned around, links would have joined other topics; no phase but that of the method fits."""
    plan = solve(problem, method).plan
    reverse = lambda table: table.take(pa.array(range(table.num_rows)[::-1]))  # noqa: E731
    forged = forge(plan, tmp_path / "reversed", tables=trajectory(reverse))
    assert "wrong joined" in faults(problem, forged)
    elsewhere = column("phase", lambda values: ["part" if value == "greedy" else "greedy" for value in values])
    forged = forge(plan, tmp_path / "phases", tables=trajectory(elsewhere))
    assert faults(problem, forged) <= {
        *("links not chosen in the phase 'greedy'", "links not chosen in the phase 'ring'"),
        *("links in a phase that does not fit their nodes", "links of parts chosen after parts were combined"),
    }
    assert not verify(problem, forged).ok


def test_joins_move_between_links_only_in_truth(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """One join more here and one less there keeps the sum, and is noticed; a null is damage."""
    values = plan.trajectory()["joined"].to_pylist()
    giver = next(step for step, value in enumerate(values) if value > 1)
    taker = next(step for step in range(len(values)) if step != giver)
    moved = [value - (step == giver) + (step == taker) for step, value in enumerate(values)]
    forged = forge(plan, tmp_path / "moved", tables=trajectory(column("joined", lambda old: moved)))
    assert "wrong joined" in faults(problem, forged)
    forged = forge(plan, tmp_path / "null", tables=trajectory(column("joined", lambda old: [None, *old[1:]])))
    assert "wrong columns, or nulls in them" in faults(problem, forged)


@pytest.mark.parametrize("value", [-1, 10**9, 2**62])
def test_claimed_degrees_do_not_size_anything(problem: Problem, plan: Plan, tmp_path: Path, value: int) -> None:
    """A degree that no node has is refused, and no array is made as large as it."""
    record = {"exact": {"value": value, "scale": 1}, "objective": float(value)}
    forged = forge(plan, tmp_path / "forged", record=record)
    assert "wrong objective" in faults(problem, forged)


def parents(change: Callable[[list[list[int]]], list[list[int]]]) -> dict[str, Callable[[pa.Table], pa.Table]]:
    return {"decisions/forwarding/00000.parquet": column("parents", change)}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda lists: [[node] * len(row) for node, row in enumerate(lists)], "topics without exactly one root"),
        (lambda lists: [[len(lists) - 1 - node] * len(row) for node, row in enumerate(lists)], "topic"),
        (lambda lists: [row[1:] for row in lists], "topics of nodes other than the workload's"),
    ],
)
def test_wrong_trees_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, change: Callable[[list], list], fault: str
) -> None:
    """Each node as a root, parents that are not neighbours, and lists that are too short."""
    forged = forge(plan, tmp_path / "forged", tables=parents(change))
    assert any(fault in each for each in faults(problem, forged))


def test_circles_never_reach_a_root() -> None:
    """2, 3 and 4 forward to each other; 1 is one link from the root and 5 two."""
    ahead = np.array([0, 0, 3, 4, 2, 1])
    is_root = np.array([True, False, False, False, False, False])
    assert _depths(ahead, is_root).tolist() == [0, 1, -1, -1, -1, 2]


def test_blocks_of_forwarding_are_counted(problem: Problem, plan: Plan) -> None:
    """A plan that does not list its forwarding does not say what to forward."""
    left = {name: sha256 for name, sha256 in plan.record["files"].items() if "forwarding" not in name}
    forged = Plan(plan.path, {**plan.record, "files": left})
    (violation,) = verify(problem, forged).violations
    assert (violation.fault, violation.where) == ("file missing", "decisions/forwarding/00000.parquet")


@pytest.mark.parametrize("bound", ["forced", "joins", "node"])
@pytest.mark.parametrize("by", [-1, 1])
def test_other_bounds_than_recomputed_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, bound: str, by: int
) -> None:
    """One less and one more than the plan's."""

    def change(content: dict) -> dict:
        return {**content, "bound": {**content["bound"], "value": content["bound"]["value"] + by}}

    forged = forge(plan, tmp_path / "forged", certificates={bound: change})
    assert "wrong bound" in faults(problem, forged)


@pytest.mark.parametrize(("bound", "key", "value"), [("joins", "joins", 1), ("forced", "links", True)])
def test_other_evidence_is_named(
    problem: Problem, plan: Plan, tmp_path: Path, bound: str, key: str, value: object
) -> None:
    """f and g are alone in w and force one link: "true" is not 1."""

    def change(content: dict) -> dict:
        return {**content, "evidence": {**content["evidence"], key: value}}

    forged = forge(plan, tmp_path / "forged", certificates={bound: change})
    assert "wrong evidence" in faults(problem, forged)


@pytest.mark.kernel
@given(cases(max_nodes=6))
def test_bounds_and_diameters_are_those_of_the_definitions(case: Case) -> None:
    """Against twins that follow the definitions."""
    with tempfile.TemporaryDirectory() as directory:
        plan = solve(case.problem(Path(directory)), "gm-m").plan
        bounds, links = plan.record["bounds"], links_of(plan)
        assert bounds == {
            "forced": forced_bound(case.sets),
            "joins": joins_bound(case.sets),
            "node": node_bound(case.sets),
        }
        diameters = {row["topic_id"]: row["diameter"] for row in plan.decisions("topics").to_pylist()}
        assert diameters == {topic: distance(case.sets, topic, links) for topic in case.topics}


@given(cases(max_nodes=5))
def test_bounds_are_never_above_the_best(case: Case) -> None:
    """The best degree of all graphs that connect every topic."""
    best = best_degree(case.sets)
    assert max(joins_bound(case.sets), node_bound(case.sets), forced_bound(case.sets)) <= best
