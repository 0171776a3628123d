"""The measure of boxes and of unions of boxes, exact in 64-bit integers.

A box is a row of 2 d numbers: d lows, then d highs, half-open. The volume of the whole event space is at most 2^52, and
so is its measure; then no sum over the 31 intersections of five boxes leaves 64 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int64Array

MAX_BOXES = 5
"""The most boxes a filter may have: a union of n boxes has 2^n - 1 intersections."""


class Measure(NamedTuple):
    """What a box counts: its volume in grid steps, or what is published inside.

    With a density the measure is an integer over the volume of a cell: messages times steps.

    Attributes:
        cells: the number of density cells in each dimension.
        widths: the grid steps of a cell in each dimension.
        prefix: by corner of cells, row-major over ``cells + 1``, the messages of all cells below it; empty without a
            density.
    """

    cells: Int64Array
    widths: Int64Array
    prefix: Int64Array

    @property
    def scale(self) -> int:
        return int(np.prod(self.widths)) if len(self.prefix) else 1


def volume_only(num_dimensions: int) -> Measure:
    """The measure without a density."""
    ones = np.ones(num_dimensions, dtype=np.int64)
    return Measure(ones, ones.copy(), np.empty(0, dtype=np.int64))


@kernel
def copy_box(source: Int64Array, target: Int64Array) -> None:
    """Make ``target`` the same box; a loop, since the compiler takes long for assignments of whole rows."""
    for side in range(len(source)):
        target[side] = source[side]


@kernel
def box_volume(box: Int64Array) -> int:
    """The volume of a box in grid steps; 0 if it is empty."""
    num_dimensions = len(box) // 2
    volume = 1
    for dimension in range(num_dimensions):
        extent = box[num_dimensions + dimension] - box[dimension]
        if extent <= 0:
            return 0
        volume *= extent
    return volume


@kernel
def box_measure(measure: Measure, box: Int64Array) -> int:
    """The measure of a box; 0 if it is empty.

    Messages below a point grow linearly inside a cell along each dimension, so the messages below any corner of the
    box follow from the ``2^d`` corners of the cell it lies in; the box is the alternating sum over its own corners.
    """
    volume = box_volume(box)
    if volume == 0 or len(measure.prefix) == 0:
        return volume
    num_dimensions = len(box) // 2
    num_corners = 1 << num_dimensions
    total = 0
    for corner in range(num_corners):  # bit set: the high side of that dimension
        below, sign = 0, 1
        for cell_corner in range(num_corners):
            entry, share = 0, 1
            for dimension in range(num_dimensions):
                is_high = (corner >> dimension) & 1
                steps = box[num_dimensions * is_high + dimension]
                width = measure.widths[dimension]
                cell = min(steps // width, measure.cells[dimension] - 1)
                inside = steps - cell * width
                is_upper = (cell_corner >> dimension) & 1
                entry = entry * (measure.cells[dimension] + 1) + cell + is_upper
                share *= inside if is_upper == 1 else width - inside
            below += share * measure.prefix[entry]
        for dimension in range(num_dimensions):
            if (corner >> dimension) & 1 == 0:
                sign = -sign
        total += sign * below
    return total


@kernel
def union_of(measure: Measure, boxes: Int64Array, size: int, scratch: Int64Array, is_volume: bool) -> int:
    """The measure, or the volume, of the union of the first ``size`` boxes, by inclusion and exclusion.

    Args:
        scratch: ``2^size`` rows of at least 2 d + 1 numbers: the intersection of each subset, and its sign.
    """
    num_dimensions = boxes.shape[1] // 2
    total = 0
    for subset in range(1, 1 << size):
        first = 0
        while (subset >> first) & 1 == 0:
            first += 1
        rest = subset & (subset - 1)  # without its first box
        common = scratch[subset]
        if rest == 0:
            common[2 * num_dimensions] = 1
            for side in range(2 * num_dimensions):
                common[side] = boxes[first, side]
        else:
            # An empty intersection stays empty with further boxes: its lows only rise, its highs only fall.
            common[2 * num_dimensions] = -scratch[rest, 2 * num_dimensions]
            for dimension in range(num_dimensions):
                high = num_dimensions + dimension
                common[dimension] = max(scratch[rest, dimension], boxes[first, dimension])
                common[high] = min(scratch[rest, high], boxes[first, high])
        box = common[: 2 * num_dimensions]
        part = box_volume(box) if is_volume else box_measure(measure, box)
        total += common[2 * num_dimensions] * part
    return total
