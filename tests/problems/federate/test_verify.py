"""Verification: what is right passes, and nothing that is wrong does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracles.federate import Case, Publisher, keeps_capacities
from oracles.federate_plans import changes_for, decided
from oracles.forge import forge

from pubplan.planning import Exact, Plan
from pubplan.problems.federate.family import solve, verify
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem

CASE = Case(
    (6,),
    (6,),
    (
        Publisher(0, ((0, 4),), ((0, 2), (5, 1)), (0, 1)),
        Publisher(1, ((2, 6),), ((1, 3),), (1, 2)),
        Publisher(2, ((0, 6),), ((3, 4),), (0, 2)),
        Publisher(2, ((4, 6),), (), (2,)),
    ),
    ((1, 4, 7), (4, 1, 4), (7, 4, 1)),
    ((0, 2, 3), (2, 0, 2), (3, 2, 0)),
    (40, 0, 60),
    (3,),
)

REPEATED = "clusters with brokers out of order or repeated"

Tables = Mapping[str, Callable[[pa.Table], pa.Table]]


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path / "workload")


@pytest.fixture
def plan(problem: Problem, tmp_path: Path) -> Plan:
    return solve(problem, "greedy-packing", out=tmp_path / "plan").plan


def faults(problem: Problem, plan: Plan, target: Path, **changes: Any) -> set[str]:
    """What verify says of a plan with changes, under hashes that fit them."""
    return {violation.fault for violation in verify(problem, forge(plan, target, **changes)).violations}


def test_plans_by_hand_verify(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Tables that follow from the attachment by the definitions are those of the plan."""
    changed = forge(plan, tmp_path / "again", **changes_for(CASE, *decided(plan)))
    assert verify(problem, changed).ok
    assert changed.digest == plan.digest


