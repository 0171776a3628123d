"""Unions of boxes, recomputed: what is inside them, and what they measure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pubplan.workload import Int64Array

BoolArray = npt.NDArray[np.bool_]


def is_inside(lows: Int64Array, highs: Int64Array, box_lows: Int64Array, box_highs: Int64Array) -> BoolArray:
    """Whether every rectangle is inside the union of its boxes.

    A rectangle is inside if the parts of the boxes that it contains have its volume together: the volumes of all
    intersections of some of these parts, added if they are of an odd number of boxes and subtracted if of an even one.
    Volumes are at most 2^52 and there are at most 31 of them, so nothing leaves 64 bits.

    Args:
        lows, highs: a row per rectangle.
        box_lows, box_highs: a row per rectangle, of a row per box; unused boxes are empty.
    """
    in_box = np.asarray(((box_lows <= lows[:, None]) & (highs[:, None] <= box_highs)).all(axis=2), dtype=np.bool_)
    is_covered: BoolArray = np.asarray(in_box.any(axis=1), dtype=np.bool_)
    left = np.flatnonzero(~is_covered)
    lows, highs = lows[left], highs[left]
    starts, ends = np.maximum(box_lows[left], lows[:, None]), np.minimum(box_highs[left], highs[:, None])
    covered: Int64Array = np.zeros(len(left), dtype=np.int64)
    num_boxes = box_lows.shape[1]
    for subset in range(1, 1 << num_boxes):
        members = [box for box in range(num_boxes) if subset >> box & 1]
        sides = np.maximum(ends[:, members].min(axis=1) - starts[:, members].max(axis=1), 0)
        covered += (1 if len(members) % 2 else -1) * sides.prod(axis=1)
    is_covered[left] = covered == (highs - lows).prod(axis=1)
    return is_covered


def measure_of_union(
    boxes: Sequence[tuple[Sequence[int], Sequence[int]]], density: Int64Array, widths: Sequence[int]
) -> int:
    """The measure of a union of boxes, attribute by attribute.

    Along an attribute, the edges of the boxes cut the space into slabs, and in each of them certain boxes are present.
    What is left of the density after an attribute, by the boxes that were present in all attributes so far, is carried
    on to the next; at the end, everything counts where a box was present throughout.

    Args:
        density: messages of every cell, with an axis per attribute.
        widths: the grid steps of a cell, per attribute.
    """
    by_present: dict[int, Int64Array] = {(1 << len(boxes)) - 1: density} if boxes else {}
    for axis, width in enumerate(widths):
        edges = sorted({edge for low, high in boxes for edge in (low[axis], high[axis])})
        borders = np.arange(density.shape[axis] + 1) * width
        overlaps: dict[int, Int64Array] = {}  # with every row of cells, by the boxes that are present there
        for start, end in pairwise(edges):
            present = sum(1 << box for box, (low, high) in enumerate(boxes) if low[axis] <= start and end <= high[axis])
            overlap = np.diff(np.clip(borders, start, end))
            overlaps[present] = overlaps.get(present, 0) + overlap
        carried: dict[int, Int64Array] = {}
        for before, left in by_present.items():
            for present, overlap in overlaps.items():
                both = before & present
                if both:
                    carried[both] = carried.get(both, 0) + np.tensordot(overlap, left, axes=1)
        by_present = carried
    return sum(int(left) for left in by_present.values())


def measures_of_cells(lines: Sequence[Int64Array], density: Int64Array, widths: Sequence[int]) -> Int64Array:
    """The measure of every cell between lines, with an axis per attribute."""
    measures = density
    for axis, (values, width) in enumerate(zip(lines, widths, strict=True)):
        moved = np.moveaxis(measures, axis, 0)
        summed = _overlaps(values, density.shape[axis], width) @ moved.reshape(len(moved), -1)
        measures = np.moveaxis(summed.reshape(-1, *moved.shape[1:]), 0, axis)
    return np.ascontiguousarray(measures)


def _overlaps(lines: Int64Array, num_cells: int, width: int) -> sparse.csr_array:
    """How far every range between two lines (rows) and every cell of the density (columns) overlap."""
    starts, ends = lines[:-1], lines[1:]
    first, last = starts // width, np.minimum(-(-ends // width), num_cells)
    counts = last - first
    rows = np.repeat(np.arange(len(starts)), counts)
    cells = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
    lengths = np.minimum(ends[rows], (cells + 1) * width) - np.maximum(starts[rows], cells * width)
    return sparse.csr_array((lengths, (rows, cells)), shape=(len(starts), num_cells))
