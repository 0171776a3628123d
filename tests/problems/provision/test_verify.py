"""verify finds every lie about a fleet, also under hashes and numbers that fit it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracles.forge import forge
from oracles.provision import PLACED, Case, Machine, Placements, faults, placements_of, rows_into, stated_for

from pubplan.engine import open_store
from pubplan.errors import InputError, VerificationFailed
from pubplan.planning import Plan, solve_problem
from pubplan.problems import problem_of
from pubplan.problems.provision import FAMILY, Problem, solve, verify
from pubplan.problems.provision.instance import Instance
from pubplan.problems.provision.kernels.packing import Portions
from pubplan.problems.provision.methods import cbp, gsp
from pubplan.problems.provision.packing import Packing, packing_of
from pubplan.problems.provision.stages import _run
from pubplan.problems.provision.verifier.bounds import BoundChecks
from pubplan.problems.provision.verifier.costs import Terms
from pubplan.problems.provision.verifier.evaluate import _evaluator

CASE = Case(
    {"a": 4, "b": 3, "c": 2},
    {"w": ("a", "b"), "x": ("a", "c"), "y": ("a",), "z": ("b", "c")},
    5,
    (Machine("large", 18, 200), Machine("small", 12, 190), Machine("tiny", 7, 1)),
    dict.fromkeys("abc", 1),
)
"""Every subscriber needs all its topics, y 4 of 4: three pairs of a, two of b, two of c. Streams of 4, 3 and 2 make
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


def forged(plan: Plan, target: Path, placements: Placements, num_vms: int | None = None) -> Plan:
    """Other placements, with every number as it follows from them."""
    return forge(plan, target, **stated_for(CASE, plan, placements, num_vms))


