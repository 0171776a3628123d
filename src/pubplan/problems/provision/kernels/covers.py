"""Covers of subscribers: sets of a subscriber's topics that together bring at least what it needs.

Chosen topics are written end to end into ``chosen.topics``, in the order of the row, with their number per row in
``chosen.lengths``. What is not optimal is here; covers of least cost are in ``cheapest_covers``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

FloatArray = npt.NDArray[np.float64]

NO_COST = 2**62
"""More than any cover costs."""

TAKEN = -1
"""Stands for the events of a topic that was taken."""


class Rows(NamedTuple):
    """Subscribers: their topics as CSR, and the events that each of them needs."""

    offsets: Int64Array
    topics: Int32Array
    thresholds: Int64Array


class Chosen(NamedTuple):
    """Room for the topics chosen for each row, end to end, and for their number per row."""

    lengths: Int32Array
    topics: Int32Array


@kernel
def first_covers(rows: Rows, events: Int64Array, chosen: Chosen) -> int:
    """Take each subscriber's topics in their order until it has enough; returns how many were taken."""
    size = 0
    for row in range(len(rows.thresholds)):
        need, before = rows.thresholds[row], size
        for entry in range(rows.offsets[row], rows.offsets[row + 1]):
            if need <= 0:
                break
            topic = rows.topics[entry]
            if events[topic] > 0:
                need -= events[topic]
                chosen.topics[size] = topic
                size += 1
        chosen.lengths[row] = size - before
    return size


@kernel
def shuffle_rows(offsets: Int64Array, topics: Int32Array, uniforms: FloatArray) -> None:
    """Shuffle the topics of each row (Fisher and Yates), by a number from 0 to below 1 for each entry."""
    for row in range(len(offsets) - 1):
        last = offsets[row + 1]
        for entry in range(offsets[row], last):
            other = entry + int(uniforms[entry] * (last - entry))  # one of the entries not drawn yet
            topics[entry], topics[other] = topics[other], topics[entry]


@kernel
def sort_rows(lengths: Int32Array, topics: Int32Array) -> None:
    """Sort the chosen topics of each row in ascending order."""
    first = 0
    for row in range(len(lengths)):
        topics[first : first + lengths[row]].sort()
        first += lengths[row]


@kernel
def greedy_covers(rows: Rows, events: Int64Array, sizes: Int64Array | None, tie_sign: int, chosen: Chosen) -> int:
    """Take the topic with the most benefit per cost until a subscriber has enough; returns how many were taken.

    The benefit is min(1, events / missing), the cost 2 events x size: the best topic has the least
    max(missing, events) x size; without sizes they are all the same. Ties go to the topic with the most events if
    ``tie_sign`` is 1, with the fewest if it is -1; then, and if it is 0, to the first one. Where nothing can be spared,
    all topics are taken without being compared: what is missing may then be too large to multiply.
    """
    size = 0
    left = np.empty(0, dtype=np.int64)  # events of the row's topics, TAKEN for those that are in the cover
    for row in range(len(rows.thresholds)):
        need, before = rows.thresholds[row], size
        first, last = rows.offsets[row], rows.offsets[row + 1]
        if need > 0:
            if last - first > len(left):
                left = np.empty(2 * (last - first), dtype=np.int64)
            total = 0
            for entry in range(first, last):
                left[entry - first] = events[rows.topics[entry]]
                total += left[entry - first]
            if total <= need:
                for position in range(last - first):
                    if left[position] > 0:
                        left[position] = TAKEN
                need = 0
        while need > 0:
            best, best_key, best_events = -1, NO_COST, 0
            for position in range(last - first):
                brings = left[position]
                if brings <= 0:
                    continue
                # Cost over benefit, without the factors that all topics of a row share.
                key = max(need, brings) * message_size(sizes, rows.topics[first + position])
                is_better = key < best_key
                if key == best_key:
                    is_better = tie_sign * brings > tie_sign * best_events
                if is_better:
                    best, best_key, best_events = position, key, brings
            if best < 0:
                break
            left[best] = TAKEN
            need -= best_events
        if rows.thresholds[row] > 0:  # otherwise ``left`` is another row's
            for position in range(last - first):
                if left[position] == TAKEN:
                    chosen.topics[size] = rows.topics[first + position]
                    size += 1
        chosen.lengths[row] = size - before
    return size


@kernel
def message_size(sizes: Int64Array | None, topic: int) -> int:
    """The size of a topic's messages, or 1 where there is no list."""
    if sizes is None:
        return 1
    size: int = sizes[topic]
    return size


@kernel
def mandatory_topics(rows: Rows, events: Int64Array, chosen: Chosen) -> int:
    """List the topics without which a subscriber cannot reach its threshold; returns how many there are.

    As soon as all topics so far except the largest are enough, there is none.
    """
    size = 0
    for row in range(len(rows.thresholds)):
        before, need = size, rows.thresholds[row]
        total, largest = 0, 0
        for entry in range(rows.offsets[row], rows.offsets[row + 1]):
            brings = events[rows.topics[entry]]
            total += brings
            largest = max(largest, brings)
            if total - largest >= need:
                break
        if total - largest < need:
            for entry in range(rows.offsets[row], rows.offsets[row + 1]):
                if total - events[rows.topics[entry]] < need:
                    chosen.topics[size] = rows.topics[entry]
                    size += 1
        chosen.lengths[row] = size - before
    return size


@kernel
def simple_needs(rows: Rows, events: Int64Array) -> int:
    """The sum, over subscribers who need something, of what they need or of their smallest topic if that is more."""
    total = 0
    for row in range(len(rows.thresholds)):
        need, smallest = rows.thresholds[row], 0
        if need <= 0:
            continue
        for entry in range(rows.offsets[row], rows.offsets[row + 1]):
            brings = events[rows.topics[entry]]
            if brings > 0 and (smallest == 0 or brings < smallest):
                smallest = brings
                if smallest <= need:  # the need decides, whatever else there is
                    break
        total += max(need, smallest)
    return total
