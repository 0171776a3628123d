"""Covers of least cost.

In a cover without a superfluous topic the last topic, in whatever order, is the one that crosses the need. So it is
enough to know which sums below the need can be reached, and what the crossing topic brings them to.

Where every topic costs the same per event, costs are sums of events, and one bit per sum tells whether it can be
reached (``smallest_plain_sum``); otherwise the least cost of each sum is kept (``cheapest_sum``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.problems.provision.kernels.covers import NO_COST, Chosen, Rows
from pubplan.workload import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]
WordArray = npt.NDArray[np.uint64]

MAX_ENUMERATED_TOPICS = 6
"""Of at most this many topics, all sets are tried."""

MAX_CELLS = 2**24
"""Covers are exact up to this many sums, over all topics of a subscriber."""


class Costs(NamedTuple):
    """What entries of rows cost.

    ``listed`` has a cost by topic, or by entry, each at least ``per_event`` x events; a topic with exactly that cost is
    plain. Without a list all topics are.
    """

    listed: Int64Array | None
    is_by_topic: bool
    per_event: int


class Items(NamedTuple):
    """Topics of one row that may be taken: events, costs, and positions in the row."""

    events: Int64Array
    costs: Int64Array
    positions: Int64Array


class CoverTotals(NamedTuple):
    """Of all rows: topics chosen, what the covers cost, what they must cost at least (less where a row is too big to be
    exact), how many rows are not exact, and how many cannot reach their threshold.
    """

    num_chosen: int
    cost: int
    least_cost: int
    num_inexact: int
    num_unsatisfied: int


@kernel
def entry_cost(costs: Costs, entry: int, topic: int, brings: int) -> int:
    """What an entry costs."""
    return listed_cost(costs.listed, costs.is_by_topic, costs.per_event, entry, topic, brings)


@kernel
def listed_cost(
    listed: Int64Array | None, is_by_topic: bool, per_event: int, entry: int, topic: int, brings: int
) -> int:
    """What is listed for a topic or an entry, or what its events cost where there is no list.

    Numba drops the branch that does not apply only where the list itself is an argument.
    """
    if listed is None:
        return per_event * brings
    cost: int = listed[topic] if is_by_topic else listed[entry]
    return cost


@kernel
def cheapest_covers(rows: Rows, events: Int64Array, costs: Costs, chosen: Chosen) -> CoverTotals:
    """Give each subscriber a cover of least cost.

    1. If every topic is enough alone, the cheapest is taken; if nothing can be spared, all are.
    2. Of few topics all sets are tried.
    3. A set of plain topics that hits the need exactly costs the least there can be; so does the smallest sum if all
       topics are plain.
    4. Otherwise, what the subscriber cannot do without is taken. Of the other topics with the same events only the
       cheapest can be of use, as many as fill the need.
    """
    size, total_cost, total_least, num_inexact, num_unsatisfied = 0, 0, 0, 0, 0
    longest, largest = 0, 0
    for row in range(len(rows.thresholds)):
        longest = max(longest, rows.offsets[row + 1] - rows.offsets[row])
        largest = max(largest, rows.thresholds[row])
    # Scratch arrays, used again for every row; those that depend on the need grow when a row needs more.
    items = Items(np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64))
    is_taken, is_chosen = np.zeros(longest, dtype=np.bool_), np.zeros(longest, dtype=np.bool_)
    history = np.empty(min((longest + 2) * ((largest + 63) >> 6), MAX_CELLS >> 6) + 2, dtype=np.uint64)
    values, flags = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    uses = np.empty(0, dtype=np.int64)
    set_events = np.zeros(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    set_costs = np.zeros(1 << MAX_ENUMERATED_TOPICS, dtype=np.int64)
    for row in range(len(rows.thresholds)):
        first, last = rows.offsets[row], rows.offsets[row + 1]
        need, before = rows.thresholds[row], size
        if need <= 0:
            chosen.lengths[row] = 0
            continue
        total, num_small, best, best_cost = 0, 0, first, NO_COST
        for entry in range(first, last):
            brings = events[rows.topics[entry]]
            total += brings
            if brings >= need:
                cost = entry_cost(costs, entry, rows.topics[entry], brings)
                if cost < best_cost:
                    best, best_cost = entry, cost
            elif brings > 0:
                num_small += 1
            if num_small > 0 and total > need:
                break
        if num_small == 0 and total > need:  # 1
            total_cost += best_cost
            total_least += best_cost
            chosen.topics[size] = rows.topics[best]
            chosen.lengths[row] = 1
            size += 1
            continue
        if total <= need:
            num_unsatisfied += total < need
            least = 0
            for entry in range(first, last):
                brings = events[rows.topics[entry]]
                if brings > 0:
                    least += entry_cost(costs, entry, rows.topics[entry], brings)
                    chosen.topics[size] = rows.topics[entry]
                    size += 1
            total_cost += least
            total_least += least
            chosen.lengths[row] = size - before
            continue
        if last - first <= MAX_ENUMERATED_TOPICS:  # 2: bit i of a set's number says whether topic i is in it
            num_sets, best_set, best_cost = 1, 0, NO_COST
            for entry in range(first, last):
                brings = events[rows.topics[entry]]
                cost = entry_cost(costs, entry, rows.topics[entry], brings)
                for number in range(num_sets):
                    set_events[num_sets + number] = set_events[number] + brings
                    set_costs[num_sets + number] = set_costs[number] + cost
                    if set_events[num_sets + number] >= need and set_costs[num_sets + number] < best_cost:
                        best_set, best_cost = num_sets + number, set_costs[num_sets + number]
                num_sets *= 2
            total_cost += best_cost
            total_least += best_cost
            for entry in range(first, last):
                if best_set >> (entry - first) & 1 and events[rows.topics[entry]] > 0:
                    chosen.topics[size] = rows.topics[entry]
                    size += 1
            chosen.lengths[row] = size - before
            continue
        is_chosen[: last - first] = False
        reached, num_others = NO_COST, last - first
        if costs.per_event > 0 and 2 * ((need + 63) >> 6) <= len(history):  # 3
            reached, num_others = smallest_plain_sum(
                rows.topics, first, last, events, costs, need, history, items.positions, is_chosen
            )
        least = costs.per_event * reached
        if reached > need and num_others > 0:  # 4
            num_items, least, rest = open_items(rows.topics, first, last, events, costs, need, items, is_chosen)
            if num_items > 0:
                if rest > len(uses):
                    uses = np.empty(2 * rest, dtype=np.int64)
                num_items = useful_items(items, num_items, rest, uses)
                if num_items * rest <= MAX_CELLS:
                    if 2 * rest > len(values):
                        values = np.empty(4 * rest, dtype=np.int64)
                    if num_items * rest > len(flags):
                        flags = np.empty(2 * num_items * rest, dtype=np.bool_)
                    least += cheapest_sum(items, num_items, rest, values, flags, is_taken)
                else:
                    least += rough_sum(items, num_items, rest, is_taken)
                    num_inexact += 1
                for item in range(num_items):
                    if is_taken[item]:
                        is_chosen[items.positions[item]] = True
        total_least += least
        for position in range(last - first):
            if is_chosen[position]:
                topic = rows.topics[first + position]
                total_cost += entry_cost(costs, first + position, topic, events[topic])
                chosen.topics[size] = topic
                size += 1
        chosen.lengths[row] = size - before
    return CoverTotals(size, total_cost, total_least, num_inexact, num_unsatisfied)


@kernel
def smallest_plain_sum(
    topics: Int32Array,
    first: int,
    last: int,
    events: Int64Array,
    costs: Costs,
    need: int,
    history: WordArray,
    positions: Int64Array,
    is_chosen: BoolArray,
) -> tuple[int, int]:
    """The least sum of plain topics of a row that reaches ``need``; marks those of one such sum.

    Goes through the row until a sum hits the need exactly. ``history`` takes a bitset of the sums below the need before
    each topic: bit s says whether topics so far can add up to s. Topics that reach the need alone need none.
    Returns the sum, or NO_COST if there is none or no room, and the number of topics that are not plain.
    """
    num_words = (need + 63) >> 6
    room = len(history) // num_words - 1
    history[0] = 1  # only the sum 0 can be reached before the first topic
    top = 0  # the largest sum below the need so far: the words beyond are not in use
    best, best_item, best_rest = NO_COST, -1, 0
    num_items, num_others = 0, 0
    for entry in range(first, last):
        brings = events[topics[entry]]
        if brings <= 0:
            continue
        if entry_cost(costs, entry, topics[entry], brings) != costs.per_event * brings:
            num_others += 1
            continue
        if brings >= need:
            if brings < best:
                # Such a topic is not an item of the history: a negative number holds its position in the row.
                best, best_item, best_rest = brings, -1 - (entry - first), 0
                if best == need:
                    break
            continue
        if num_items == room:
            # No room: say that there is no sum, and that no topic is plain, so that the caller takes the other way.
            best, num_others = NO_COST, last - first
            break
        base = num_items * num_words
        # The least reachable sum from which this topic crosses the need.
        least = need - brings
        positions[num_items] = entry - first
        if top >= least:
            word, bits = least >> 6, history[base + (least >> 6)] & (~np.uint64(0) << np.uint64(least & 63))
            while bits == 0 and word < top >> 6:
                word += 1
                bits = history[base + word]
            if bits != 0:
                crossed = (word << 6) + lowest_bit(bits)
                if crossed < need and crossed + brings < best:
                    best, best_item, best_rest = crossed + brings, num_items, crossed
                    if best == need:
                        break
        # The next bitset: this one, or this one shifted up by what the topic brings, word by word.
        after, num_used = base + num_words, (top >> 6) + 1
        top = min(need - 1, top + brings)
        whole, part = brings >> 6, np.uint64(brings & 63)
        for word in range((top >> 6) + 1):
            bits = history[base + word] if word < num_used else np.uint64(0)
            if word >= whole and word - whole < num_used:
                bits |= history[base + word - whole] << part
            if part > 0 and word > whole and word - whole - 1 < num_used:
                bits |= history[base + word - whole - 1] >> (np.uint64(64) - part)
            history[after + word] = bits
        num_items += 1
    if best == NO_COST or (best > need and num_others > 0):
        return best, num_others
    if best_item < 0:
        is_chosen[-1 - best_item] = True
        return best, num_others
    # Back through the history: an item is in the sum if what is left could not be reached before it.
    is_chosen[positions[best_item]] = True
    rest, before = best_rest, 0
    for item in range(best_item):
        before += events[topics[first + positions[item]]]
    for item in range(best_item - 1, -1, -1):
        brings = events[topics[first + positions[item]]]
        before -= brings
        word = item * num_words + (rest >> 6)
        # Sums above all events before the item cannot be reached; their words were never written.
        if rest > before or not (history[word] >> np.uint64(rest & 63)) & np.uint64(1):
            is_chosen[positions[item]] = True
            rest -= brings
    return best, num_others


@kernel
def lowest_bit(bits: np.uint64) -> int:
    """The index of the lowest bit that is set."""
    index = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bits & ((np.uint64(1) << np.uint64(step)) - np.uint64(1)) == 0:
            bits >>= np.uint64(step)
            index += step
    return index


@kernel
def cheapest_sum(
    items: Items, num_items: int, need: int, values: Int64Array, flags: BoolArray, is_taken: BoolArray
) -> int:
    """The least cost of items whose events reach ``need``; marks the items of one such set.

    ``values`` has room for two rows of ``need`` numbers, the least cost of each sum below the need before and after an
    item; ``flags`` for a row per item, which says for which sums the item is taken.
    """
    for reached in range(need):
        values[reached] = NO_COST
    values[0] = 0
    best, best_item, best_sum = NO_COST, -1, 0
    old, new = 0, need
    for item in range(num_items):
        brings, cost = items.events[item], items.costs[item]
        least = max(0, need - brings)
        smallest = NO_COST
        for reached in range(least, need):
            smallest = min(smallest, values[old + reached])
        if smallest + cost < best:
            best, best_item = smallest + cost, item
            best_sum = least
            while values[old + best_sum] != smallest:
                best_sum += 1
        row = item * need
        for reached in range(min(brings, need)):
            values[new + reached] = values[old + reached]
            flags[row + reached] = False
        for reached in range(brings, need):
            through = values[old + reached - brings] + cost
            is_through = through < values[old + reached]
            values[new + reached] = through if is_through else values[old + reached]
            flags[row + reached] = is_through
        old, new = new, old
    for item in range(num_items):
        is_taken[item] = False
    is_taken[best_item] = True
    rest = best_sum
    for item in range(best_item - 1, -1, -1):
        if flags[item * need + rest]:
            is_taken[item] = True
            rest -= items.events[item]
    return best


@kernel
def rough_sum(items: Items, num_items: int, need: int, is_taken: BoolArray) -> int:
    """Mark items whose events reach ``need``, by cost per event, without superfluous ones.

    Returns a cost that no such set is below: that of the fractional one.
    """
    order = np.argsort(items.costs[:num_items] / items.events[:num_items], kind="mergesort")
    for item in range(num_items):
        is_taken[item] = False
    rest, before, least = need, 0, 0
    for item in order:
        if rest <= 0:
            break
        share = min(rest, items.events[item]) / items.events[item]
        least = before + int(items.costs[item] * share * (1 - 1e-9))  # less than a rounding error could add
        is_taken[item] = True
        before += items.costs[item]
        rest -= items.events[item]
    for number in range(num_items - 1, -1, -1):
        item = order[number]
        if is_taken[item] and items.events[item] <= -rest:
            is_taken[item] = False
            rest += items.events[item]
    return least


@kernel
def open_items(
    topics: Int32Array,
    first: int,
    last: int,
    events: Int64Array,
    costs: Costs,
    need: int,
    items: Items,
    is_chosen: BoolArray,
) -> tuple[int, int, int]:
    """Mark the topics of a row that its subscriber cannot do without, and list the others.

    Returns how many others there are (none if they are not needed), what the marked ones cost, and what is missing.
    """
    total = 0
    for entry in range(first, last):
        total += events[topics[entry]]
    slack = total - need
    cost, rest, num_items = 0, need, 0
    for entry in range(first, last):
        brings = events[topics[entry]]
        is_chosen[entry - first] = brings > slack
        if brings > slack:
            rest -= brings
            cost += entry_cost(costs, entry, topics[entry], brings)
        elif brings > 0:
            items.events[num_items] = brings
            items.costs[num_items] = entry_cost(costs, entry, topics[entry], brings)
            items.positions[num_items] = entry - first
            num_items += 1
    return num_items if rest > 0 else 0, cost, rest


@kernel
def useful_items(items: Items, num_items: int, need: int, uses: Int64Array) -> int:
    """Keep, of the items with the same events, the cheapest ones that together reach the need; of those that reach it
    alone, the cheapest. Returns how many are left, cheapest first.
    """
    order = np.argsort(items.costs[:num_items], kind="mergesort")
    events, costs = items.events[:num_items].copy(), items.costs[:num_items].copy()
    positions = items.positions[:num_items].copy()
    uses[:need] = 0  # by events, less 1: what the items seen so far bring together
    num_kept = 0
    for item in order:
        brings = min(events[item], need)
        uses[brings - 1] += brings
        if uses[brings - 1] < need + brings:
            items.events[num_kept], items.costs[num_kept] = brings, costs[item]
            items.positions[num_kept] = positions[item]
            num_kept += 1
    return num_kept
