"""Kernels of the exact search: what each distinct subscriber is worth at given multipliers, in units of 2^-32.

A topic is FREE, SERVED or CLOSED in a node of the search. A subscriber receives what served topics bring, nothing from
closed ones, and chooses among its free topics the set with the most satisfaction after paying their multipliers.
Multipliers are below 2^32, so payments of a topic's subscribers, whose weights sum to less than 2^31, fit int64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE

BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

FREE, SERVED, CLOSED = 0, 1, 2

MAX_ENUMERATED_TOPICS = 12
"""Rows with at most this many free topics compare all sets of them."""

MAX_GRID_STEPS = 4096
"""Longer rows count events in steps, rounded up: this many make up what satisfies a row, or each event is one.

The width of a step depends on the row alone, so that serving a topic never makes its subscribers worth more than they
would have paid for it.
"""

_UNREACHED = 2**62


@kernel
def row_worths(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    needed: Int64Array,
    sure: Int64Array,
    weights: Int64Array,
    state: Int8Array,
    multipliers: Int64Array,
    is_whole: bool,
    worths: Int64Array,
    taken: BoolArray,
    payments: Int64Array,
) -> None:
    """The most that each row is worth after payment, the free topics it takes for that, and what it pays to topics.

    1. Events of served topics come for free, on top of what the row is ``sure`` to receive. A row that is full with
       them is worth everything, one that cannot be satisfied any more is worth nothing; neither pays.
    2. Few free topics: all sets of them.
    3. Many: the least payment for every number of grid steps received. Events are rounded up to whole steps, which
       never makes a row worth less.
    """
    sums = np.empty(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    paid = np.empty(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    longest = 0
    for row in range(len(needed)):
        longest = max(longest, offsets[row + 1] - offsets[row])
    free = np.empty(longest, dtype=np.int64)
    for row in range(len(needed)):
        need = needed[row]
        received, offered, num_free = sure[row], np.int64(0), 0  # 1
        for entry in range(offsets[row], offsets[row + 1]):
            taken[entry] = False
            brings = min(events[topics[entry]], need)
            if state[topics[entry]] == SERVED:
                received = min(need, received + brings)
            elif state[topics[entry]] == FREE and brings > 0:
                free[num_free] = entry
                offered = min(need, offered + brings)
                num_free += 1
        if received >= need:
            worths[row] = FIXED_POINT_ONE
        elif is_whole and received + offered < need:
            worths[row] = 0
        else:
            for position in range(num_free):
                payments[topics[free[position]]] += weights[row] * multipliers[free[position]]
            if num_free <= MAX_ENUMERATED_TOPICS:  # 2
                worths[row] = _enumerated_worth(
                    free, num_free, topics, events, need, received, multipliers, is_whole, sums, paid, taken
                )
            else:  # 3
                worths[row] = _grid_worth(free, num_free, topics, events, need, received, multipliers, is_whole, taken)


@kernel
def _enumerated_worth(
    free: Int64Array,
    num_free: int,
    topics: Int32Array,
    events: Int64Array,
    need: int,
    received: int,
    multipliers: Int64Array,
    is_whole: bool,
    sums: Int64Array,
    paid: Int64Array,
    taken: BoolArray,
) -> int:
    slope = -(-FIXED_POINT_ONE // need)
    best, best_set = 0 if is_whole else min(FIXED_POINT_ONE, slope * received), 0
    sums[0], paid[0] = received, 0
    for bit in range(num_free):
        brings = min(events[topics[free[bit]]], need)
        price = multipliers[free[bit]]
        half = 1 << bit
        for subset in range(half):
            total, payment = sums[subset] + brings, paid[subset] + price
            sums[half + subset], paid[half + subset] = total, payment
            if total >= need:
                worth = FIXED_POINT_ONE - payment
            elif is_whole:
                continue
            else:
                worth = min(FIXED_POINT_ONE, slope * total) - payment
            if worth > best:
                best, best_set = worth, half + subset
    for bit in range(num_free):
        taken[free[bit]] = (best_set >> bit) & 1 == 1
    return best


@kernel
def _grid_worth(
    free: Int64Array,
    num_free: int,
    topics: Int32Array,
    events: Int64Array,
    need: int,
    received: int,
    multipliers: Int64Array,
    is_whole: bool,
    taken: BoolArray,
) -> int:
    slope = -(-FIXED_POINT_ONE // need)
    missing = need - received
    width = -(-need // MAX_GRID_STEPS)
    last = -(-missing // width)
    payment = np.full(last + 1, _UNREACHED, dtype=np.int64)
    payment[0] = 0
    # came_from[bit, step]: the step from which taking that topic improved ``step``, or -1.
    came_from = np.full((num_free, last + 1), -1, dtype=np.int16)
    for bit in range(num_free):
        steps = -(-min(events[topics[free[bit]]], missing) // width)
        price = multipliers[free[bit]]
        for step in range(last - 1, -1, -1):
            if payment[step] == _UNREACHED:
                continue
            after = min(last, step + steps)
            if payment[step] + price < payment[after]:
                payment[after] = payment[step] + price
                came_from[bit, after] = step
    best, best_step = 0 if is_whole else min(FIXED_POINT_ONE, slope * received), 0
    for step in range(last if is_whole else 1, last + 1):
        if payment[step] == _UNREACHED:
            continue
        total = min(need, received + step * width)
        worth = (FIXED_POINT_ONE if total >= need else min(FIXED_POINT_ONE, slope * total)) - payment[step]
        if worth > best:
            best, best_step = worth, step
    for bit in range(num_free - 1, -1, -1):
        if came_from[bit, best_step] >= 0:
            taken[free[bit]] = True
            best_step = came_from[bit, best_step]
    return best


@kernel
def useful_sets(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    needed: Int64Array,
    sure: Int64Array,
    is_whole: bool,
    max_topics: int,
    rows: Int32Array,
    sets: Int32Array,
) -> int:
    """All sets of topics of short rows that some payment can make the best one, as bits; returns how many there are.

    Those are the sets that satisfy the row and none of whose topics can be left out, and for a row that counts in part
    also the sets that do not satisfy it. Counts only, where ``rows`` is empty.
    """
    sums = np.empty(1 << max_topics, dtype=np.int64)
    count = 0
    for row in range(len(needed)):
        first, length = offsets[row], offsets[row + 1] - offsets[row]
        if length > max_topics:
            continue
        need = needed[row]
        sums[0] = sure[row]
        for bit in range(length):
            brings = min(events[topics[first + bit]], need)
            for subset in range(1 << bit):
                sums[(1 << bit) + subset] = sums[subset] + brings
        for subset in range(1, 1 << length):
            if sums[subset] < need:
                is_useful = not is_whole
            else:
                is_useful = True
                for bit in range(length):
                    if (subset >> bit) & 1 == 1 and sums[subset ^ (1 << bit)] >= need:
                        is_useful = False
                        break
            if is_useful:
                if len(rows) > 0:
                    rows[count], sets[count] = row, subset
                count += 1
    return count
