"""The arrays of an instance as the loops want them, and an empty assignment on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.kernels import count_columns, transpose
from pubplan.problems.assign.kernels.field import UNASSIGNED, Costs, Field, State, Tree
from pubplan.problems.assign.kernels.filters import Filters, Work
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.problems.assign.instance import Instance

MAX_KNOWN_COSTS = 1 << 24
"""How many costs of (rectangle, leaf) are kept at most: 12 bytes each."""


def field_of(instance: Instance) -> Field:
    """The field of an instance."""
    parents = np.ascontiguousarray(instance.parents, dtype=np.int64)
    leaf_offsets, leaves_below = _leaves_below(parents, instance.leaves)
    return Field(
        rectangles=np.array(instance.rectangle, dtype=np.int32),
        groups=np.array(instance.group, dtype=np.int32),
        weights=np.array(instance.weights, dtype=np.int64),
        boxes=np.hstack([instance.lows, instance.highs]).astype(np.int64),
        offsets=np.array(instance.candidate_offsets, dtype=np.int64),
        candidates=np.array(instance.candidates, dtype=np.int32),
        parents=parents,
        shares=np.array(instance.shares, dtype=np.int64),
        leaf_offsets=leaf_offsets,
        leaves_below=leaves_below,
        measure=instance.measure,
    )


def tree_of(instance: Instance) -> Tree:
    """The brokers of an instance that feed others."""
    parents = instance.parents
    fed = np.flatnonzero(parents >= 0).astype(np.int32)
    child_offsets, children = by_value(parents[fed].astype(np.int32), instance.num_brokers)
    inner = np.flatnonzero(np.diff(child_offsets))
    deepest_first = inner[np.argsort(-instance.levels[inner], kind="stable")]
    return Tree(deepest_first.astype(np.int64), child_offsets, fed[children])


def start_state(field: Field, alpha: int) -> State:
    """No client assigned, no filter; costs are kept for the rectangles that most clients share."""
    num_brokers = field.num_brokers
    return State(
        brokers=np.full(field.num_clients, UNASSIGNED, dtype=np.int32),
        loads=np.zeros(num_brokers, dtype=np.int64),
        filters=Filters.empty(num_brokers, alpha, field.num_dimensions),
        costs=_unknown_costs(field),
        work=Work.empty(field.num_dimensions),
    )


def by_value(values: Int32Array, num_values: int) -> tuple[Int64Array, Int32Array]:
    """The positions of every value, ascending, as offsets and positions."""
    return transposed(values, np.arange(len(values) + 1, dtype=np.int64), num_values)


def transposed(columns: Int32Array, offsets: Int64Array, num_columns: int) -> tuple[Int64Array, Int32Array]:
    """The rows of every column, ascending, as offsets and rows."""
    counts = np.zeros(num_columns, dtype=np.int64)
    count_columns(columns, counts)
    column_offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    rows = np.empty(len(columns), dtype=np.int32)
    transpose(columns, offsets, column_offsets, rows)
    return column_offsets, rows


def _unknown_costs(field: Field) -> Costs:
    num_rectangles, num_brokers = len(field.boxes), field.num_brokers
    num_clients = np.bincount(field.rectangles, minlength=num_rectangles)
    num_rows = min(int((num_clients > 1).sum()), MAX_KNOWN_COSTS // max(1, num_brokers))
    shared = np.argsort(-num_clients, kind="stable")[:num_rows]
    rows = np.full(num_rectangles, -1, dtype=np.int32)
    rows[shared] = np.arange(num_rows, dtype=np.int32)
    return Costs(
        rows=rows,
        costs=np.zeros((num_rows, num_brokers), dtype=np.int64),
        known_at=np.full((num_rows, num_brokers), -1, dtype=np.int32),
        versions=np.zeros(num_brokers, dtype=np.int32),
        shrunk_at=np.zeros(num_brokers, dtype=np.int32),
    )


def _leaves_below(parents: Int64Array, leaves: Int32Array) -> tuple[Int64Array, Int32Array]:
    pairs = []
    for leaf in leaves.tolist():
        broker = leaf
        while broker >= 0:
            pairs.append((broker, leaf))
            broker = int(parents[broker])
    pairs.sort()
    counts = np.bincount([broker for broker, _ in pairs], minlength=len(parents))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return offsets, np.array([leaf for _, leaf in pairs], dtype=np.int32)
