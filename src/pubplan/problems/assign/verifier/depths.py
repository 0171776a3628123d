"""How much of event space is wanted by how much, recomputed on a grid of all edges, some slabs at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from pubplan.engine import exact_dot
from pubplan.problems.assign.verifier.boxes import measures_of_cells
from pubplan.workload import Int64Array

MAX_CELLS = 1 << 25
"""Evidence that asks for a finer grid than this is refused."""

_CHUNK_CELLS = 1 << 20


def lines_of(lows: Int64Array, highs: Int64Array, strides: Sequence[int]) -> list[Int64Array] | None:
    """Per attribute, the edges of rectangles, by its stride; None where these are too many."""
    edges = [np.unique(np.concatenate([lows[:, axis], highs[:, axis]])) for axis in range(lows.shape[1])]
    lines = [values[:: min(stride, len(values))] for values, stride in zip(edges, strides, strict=True)]
    return lines if prod(map(len, lines)) <= MAX_CELLS else None


def integral(
    lows: Int64Array,
    highs: Int64Array,
    weights: Int64Array,
    density: Int64Array,
    widths: Sequence[int],
    lines: Sequence[Int64Array],
    thresholds: Int64Array,
) -> int:
    """The sum over all cells between lines of their measure times the number of thresholds below their weight.

    The weight of a cell is that of the rectangles that contain it. Time is the number of cells; memory that of some
    slabs along the first attribute.
    """
    num_lines = [len(values) for values in lines]
    firsts = np.column_stack([np.searchsorted(values, lows[:, axis], "left") for axis, values in enumerate(lines)])
    ends = np.column_stack([np.searchsorted(values, highs[:, axis], "right") - 1 for axis, values in enumerate(lines)])
    is_seen = (firsts < ends).all(axis=1)
    firsts, ends, weights = firsts[is_seen], ends[is_seen], weights[is_seen]
    chunk_slabs = max(1, _CHUNK_CELLS // prod(num_lines[1:]))
    total = 0
    before: Int64Array = np.zeros(num_lines[1:], dtype=np.int64)  # the sum of changes up to a slab
    for start in range(0, num_lines[0] - 1, chunk_slabs):
        end = min(num_lines[0] - 1, start + chunk_slabs)
        depths = np.zeros((end - start, *num_lines[1:]), dtype=np.int64)
        depths[0] = before
        for edges, sign in ((firsts, 1), (ends, -1)):
            here = np.flatnonzero((edges[:, 0] >= start) & (edges[:, 0] < end))
            _add_changes(depths, edges[here, 0] - start, firsts[here, 1:], ends[here, 1:], sign * weights[here])
        np.cumsum(depths, axis=0, out=depths)
        before = depths[-1].copy()
        for axis in range(1, len(lines)):
            np.cumsum(depths, axis=axis, out=depths)
        inside = depths[(slice(None), *(slice(0, -1) for _ in lines[1:]))]
        counts = np.searchsorted(thresholds, inside.reshape(-1), "left")
        measures = measures_of_cells([lines[0][start : end + 1], *lines[1:]], density, widths)
        total += exact_dot(measures.reshape(-1), counts)
    return total


def _add_changes(
    depths: Int64Array, slabs: Int64Array, firsts: Int64Array, ends: Int64Array, weights: Int64Array
) -> None:
    """Add weights where rectangles begin within a slab, and with the sign of the corner where they end."""
    for sides in product((0, 1), repeat=firsts.shape[1]):
        corners = np.where(np.array(sides, dtype=bool), ends, firsts)
        np.add.at(depths, (slabs, *corners.T), weights * (-1) ** sum(sides))
