"""verify finds every lie about a fleet, also under hashes and numbers that fit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracles.forge import forge
from oracles.provision import PLACED, Case, Machine, Placements, placements_of, rows_into, told_of

from pubplan.errors import InputError, VerificationFailed
from pubplan.planning import Plan, Verdict, solve_problem
from pubplan.problems import problem_of
from pubplan.problems.provision import FAMILY, Problem, cbp, gsp, solve, verify
from pubplan.problems.provision.methods import _run
from pubplan.problems.provision.packing import Packing, packing_of

CASE = Case(
    {"a": 4, "b": 3, "c": 2},
    {"w": ("a", "b"), "x": ("a", "c"), "y": ("a",), "z": ("b", "c")},
    5,
    (Machine("large", 18, 200), Machine("small", 12, 190), Machine("tiny", 7, 1)),
    dict.fromkeys("abc", 1),
)
"""Everybody needs everything but y, who has 4 of 4: three pairs of a, two of b, two of c. Streams of 4, 3 and 2 make
16 + 9 + 6 = 31 bytes, one pair at least fits every type but a the tiny one, which y cannot do without."""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    """a alone on a large VM, b and c on another: 22 out, 9 in, 40 for VMs."""
    plan = solve(problem, "gsp+cbp", bound="none").plan
    assert placements_of(plan) == [[(0, 0), (1, 1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]]
    assert plan.exact.value == 22 + 9 + 40
    return plan


def limits(verdict: Verdict) -> set[str]:
    return {violation.limit for violation in verdict.violations}


def forged(plan: Plan, target: Path, placements: Placements, num_vms: int | None = None) -> Plan:
    """Other placements, with every number as it follows from them."""
    return forge(plan, target, **told_of(CASE, plan, placements, num_vms))


def test_an_honest_plan_passes(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Also when it is told anew from its own placements."""
    assert verify(problem, plan).ok
    assert verify(problem, forged(plan, tmp_path / "f", placements_of(plan))).ok


