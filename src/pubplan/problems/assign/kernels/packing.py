"""Few boxes around many: what a filter is made of once it is known what it must cover."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.filters import Work, contains, covers, drop_contained, enlarge, widen
from pubplan.problems.assign.kernels.measures import Measure, box_measure, box_volume, copy_box, union_of
from pubplan.workload import Int64Array

MAX_MERGED = 64
"""How many boxes are merged pair by pair: that takes the cube of their number."""


@kernel
def maximal_boxes(boxes: Int64Array) -> Int64Array:
    """The boxes that no other one contains, the largest volume first; one of each."""
    volumes = np.empty(len(boxes), dtype=np.int64)
    for index in range(len(boxes)):
        volumes[index] = -box_volume(boxes[index])
    order = np.argsort(volumes, kind="mergesort")
    kept = np.empty_like(boxes)
    size = 0
    for index in order:
        is_contained = False
        for other in range(size):
            if contains(kept[other], boxes[index]):
                is_contained = True
                break
        if not is_contained:
            copy_box(boxes[index], kept[size])
            size += 1
    return kept[:size]


@kernel
def absorb_rest(boxes: Int64Array, num_kept: int) -> int:
    """Widen the first ``num_kept`` boxes so that they contain the others, each by the one that grows least.

    Returns how many are left when those that another one contains by then are dropped.
    """
    widened = np.empty(boxes.shape[1], dtype=np.int64)
    for index in range(num_kept, len(boxes)):
        best, best_growth = -1, 0
        for other in range(num_kept):
            copy_box(boxes[other], widened)
            widen(widened, boxes[index])
            growth = box_volume(widened) - box_volume(boxes[other])
            if best < 0 or growth < best_growth:
                best, best_growth = other, growth
            if growth == 0:
                break
        widen(boxes[best], boxes[index])
    return drop_contained(boxes, np.zeros(num_kept + 1, dtype=np.int64), num_kept)


@kernel
def merge_growth(measure: Measure, box: Int64Array, other: Int64Array, merged: Int64Array) -> int:
    """What the union of two boxes grows by if both become one."""
    num_dimensions = len(box) // 2
    for dimension in range(num_dimensions):
        high = num_dimensions + dimension
        merged[dimension] = max(box[dimension], other[dimension])
        merged[high] = min(box[high], other[high])
    both = box_measure(measure, box) + box_measure(measure, other) - box_measure(measure, merged)
    copy_box(box, merged)
    widen(merged, other)
    return box_measure(measure, merged) - both


@kernel
def merge_pairs(measure: Measure, boxes: Int64Array, size: int, alpha: int) -> int:
    """Merge the two boxes whose union grows least until there are at most ``alpha``; returns how many there are.

    Growths of pairs are kept in a table; a merge changes one row of it.
    """
    merged = np.empty(boxes.shape[1], dtype=np.int64)
    growths = np.zeros((size, size), dtype=np.int64)
    for index in range(size):
        for other in range(index):
            growths[index, other] = merge_growth(measure, boxes[index], boxes[other], merged)
    while size > alpha:
        first, second = 1, 0
        for index in range(1, size):
            for other in range(index):
                if growths[index, other] < growths[first, second]:
                    first, second = index, other
        widen(boxes[second], boxes[first])
        # The merged box stays at ``second``; other boxes that it contains go together with ``first``.
        num_kept = 0
        for index in range(size):
            if index != first and (index == second or not contains(boxes[second], boxes[index])):
                if num_kept != index:
                    _move(boxes, growths, index, num_kept)
                if index == second:
                    second = num_kept
                num_kept += 1
        size = num_kept
        for index in range(size):
            if index != second:
                upper, lower = max(index, second), min(index, second)
                growths[upper, lower] = merge_growth(measure, boxes[upper], boxes[lower], merged)
    return size


@kernel
def _move(boxes: Int64Array, growths: Int64Array, source: int, target: int) -> None:
    """Move a box and its row of growths to a smaller index; the boxes between are gone."""
    copy_box(boxes[source], boxes[target])
    for other in range(target):
        growths[target, other] = growths[source, other]
    for later in range(source + 1, len(growths)):
        growths[later, target] = growths[later, source]


@kernel
def shrink(measure: Measure, boxes: Int64Array, size: int, rest: Int64Array, work: Work) -> tuple[int, int]:
    """Shrink each box to what it holds of ``rest``; returns how many are left, and the measure of their union.

    A box of ``rest`` is held by the first box that contains it; what none contains is covered again in the cheapest way
    afterwards. Where that would be larger than before, the boxes stay as they are.
    """
    old = boxes[:size].copy()
    is_used = np.zeros(len(boxes) + 1, dtype=np.int64)
    is_held = np.zeros(len(rest), dtype=np.int64)
    is_covering = True
    for index in range(len(rest)):
        for slot in range(size):
            if contains(old[slot], rest[index]):
                if is_used[slot] == 1:
                    widen(boxes[slot], rest[index])
                else:
                    copy_box(rest[index], boxes[slot])
                is_used[slot] = is_held[index] = 1
                break
        if is_held[index] == 0 and is_covering:
            is_covering = covers(measure, old, size, rest[index], work)
    num_used = 0
    for slot in range(size):
        if is_used[slot] == 1:
            copy_box(boxes[slot], boxes[num_used])
            num_used += 1
    num_used = drop_contained(boxes, is_used, num_used)
    measured = union_of(measure, boxes, num_used, work.subsets, False)
    for index in range(len(rest)):
        if is_held[index] == 0:
            num_used, measured = enlarge(measure, boxes, is_used, num_used, measured, rest[index], work)
    if is_covering:
        before = union_of(measure, old, size, work.subsets, False)
        if before < measured:
            for slot in range(size):
                copy_box(old[slot], boxes[slot])
            return size, before
    return num_used, measured


@kernel
def pack(measure: Measure, boxes: Int64Array, size: int, covered: Int64Array, work: Work) -> tuple[int, int]:
    """Replace a filter by a smaller one that covers all of ``covered``.

    Tried are the filter shrunk to what its boxes hold, and the boxes of ``covered`` merged pair by pair, of which there
    are never more than ``MAX_MERGED``: further ones, the smallest, first widen those.

    Args:
        boxes: ``alpha`` rows, of which ``size`` are used; the new filter is written there.

    Returns:
        How many boxes there are then, and the measure of their union.
    """
    if len(covered) == 0:
        return 0, 0
    rest = maximal_boxes(covered)
    best_size, best = 0, -1
    if size > 0:
        best_size, best = shrink(measure, boxes, size, rest, work)
    num_rest = len(rest)
    if num_rest > MAX_MERGED:
        num_rest = absorb_rest(rest, MAX_MERGED)
    num_rest = merge_pairs(measure, rest, num_rest, len(boxes))
    measured = union_of(measure, rest, num_rest, work.subsets, False)
    if best < 0 or measured < best:
        best_size, best = num_rest, measured
        for slot in range(num_rest):
            copy_box(rest[slot], boxes[slot])
    return best_size, best
