"""Verification: what is right passes, and nothing that is wrong does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.assign import Box, Broker, Case, Client, broken, cases, measure
from oracles.assign_plans import bounding_filters, changes_for, decided, plan_for, reasons_for
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Exact, Plan
from pubplan.problems.assign.plan import LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.verifier import covers
from pubplan.problems.assign.verifier.evaluate import verify

CASE = Case(
    (8, 6),
    (Broker(share=0), Broker(share=0), Broker(0, 2), Broker(0, 3), Broker(1, 1)),
    ((0, 0, 5, 9, 9), (0, 0, 9, 5, 6)),
    (
        Client(0, (0, 0), (2, 2)),
        Client(0, (6, 0), (8, 1)),
        Client(0, (1, 1), (3, 3), weight=2),
        Client(1, (5, 4), (7, 6)),
        Client(1, (4, 3), (6, 5), weight=2),
        Client(0, (0, 4), (2, 6)),
    ),
    boxes=2,
    max_delay="0.25",
    max_load="2",
    cells=(4, 2),
    messages=(3, 1, 3, 1, 9, 1, 3, 1),
)
"""Clients of the first site reach broker 2 in 7 us and none of the others in at most 8; those of the second reach
broker 4 in 7 and broker 3 in 8. Weights are 8 in all, and each of three leaves of one share may serve 5.
"""

ASSIGNMENT = [2, 2, 2, 3, 4, 2]

FILTERS: list[list[Box]] = [
    [((0, 0), (8, 3)), ((0, 3), (7, 6))],
    [((4, 3), (6, 5))],
    [((0, 0), (8, 3)), ((0, 4), (2, 6))],
    [((5, 4), (7, 6))],
    [((4, 3), (6, 5))],
]

HOMELESS = "clients on a broker that does not exist or is not a leaf"
UNCOVERED = "clients whose subscription is not inside the filter of their leaf"
UNLISTED = "clients missing, listed twice or out of order"
UNNESTED = "boxes that are not inside the filter above"
TOO_MANY = "brokers with too many boxes"
LATE = "clients served later than allowed"
OVERLOADED = "leaves that serve more than they may"


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path)


@pytest.fixture
def plan(problem: Problem, tmp_path: Path) -> Plan:
    return plan_for(CASE, problem, tmp_path / "plan", ASSIGNMENT, FILTERS)


def faults(problem: Problem, plan: Plan) -> set[str]:
    """What is wrong with a plan, without numbers."""
    return {violation.fault for violation in verify(problem, plan).violations}


def test_what_is_right_passes(problem: Problem, plan: Plan) -> None:
    """The objective is the messages inside all filters, in units of 2 x 3 steps; broker 2's two boxes are in broker 0's
    only together.
    """
    verdict = verify(problem, plan)
    assert verdict.ok
    assert verdict.objective == Exact(sum(measure(CASE, boxes) for boxes in FILTERS), 6)
    assert set(plan.record["bounds"]) == {"union", "capacity", "forced"}


@st.composite
def attempts(draw: st.DrawFn) -> tuple[Case, list[int], list[list[Box]]]:
    """A case, any assignment, and filters that are often large enough."""
    case = draw(cases())
    anything = draw(st.booleans())
    brokers = st.integers(-1, len(case.brokers)) if anything else st.sampled_from(case.leaves)
    assignment = [draw(brokers) for _ in case.clients]
    is_housed = all(leaf in case.leaves for leaf in assignment)
    filters = bounding_filters(case, assignment) if is_housed else [[] for _ in case.brokers]
    sides = [st.sampled_from([(low, high) for high in range(size + 1) for low in range(high)]) for size in case.steps]
    for boxes in filters:
        for _ in range(draw(st.integers(0, 2))):
            low, high = zip(*(draw(side) for side in sides), strict=True)
            if boxes and draw(st.booleans()):
                boxes[-1] = (low, high)
            else:
                boxes.append((low, high))
    return case, assignment, filters


@given(attempts())
def test_verdicts_are_those_of_the_definitions(attempt: tuple[Case, list[int], list[list[Box]]]) -> None:
    """Any assignment with any filters: what is broken is named, step by step, and nothing else.

    Limits that are broken are named if the plan does not say so itself.
    """
    case, assignment, filters = attempt
    expected = broken(case, assignment, filters)
    names = {"leaf": HOMELESS, "inside": UNCOVERED, "nesting": UNNESTED, "boxes": TOO_MANY}
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        if expected & {"leaf", "boxes"}:
            plan = plan_for(
                case, problem, Path(directory) / "right", [case.leaves[0]] * len(case.clients), [[]] * len(case.brokers)
            )
            plan = forge(plan, Path(directory) / "plan", **changes_for(case, plan, assignment, filters))
            assert {names[fault] for fault in expected & {"leaf", "boxes"}} & faults(problem, plan)
            return
        plan = plan_for(case, problem, Path(directory) / "plan", assignment, filters)
        assert faults(problem, plan) == {names[fault] for fault in expected & names.keys()}
        assert verify(problem, plan).objective == Exact(sum(measure(case, boxes) for boxes in filters), case.scale)
        silent = forge(plan, Path(directory) / "silent", record={"reasons": []})
        broken_limits = {"latency": LATE, "load": OVERLOADED}
        assert faults(problem, silent) >= {broken_limits[fault] for fault in expected & broken_limits.keys()}


def column(name: str, change: Callable[[list], list]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        field = table.schema.field(name)
        values = pa.array(change(table[name].to_pylist()), field.type)
        return table.set_column(table.schema.get_field_index(name), field, values)

    return changed


def first(value: Any) -> Callable[[list], list]:
    return lambda values: [value, *values[1:]]


def more(values: list) -> list:
    return [values[0] + 1, *values[1:]]


WRONG_COLUMNS = [
    ("assignments/00000", "broker", first(5), HOMELESS),
    ("assignments/00000", "broker", first(-1), HOMELESS),
    ("assignments/00000", "broker", first(0), HOMELESS),
    ("assignments/00000", "broker", first(2**31 - 1), HOMELESS),
    ("assignments/00000", "broker", first(3), UNCOVERED),
    ("assignments/00000", "client", first(1), UNLISTED),
    ("assignments/00000", "client", first(-1), UNLISTED),
    ("assignments/00000", "client", first(2**63 - 1), UNLISTED),
    ("assignments/00000", "client", lambda values: values[::-1], UNLISTED),
    ("filters", "broker", lambda values: [7] * len(values), "boxes of brokers that do not exist"),
    ("filters", "broker", first(-1), "boxes of brokers that do not exist"),
    ("filters", "broker", lambda values: values[::-1], "boxes out of the order of brokers"),
    ("filters", "broker", first(1), "boxes out of the order of brokers"),
    ("filters", "box", more, "boxes that are not numbered from 0"),
    ("filters", "box", lambda values: [2**31 - 1] * len(values), "boxes that are not numbered from 0"),
    (
        "filters",
        "attribute",
        lambda values: values[::-1],
        "boxes without a row for each attribute, in the order of the space",
    ),
    ("filters", "low", first(-1), "boxes that are empty or leave the space"),
    ("filters", "low", first(8), "boxes that are empty or leave the space"),
    ("filters", "low", first(-(2**63)), "boxes that are empty or leave the space"),
    ("filters", "high", first(9), "boxes that are empty or leave the space"),
    ("filters", "high", first(2**63 - 1), "boxes that are empty or leave the space"),
    ("filters", "high", first(0), "boxes that are empty or leave the space"),
    ("filters", "broker_id", first("b1"), "broker ids other than the workload's"),
    ("filters", "high", first(7), UNNESTED),
    ("brokers", "broker", more, "wrong broker"),
    ("brokers", "broker_id", first("b1"), "broker ids other than the workload's"),
    ("brokers", "level", more, "wrong level"),
    ("brokers", "clients", more, "wrong clients"),
    ("brokers", "limit", more, "wrong limit"),
    ("brokers", "volume", more, "wrong volume"),
    ("brokers", "volume", first(2**63 - 1), "wrong volume"),
]


@pytest.mark.parametrize(("table", "name", "change", "fault"), WRONG_COLUMNS)
def test_wrong_columns_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, name: str, change: Callable[[list], list], fault: str
) -> None:
    """A column that does not hold what it must, or what follows from the others."""
    forged = forge(plan, tmp_path / "forged", tables={f"decisions/{table}.parquet": column(name, change)})
    assert fault in faults(problem, forged)


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        ("assignments/00000", lambda table: table.slice(1), UNLISTED),
        ("assignments/00000", lambda table: pa.concat_tables([table, table.slice(5)]), UNLISTED),
        ("assignments/00000", lambda table: table.slice(0, 0), UNLISTED),
        ("filters", lambda table: table.slice(1), "boxes without a row for each attribute, in the order of the space"),
        ("filters", lambda table: table.slice(0, 0), UNCOVERED),
        ("filters", lambda table: table.slice(2), "boxes that are not numbered from 0"),
        ("brokers", lambda table: table.slice(1), "wrong number of rows"),
        ("brokers", lambda table: table.drop_columns(["limit"]), "wrong columns, or nulls in them"),
        ("filters", lambda table: table.rename_columns([*"abcdef"]), "wrong columns, or nulls in them"),
    ],
)
def test_wrong_rows_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, change: Callable[[pa.Table], pa.Table], fault: str
) -> None:
    """Rows that are missing or listed twice, and columns that are not there."""
    forged = forge(plan, tmp_path / "forged", tables={f"decisions/{table}.parquet": change})
    assert fault in faults(problem, forged)


def test_damaged_assignments_are_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A block without the column of brokers, and one that is not there."""
    name = "decisions/assignments/00000.parquet"
    forged = forge(plan, tmp_path / "forged", tables={name: lambda table: table.drop_columns(["broker"])})
    with pytest.raises(InputError, match="damaged"):
        verify(problem, forged)
    (forged.path / name).unlink()
    with pytest.raises(InputError, match="missing"):
        verify(problem, forged)


