"""Plans of assign by hand: tables with all numbers as they follow from an assignment and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from oracles.assign import Box, Case, broken, candidates, capacity, loads, measure, path
from pubplan.errors import Reason
from pubplan.planning import BlockTable, Draft, Exact, Plan
from pubplan.planning.plan import write_plan
from pubplan.problems.assign.bound import capacity_bound, forced_bound, union_bound
from pubplan.problems.assign.plan import ASSIGNMENTS_SCHEMA, BROKERS_SCHEMA, FILTERS_SCHEMA, LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.problem import Problem


def bounding_filters(case: Case, assignment: Sequence[int]) -> list[list[Box]]:
    """For every broker the one box around all that is wanted below it, or none."""
    filters: list[list[Box]] = []
    for broker in range(len(case.brokers)):
        below = [client for client, leaf in zip(case.clients, assignment, strict=True) if broker in path(case, leaf)]
        low = tuple(min(sides) for sides in zip(*(client.low for client in below), strict=True))
        high = tuple(max(sides) for sides in zip(*(client.high for client in below), strict=True))
        filters.append([(low, high)] if below else [])
    return filters


def tables_for(case: Case, assignment: Sequence[int], filters: Sequence[Sequence[Box]]) -> dict[str, pa.Table]:
    """The decisions of a plan, with all numbers as they follow from an assignment and filters."""
    names = [f"a{axis}" for axis in range(len(case.steps))]
    rows = [
        (broker, f"b{broker}", number, name, low[axis], high[axis])
        for broker, boxes in enumerate(filters)
        for number, (low, high) in enumerate(boxes)
        for axis, name in enumerate(names)
    ]
    served = loads(case, [leaf if 0 <= leaf < len(case.brokers) else 0 for leaf in assignment])
    brokers = [
        (broker, f"b{broker}", len(path(case, broker)), served[broker], limit_of(case, broker), measure(case, boxes))
        for broker, boxes in enumerate(filters)
    ]
    return {
        "assignments/00000": _table([*enumerate(assignment)], ASSIGNMENTS_SCHEMA),
        "filters": _table(rows, FILTERS_SCHEMA),
        "brokers": _table(brokers, BROKERS_SCHEMA),
    }


def limit_of(case: Case, broker: int) -> int:
    return capacity(case, broker, case.max_load) if broker in case.leaves else 0


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def reasons_for(case: Case, assignment: Sequence[int]) -> list[dict[str, Any]]:
    """What a plan says about the limits that it breaks."""
    reasons = []
    late = sum(leaf not in candidates(case, client) for client, leaf in zip(case.clients, assignment, strict=True))
    if late:
        reasons.append({"limit": LATENCY_BROKEN, "need": 0, "have": late, "where": "", "sentence": "late"})
    served = loads(case, assignment)
    excess = [load - limit_of(case, broker) for broker, load in enumerate(served)]
    if max(excess) > 0:
        worst, above = excess.index(max(excess)), sum(value > 0 for value in excess)
        reasons.append({"limit": LOAD_BROKEN, "need": 0, "have": above, "where": f"b{worst}", "sentence": "full"})
    return reasons


def changes_for(
    case: Case, plan: Plan, assignment: Sequence[int], filters: Sequence[Sequence[Box]]
) -> Mapping[str, Any]:
    """Another assignment and other filters for a plan, as ``forge`` takes them, with all numbers that follow."""
    total = sum(measure(case, boxes) for boxes in filters)
    tables = tables_for(case, assignment, filters)
    record = {"exact": Exact(total, case.scale).to_dict(), "objective": float(Exact(total, case.scale))}
    return {
        "record": record,
        "tables": {f"decisions/{name}.parquet": lambda table, new=new: new for name, new in tables.items()},
    }


def decided(case: Case, plan: Plan) -> tuple[list[int], list[list[Box]]]:
    """The assignment and the filters of a plan."""
    assignment = plan.decisions_block("assignments", 0)["broker"].to_pylist()
    filters: list[list[Box]] = [[] for _ in case.brokers]
    rows = plan.decisions("filters").to_pylist()
    for first in range(0, len(rows), len(case.steps)):
        box = rows[first : first + len(case.steps)]
        filters[box[0]["broker"]].append((tuple(row["low"] for row in box), tuple(row["high"] for row in box)))
    return assignment, filters


def draft_for(case: Case, assignment: Sequence[int], filters: Sequence[Sequence[Box]]) -> Draft:
    """What a method hands back that chose this."""
    tables = tables_for(case, assignment, filters)
    total = sum(measure(case, boxes) for boxes in filters)
    return Draft(
        {
            "assignments": BlockTable(1, lambda block: tables["assignments/00000"]),
            "filters": tables["filters"],
            "brokers": tables["brokers"],
        },
        Exact(total, case.scale),
        reasons=tuple(Reason(**reason) for reason in reasons_for(case, assignment)),
    )


def plan_for(
    case: Case, problem: Problem, directory: Path, assignment: Sequence[int], filters: Sequence[Sequence[Box]]
) -> Plan:
    """A plan on disk with all bounds, as if a method had chosen this."""
    draft = draft_for(case, assignment, filters)
    certificates = tuple(
        certificate
        for bound in (union_bound, capacity_bound, forced_bound)
        for certificate in bound(problem, draft, None)
    )
    directory.mkdir()
    method: Any = SimpleNamespace(name="by hand")
    return write_plan(directory, "assign", problem, method, {}, 0, draft, certificates)


Change = tuple[list[int], list[list[Box]]]


def served_too_late(case: Case, assignment: list[int], filters: list[list[Box]]) -> Change | None:
    """A client on a leaf that may not serve it, though the filter there has room for it."""
    for client, leaf in enumerate(assignment):
        for other in case.leaves:
            if leaf in candidates(case, case.clients[client]) and other not in candidates(case, case.clients[client]):
                moved = [other if number == client else home for number, home in enumerate(assignment)]
                return moved, bounding_filters(case, moved)
    return None


def outside_of_boxes(case: Case, assignment: list[int], filters: list[list[Box]]) -> Change | None:
    """A box a step smaller than what is wanted below."""
    for broker, boxes in enumerate(filters):
        for position, (low, high) in enumerate(boxes):
            if high[0] - low[0] > 1:
                smaller = (low, (high[0] - 1, *high[1:]))
                changed = [
                    *filters[:broker],
                    [*boxes[:position], smaller, *boxes[position + 1 :]],
                    *filters[broker + 1 :],
                ]
                if broken(case, assignment, changed) & {"inside", "nesting"}:
                    return assignment, changed
    return None


def too_many_boxes(case: Case, assignment: list[int], filters: list[list[Box]]) -> Change | None:
    """A box of a broker as often as it takes."""
    for broker, boxes in enumerate(filters):
        if boxes:
            return assignment, [*filters[:broker], boxes[:1] * (case.boxes + 1), *filters[broker + 1 :]]
    return None


def on_an_inner_broker(case: Case, assignment: list[int], filters: list[list[Box]]) -> Change | None:
    """A client on the broker above its leaf."""
    above = case.brokers[assignment[0]].parent
    return None if above < 0 else ([above, *assignment[1:]], filters)


def on_no_broker(case: Case, assignment: list[int], filters: list[list[Box]]) -> Change | None:
    """A client on a broker that does not exist."""
    return [*assignment[:-1], len(case.brokers)], filters


def does_widening_show(case: Case, plan: Plan) -> bool:
    """Whether one step more of the last box, along the last attribute, lets more through, leaves the space or leaves
    the filter above; other boxes may contain the step already, and no message may ever be in it.
    """
    assignment, filters = decided(case, plan)
    if not any(filters):
        return False
    broker = max(number for number, boxes in enumerate(filters) if boxes)
    low, high = filters[broker][-1]
    if high[-1] == case.steps[-1]:
        return True
    widened = [*filters[broker][:-1], (low, (*high[:-1], high[-1] + 1))]
    changed = [*filters[:broker], widened, *filters[broker + 1 :]]
    return measure(case, widened) > measure(case, filters[broker]) or "nesting" in broken(case, assignment, changed)
