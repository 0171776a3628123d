"""Grids over event space whose lines are edges of rectangles, what their cells measure, and how much wants them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pubplan.problems.assign.kernels.depths import measures_by_count
from pubplan.problems.assign.kernels.measures import Measure
from pubplan.workload import Int64Array

MAX_CELLS = 1 << 25
"""A grid has at most this many cells: 2,500 rectangles of two attributes still have a line for each of their edges."""


def edges_of(lows: Int64Array, highs: Int64Array) -> list[Int64Array]:
    """Per attribute, all values at which a rectangle begins or ends."""
    return [np.unique(np.concatenate([lows[:, axis], highs[:, axis]])) for axis in range(lows.shape[1])]


def strides_for(edges: Sequence[Int64Array], max_cells: int = MAX_CELLS) -> list[int]:
    """Every how many edges there is a line, per attribute: 1 where the grid is small enough for all of them.

    The attribute with the most lines loses every second one until the grid is small enough.
    """
    strides = [1] * len(edges)
    sizes = [len(values) for values in edges]
    while prod(sizes) > max_cells:
        axis = int(np.argmax(sizes))
        strides[axis] *= 2
        sizes[axis] = -(-len(edges[axis]) // strides[axis])
    return strides


def cell_measures(measure: Measure, lines: Sequence[Int64Array]) -> Int64Array:
    """The measure of every cell between lines, with an axis per attribute.

    With a density, the measure of all that is below a point is linear between the borders of cells, attribute by
    attribute: between two of them it is the mean of both, weighted by how near they are.
    """
    below: Int64Array = np.ones(1, dtype=np.int64)
    if not len(measure.prefix):
        for values in lines:
            below = np.multiply.outer(below, values)
        below = below[0]
    else:
        below = measure.prefix.reshape(measure.cells + 1)
        for axis, (values, cells, width) in enumerate(zip(lines, measure.cells, measure.widths, strict=True)):
            cell = np.minimum(values // width, cells - 1)
            inside = (values - cell * width).reshape(-1, *[1] * (len(lines) - axis - 1))
            left, right = (np.take(below, some, axis=axis) for some in (cell, cell + 1))
            below = left * (width - inside) + right * inside
    for axis in range(len(lines)):
        below = np.diff(below, axis=axis)
    return below


def integrals_of_counts(
    lows: Int64Array,
    highs: Int64Array,
    weights: Int64Array,
    measure: Measure,
    strides: Sequence[int],
    thresholds: Sequence[Int64Array],
) -> list[int]:
    """The integral over event space of how many thresholds are below the weight of the rectangles around an event.

    Rectangles shrink to the lines of the grid: with a stride above 1 weights and integrals come out too small, never
    too large. Time is the number of cells of the grid.

    Args:
        strides: every how many edges there is a line, per attribute.
        thresholds: ascending; several of them, each with an integral of its own.
    """
    lines = [values[::stride] for values, stride in zip(edges_of(lows, highs), strides, strict=True)]
    if min(map(len, lines)) < 2:  # no rectangles, or strides that leave no cell between two lines
        return [0] * len(thresholds)
    # Rectangles shrink to the lines, some to nothing.
    firsts = np.column_stack([np.searchsorted(each, lows[:, axis], "left") for axis, each in enumerate(lines)])
    lasts = np.column_stack([np.searchsorted(each, highs[:, axis], "right") - 1 for axis, each in enumerate(lines)])
    is_left = (firsts < lasts).all(axis=1)
    firsts, lasts = firsts[is_left], lasts[is_left]
    # A slab along the first attribute does not cross a border of the density's cells.
    borders, slabs = lines[0][[0, -1]], lines[0]
    if len(measure.prefix):
        borders = np.arange(measure.cells[0] + 1) * measure.widths[0]
        slabs = np.unique(np.concatenate([slabs, borders]))
    for ends in (firsts, lasts):
        ends[:, 0] = np.searchsorted(slabs, lines[0][ends[:, 0]])
    of_rows = cell_measures(measure, [borders, *lines[1:]])
    per_step = of_rows // np.diff(borders).reshape(-1, *[1] * (len(lines) - 1))
    per_step = np.pad(per_step, [(0, 0), *[(0, 1)] * (len(lines) - 1)])
    table = np.full((len(thresholds), max(map(len, thresholds))), np.iinfo(np.int64).max)
    for row, values in zip(table, thresholds, strict=True):
        row[: len(values)] = values
    measures = measures_by_count(
        firsts,
        lasts,
        weights[is_left],
        np.argsort(firsts[:, 0], kind="stable"),
        np.argsort(lasts[:, 0], kind="stable"),
        np.array([len(each) for each in lines[1:]], dtype=np.int64),
        np.diff(slabs),
        np.searchsorted(borders, slabs[:-1], "right") - 1,
        per_step.reshape(len(per_step), -1),
        table,
    )
    return [sum(count * int(value) for count, value in enumerate(row)) for row in measures]
