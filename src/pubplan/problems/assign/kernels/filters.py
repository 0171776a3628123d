"""Filters of brokers, and what it takes to enlarge them.

A filter is the union of at most ``alpha`` boxes. It *covers* a box if the box lies in the union; no single box of the
filter need contain it. Nesting: the filter of a broker is covered by that of its parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.measures import MAX_BOXES, Measure, copy_box, union_of
from pubplan.workload import Int64Array

COVERED = -1
"""In the role of a cost: nothing has to be enlarged. Less than an enlargement of measure 0, which changes boxes."""


class Filters(NamedTuple):
    """The filters of all brokers.

    Attributes:
        boxes: by broker, box and side: lows, then highs.
        sizes: how many boxes each broker has.
        measures: the measure of each union.
    """

    boxes: Int64Array
    sizes: Int64Array
    measures: Int64Array

    @classmethod
    def empty(cls, num_brokers: int, alpha: int, num_dimensions: int) -> Filters:
        """Filters without boxes."""
        shape = (num_brokers, alpha, 2 * num_dimensions)
        return cls(np.zeros(shape, np.int64), np.zeros(num_brokers, np.int64), np.zeros(num_brokers, np.int64))

    def copy(self) -> Filters:
        return Filters(self.boxes.copy(), self.sizes.copy(), self.measures.copy())


class Work(NamedTuple):
    """Scratch of the functions here: nothing is kept in it from one call to the next.

    Attributes:
        subsets: intersections of subsets of boxes.
        trial: boxes of a filter as an enlargement would leave them.
        copied: boxes of a filter that is enlarged to see what that costs.
        changed: for each box of a filter that is enlarged, whether it is new.
        pending: boxes that the next broker on the path must cover.
        clipped: boxes cut down to the one that is to be covered.
    """

    subsets: Int64Array
    trial: Int64Array
    copied: Int64Array
    changed: Int64Array
    pending: Int64Array
    clipped: Int64Array

    @classmethod
    def empty(cls, num_dimensions: int) -> Work:
        """Scratch for any number of boxes."""
        sides, most = 2 * num_dimensions, MAX_BOXES + 1
        boxes = [np.zeros((most, sides), np.int64) for _ in range(4)]
        subsets = np.zeros((1 << MAX_BOXES, sides + 1), np.int64)
        return cls(subsets, boxes[0], boxes[1], np.zeros(most, np.int64), boxes[2], boxes[3])


@kernel
def contains(outer: Int64Array, inner: Int64Array) -> bool:
    """Whether one box contains another."""
    num_dimensions = len(outer) // 2
    for dimension in range(num_dimensions):
        if outer[dimension] > inner[dimension]:
            return False
        if outer[num_dimensions + dimension] < inner[num_dimensions + dimension]:
            return False
    return True


@kernel
def widen(box: Int64Array, other: Int64Array) -> None:
    """Make ``box`` the smallest one that contains both."""
    num_dimensions = len(box) // 2
    for dimension in range(num_dimensions):
        high = num_dimensions + dimension
        box[dimension] = min(box[dimension], other[dimension])
        box[high] = max(box[high], other[high])


@kernel
def covers(measure: Measure, boxes: Int64Array, size: int, box: Int64Array, work: Work) -> bool:
    """Whether the union of the first ``size`` boxes contains ``box``."""
    for slot in range(size):
        if contains(boxes[slot], box):
            return True
    if size < 2:
        return False
    # The part of the union inside the box has the volume of the box.
    num_dimensions = len(box) // 2
    num_clipped, volume, joint = 0, 1, 0
    for dimension in range(num_dimensions):
        volume *= box[num_dimensions + dimension] - box[dimension]
    for slot in range(size):
        part = 1
        for dimension in range(num_dimensions):
            high = num_dimensions + dimension
            work.clipped[num_clipped, dimension] = max(boxes[slot, dimension], box[dimension])
            work.clipped[num_clipped, high] = min(boxes[slot, high], box[high])
            part *= max(0, work.clipped[num_clipped, high] - work.clipped[num_clipped, dimension])
        if part > 0:
            num_clipped += 1
            joint += part
    if joint < volume:
        return False
    return union_of(measure, work.clipped, num_clipped, work.subsets, True) == volume


@kernel
def least_enlargement(
    measure: Measure, boxes: Int64Array, size: int, current: int, box: Int64Array, work: Work
) -> tuple[int, int, int]:
    """The cheapest way to make a filter cover a box that it does not cover yet.

    The ways: widen one of its boxes; add the box, if there are fewer than ``alpha``; else merge two boxes and add it.
    Of equally cheap ways the first one, in that order.

    Args:
        boxes: ``alpha`` rows, of which ``size`` are used.
        current: the measure of their union.

    Returns:
        What the measure grows by, and the way as two slots: (slot, slot) widens that one, (size, size) adds, and
        (first, second) merges both into the first and puts the box into the second.
    """
    alpha, trial = len(boxes), work.trial
    best, first, second = -1, -1, -1
    for slot in range(size):
        copy_box(boxes[slot], trial[slot])
    for slot in range(size):
        widen(trial[slot], box)
        measured = union_of(measure, trial, size, work.subsets, False)
        copy_box(boxes[slot], trial[slot])
        if best < 0 or measured < best:
            best, first, second = measured, slot, slot
    if size < alpha:
        copy_box(box, trial[size])
        measured = union_of(measure, trial, size + 1, work.subsets, False)
        if best < 0 or measured < best:
            best, first, second = measured, size, size
        return best - current, first, second
    for slot in range(size):
        for other in range(slot + 1, size):
            widen(trial[slot], boxes[other])
            copy_box(box, trial[other])
            measured = union_of(measure, trial, size, work.subsets, False)
            copy_box(boxes[slot], trial[slot])
            copy_box(boxes[other], trial[other])
            if measured < best:
                best, first, second = measured, slot, other
    return best - current, first, second


@kernel
def drop_contained(boxes: Int64Array, changed: Int64Array, size: int) -> int:
    """Drop boxes that another one contains, of equal boxes all but the first; returns how many are left."""
    slot = 0
    while slot < size:
        is_contained = False
        for other in range(size):
            if other == slot or not contains(boxes[other], boxes[slot]):
                continue
            if other < slot or not contains(boxes[slot], boxes[other]):  # of equal boxes the later one goes
                is_contained = True
                break
        if is_contained:
            size -= 1
            for later in range(slot, size):
                copy_box(boxes[later + 1], boxes[later])
                changed[later] = changed[later + 1]
        else:
            slot += 1
    return size


@kernel
def enlarge(
    measure: Measure, boxes: Int64Array, changed: Int64Array, size: int, current: int, box: Int64Array, work: Work
) -> tuple[int, int]:
    """Make a filter cover a box in the cheapest way; returns how many boxes it then has, and their measure.

    Sets ``changed`` for the boxes that are new.
    """
    if covers(measure, boxes, size, box, work):
        return size, current
    growth, first, second = least_enlargement(measure, boxes, size, current, box, work)
    if first == size:
        copy_box(box, boxes[first])
        size += 1
    elif first == second:
        widen(boxes[first], box)
    else:
        widen(boxes[first], boxes[second])
        copy_box(box, boxes[second])
    changed[first] = changed[second] = 1
    return drop_contained(boxes, changed, size), current + growth


@kernel
def path_cost(measure: Measure, parents: Int64Array, filters: Filters, leaf: int, box: Int64Array, work: Work) -> int:
    """What the measures of all filters from a leaf up to the publisher grow by if the leaf is to cover a box.

    Each broker is enlarged in the cheapest way; the next one above must cover the boxes that are new. The leaf must not
    cover the box already.
    """
    if parents[leaf] < 0:
        size = filters.sizes[leaf]
        growth, _, _ = least_enlargement(measure, filters.boxes[leaf], size, filters.measures[leaf], box, work)
        return growth
    alpha = filters.boxes.shape[1]
    cost, broker, num_pending = 0, leaf, 1
    copy_box(box, work.pending[0])
    while broker >= 0 and num_pending > 0:
        copied = work.copied[:alpha]
        size, measured = filters.sizes[broker], filters.measures[broker]
        for slot in range(alpha):
            copy_box(filters.boxes[broker, slot], copied[slot])
            work.changed[slot] = 0
        for index in range(num_pending):
            size, measured = enlarge(measure, copied, work.changed, size, measured, work.pending[index], work)
        cost += measured - filters.measures[broker]
        num_pending = 0
        for slot in range(size):
            if work.changed[slot] == 1:
                copy_box(copied[slot], work.pending[num_pending])
                num_pending += 1
        broker = parents[broker]
    return cost


@kernel
def enlarge_path(
    measure: Measure, parents: Int64Array, filters: Filters, leaf: int, box: Int64Array, work: Work
) -> int:
    """Enlarge the filters of a path as :func:`path_cost` counts it; returns the last broker that changed, or -1."""
    alpha = filters.boxes.shape[1]
    broker, num_pending, last = leaf, 1, -1
    copy_box(box, work.pending[0])
    while broker >= 0 and num_pending > 0:
        size, measured = filters.sizes[broker], filters.measures[broker]
        for slot in range(alpha):
            work.changed[slot] = 0
        boxes = filters.boxes[broker]
        for index in range(num_pending):
            size, measured = enlarge(measure, boxes, work.changed, size, measured, work.pending[index], work)
        filters.sizes[broker], filters.measures[broker] = size, measured
        num_pending = 0
        for slot in range(size):
            if work.changed[slot] == 1:
                copy_box(boxes[slot], work.pending[num_pending])
                num_pending += 1
                last = broker
        broker = parents[broker]
    return last
