"""Plans of ``provision`` for other programs: who gets what from which VM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pubplan.planning import Export, Plan, export_of_decisions
from pubplan.problems.provision.plan import (
    PLACEMENTS,
    SPLITS,
    SPLITS_SCHEMA,
    TYPES,
    TYPES_SCHEMA,
    VMS,
    VMS_SCHEMA,
    placed_pairs,
)
from pubplan.problems.provision.problem import Problem

_PLACED = pa.schema([("vm", pa.int32()), ("topic_id", pa.string()), ("subscriber_id", pa.string())])


def _placements(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    """A row per pair; the pairs of a block of subscribers together, by VM, topic and subscriber."""
    workload = problem.workload
    topic_ids = workload.topics("topic_id")["topic_id"].combine_chunks()
    for block in range(workload.num_blocks):
        offsets, topics, vms = placed_pairs(plan, block)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((rows, topics, vms))
        subscriber_ids = workload.interests_block(block, "subscriber_id")["subscriber_id"].combine_chunks()
        columns = [pa.array(vms[order], pa.int32()), topic_ids.take(topics[order]), subscriber_ids.take(rows[order])]
        yield pa.table(columns, schema=_PLACED)


EXPORTS: dict[str, Export[Problem]] = {
    PLACEMENTS: Export(_PLACED, _placements),
    VMS: export_of_decisions(VMS, VMS_SCHEMA),
    SPLITS: export_of_decisions(SPLITS, SPLITS_SCHEMA, without=["topic"]),
    TYPES: export_of_decisions(TYPES, TYPES_SCHEMA),
}