def test_another_fleet_may_be_honest_too(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """b and c on VMs of their own: one VM more, 20 micro-dollars more, and nothing wrong with it."""
    three = [[(0, 0), (1, 1)], [(0, 0), (2, 2)], [(0, 0)], [(1, 1), (2, 2)]]
    verdict = verify(problem, forged(plan, tmp_path / "f", three, 3))
    assert (verdict.violations, verdict.objective.value) == ((), 91)


@pytest.mark.parametrize(
    ("placements", "limit", "have"),
    [
        ([[(0, 0), (1, 1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1)]], "subscribers satisfied", 1),
        ([[(1, 1)], [(0, 0)], [], [(1, 1), (2, 1)]], "subscribers satisfied", 3),
        ([[(0, 0), (1, 1), (1, 1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "pairs placed once, ascending", 1),
        ([[(1, 1), (0, 0)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "pairs placed once, ascending", 1),
        ([[(0, 0), (1, 1)], [(0, 0), (2, 1)], [(0, 0), (2, 1)], [(1, 1), (2, 1)]], "only interests are placed", 1),
        ([[(0, 0), (1, 2)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "VM exists", 1),
        ([[(0, 0), (1, -1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "VM exists", 1),
    ],
    ids=["one lacks", "three lack", "twice", "order", "foreign", "VM beyond", "VM below"],
)
def test_wrong_placements_are_found(
    problem: Problem, plan: Plan, tmp_path: Path, placements: Placements, limit: str, have: int
) -> None:
    """With the number of cases, while every other number fits."""
    verdict = verify(problem, forged(plan, tmp_path / "f", placements))
    assert {violation.limit: violation.have for violation in verdict.violations}[limit] == have


@pytest.mark.parametrize("topic", [-1, 3])
def test_topics_that_do_not_exist_are_found(problem: Problem, plan: Plan, tmp_path: Path, topic: int) -> None:
    """Neither below the first nor beyond the last."""
    rows = [(0, [topic], [0]), (1, [0, 2], [0, 1]), (2, [0], [0]), (3, [1, 2], [1, 1])]
    other = forge(plan, tmp_path / "f", tables={PLACED: rows_into(rows)})
    assert "topic exists" in limits(verify(problem, other))


def test_incoming_streams_count(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """The first VM sends three pairs of a and one of c, 14 of 18; with the streams that it receives it is 20."""
    placements = [[(0, 0), (1, 1)], [(0, 0), (2, 0)], [(0, 0)], [(1, 1), (2, 1)]]
    verdict = verify(problem, forged(plan, tmp_path / "f", placements))
    (violation,) = (violation for violation in verdict.violations if violation.limit == "bytes per VM")
    assert (violation.need, violation.have, violation.where) == (20, 18, "VM 0")


def last_plus(column: str, more: object = 1) -> Callable[[pa.Table], pa.Table]:
    """One more, or something else, in the last row of a column; in that of the chosen VM type, where there is one."""

    def change(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        row = next((row for row in rows if row.get("chosen")), rows[-1])
        row[column] = row[column] + more if isinstance(more, int) else more
        return rows_into(tuple(row.values()) for row in rows)(table)

    return change


@pytest.mark.parametrize("column", ["used", "incoming", "outgoing", "topics", "pairs", "price"])
def test_wrong_numbers_of_vms_are_found(problem: Problem, plan: Plan, tmp_path: Path, column: str) -> None:
    """Each of them."""
    other = forge(plan, tmp_path / "f", tables={"decisions/vms.parquet": last_plus(column)})
    assert limits(verify(problem, other)) == {f"{column} of VMs as recomputed"}


@pytest.mark.parametrize(
    "column", ["limit", "vms", "incoming", "outgoing", "vm_cost", "incoming_cost", "outgoing_cost", "cost"]
)
def test_wrong_numbers_of_the_type_are_found(problem: Problem, plan: Plan, tmp_path: Path, column: str) -> None:
    """Each of them."""
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": last_plus(column)})
    assert f"{column} as recomputed" in limits(verify(problem, other))


@pytest.mark.parametrize(
    ("table", "change", "limit"),
    [
        ("vms", last_plus("vm"), "VMs are numbered from 0"),
        ("vms", last_plus("type", "small"), "VMs are of the chosen type"),
        ("types", last_plus("type", "huge"), "one row per VM type"),
        ("types", last_plus("chosen", "no"), "one VM type is chosen"),
        ("types", lambda table: table.slice(0, 2), "one row per VM type"),
        ("vms", lambda table: table.drop_columns(["price"]), "columns without nulls"),
        ("splits", lambda table: table.append_column("more", pa.array([], pa.int64())), "columns without nulls"),
        ("splits", rows_into([(1, "b", 1, 2)]), "topics on several VMs as recomputed"),
        ("types", lambda table: table.set_column(10, "refused", pa.nulls(3, pa.string())), "columns without nulls"),
    ],
    ids=["number", "type", "unknown type", "none chosen", "type lost", "columns", "more", "no split", "nulls"],
)
def test_wrong_tables_are_found(problem: Problem, plan: Plan, tmp_path: Path, table: str, change, limit: str) -> None:
    """Columns, numbering, types, and splits that are none."""
    if limit == "one VM type is chosen":
        change = lambda table: rows_into(  # noqa: E731
            tuple({**row, "chosen": False}.values()) for row in table.to_pylist()
        )(table)
    other = forge(plan, tmp_path / "f", tables={f"decisions/{table}.parquet": change})
    assert limit in limits(verify(problem, other))


def test_splits_are_recomputed(tmp_path: Path) -> None:
    """Five pairs of a topic on VMs that take three: the table must say 3 and 2, under the topic's name."""
    case = Case({"a": 4}, {f"s{n}": ("a",) for n in range(5)}, 4, (Machine("m", 16, 10),), {"a": 1})
    problem = case.problem(tmp_path)
    plan = solve(problem, "gsp+cbp", bound="none").plan
    assert [tuple(row.values()) for row in plan.decisions("splits").to_pylist()] == [(0, "a", 0, 3), (0, "a", 1, 2)]
    for number, (rows, limit) in enumerate(
        [
            ([(0, "a", 0, 2), (0, "a", 1, 3)], "topics on several VMs as recomputed"),
            ([(0, "a", 0, 3)], "topics on several VMs as recomputed"),
            ([], "topics on several VMs as recomputed"),
            ([(0, "a", 0, 3), (0, "b", 1, 2)], "topic_id belongs to topic"),
        ]
    ):
        other = forge(plan, tmp_path / f"f{number}", tables={"decisions/splits.parquet": rows_into(rows)})
        assert limits(verify(problem, other)) == {limit}


@pytest.mark.parametrize(
    "rows",
    [
        [(0, [0, 1], [0, 1]), (1, [0, 2], [0, 1]), (2, [0], [0])],
        [(1, [0, 1], [0, 1]), (0, [0, 2], [0, 1]), (2, [0], [0]), (3, [1, 2], [1, 1])],
        [(0, [0, 1], [0]), (1, [0, 2], [0, 1, 1]), (2, [0], [0]), (3, [1, 2], [1, 1])],
    ],
    ids=["fewer", "order", "uneven"],
)
def test_placements_are_one_row_per_subscriber(problem: Problem, plan: Plan, tmp_path: Path, rows) -> None:
    """In order, with as many VMs as topics."""
    other = forge(plan, tmp_path / "f", tables={PLACED: rows_into(rows)})
    assert "placements are as many lists" in limits(verify(problem, other))


def test_a_wrong_cost_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A micro-dollar less than the truth, in the record alone or in the table of types too."""
    record = {"exact": {"value": plan.exact.value - 1, "scale": 10**6}, "objective": (plan.exact.value - 1) / 10**6}
    assert limits(verify(problem, forge(plan, tmp_path / "a", record=record))) == {"objective as recomputed"}
    tables = {"decisions/types.parquet": last_plus("cost", -1)}
    other = forge(plan, tmp_path / "b", record=record, tables=tables)
    assert limits(verify(problem, other)) == {"objective as recomputed", "cost as recomputed"}


def test_a_dearer_type_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """An honest fleet of small VMs, while the table says that large ones cost less."""
    small = solve(
        Problem(problem.workload, [CASE.machines[1].vm_type], 5, window_seconds=8, message_bytes=1), "gsp+cbp"
    )
    chosen = plan.decisions("types").to_pylist()
    chosen[0]["chosen"], chosen[1]["chosen"] = False, True
    assert chosen[1]["cost"] == small.exact.value > chosen[0]["cost"]

    def of_small(name: str) -> Callable[[pa.Table], pa.Table]:
        return lambda table: small.plan.decisions(name)

    other = forge(
        plan,
        tmp_path / "f",
        record={"exact": small.exact.to_dict(), "objective": small.objective},
        tables={
            PLACED: lambda table: small.plan.decisions_block("placements", 0),
            "decisions/vms.parquet": of_small("vms"),
            "decisions/splits.parquet": of_small("splits"),
            "decisions/types.parquet": rows_into([tuple(row.values()) for row in chosen]),
        },
    )
    assert limits(verify(problem, other)) == {"the cheapest VM type is chosen"}


def test_a_missing_block_is_found(problem: Problem, plan: Plan) -> None:
    """Placements have a block for each of the interests."""
    files = {name: value for name, value in plan.record["files"].items() if name != PLACED}
    (violation,) = verify(problem, Plan(plan.path, {**plan.record, "files": files})).violations
    assert (violation.limit, violation.have, violation.where) == ("file expected", "missing", PLACED)


def test_another_problem_is_not_answered(problem: Problem, plan: Plan) -> None:
    """Other prices, another peak: another question."""
    others: list[dict[str, Any]] = [{"peak_factor": 2}, {"headroom": "5%"}, {"threshold": 4}, {"budget": 1}]
    for other in others:
        asked = FAMILY.restore(problem.workload, {**problem.to_parameters(), **other})
        with pytest.raises(InputError, match=f"{next(iter(other))} differ"):
            verify(asked, plan)


def test_solve_refuses_to_write_a_broken_plan(problem: Problem, tmp_path: Path, monkeypatch) -> None:
    """A packing that forgets the streams into VMs is caught before anybody sees its plan: 31 bytes on a VM of 18."""

    def all_on_one(problem: Problem, vm_type, selection, parameters, seed, spark) -> Packing:
        parts = np.array([(topic, 0, pairs) for topic, pairs in enumerate(selection.counts)])
        return packing_of(problem, vm_type, parts)

    broken = partial(_run, gsp.STAGE, replace(cbp.STAGE, pack=all_on_one))
    method = replace(FAMILY.methods["gsp+cbp"], run=broken)
    family = replace(FAMILY, methods={**FAMILY.methods, "gsp+cbp": method})
    with pytest.raises(VerificationFailed, match="bytes per VM"):
        solve_problem(family, problem, "gsp+cbp", bound="none", out=tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def type_row(name: str, **changes: object) -> Callable[[pa.Table], pa.Table]:
    """Other values in the row of a VM type."""

    def change(table: pa.Table) -> pa.Table:
        rows = [row | changes if row["type"] == name else row for row in table.to_pylist()]
        return rows_into(tuple(row.values()) for row in rows)(table)

    return change


@pytest.mark.parametrize(
    ("name", "changes", "limit"),
    [
        ("small", {"limit": -1}, "limit as recomputed"),
        ("tiny", {"limit": 8}, "limit as recomputed"),
        ("small", {"vms": -5}, "VMs and bytes are counts"),
        ("small", {"outgoing": -22}, "VMs and bytes are counts"),
        ("small", {"cost": 10**12}, "cost as recomputed"),
        ("small", {"vm_cost": 0}, "vm_cost as recomputed"),
        ("small", {"incoming_cost": 0}, "incoming_cost as recomputed"),
        ("small", {"outgoing_cost": 0}, "outgoing_cost as recomputed"),
        ("small", {"vms": 2, "vm_cost": 38}, "bytes per VM"),
        ("small", {"vms": 8, "vm_cost": 152}, "VMs carry at least one pair each"),
        ("small", {"incoming": 23}, "a stream that is received is sent"),
        ("small", {"refused": "no such machines"}, "types are refused that cannot satisfy everybody"),
        ("tiny", {"refused": ""}, "types are refused that cannot satisfy everybody"),
        ("tiny", {"vms": 1}, "a refused type has no fleet"),
    ],
    ids=str,
)
def test_rows_of_other_types_are_checked(
    problem: Problem, plan: Plan, tmp_path: Path, name: str, changes: dict[str, Any], limit: str
) -> None:
    """Small VMs carry 12: four of them, and no more than there are pairs; tiny ones do not take a, which y needs."""
    rows = {row["type"]: row for row in plan.decisions("types").to_pylist()}
    assert (rows["small"]["vms"], rows["small"]["incoming"], rows["small"]["outgoing"]) == (4, 13, 22)
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": type_row(name, **changes)})
    assert limit in limits(verify(problem, other))


def test_other_types_are_held_to_their_bounds(problem: Problem, tmp_path: Path) -> None:
    """Small VMs for 22 bytes out and none in would need 2 of them, which bounds rule out: every stream flows in."""
    plan = solve(problem, "gsp+cbp").plan
    numbers = {"vms": 2, "incoming": 0, "incoming_cost": 0, "vm_cost": 38, "cost": 22 + 38}
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": type_row("small", **numbers)})
    assert "cost within the bound of the type" in limits(verify(problem, other))


@pytest.mark.parametrize(("budget", "bound"), [("0.000070", "none"), ("0.000060", "paper"), ("0.000071", "none")])
def test_budgets_are_checked(problem: Problem, tmp_path: Path, budget: str, bound: str) -> None:
    """A plan of 71 micro-dollars keeps a budget of 71, and says of a lower one that it is undecided.

    Whoever claims another budget for it has to say the same, and cannot claim one below its bound.
    """
    asked = replace(problem, budget=budget)
    plan = solve(asked, "gsp+cbp", bound=bound).plan
    assert verify(asked, plan).ok
    assert [reason["limit"] for reason in plan.record["reasons"]].count("budget in dollars") == (budget < "0.000071")
    other = forge(plan, tmp_path / "f", record={"parameters": {**plan.record["parameters"], "budget": "0.00001"}})
    found = limits(verify(replace(problem, budget="0.00001"), other))
    assert "what reasons say of the budget" in found
    assert ("no plan is written for a budget below a bound" in found) == (bound == "paper")


def test_prices_beyond_64_bits_are_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A rent of 10^30 is damage, in a plan and in a catalogue."""
    parameters = plan.record["parameters"]
    vm_types = [{**vm_type, "micros_per_hour": 10**30} for vm_type in parameters["vm_types"]]
    other = forge(plan, tmp_path / "f", record={"parameters": {**parameters, "vm_types": vm_types}})
    with pytest.raises(InputError, match="micros_per_hour"):
        problem_of(other, problem.workload)
