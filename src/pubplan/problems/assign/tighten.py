"""Filters as small as we can make them for a given assignment."""

from __future__ import annotations

import numpy as np

from pubplan.engine import exact_sum, stage
from pubplan.problems.assign.ground import Ground
from pubplan.problems.assign.kernels.field import Field, State
from pubplan.problems.assign.kernels.filters import Filters
from pubplan.problems.assign.kernels.tightening import pack_all
from pubplan.problems.assign.stages import TIGHTENING
from pubplan.workload import Int32Array, Int64Array


def tighten(ground: Ground, state: State) -> None:
    """Pack the filters of all brokers around what they must cover, if they are smaller in all that way.

    Filters that do not cover their clients, as after methods that do not look at rectangles, are made from nothing:
    their sizes must be 0.
    """
    field = ground.field
    is_complete = bool((state.filters.sizes[state.brokers] > 0).all())
    packed = state.filters.copy()
    with stage(TIGHTENING):
        pack_all(field, ground.tree, packed, *rectangles_by_leaf(field, state.brokers), state.work)
    if not is_complete or exact_sum(packed.measures) < exact_sum(state.filters.measures):
        _replace(state.filters, packed)


def rectangles_by_leaf(field: Field, brokers: Int32Array) -> tuple[Int64Array, Int32Array]:
    """The distinct rectangles of the clients of every broker, as offsets and rectangles."""
    num_rectangles = max(1, len(field.boxes))
    pairs = np.unique(brokers.astype(np.int64) * num_rectangles + field.rectangles)
    offsets = np.searchsorted(pairs, np.arange(field.num_brokers + 1, dtype=np.int64) * num_rectangles)
    return offsets.astype(np.int64), (pairs % num_rectangles).astype(np.int32)


def _replace(filters: Filters, other: Filters) -> None:
    filters.boxes[:], filters.sizes[:], filters.measures[:] = other.boxes, other.sizes, other.measures
