"""The decisions: which topics are served, and in which order they were chosen."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.planning import Plan

SERVED = "served"
SERVED_SCHEMA = pa.schema([("topic", pa.int32()), ("topic_id", pa.string()), ("cost", pa.int64())])
"""The one table of decisions: every served topic, ascending."""

TRAJECTORY_SCHEMA = pa.schema(
    [("topic", pa.int32()), ("cost", pa.int64()), ("satisfied", pa.float64()), ("bound", pa.float64())]
)
"""The topics in the order of choice; after each, the cost, the objective, and what no plan of that cost can beat."""

MULTIPLIERS = "multipliers"
MULTIPLIERS_SCHEMA = pa.schema([pa.field("multiplier", pa.int32(), nullable=False)])
"""One row per interest, in the order of the workload's blocks, in units of 2^-20 subscribers."""

SEARCH = "search"
TREE, VECTORS = "tree", "multipliers"
TREE_SCHEMA = pa.schema(
    [
        pa.field("parent", pa.int32(), nullable=False),
        pa.field("topic", pa.int32(), nullable=False),
        pa.field("served", pa.bool_(), nullable=False),
        pa.field("vector", pa.int32(), nullable=False),
        pa.field("payment", pa.int64(), nullable=False),
        pa.field("cost", pa.int64(), nullable=False),
    ]
)
"""The nodes of an exact search, the root first; -1 where there is no parent, topic or vector of multipliers."""

NUMBERS = pa.list_(pa.field("element", pa.uint32(), nullable=False))
VECTORS_SCHEMA = pa.schema(
    [pa.field("interests", NUMBERS, nullable=False), pa.field("multipliers", NUMBERS, nullable=False)]
)
"""One vector of multipliers per row, in units of 2^-32, of some interests of distinct subscribers, ascending.

Interests that a vector does not have are decided, or pay nothing.
"""


def measures(plan: Plan, table: str) -> dict[str, pa.ChunkedArray]:
    """For every served topic, what it costs and what it brought when it was chosen; nothing brought is known without
    a trajectory.
    """
    served, trajectory = plan.decisions(table), plan.trajectory()
    columns = {"cost": served["cost"]}
    if trajectory is not None and trajectory.num_rows == served.num_rows:
        satisfied = trajectory["satisfied"].to_numpy()
        brought = pa.array(np.diff(satisfied, prepend=np.nan)).take(pc.sort_indices(trajectory["topic"]))
        columns["brings"] = pa.chunked_array(
            [pc.replace_with_mask(brought, pc.is_nan(brought), pa.scalar(None, pa.float64()))]
        )
    return columns
