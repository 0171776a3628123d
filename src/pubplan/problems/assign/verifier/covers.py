"""What filters that contain some rectangles measure at least, by trying many of them at once.

A filter contains the grid steps in the corners of each rectangle, and each of these lies in one of its boxes. So boxes
grow from corner to corner: every box of every filter under way is tried for the next corner, and filters that already
measure as much as the best, or as anybody wants to know, are given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from pubplan.problems.assign.verifier.boxes import measures_of_cells
from pubplan.workload import Int64Array

MAX_RECTANGLES = 16
"""Witnesses of a broker."""

MAX_CELLS = 1 << 20
MAX_FILTERS = 1 << 21
"""Filters that are tried at most before a proof is refused."""

_GROUP_FILTERS = 1 << 12
"""Filters under way that are looked at together."""

_BEAM_FILTERS = 4
"""Filters under way that are followed to find a good one."""


class _Grid(NamedTuple):
    """Corners as cells of a grid, what rectangles measure together, and sums of what lies outside them."""

    corners: Int64Array
    inside: int
    sums: Int64Array


class _Filters(NamedTuple):
    """Filters under way: the corners they contain so far, their boxes, of which the first few are in use, and what
    these add to the rectangles.
    """

    corner: int
    lows: Int64Array
    highs: Int64Array
    used: Int64Array
    added: Int64Array


def is_too_large(num_rectangles: int, num_attributes: int) -> bool:
    """Whether this many rectangles are not to be tried."""
    return num_rectangles > MAX_RECTANGLES or (
        num_rectangles > 1 and (4 * num_rectangles) ** num_attributes > MAX_CELLS
    )


def least_measure(
    lows: Int64Array, highs: Int64Array, density: Int64Array, widths: tuple[int, ...], num_boxes: int, most: int
) -> int:
    """What a filter of this many boxes around these rectangles measures at least, or ``most`` if that is less.

    Where that takes too many filters to say, it is what the rectangles measure.
    """
    if len(lows) == 1:
        sides = [np.array(side) for side in zip(lows[0], highs[0], strict=True)]
        return min(most, int(measures_of_cells(sides, density, widths).sum()))
    grid = _grid_of(lows, highs, density, widths)
    left: int = most - grid.inside
    num_attributes, outside = lows.shape[1], np.iinfo(np.int64).max
    nothing = np.zeros((1, num_boxes, num_attributes), dtype=np.int64)
    start = _Filters(
        0, np.full_like(nothing, outside), nothing, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    )
    beam = start
    while beam.corner < len(grid.corners):  # a good filter first, so that few others are followed
        beam = _Filters(beam.corner + 1, *(part[-_BEAM_FILTERS:] for part in _grown(beam, grid, left)[1:]))
    left = min([left, *beam.added.tolist()])
    waiting = [start] if left > 0 else []
    num_tried = 0
    while waiting:
        filters = waiting.pop()
        if filters.corner == len(grid.corners):
            left = min(left, int(filters.added.min()))  # these contain all corners
            continue
        grown = _grown(filters, grid, left)
        num_tried += len(grown.used)
        if num_tried > MAX_FILTERS:
            return min(most, grid.inside)
        waiting.extend(_in_groups(grown))
    return grid.inside + left


def _grid_of(lows: Int64Array, highs: Int64Array, density: Int64Array, widths: tuple[int, ...]) -> _Grid:
    edges = np.concatenate([lows, lows + 1, highs - 1, highs])
    lines = [np.unique(edges[:, axis]) for axis in range(lows.shape[1])]
    measures = measures_of_cells(lines, density, widths)
    is_inside = np.zeros(measures.shape, dtype=bool)
    corners: list[tuple[int, ...]] = []
    for low, high in zip(lows, highs, strict=True):
        ranges = [
            np.searchsorted(values, side) for values, side in zip(lines, zip(low, high, strict=True), strict=True)
        ]
        is_inside[tuple(slice(*some) for some in ranges)] = True
        # The low and the high corner come first: the box around both contains the others.
        sides = sorted(product((False, True), repeat=len(ranges)), key=lambda highs: len(set(highs)))
        corners += [
            tuple(some[1] - 1 if is_high else some[0] for some, is_high in zip(ranges, highs, strict=True))
            for highs in sides
        ]
    sums = np.pad(np.where(is_inside, 0, measures), [(1, 0)] * len(lines))
    for axis in range(len(lines)):
        np.cumsum(sums, axis=axis, out=sums)
    return _Grid(np.array(corners), int(measures[is_inside].sum()), sums)


def _grown(filters: _Filters, grid: _Grid, left: int) -> _Filters:
    """The filters that contain a corner more and add less than ``left`` to the rectangles."""
    cell = grid.corners[filters.corner]
    contains = ((filters.lows <= cell) & (cell < filters.highs)).all(axis=2).any(axis=1)
    if contains.all():
        return filters._replace(corner=filters.corner + 1)
    some = [[part[contains & (filters.added < left)] for part in filters[1:]]]
    open_filters = [part[~contains] for part in filters[1:]]
    for box in range(filters.lows.shape[1]):
        may_take = box <= open_filters[2]  # of the boxes not in use, the first
        lows, highs, used = (part[may_take].copy() for part in open_filters[:3])
        lows[:, box], highs[:, box] = np.minimum(lows[:, box], cell), np.maximum(highs[:, box], cell + 1)
        added = _added(lows, highs, grid.sums)
        grown = (lows, highs, np.maximum(used, box + 1), added)
        some.append([part[added < left] for part in grown])
    parts = [np.concatenate(each) for each in zip(*some, strict=True)]
    order = np.argsort(-parts[3], kind="stable")  # the cheapest are looked at next
    return _Filters(filters.corner + 1, *(part[order] for part in parts))


def _added(lows: Int64Array, highs: Int64Array, sums: Int64Array) -> Int64Array:
    """What the boxes of each filter measure together outside the rectangles."""
    added: Int64Array = np.zeros(len(lows), dtype=np.int64)
    boxes = range(lows.shape[1])
    for size in range(1, len(boxes) + 1):
        for chosen in combinations(boxes, size):
            start, end = lows[:, chosen].max(axis=1), highs[:, chosen].min(axis=1)
            is_common = (start < end).all(axis=1)
            added[is_common] += (-1) ** (size - 1) * _sum_of(start[is_common], end[is_common], sums)
    return added


def _sum_of(start: Int64Array, end: Int64Array, sums: Int64Array) -> Int64Array:
    """The sum of the cells of each box, from the sums below its corners."""
    total: Int64Array = np.zeros(len(start), dtype=np.int64)
    for sides in product((0, 1), repeat=start.shape[1]):
        corner = np.where(np.array(sides, dtype=bool), end, start)
        total += (-1) ** (len(sides) - sum(sides)) * sums[tuple(corner.T)]
    return total


def _in_groups(filters: _Filters) -> Iterator[_Filters]:
    for first in range(0, len(filters.used), _GROUP_FILTERS):
        some = slice(first, first + _GROUP_FILTERS)
        yield _Filters(filters.corner, *(part[some] for part in filters[1:]))
