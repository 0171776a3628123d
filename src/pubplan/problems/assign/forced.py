"""What a filter must contain because no other broker can serve it, and how little such a filter can measure.

A client whose candidates are all below one broker is *forced* through it. Any few rectangles of clients that are forced
through a broker are *witnesses*: its filter contains them, and so do at most alpha boxes together.

A rectangle may lie in several boxes together, so it is not rectangles that are handed out to boxes but *atoms*: the
grid steps in the corners of rectangles, each of which lies in one box whole. A box that contains some atoms contains
their bounding box. So a filter measures at least as much as the union of all witnesses and of the bounding boxes of
atoms, handed out to alpha boxes in the best way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import map_blocks
from pubplan.problems.assign.grids import cell_measures
from pubplan.problems.assign.instance import Instance
from pubplan.problems.assign.kernels.measures import Measure
from pubplan.problems.assign.kernels.witnesses import UNSOLVED, farthest_rectangles, least_cover
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_WITNESSES = 16
"""Per broker."""

MAX_SEARCH_TERMS = 1 << 17
"""Of the search for the best way to hand out the atoms of one broker, search nodes times subsets of boxes at most; with
more, it does with fewer witnesses.
"""

_MAX_CELLS = 1 << 20
"""The grid of the edges of all atoms of a broker has at most this many cells."""


@dataclass(frozen=True)
class Witnesses:
    """Clients that are forced through a broker, and what its filter measures at least because of them."""

    broker: int
    clients: Int64Array
    measure: int


def ancestors_by_level(parents: Int32Array, levels: Int32Array) -> Int32Array:
    """A row per level: the broker there that each broker is below of, or itself; -1 where it is above that level."""
    rows = np.full((int(levels.max()), len(parents)), -1, dtype=np.int32)
    brokers = np.arange(len(parents), dtype=np.int32)
    rows[levels - 1, brokers] = brokers
    for level in range(len(rows) - 1, 0, -1):
        is_below = rows[level] >= 0
        rows[level - 1, is_below] = parents[rows[level, is_below]]
    return rows


def forced_through(instance: Instance) -> Int32Array:
    """A row per level: the broker there that serves the clients of each group for certain, or -1."""
    ancestors = ancestors_by_level(instance.parents, instance.levels)
    starts, num_candidates = instance.candidate_offsets[:-1], np.diff(instance.candidate_offsets)
    has_any = np.flatnonzero(num_candidates > 0)
    forced = np.full((len(ancestors), len(starts)), -1, dtype=np.int32)
    if len(has_any):
        above = ancestors[:, instance.candidates]
        least = np.minimum.reduceat(above, starts[has_any], axis=1)
        is_one = least == np.maximum.reduceat(above, starts[has_any], axis=1)
        forced[:, has_any] = np.where(is_one, least, -1)
    return forced


@dataclass(frozen=True)
class _Forced:
    """The distinct rectangles that are forced through a broker, and a client that wants each."""

    broker: int
    rectangles: Int64Array
    clients: Int64Array


def find_witnesses(instance: Instance, num_boxes: int, spark: SparkSession | None = None) -> list[Witnesses]:
    """For every broker through which clients are forced, some of them that need a large filter."""
    forced = sorted(_forced_rectangles(instance), key=lambda some: some.broker)
    lows, highs, measure = instance.lows, instance.highs, instance.measure

    def choose(position: int) -> Witnesses:
        some = forced[position]
        chosen, least = _witnesses_of(lows[some.rectangles], highs[some.rectangles], measure, num_boxes)
        return Witnesses(some.broker, some.clients[chosen], least)

    return list(map_blocks(choose, len(forced), spark))


def _forced_rectangles(instance: Instance) -> Iterator[_Forced]:
    num_rectangles = len(instance.lows)
    for of_groups in forced_through(instance):
        brokers = of_groups[instance.group]
        clients = np.flatnonzero(brokers >= 0)
        keys = brokers[clients].astype(np.int64) * num_rectangles + instance.rectangle[clients]
        distinct, firsts = np.unique(keys, return_index=True)
        broker_of, rectangles = np.divmod(distinct, num_rectangles)
        starts = np.flatnonzero(np.diff(broker_of, prepend=-1))
        for start, end in pairwise([*starts, len(distinct)]):
            yield _Forced(int(broker_of[start]), rectangles[start:end], clients[firsts[start:end]])


def is_too_fine(num_rectangles: int, num_dimensions: int) -> bool:
    """Whether the grid of the edges of all atoms of this many rectangles may have too many cells."""
    return bool((4 * num_rectangles) ** num_dimensions > _MAX_CELLS)


def _witnesses_of(lows: Int64Array, highs: Int64Array, measure: Measure, num_boxes: int) -> tuple[Int64Array, int]:
    """Rectangles that need a large filter, and how much it measures at least."""
    most = MAX_WITNESSES
    while most > 1 and is_too_fine(most, lows.shape[1]):
        most -= 1
    chosen = farthest_rectangles(lows, highs, most)
    while True:
        least = least_measure(lows[chosen], highs[chosen], measure, num_boxes, MAX_SEARCH_TERMS)
        if least != UNSOLVED:
            return chosen, least
        chosen = chosen[: max(1, len(chosen) * 3 // 4)]


def least_measure(lows: Int64Array, highs: Int64Array, measure: Measure, num_boxes: int, max_terms: int) -> int:
    """What a filter of these rectangles measures at least with this many boxes; UNSOLVED if that takes too long.

    A single rectangle needs no search: its filter measures what it measures.
    """
    num_rectangles, num_dimensions = lows.shape
    if num_rectangles == 1:
        sides = [np.array(side) for side in zip(lows[0], highs[0], strict=True)]
        return int(cell_measures(measure, sides).item())
    corners = np.concatenate([lows, lows + 1, highs - 1, highs])
    lines = [np.unique(corners[:, axis]) for axis in range(num_dimensions)]
    measures = cell_measures(measure, lines)
    first, last = (
        np.column_stack([np.searchsorted(each, corner[:, axis]) for axis, each in enumerate(lines)])
        for corner in (lows, highs)
    )
    is_outside = np.ones(measures.shape, dtype=bool)
    for low, high in zip(first, last, strict=True):
        is_outside[tuple(map(slice, low, high))] = False
    sums = np.where(is_outside, measures, 0)
    for axis in range(num_dimensions):
        sums = np.cumsum(sums, axis=axis)
    sums = np.pad(sums, [(1, 0)] * num_dimensions)
    # Opposite corners first: what they span contains the others.
    choices = sorted(
        product((0, 1), repeat=num_dimensions), key=lambda some: min(sum(some), num_dimensions - sum(some))
    )
    ends = np.stack([first, last - 1])
    atoms = np.stack([ends[list(side), :, range(num_dimensions)].T for side in choices], axis=1)
    strides = np.array(sums.strides) // sums.itemsize
    added, _ = least_cover(
        atoms.reshape(-1, num_dimensions), sums.reshape(-1), strides, num_boxes, max_terms >> num_boxes
    )
    return UNSOLVED if added == UNSOLVED else int(measures[~is_outside].sum()) + added
