"""Plans of ``assign`` for other programs: the broker of every client, and the filters in values of the attributes."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pubplan.planning import Export, Plan, export_of_decisions
from pubplan.problems.assign.plan import (
    ASSIGNMENTS,
    ASSIGNMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    FILTERS,
    FILTERS_SCHEMA,
)
from pubplan.problems.assign.problem import Problem

_ASSIGNED = pa.schema([("client_id", pa.string()), ("broker_id", pa.string())])
_PASSED = pa.schema(
    [
        ("broker_id", pa.string()),
        ("box", pa.int32()),
        ("attribute", pa.string()),
        ("low", pa.string()),
        ("high", pa.string()),
    ]
)


def _assignments(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """A row per client."""
    workload = problem.workload
    for block in range(workload.num_blocks):
        brokers = plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)["broker"]
        client_ids = workload.client_block(block, "client_id")["client_id"]
        yield pa.table([client_ids, workload.brokers.ids.take(brokers.combine_chunks())], schema=_ASSIGNED)


def _filters(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """Corners as values of the attributes instead of grid lines, in decimal text, which is exact."""
    attributes = {attribute.name: attribute for attribute in problem.workload.space.attributes}
    table = plan.decisions(FILTERS, FILTERS_SCHEMA)
    names = table["attribute"].to_pylist()
    corners = {
        side: [f"{attributes[name].value(line):f}" for name, line in zip(names, table[side].to_pylist(), strict=True)]
        for side in ("low", "high")
    }
    columns = [
        table["broker_id"],
        table["box"],
        table["attribute"],
        *(pa.array(corners[side]) for side in ("low", "high")),
    ]
    yield pa.table(columns, schema=_PASSED)


EXPORTS: dict[str, Export[Problem]] = {
    ASSIGNMENTS: Export(_ASSIGNED, _assignments),
    FILTERS: Export(_PASSED, _filters),
    BROKERS: export_of_decisions(BROKERS, BROKERS_SCHEMA, without=["broker"]),
}
