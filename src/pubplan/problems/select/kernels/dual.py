"""The dual of select: what subscribers are worth when they pay for their topics, and the price of capacity.

Multipliers, what a subscriber pays for a topic, count in units of 2^-20 subscribers; satisfaction comes in units of
2^-32 and is rounded up to the coarser ones, which never lowers a bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

MULTIPLIER_SCALE = 2**20
"""Multipliers count in units of 1 / MULTIPLIER_SCALE subscribers."""

MAX_ENUMERATED_TOPICS = 8
"""A subscriber with at most this many topics compares all sets of them."""

_SCALE_SHIFT = 12
_ROUND_UP = 2**12 - 1
"""(value + _ROUND_UP) >> _SCALE_SHIFT takes units of 2^-32 to units of 2^-20, rounded up."""


@kernel
def row_worth(
    topics: Int32Array,
    first: int,
    last: int,
    events: Int64Array,
    threshold: int,
    multipliers: Int32Array,
    is_whole: bool,
    answers: npt.NDArray[np.float32],
    sums: Int64Array,
    prices: Int64Array,
) -> int:
    """The most that a subscriber is worth when it pays ``multipliers`` for its topics, in units of 2^-20.

    Rows of up to eight topics try every set of them; ``sums`` and ``prices`` have room for 256 sets. Longer rows let
    topics be served in part, which is worth no less: cheapest events first until the subscriber is full. ``answers``
    gets the part of each topic that is taken.
    """
    length = last - first
    for entry in range(first, last):
        answers[entry] = 0.0
    if threshold == 0:
        return MULTIPLIER_SCALE
    slope = -(-FIXED_POINT_ONE // threshold)
    if length <= MAX_ENUMERATED_TOPICS:
        # A set is a number whose bits are its topics: half + subset is ``subset`` with topic ``position`` added.
        best, best_set = 0, 0
        sums[0], prices[0] = 0, 0
        for position in range(length):
            rate, price = events[topics[first + position]], multipliers[first + position]
            half = 1 << position
            for subset in range(half):
                received, paid = sums[subset] + rate, prices[subset] + price
                sums[half + subset], prices[half + subset] = received, paid
                if received >= threshold:
                    worth = MULTIPLIER_SCALE - paid
                elif is_whole:
                    continue
                else:
                    worth = ((slope * received + _ROUND_UP) >> _SCALE_SHIFT) - paid
                if worth > best:
                    best, best_set = worth, half + subset
        for position in range(length):
            if best_set >> position & 1:
                answers[first + position] = 1.0
        return best
    ratios = np.empty(length, dtype=np.float64)
    for position in range(length):
        rate = events[topics[first + position]]
        ratios[position] = multipliers[first + position] / min(rate, threshold) if rate > 0 else np.inf
    # Floats only order the topics; one unit is added to the worth for ties that they break the wrong way.
    room, paid = FIXED_POINT_ONE, 0
    for position in np.argsort(ratios, kind="mergesort"):
        if ratios[position] * FIXED_POINT_ONE >= float(slope * MULTIPLIER_SCALE):
            break  # an event costs more than it brings, and so do all that follow
        brings = slope * min(events[topics[first + position]], threshold)
        price = np.int64(multipliers[first + position])
        if brings >= room:  # the last topic, taken in part
            answers[first + position] = room / brings
            return int(max(0, MULTIPLIER_SCALE + 1 - paid - price * room // brings))
        room, paid = room - brings, paid + price
        answers[first + position] = 1.0
    return int(max(0, ((FIXED_POINT_ONE - room + _ROUND_UP) >> _SCALE_SHIFT) + 1 - paid))


@kernel
def lagrangian_pass(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    thresholds: Int64Array,
    weights: Int64Array,
    is_whole: bool,
    served: npt.NDArray[np.float32],
    step: float,
    momentum: float,
    multipliers: Int32Array,
    direction: npt.NDArray[np.float32],
    answers: npt.NDArray[np.float32],
    prices: Int64Array,
) -> tuple[int, float]:
    """Move the multipliers of some subscribers against ``served``, and see what they are worth then.

    1. The bound falls where a pair pays less for a topic that is served but not taken, and more for one that is taken
       but not served: the direction is served - taken, plus a part of the last direction.
    2. Value the rows again and add what they pay to the ``prices`` of the topics.

    Changes multipliers, direction, answers and prices in place; returns the worth of all rows in units of 2^-20, and
    the squared length of the direction. A step of 0 only values.
    """
    sums = np.empty(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    paid = np.empty(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    total, length = 0, 0.0
    for row in range(len(offsets) - 1):
        first, last, weight = offsets[row], offsets[row + 1], weights[row]
        if step > 0.0:
            for entry in range(first, last):  # 1
                move = served[topics[entry]] - answers[entry] + momentum * direction[entry]
                if multipliers[entry] == 0 and move > 0.0:  # it cannot fall below 0
                    move = 0.0
                direction[entry] = move
                length += weight * move * move
                moved = multipliers[entry] - step * move
                # Rounded to the nearest; paying more than a subscriber is worth never lowers the bound.
                multipliers[entry] = np.int32(min(max(moved + 0.5, 0.0), 2.0 * MULTIPLIER_SCALE))
        if last == first + 1 and thresholds[row] > 0:  # 2: its one topic satisfies it, as tau_v is no more than that
            is_taken = multipliers[first] < MULTIPLIER_SCALE
            answers[first] = 1.0 if is_taken else 0.0
            total += weight * (MULTIPLIER_SCALE - multipliers[first]) if is_taken else 0
        else:
            total += weight * row_worth(
                topics, first, last, events, thresholds[row], multipliers, is_whole, answers, sums, paid
            )
        for entry in range(first, last):
            prices[topics[entry]] += weight * multipliers[entry]
    return total, length


@kernel
def cut_price(prices: Int64Array, costs: Int64Array, candidates: Int32Array, capacity: int) -> float:
    """The price per cost at which a fractional knapsack of ``capacity`` is full, 0.0 when everything fits.

    Halves the range of keys until one is left; candidates that are decided leave. Keys are the bits of the
    ratios, so that halving them ends after 64 rounds.
    """
    keys = np.empty(len(candidates), dtype=np.int64)
    active = candidates.copy()
    size = 0
    low, high = 0, 0
    left = capacity
    for topic in candidates:
        if prices[topic] > 0 and costs[topic] > 0:
            keys[size] = np.float64(prices[topic] / costs[topic]).view(np.int64)
            active[size] = topic
            high = max(high, keys[size])
            size += 1
    while low < high:  # everything above high fits, together with what was taken; the cut is in low … high
        middle = low + (high - low) // 2
        cost = np.float64(0)
        for position in range(size):
            if keys[position] > middle:
                cost += costs[active[position]]
        if cost > left:
            low = middle + 1
        else:
            high = middle
            left -= int(cost)
        kept = 0
        for position in range(size):
            if low <= keys[position] <= high:
                keys[kept], active[kept] = keys[position], active[position]
                kept += 1
        size = kept
    return np.int64(low).view(np.float64)