def changed_plan(plan: Plan, target: Path, assignment: list[int], filters: list[list[Box]], **record: Any) -> Plan:
    """The plan with another assignment and other filters, with all numbers that follow."""
    changes: Mapping[str, Any] = changes_for(CASE, plan, assignment, filters)
    return forge(plan, target, tables=changes["tables"], record={**changes["record"], **record})


def test_moves_are_caught(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Each client to each other leaf: where its box is not, and beyond its limits; all other numbers are right."""
    for client in range(len(ASSIGNMENT)):
        for leaf in {2, 3, 4} - {ASSIGNMENT[client]}:
            assignment = [leaf if number == client else home for number, home in enumerate(ASSIGNMENT)]
            forged = changed_plan(plan, tmp_path / f"{client}-{leaf}", assignment, FILTERS)
            expected = broken(CASE, assignment, FILTERS)
            names = {"inside": UNCOVERED, "latency": LATE, "load": OVERLOADED}
            assert faults(problem, forged) == {names[fault] for fault in expected}


def test_smaller_boxes_are_caught(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Each side of each box one step inwards: the verdict is that of the definitions."""
    assert decided(CASE, plan) == (ASSIGNMENT, FILTERS)
    names = {"inside": UNCOVERED, "nesting": UNNESTED}
    number = 0
    for broker, boxes in enumerate(FILTERS):
        for position, (low, high) in enumerate(boxes):
            for axis in range(2):
                for by in ((1, 0), (0, -1)):
                    smaller = [list(low), list(high)]
                    smaller[0][axis] += by[0]
                    smaller[1][axis] += by[1]
                    filters = [list(some) for some in FILTERS]
                    filters[broker][position] = (tuple(smaller[0]), tuple(smaller[1]))
                    number += 1
                    forged = changed_plan(plan, tmp_path / f"{number}", ASSIGNMENT, filters)
                    if smaller[0][axis] < smaller[1][axis]:
                        assert faults(problem, forged) == {names[fault] for fault in broken(CASE, ASSIGNMENT, filters)}


def test_limits_that_are_broken_are_stated(tmp_path: Path) -> None:
    """Everybody at broker 2, which is too far for the second site and may serve 5 of 8: a plan may say so, as it is."""
    problem = CASE.problem(tmp_path)
    assignment = [2] * 6
    filters = bounding_filters(CASE, assignment)
    plan = plan_for(CASE, problem, tmp_path / "plan", assignment, filters)
    assert verify(problem, plan).ok
    assert set(plan.record["bounds"]) == {"union"}
    latency, load = reasons_for(CASE, assignment)
    assert (latency["have"], load["have"], load["where"]) == (2, 1, "b2")
    for number, (reasons, fault) in enumerate(
        [
            ([load], LATE),
            ([latency], OVERLOADED),
            ([latency, load, load], "wrong reason"),
            ([latency, {**load, "have": 2}], "wrong reason"),
            ([latency, {**load, "where": "b3"}], "wrong reason"),
            ([{**latency, "have": 1}, load], "wrong reason"),
            ([{**latency, "need": 1}, load], "wrong reason"),
        ]
    ):
        forged = forge(plan, tmp_path / str(number), record={"reasons": reasons})
        assert fault in faults(problem, forged)


@pytest.mark.parametrize("limit", [LATENCY_BROKEN, LOAD_BROKEN])
def test_limits_that_are_kept_are_not_said_to_be_broken(
    problem: Problem, plan: Plan, tmp_path: Path, limit: str
) -> None:
    """Else a plan would have a reason to do without a bound."""
    reason = {"limit": limit, "need": 0, "have": 1, "where": "", "sentence": "nothing"}
    forged = forge(plan, tmp_path / "forged", record={"reasons": [reason]})
    assert faults(problem, forged) == {"reason for a limit that the plan keeps"}


def test_bounds_do_not_hold_for_plans_that_break_their_limits(tmp_path: Path) -> None:
    """Everybody at broker 2 is below what is forced; a plan that says how it breaks limits may not claim it."""
    problem = CASE.problem(tmp_path)
    right = plan_for(CASE, problem, tmp_path / "plan", ASSIGNMENT, FILTERS)
    assignment = [2] * 6
    reasons = reasons_for(CASE, assignment)
    filters = bounding_filters(CASE, assignment)
    forged = changed_plan(right, tmp_path / "forged", assignment, filters, reasons=reasons)
    assert faults(problem, forged) == {"bound that does not hold for plans that break a limit"}


@pytest.mark.parametrize(
    ("bound", "by", "fault"),
    [
        ("union", -1, "wrong bound"),
        ("union", 1, "wrong bound"),
        ("capacity", -1, "wrong bound"),
        ("capacity", 1, "wrong bound"),
        ("forced", 1, "bound above the best of its cases"),
    ],
)
def test_other_bounds_than_recomputed_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, bound: str, by: int, fault: str
) -> None:
    """One less and one more than the plan's; what witnesses prove, they prove of less too."""

    def change(content: dict) -> dict:
        return {**content, "bound": {**content["bound"], "value": content["bound"]["value"] + by}}

    forged = forge(plan, tmp_path / "forged", certificates={bound: change})
    assert faults(problem, forged) == {fault}