def with_column(name: str, values: list[Any]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        position = table.schema.get_field_index(name)
        return table.set_column(position, table.schema.field(name), pa.array(values, table.schema.field(name).type))

    return change


def test_attachments_are_checked(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Forbidden brokers, full brokers and unknown ones."""
    attached, _ = decided(plan)
    path = "decisions/attachments/00000.parquet"
    reported = faults(problem, plan, tmp_path / "a", tables={path: with_column("broker", [2, *attached[1:]])})
    assert "clients at a broker that they may not use" in reported
    reported = faults(problem, plan, tmp_path / "b", tables={path: with_column("broker", [3, *attached[1:]])})
    assert reported == {"clients at a broker that does not exist"}
    reported = faults(problem, plan, tmp_path / "c", tables={path: with_column("client", [0, 1, 2, 2])})
    assert "clients missing, listed twice or out of order" in reported


def test_capacities_are_checked(tmp_path: Path) -> None:
    """A plan for brokers with less room than it uses is reported out, with everything else as it follows."""
    plan = solve(CASE.problem(tmp_path / "workload"), "greedy-packing").plan
    loads = plan.decisions("brokers")["load"].to_pylist()
    tight = replace(CASE, capacities=(loads[0], loads[1], loads[2]))
    problem = tight.problem(tmp_path / "tight")
    exact = solve(problem, "exact", bound="none").plan
    attached, _ = decided(exact)
    verdicts = set()
    for client in range(4):
        for broker in CASE.clients[client].allowed or ():
            moved = [broker if number == client else home for number, home in enumerate(attached)]
            changes = {"decisions/attachments/00000.parquet": with_column("broker", moved)}
            reported = faults(problem, exact, tmp_path / f"{client}-{broker}", tables=changes)
            is_over = not keeps_capacities(tight, moved)
            assert ("brokers with more traffic than their capacity" in reported) == is_over
            verdicts.add(is_over)
    assert verdicts == {True, False}


@pytest.mark.parametrize(
    ("parents", "fault"),
    [
        ([-1, -1, 1], "tree that is not one"),
        ([1, 0, -1], "tree that is not one"),
        ([-1, 7, 1], "tree that is not one"),
        ([-1, 0, -2], "tree that does not reach all brokers with subscribers"),
        ([-1, 0, 0], "spanning tree that is not minimum"),
        ([-3, -1, 1], "tree that is not one"),
    ],
)
def test_trees_are_checked(problem: Problem, plan: Plan, tmp_path: Path, parents: list[int], fault: str) -> None:
    """Two roots, circles, unknown brokers, missing brokers, and 2 + 3 where 2 + 2 is enough."""
    _, rows = decided(plan)
    position = next(number for number, row in enumerate(rows) if -2 not in row[2])
    lists = [parents if number == position else list(row[2]) for number, row in enumerate(rows)]
    assert fault in faults(
        problem, plan, tmp_path / "forged", tables={"decisions/trees.parquet": with_column("parents", lists)}
    )


def test_trees_are_complete(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A tree more or less, and lists that are too short."""
    fault = "trees missing, repeated, out of order or without messages"
    assert fault in faults(problem, plan, tmp_path / "less", tables={"decisions/trees.parquet": lambda t: t.slice(1)})
    twice = {"decisions/trees.parquet": lambda table: pa.concat_tables([table, table])}
    assert fault in faults(problem, plan, tmp_path / "more", tables=twice)
    _, rows = decided(plan)
    short = {"decisions/trees.parquet": with_column("parents", [[-1, 0] for _ in rows])}
    assert faults(problem, plan, tmp_path / "short", tables=short) == {"trees without an entry for each broker"}


@pytest.mark.parametrize(
    ("table", "column", "change", "fault"),
    [
        ("laminar-brokers", "price", lambda values: [-1, *values[1:]], "prices of room that are missing or negative"),
        (
            "laminar-brokers",
            "price",
            lambda values: [values[0], 5, values[2]],
            "price of room at a broker without a limit",
        ),
        ("laminar-brokers", "price", lambda values: [values[0] + 2**20, *values[1:]], "wrong bound"),
        (
            "laminar-clusters",
            "length",
            lambda values: [values[0] + 1, *values[1:]],
            "clusters that are longer than a link into them",
        ),
        (
            "laminar-clusters",
            "length",
            lambda values: [-1, *values[1:]],
            "clusters out of order, or with a negative length",
        ),
        ("laminar-clusters", "brokers", lambda values: [[9], *values[1:]], "clusters of brokers that do not exist"),
        ("laminar-clusters", "brokers", lambda values: [values[0] * 2, *values[1:]], REPEATED),
        (
            "laminar-shares",
            "client",
            lambda values: [*values[:-1], 99],
            "shares of what does not exist, or out of range",
        ),
        ("laminar-shares", "share", lambda values: [-1, *values[1:]], "shares of what does not exist, or out of range"),
        ("laminar-shares", "share", lambda values: [value + 10**9 for value in values], "wrong bound"),
        ("laminar-shares", "client", lambda values: values[::-1], "shares out of order"),
        ("access-brokers", "price", lambda values: [values[0] + 2**20, *values[1:]], "wrong bound"),
    ],
)
def test_evidence_is_checked(
    problem: Problem,
    plan: Plan,
    tmp_path: Path,
    table: str,
    column: str,
    change: Callable[[list[Any]], list[Any]],
    fault: str,
) -> None:
    """Multipliers that are not allowed, or that prove something else than the plan says."""
    name, kind = table.split("-")
    values = plan.certificate_block(name, kind, 0)[column].to_pylist()
    assert values
    tables = {f"certificate/{table}/00000.parquet": with_column(column, change(values))}
    assert fault in faults(problem, plan, tmp_path / "forged", tables=tables)


@pytest.mark.parametrize("scale", [0, 3, True, "1024", 1024.0, 2**40])
def test_scales_are_powers_of_two(problem: Problem, plan: Plan, tmp_path: Path, scale: object) -> None:
    """A scale is one of those that bounds have."""
    changed = {"laminar": lambda content: {**content, "evidence": {"scale": scale}}}
    assert "scale that is not a power of two" in faults(problem, plan, tmp_path / "forged", certificates=changed)


def test_bounds_are_not_raised(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A bound that is one higher than its evidence proves."""
    for name in ("access", "laminar"):
        bound = plan.certificate(name).bound
        higher = Exact(bound.value + 1, DOLLAR_SCALE)
        changed = {name: lambda content, higher=higher: {**content, "bound": higher.to_dict()}}
        record = {"bounds": {**plan.record["bounds"], name: higher.rounded_down()}}
        assert "wrong bound" in faults(problem, plan, tmp_path / name, certificates=changed, record=record)


def test_two_attributes_and_traffic_cuts_verify(tmp_path: Path) -> None:
    """Channels in two dimensions, cut by traffic, with every routing."""
    case = Case(
        (4, 6),
        (4, 3),
        tuple(
            Publisher(site, ((site, site + 2), (0, 3 + site)), ((site, 3), (7, 1 + site), (11, 2))) for site in range(3)
        ),
        ((1, 2), (2, 1), (3, 3)),
        ((0, 5), (5, 0)),
        (0, 0),
        (2, 3),
    )
    workload = case.workload(tmp_path / "workload")
    for routing in ("spanning", "steiner", "acyclic"):
        for cost in ("shared", "replicating"):
            problem = Problem(workload, channels="2x3", cut="traffic", routing=routing, cost=cost)  # type: ignore[arg-type]
            assert solve(problem, "steiner-mixing").plan.record["verified"]
