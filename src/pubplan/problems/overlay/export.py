"""Plans of ``overlay`` for other programs: links, and from which neighbour every node gets each topic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.planning import Export, Plan, export_of_decisions
from pubplan.problems.overlay.plan import (
    DIVISION,
    DIVISION_SCHEMA,
    FORWARDING,
    FORWARDING_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    NODES,
    NODES_SCHEMA,
    TOPICS,
    TOPICS_SCHEMA,
)
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import list_column

_FORWARDED = pa.schema([("node_id", pa.string()), ("topic_id", pa.string()), ("parent_id", pa.string())])
_ROOTED = pa.schema(
    [
        ("topic_id", pa.string()),
        ("nodes", pa.int64()),
        ("links", pa.int64()),
        ("root_id", pa.string()),
        ("depth", pa.int32()),
        ("diameter", pa.int32()),
    ]
)


def _forwarding(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """A row per node and topic; the roots of trees have no parent."""
    workload = problem.workload
    node_ids, topic_ids = workload.subscriber_ids(), workload.topics("topic_id")["topic_id"].combine_chunks()
    for block in range(workload.num_blocks):
        table = plan.decisions_block(FORWARDING, block, FORWARDING_SCHEMA)
        offsets, topics = list_column(table, "topics")
        parent_offsets, parents = list_column(table, "parents")
        if not np.array_equal(offsets, parent_offsets):
            raise InputError(f"{plan.path}: the decisions '{FORWARDING}' are damaged; some topics lack a parent.")
        nodes = np.repeat(table["node"].to_numpy(), np.diff(offsets))
        parent_ids = node_ids.take(pa.array(parents, mask=parents == nodes))
        yield pa.table([node_ids.take(nodes), topic_ids.take(topics), parent_ids], schema=_FORWARDED)


def _topics(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """Every topic; one without nodes has no root."""
    table = plan.decisions(TOPICS, TOPICS_SCHEMA)
    roots = pc.if_else(pc.less(table["root"], 0), None, table["root"])
    root_ids = problem.workload.subscriber_ids().take(roots)
    yield table.append_column("root_id", root_ids).select(_ROOTED.names)


EXPORTS: dict[str, Export[Problem]] = {
    LINKS: export_of_decisions(LINKS, LINKS_SCHEMA, without=["node", "other"]),
    FORWARDING: Export(_FORWARDED, _forwarding),
    NODES: export_of_decisions(NODES, NODES_SCHEMA, without=["node"]),
    TOPICS: Export(_ROOTED, _topics),
    DIVISION: export_of_decisions(DIVISION, DIVISION_SCHEMA),
}
