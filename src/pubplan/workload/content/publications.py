"""What clients publish, added up over the cells of the space."""

from __future__ import annotations

import numpy as np

from pubplan.engine import MAX_INT64, exact_sum
from pubplan.errors import InputError
from pubplan.workload.tables import Int32Array, Int64Array


def sum_by_cell(cells: Int32Array, counts: Int64Array, num_cells: int) -> Int64Array:
    """Messages by cell.

    Raises:
        InputError: they are more than 64 bits hold.
    """
    if exact_sum(counts) > MAX_INT64:
        raise InputError("The messages that clients publish add up to more than 64 bits hold.")
    total: Int64Array = np.zeros(num_cells, dtype=np.int64)
    np.add.at(total, cells, counts)
    return total


def check_published(published: Int64Array, density: Int64Array | None) -> None:
    """Refuse a density that lacks messages which clients publish.

    Raises:
        InputError: names a cell.
    """
    if density is None:
        raise InputError("Clients publish in cells of the space; a workload of such clients has a density.")
    lacking = np.flatnonzero(published > density.reshape(-1))
    if len(lacking):
        cell = int(lacking[0])
        there = density.flat[cell]
        raise InputError(f"Clients publish {published[cell]:,} messages in cell {cell}; the density has {there:,}.")
