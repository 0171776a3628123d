"""Plans of ``federate`` for other programs: who attaches where, what goes over links, and who forwards what to whom."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pubplan.planning import Export, Plan, export_of_decisions
from pubplan.problems.federate.plan import (
    ATTACHMENTS,
    ATTACHMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    CHANNELS,
    CHANNELS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    TREES,
)
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.trees import forwarding_edges, read_trees

_ATTACHED = pa.schema([("client_id", pa.string()), ("broker_id", pa.string())])
_RANGES = pa.schema(
    [
        ("channel", pa.int32()),
        ("attribute", pa.string()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("messages", pa.int64()),
        ("subscribers", pa.int64()),
    ]
)
_FORWARDED = pa.schema(
    [
        ("channel", pa.int32()),
        ("origin_id", pa.string()),
        ("broker_id", pa.string()),
        ("forwards_to", pa.string()),
    ]
)


def _attachments(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """A row per client."""
    workload = problem.workload
    for block in range(workload.num_blocks):
        brokers = plan.decisions_block(ATTACHMENTS, block, ATTACHMENTS_SCHEMA)["broker"]
        client_ids = workload.client_block(block, "client_id")["client_id"]
        yield pa.table([client_ids, workload.brokers.ids.take(brokers.combine_chunks())], schema=_ATTACHED)


def _channels(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """Ranges as values of the attributes instead of grid lines, in decimal text, which is exact."""
    attributes = {attribute.name: attribute for attribute in problem.workload.space.attributes}
    table = plan.decisions(CHANNELS, CHANNELS_SCHEMA)
    names = table["attribute"].to_pylist()
    ends = [
        pa.array(
            [f"{attributes[name].value(line):f}" for name, line in zip(names, table[end].to_pylist(), strict=True)]
        )
        for end in ("low", "high")
    ]
    columns = [table["channel"], table["attribute"], *ends, table["messages"], table["subscribers"]]
    yield pa.table(columns, schema=_RANGES)


def _trees(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """A row per channel, origin and link along which a broker forwards; a tree per piece.

    Channel and origin are empty where the tree is that of all channels, or of all brokers with subscribers. Such a tree
    is walked in both directions: a broker forwards to all its neighbours but the one that a message came from.
    """
    ids = problem.workload.brokers.ids.to_pylist()
    for tree in read_trees(plan, len(ids)):
        edges = forwarding_edges(tree)
        yield pa.table(
            [
                pa.array([tree.channel] * len(edges), pa.int32()),
                pa.array([None if tree.origin is None else ids[tree.origin]] * len(edges), pa.string()),
                pa.array([ids[source] for source, _ in edges], pa.string()),
                pa.array([ids[target] for _, target in edges], pa.string()),
            ],
            schema=_FORWARDED,
        )


EXPORTS: dict[str, Export[Problem]] = {
    ATTACHMENTS: Export(_ATTACHED, _attachments),
    LINKS: export_of_decisions(LINKS, LINKS_SCHEMA, without=["broker", "other"]),
    TREES: Export(_FORWARDED, _trees),
    CHANNELS: Export(_RANGES, _channels),
    BROKERS: export_of_decisions(BROKERS, BROKERS_SCHEMA, without=["broker"]),
}