def test_an_honest_plan_passes(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Also when every number is stated again from its placements."""
    assert verify(problem, plan).ok
    assert verify(problem, forged(plan, tmp_path / "f", placements_of(plan))).ok


def test_another_fleet_may_be_honest_too(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """b and c each alone on a VM: one VM more, 20 micro-dollars more, and nothing wrong with it."""
    three = [[(0, 0), (1, 1)], [(0, 0), (2, 2)], [(0, 0)], [(1, 1), (2, 2)]]
    verdict = verify(problem, forged(plan, tmp_path / "f", three, 3))
    assert (verdict.violations, verdict.objective.value) == ((), 91)


def test_tasks_do_not_take_the_problem_along(problem: Problem, plan: Plan) -> None:
    """What evaluates blocks holds what it needs, not a problem with all arrays that were read for it."""
    terms = Terms.of(problem)
    evaluate = _evaluator(problem, terms, plan, 2, BoundChecks.of(terms, plan), [range(1)], open_store(None))
    held = inspect.getclosurevars(evaluate).nonlocals
    assert held["workload"] is problem.workload
    assert not [name for name, value in held.items() if isinstance(value, Problem | Instance)]


@pytest.mark.parametrize(
    ("placements", "fault", "cases"),
    [
        ([[(0, 0), (1, 1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1)]], "subscribers not satisfied", 1),
        ([[(1, 1)], [(0, 0)], [], [(1, 1), (2, 1)]], "subscribers not satisfied", 3),
        (
            [[(0, 0), (1, 1), (1, 1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]],
            "pairs placed twice or out of order",
            1,
        ),
        ([[(1, 1), (0, 0)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "pairs placed twice or out of order", 1),
        (
            [[(0, 0), (1, 1)], [(0, 0), (2, 1)], [(0, 0), (2, 1)], [(1, 1), (2, 1)]],
            "placed pairs that are not interests",
            1,
        ),
        ([[(0, 0), (1, 2)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "placements on VMs that do not exist", 1),
        ([[(0, 0), (1, -1)], [(0, 0), (2, 1)], [(0, 0)], [(1, 1), (2, 1)]], "placements on VMs that do not exist", 1),
    ],
    ids=["one lacks", "three lack", "twice", "order", "foreign", "VM beyond", "VM below"],
)
def test_wrong_placements_are_detected(
    problem: Problem, plan: Plan, tmp_path: Path, placements: Placements, fault: str, cases: int
) -> None:
    """With the number of cases, while every other number fits."""
    verdict = verify(problem, forged(plan, tmp_path / "f", placements))
    (violation,) = (each for each in verdict.violations if each.fault == fault)
    assert (violation.cases, violation.where) == (cases, "placements")
    assert str(violation) == f"{fault}: {cases} (placements)"


@pytest.mark.parametrize("topic", [-1, 3])
def test_topics_that_do_not_exist_are_detected(problem: Problem, plan: Plan, tmp_path: Path, topic: int) -> None:
    """Neither below the first nor beyond the last."""
    rows = [(0, [topic], [0]), (1, [0, 2], [0, 1]), (2, [0], [0]), (3, [1, 2], [1, 1])]
    other = forge(plan, tmp_path / "f", tables={PLACED: rows_into(rows)})
    assert "placements of topics that do not exist" in faults(verify(problem, other))


def test_incoming_streams_count(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """The first VM sends three pairs of a and one of c, 14 of 18; with the streams that it receives it is 20."""
    placements = [[(0, 0), (1, 1)], [(0, 0), (2, 0)], [(0, 0)], [(1, 1), (2, 1)]]
    verdict = verify(problem, forged(plan, tmp_path / "f", placements))
    (violation,) = (each for each in verdict.violations if each.fault == "VM above its limit")
    assert violation.where == "VM 0: 20 bytes of 18 bytes"


def last_plus(column: str, more: object = 1) -> Callable[[pa.Table], pa.Table]:
    """One more, or something else, in the last row of a column; in that of the chosen VM type, where there is one."""

    def change(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        row = next((row for row in rows if row.get("chosen")), rows[-1])
        row[column] = row[column] + more if isinstance(more, int) else more
        return rows_into(tuple(row.values()) for row in rows)(table)

    return change


@pytest.mark.parametrize("column", ["used", "incoming", "outgoing", "topics", "pairs", "price"])
def test_wrong_numbers_of_vms_are_detected(problem: Problem, plan: Plan, tmp_path: Path, column: str) -> None:
    """Each of them."""
    other = forge(plan, tmp_path / "f", tables={"decisions/vms.parquet": last_plus(column)})
    assert faults(verify(problem, other)) == {f"VMs with a wrong '{column}'"}


@pytest.mark.parametrize(
    "column", ["limit", "vms", "incoming", "outgoing", "vm_cost", "incoming_cost", "outgoing_cost", "cost"]
)
def test_wrong_numbers_of_the_type_are_detected(problem: Problem, plan: Plan, tmp_path: Path, column: str) -> None:
    """Each of them."""
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": last_plus(column)})
    expected = "wrong limit" if column == "limit" else f"wrong '{column}'"
    assert expected in faults(verify(problem, other))


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        ("vms", last_plus("vm"), "VMs not numbered 0, 1, 2 …"),
        ("vms", last_plus("type", "small"), "VMs of a type that is not chosen"),
        ("types", last_plus("type", "huge"), "wrong VM types"),
        ("types", last_plus("chosen", "no"), "wrong number of chosen VM types"),
        ("types", lambda table: table.slice(0, 2), "wrong VM types"),
        ("vms", lambda table: table.drop_columns(["price"]), "wrong columns, or nulls in them"),
        (
            "splits",
            lambda table: table.append_column("more", pa.array([], pa.int64())),
            "wrong columns, or nulls in them",
        ),
        ("splits", rows_into([(1, "b", 1, 2)]), "wrong portions of topics on several VMs"),
        (
            "types",
            lambda table: table.set_column(10, "refused", pa.nulls(3, pa.string())),
            "wrong columns, or nulls in them",
        ),
    ],
    ids=["number", "type", "unknown type", "none chosen", "type lost", "columns", "more", "no split", "nulls"],
)
def test_wrong_tables_are_detected(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, change, fault: str
) -> None:
    """Columns, numbering, types, and splits that are none."""
    if fault == "wrong number of chosen VM types":
        change = lambda table: rows_into(  # noqa: E731
            tuple({**row, "chosen": False}.values()) for row in table.to_pylist()
        )(table)
    other = forge(plan, tmp_path / "f", tables={f"decisions/{table}.parquet": change})
    assert fault in faults(verify(problem, other))


def test_splits_are_recomputed(tmp_path: Path) -> None:
    """Five pairs of a topic on VMs that take three: the table must say 3 and 2, under the topic's name."""
    case = Case({"a": 4}, {f"s{n}": ("a",) for n in range(5)}, 4, (Machine("m", 16, 10),), {"a": 1})
    problem = case.problem(tmp_path)
    plan = solve(problem, "gsp+cbp", bound="none").plan
    assert [tuple(row.values()) for row in plan.decisions("splits").to_pylist()] == [(0, "a", 0, 3), (0, "a", 1, 2)]
    for number, (rows, fault) in enumerate(
        [
            ([(0, "a", 0, 2), (0, "a", 1, 3)], "wrong portions of topics on several VMs"),
            ([(0, "a", 0, 3)], "wrong portions of topics on several VMs"),
            ([], "wrong portions of topics on several VMs"),
            ([(0, "a", 0, 3), (0, "b", 1, 2)], "topics under the id of another topic"),
        ]
    ):
        other = forge(plan, tmp_path / f"f{number}", tables={"decisions/splits.parquet": rows_into(rows)})
        assert faults(verify(problem, other)) == {fault}


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
    assert "blocks without a list of topics and one of VMs for every subscriber" in faults(verify(problem, other))


def test_a_wrong_cost_is_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A micro-dollar less than the truth, in the record alone or in the table of types too."""
    record = {"exact": {"value": plan.exact.value - 1, "scale": 10**6}, "objective": (plan.exact.value - 1) / 10**6}
    assert faults(verify(problem, forge(plan, tmp_path / "a", record=record))) == {"wrong objective"}
    tables = {"decisions/types.parquet": last_plus("cost", -1)}
    other = forge(plan, tmp_path / "b", record=record, tables=tables)
    assert faults(verify(problem, other)) == {"wrong objective", "wrong 'cost'"}


def test_a_more_expensive_type_is_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
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
    assert faults(verify(problem, other)) == {"wrong choice, as another VM type is cheaper"}


def test_a_missing_block_is_detected(problem: Problem, plan: Plan) -> None:
    """Placements have a block for each of the interests."""
    files = {name: value for name, value in plan.record["files"].items() if name != PLACED}
    (violation,) = verify(problem, Plan(plan.path, {**plan.record, "files": files})).violations
    assert (violation.fault, violation.where) == ("file missing", PLACED)


def test_another_problem_is_not_answered(problem: Problem, plan: Plan) -> None:
    """Other prices, another peak: another question."""
    others: list[dict[str, Any]] = [{"peak_factor": 2}, {"headroom": "5%"}, {"threshold": 4}, {"budget": 1}]
    for other in others:
        asked = FAMILY.request.from_plan({**problem.to_parameters(), **other}).problem(problem.workload)
        with pytest.raises(InputError, match=f"{next(iter(other))} differ"):
            verify(asked, plan)


def test_solve_refuses_to_write_a_broken_plan(problem: Problem, tmp_path: Path, monkeypatch) -> None:
    """A packing that forgets the streams into VMs is caught before its plan is written: 31 bytes on a VM of 12."""

    def all_on_one(problem: Problem, vm_type, selection, parameters, seed, spark) -> Packing:
        topics = np.arange(len(selection.counts))
        return packing_of(problem, vm_type, Portions(topics, np.zeros_like(topics), selection.counts))

    broken = partial(_run, gsp.STAGE, replace(cbp.STAGE, pack=all_on_one))
    method = replace(FAMILY.methods["gsp+cbp"], run=broken)
    family = replace(FAMILY, methods={**FAMILY.methods, "gsp+cbp": method})
    with pytest.raises(VerificationFailed, match=r"VM above its limit \(VM 0: 31 bytes of 12 bytes\)"):
        solve_problem(family, problem, "gsp+cbp", bound="none", out=tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def type_row(name: str, **changes: object) -> Callable[[pa.Table], pa.Table]:
    """Other values in the row of a VM type."""

    def change(table: pa.Table) -> pa.Table:
        rows = [row | changes if row["type"] == name else row for row in table.to_pylist()]
        return rows_into(tuple(row.values()) for row in rows)(table)

    return change


@pytest.mark.parametrize(
    ("name", "changes", "fault"),
    [
        ("small", {"limit": -1}, "wrong limit"),
        ("tiny", {"limit": 8}, "wrong limit"),
        ("small", {"vms": -5}, "negative number of VMs or bytes"),
        ("small", {"outgoing": -22}, "negative number of VMs or bytes"),
        ("small", {"cost": 10**12}, "wrong 'cost'"),
        ("small", {"vm_cost": 0}, "wrong 'vm_cost'"),
        ("small", {"incoming_cost": 0}, "wrong 'incoming_cost'"),
        ("small", {"outgoing_cost": 0}, "wrong 'outgoing_cost'"),
        ("small", {"vms": 2, "vm_cost": 38}, "VMs above their limit"),
        ("small", {"vms": 8, "vm_cost": 152}, "more VMs than pairs"),
        ("small", {"incoming": 23}, "more bytes received than sent"),
        ("small", {"refused": "no such machines"}, "refused VM type that can satisfy every subscriber"),
        ("tiny", {"refused": ""}, "fleet of a VM type that cannot satisfy every subscriber"),
        ("tiny", {"vms": 1}, "numbers of a fleet for a refused VM type"),
    ],
    ids=str,
)
def test_rows_of_other_types_are_checked(
    problem: Problem, plan: Plan, tmp_path: Path, name: str, changes: dict[str, Any], fault: str
) -> None:
    """Small VMs carry 12: four of them, and no more than there are pairs; tiny ones do not take a, which y needs."""
    rows = {row["type"]: row for row in plan.decisions("types").to_pylist()}
    assert (rows["small"]["vms"], rows["small"]["incoming"], rows["small"]["outgoing"]) == (4, 13, 22)
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": type_row(name, **changes)})
    assert fault in faults(verify(problem, other))


def test_other_types_are_held_to_their_bounds(problem: Problem, tmp_path: Path) -> None:
    """Small VMs for 22 bytes out and none in would need 2 of them, which bounds rule out: every stream flows in."""
    plan = solve(problem, "gsp+cbp").plan
    numbers = {"vms": 2, "incoming": 0, "incoming_cost": 0, "vm_cost": 38, "cost": 22 + 38}
    other = forge(plan, tmp_path / "f", tables={"decisions/types.parquet": type_row("small", **numbers)})
    assert "cost below the bound of the VM type" in faults(verify(problem, other))


@pytest.mark.parametrize(("budget", "bound"), [("0.000070", "none"), ("0.000060", "paper"), ("0.000071", "none")])
def test_budgets_are_checked(problem: Problem, tmp_path: Path, budget: str, bound: str) -> None:
    """A plan of 71 micro-dollars keeps a budget of 71, and says of a lower one that it is undecided.

    A plan that claims another budget has to say the same, and cannot claim one below its bound.
    """
    asked = replace(problem, budget=budget)
    plan = solve(asked, "gsp+cbp", bound=bound).plan
    assert verify(asked, plan).ok
    assert [reason["limit"] for reason in plan.record["reasons"]].count("budget in dollars") == (budget < "0.000071")
    other = forge(plan, tmp_path / "f", record={"parameters": {**plan.record["parameters"], "budget": "0.00001"}})
    stated = faults(verify(replace(problem, budget="0.00001"), other))
    assert "wrong statement about the budget" in stated
    assert ("plan for a budget that a bound rules out" in stated) == (bound == "paper")


def test_prices_beyond_64_bits_are_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A rent of 10^30 is damage, in a plan and in a catalogue."""
    parameters = plan.record["parameters"]
    vm_types = [{**vm_type, "micros_per_hour": 10**30} for vm_type in parameters["vm_types"]]
    other = forge(plan, tmp_path / "f", record={"parameters": {**parameters, "vm_types": vm_types}})
    with pytest.raises(InputError, match="micros_per_hour"):
        problem_of(other, problem.workload)


@pytest.mark.parametrize(
    ("hours", "micros_per_hour", "fault"),
    [
        (92_737, (2**63 - 1) // 92_737, "VMs with a wrong 'price'"),
        (2**17, 2**46, "rent of a VM that does not fit 64 bits"),
    ],
    ids=["2^63 - 1", "2^63"],
)
def test_rents_beyond_64_bits_are_violations(
    problem: Problem, plan: Plan, tmp_path: Path, hours: int, micros_per_hour: int, fault: str
) -> None:
    """A plan forged for a window so long that a VM costs 2^63 micro-dollars is refused, not compared with a rent that
    wrapped: 92,737 divides 2^63 - 1, so that the first rent is the largest that a plan can state.
    """
    types = tuple(replace(vm_type, micros_per_hour=micros_per_hour) for vm_type in problem.types)
    asked = replace(problem, vm_types=types, window_seconds=3600 * hours)
    other = forge(plan, tmp_path / "f", record={"parameters": {**plan.record["parameters"], **asked.to_parameters()}})
    violations = [each for each in verify(asked, other).violations if each.where == "vms"]
    assert fault in [each.fault for each in violations]
    assert sum("64 bits" in each.fault for each in violations) == ("64 bits" in fault)
    assert all(each.stated == "$9,223,372,036,854.78" for each in violations if "64 bits" in each.fault)
