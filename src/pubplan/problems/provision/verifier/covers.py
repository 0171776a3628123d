"""The least that covers cost, for the bounds of a plan: NumPy alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pubplan.workload import Int64Array

NO_COST = 2**62
"""More than any cover costs."""

_EXACT_CELLS = 2**24  # what bounds call exact; a bound that claims more fails
_CELLS_AT_ONCE = 2**21


def known_costs(needed: Int64Array, owners: Int64Array, costs: Int64Array, cost_per_event: int) -> Int64Array:
    """The least cost of what each subscriber needs where a cover has it, the least there can be; -1 for the others."""
    cost = np.zeros(len(needed), dtype=np.int64)
    np.add.at(cost, owners, costs)
    is_least = (cost == needed * cost_per_event) if cost_per_event else np.zeros(len(needed), dtype=bool)
    # Who needs nothing pays nothing, whatever the plan sends to it.
    return np.where(needed == 0, 0, np.where(is_least, cost, -1))


def least_costs(
    needed: Int64Array,
    reachable: Int64Array,
    owners: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    known: Int64Array,
) -> Int64Array:
    """The least cost of topics that bring each subscriber what it needs; ``known`` where it is not negative.

    1. Topics that a subscriber cannot do without are taken.
    2. Of the topics that do alone only the cheapest can be of use; of others with the same events, the cheapest that
       together do.
    3. least[s], the least cost of s events or more, over one topic after the other:
       min(least[s], least[s - events] + cost).
    """
    least = np.maximum(known, 0)
    is_open = (known < 0) & (needed > 0)
    entries = np.flatnonzero(is_open[owners])
    owners, events, costs = owners[entries], events[entries], costs[entries]
    slack = reachable - needed
    forced = events > np.maximum(slack, 0)[owners]  # 1
    np.add.at(least, owners[forced], costs[forced])
    rest = needed.copy()
    np.subtract.at(rest, owners[forced], events[forced])
    is_open &= (rest > 0) & (slack > 0)
    items = np.flatnonzero(is_open[owners] & ~forced & (events > 0))
    alone = events[items] >= rest[owners[items]]  # 2
    single = np.full(len(needed), NO_COST)
    np.minimum.at(single, owners[items[alone]], costs[items[alone]])
    items = items[~alone]
    items = items[np.lexsort((costs[items], events[items], owners[items]))]
    before = _equals_before(owners[items], events[items])
    items = items[before * events[items] < rest[owners[items]]]  # wraps only for items that are not needed
    counts = np.bincount(owners[items], minlength=len(needed))
    only_alone = is_open & (counts == 0)
    least[only_alone] += single[only_alone]
    numbers = np.flatnonzero(is_open & (counts > 0))
    counts = counts[numbers]
    starts = np.cumsum(counts) - counts
    events, costs, rest, single = events[items], costs[items], rest[numbers], single[numbers]
    is_plain = np.array_equal(events, costs)
    cells_of = _least_sums_of_some if is_plain else _least_of_some
    order = np.lexsort((counts, rest))
    start = 0
    while start < len(order):  # 3
        row, end = order[start], start + 1
        if counts[row] * rest[row] > _EXACT_CELLS:
            part = slice(starts[row], starts[row] + counts[row])
            least[numbers[row]] += _least_of_many(int(rest[row]), events[part], costs[part], int(single[row]))
            start = end
            continue
        while (
            end < len(order)
            and rest[order[end]] * (end - start + 1) <= _CELLS_AT_ONCE
            and counts[order[end]] * rest[order[end]] <= _EXACT_CELLS
        ):
            end += 1
        chunk = order[start:end]
        least[numbers[chunk]] += cells_of(rest[chunk], starts[chunk], counts[chunk], events, costs, single[chunk])
        start = end
    return least


def _equals_before(owners: Int64Array, events: Int64Array) -> Int64Array:
    """For sorted items, how many before each have the same owner and the same events."""
    numbers = np.arange(len(owners))
    is_first = np.ones(len(owners), dtype=bool)
    is_first[1:] = (np.diff(owners) != 0) | (np.diff(events) != 0)
    before: Int64Array = numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))
    return before


def _least_sums_of_some(
    needs: Int64Array,
    starts: Int64Array,
    counts: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    single: Int64Array,
) -> Int64Array:
    """As ``_least_of_some`` where costs are events: bit s of a subscriber's words says that s events can be reached.

    No topic does alone, so a sum that just crosses the need is below twice as much.
    """
    order = np.argsort(-counts, kind="stable")
    needs, starts, counts, single = needs[order], starts[order], counts[order], single[order]
    width = (2 * int(needs.max()) + 63) // 64
    words = np.zeros((len(needs), 2 * width), dtype=np.uint64)  # the first half stays 0, for shifts to draw on
    words[:, width] = 1
    upper_half = np.arange(width, 2 * width)
    for number in range(int(counts[0])):
        active = int(np.searchsorted(-counts, -number, side="left"))
        brings = events[starts[:active] + number]
        from_word = upper_half - (brings >> 6)[:, None]
        bits = (brings & 63).astype(np.uint64)[:, None]
        moved = np.take_along_axis(words[:active], from_word, axis=1) << bits
        moved |= np.take_along_axis(words[:active], from_word - 1, axis=1) >> np.uint64(1) >> (np.uint64(63) - bits)
        words[:active, width:] |= moved
    reached = words[:, width:]
    word, bit = np.divmod(needs, 64)
    columns = np.arange(width)
    reached = np.where(columns < word[:, None], np.uint64(0), reached)
    rows = np.arange(len(needs))
    reached[rows, word] &= ~np.uint64(0) << bit.astype(np.uint64)
    first = np.argmax(reached != 0, axis=1)
    lowest = reached[rows, first]
    lowest &= ~lowest + np.uint64(1)
    sums = 64 * first + np.log2(lowest.astype(np.float64), where=lowest > 0, out=np.zeros(len(rows))).astype(np.int64)
    by_subscriber = np.empty(len(needs), dtype=np.int64)
    by_subscriber[order] = np.minimum(single, np.where(lowest > 0, sums, NO_COST))
    return by_subscriber


def _least_of_some(
    needs: Int64Array,
    starts: Int64Array,
    counts: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    single: Int64Array,
) -> Int64Array:
    """The recurrence, for several subscribers at once: those with the most topics first, so that others drop out."""
    order = np.argsort(-counts, kind="stable")
    needs, starts, counts, single = needs[order], starts[order], counts[order], single[order]
    width = int(needs.max())
    least = np.full((len(needs), width + 1), NO_COST)
    least[:, 0] = 0
    sums = np.arange(width + 1)
    for number in range(int(counts[0]) if len(counts) else 0):
        active = int(np.searchsorted(-counts, -number, side="left"))
        items = starts[:active] + number
        before = np.maximum(0, sums - events[items][:, None])
        through = np.take_along_axis(least[:active], before, axis=1)
        through += costs[items][:, None]
        np.minimum(least[:active], through, out=least[:active])
    by_subscriber = np.empty(len(needs), dtype=np.int64)
    by_subscriber[order] = np.minimum(single, least[np.arange(len(needs)), needs])
    return by_subscriber


def _least_of_many(need: int, events: Int64Array, costs: Int64Array, single: int) -> int:
    """For a subscriber with too many topics: what the fractional cover costs."""
    items = sorted(
        [(Fraction(int(cost), int(brings)), int(brings)) for cost, brings in zip(costs, events, strict=True)]
        + ([(Fraction(single, need), need)] if single < NO_COST else [])
    )
    cost, rest = Fraction(0), need
    for ratio, brings in items:
        taken = min(rest, brings)
        cost += ratio * taken
        rest -= taken
    return int(cost)