@pytest.mark.parametrize(
    ("bound", "key", "value", "fault"),
    [
        ("union", "levels", 1, "wrong evidence"),
        ("union", "measure", 10**39, "wrong evidence"),
        ("capacity", "levels", [], "wrong evidence"),
        ("union", "strides", [1, True], "strides that give no grid, or one too fine"),
        ("union", "strides", [0, 1], "strides that give no grid, or one too fine"),
        ("capacity", "strides", [1], "strides that give no grid, or one too fine"),
        ("forced", "strides", "11", "strides that give no grid, or one too fine"),
        ("union", "strides", [2**31 - 1, 2**31 - 1], "wrong bound"),
        ("capacity", "strides", [10**39, 1], "strides that give no grid, or one too fine"),
    ],
)
def test_other_evidence_is_named(
    problem: Problem, plan: Plan, tmp_path: Path, bound: str, key: str, value: object, fault: str
) -> None:
    """Numbers that do not follow, and grids that there are not."""

    def change(content: dict) -> dict:
        return {**content, "evidence": {**content["evidence"], key: value}}

    forged = forge(plan, tmp_path / "forged", certificates={bound: change})
    assert fault in faults(problem, forged)


WITNESSES, FORCED, SHARED = (f"certificate/forced-{name}/00000.parquet" for name in ("witnesses", "brokers", "shared"))


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        (WITNESSES, column("client", first(3)), "witnesses that are not forced through their broker"),
        (WITNESSES, column("client", first(-1)), "witnesses that are no clients"),
        (WITNESSES, column("client", first(6)), "witnesses that are no clients"),
        (WITNESSES, column("client", lambda values: [values[0]] * len(values)), "witnesses listed twice"),
        (WITNESSES, column("broker", lambda values: values[::-1]), "witnesses of other brokers, or out of order"),
        (WITNESSES, column("broker", first(-1)), "witnesses of other brokers, or out of order"),
        (WITNESSES, column("broker", first(1)), "witnesses of other brokers, or out of order"),
        (WITNESSES, lambda table: table.slice(0, 0), "witnesses of other brokers, or out of order"),
        (WITNESSES, lambda table: table.take([0] * 17 + [*range(table.num_rows)]), "too many witnesses of a broker"),
        (FORCED, column("broker", lambda values: [9] * len(values)), "brokers that do not exist"),
        (FORCED, column("broker", first(-1)), "brokers that do not exist"),
        (FORCED, lambda table: pa.concat_tables([table, table]), "brokers listed twice or out of order"),
        (FORCED, column("measure", first(-1)), "measures below 0"),
        (FORCED, column("measure", more), "measures of filters that witnesses do not prove"),
        (FORCED, column("measure", first(2**63 - 1)), "measures of filters that witnesses do not prove"),
        (FORCED, column("measure", first(0)), "bound above the best of its cases"),
        (SHARED, column("client", first(-1)), "shared clients that are none"),
        (SHARED, column("client", first(6)), "shared clients that are none"),
        (SHARED, lambda table: table.take([0, 0]), "shared clients listed twice"),
        (SHARED, lambda table: table.slice(0, 0), "bound above the best of its cases"),
        (SHARED, column("client", lambda values: list(range(len(values)))), "bound above the best of its cases"),
    ],
)
def test_false_witnesses_are_named(
    problem: Problem, plan: Plan, tmp_path: Path, table: str, change: Callable[[pa.Table], pa.Table], fault: str
) -> None:
    """Clients that do not exist, that others can serve or that do not prove what is said."""
    forged = forge(plan, tmp_path / "forged", tables={table: change})
    assert fault in faults(problem, forged)


def test_proofs_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a filter of three boxes around 16 squares measures at least 4,614 takes more than 100 filters."""
    spots = np.array([(i * 37 % 100, i * 61 % 100) for i in range(16)])
    asked = (spots, spots + 1, np.ones((1, 1), int), (100, 100), 3, 4614)
    assert covers.least_measure(*asked) == 4614
    monkeypatch.setattr(covers, "MAX_FILTERS", 100)
    assert covers.least_measure(*asked) == 16


def test_blocks_are_verified_on_spark_too(problem: Problem, plan: Plan, spark) -> None:
    """The same verdict as in this process."""
    assert verify(problem, plan, spark) == verify(problem, plan)
