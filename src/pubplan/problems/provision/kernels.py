"""The loops of ``provision``: covers of subscribers, packing of topics, placing of pairs.

A cover of a subscriber is a set of its topics that together bring at least what it needs. In a cover without a
superfluous topic the last topic, in whatever order, is the one that crosses the need; so it is enough to know which
sums below the need can be reached, and with what the crossing topic brings them to.

Rows come as CSR: ``topics[offsets[row] : offsets[row + 1]]``. Chosen topics are written end to end into ``chosen``, in
the order of the row, with their number per row in ``lengths``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]

NO_COST = 2**62
"""More than any cover costs."""

TAKEN = -1
"""In place of a topic's events."""

FEW = 6
"""Up to so many topics, all sets of them are tried."""

MAX_CELLS = 2**24
"""Up to so many sums, over all topics of a subscriber, covers are exact."""


@kernel
def first_covers(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    thresholds: Int64Array,
    lengths: Int32Array,
    chosen: Int32Array,
) -> int:
    """Take each subscriber's topics in their order until it has enough; returns how many were taken."""
    size = 0
    for row in range(len(thresholds)):
        need, before = thresholds[row], size
        for entry in range(offsets[row], offsets[row + 1]):
            if need <= 0:
                break
            topic = topics[entry]
            if events[topic] > 0:
                need -= events[topic]
                chosen[size] = topic
                size += 1
        lengths[row] = size - before
    return size


@kernel
def shuffle_rows(offsets: Int64Array, topics: Int32Array, uniforms: FloatArray) -> None:
    """Shuffle the topics of each row (Fisher and Yates), by a number from 0 to below 1 for each entry."""
    for row in range(len(offsets) - 1):
        last = offsets[row + 1]
        for entry in range(offsets[row], last):
            other = entry + int(uniforms[entry] * (last - entry))
            topics[entry], topics[other] = topics[other], topics[entry]


@kernel
def sort_rows(lengths: Int32Array, chosen: Int32Array) -> None:
    """Put the chosen topics of each row into ascending order."""
    first = 0
    for row in range(len(lengths)):
        chosen[first : first + lengths[row]].sort()
        first += lengths[row]


@kernel
def greedy_covers(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    sizes: Int64Array | None,
    thresholds: Int64Array,
    tie_sign: int,
    lengths: Int32Array,
    chosen: Int32Array,
) -> int:
    """Take the topic with the most benefit per cost until a subscriber has enough; returns how many were taken.

    The benefit is min(1, events / missing), the cost 2 events x size: the best topic has the least
    max(missing, events) x size; without sizes they are all the same. Ties go to the topic with the most events if
    ``tie_sign`` is 1, with the fewest if it is -1; then, and if it is 0, to the first one.
    """
    size = 0
    left = np.empty(0, dtype=np.int64)
    for row in range(len(thresholds)):
        need, before = thresholds[row], size
        first, last = offsets[row], offsets[row + 1]
        if need > 0:
            if last - first > len(left):
                left = np.empty(2 * (last - first), dtype=np.int64)
            for entry in range(first, last):
                left[entry - first] = events[topics[entry]]
        while need > 0:
            best, best_key, best_events = -1, NO_COST, 0
            for place in range(last - first):
                brings = left[place]
                if brings <= 0:
                    continue
                key = max(need, brings) * message_size(sizes, topics[first + place])
                is_better = key < best_key
                if key == best_key:
                    is_better = tie_sign * brings > tie_sign * best_events
                if is_better:
                    best, best_key, best_events = place, key, brings
            if best < 0:
                break
            left[best] = TAKEN
            need -= best_events
        if thresholds[row] > 0:
            for place in range(last - first):
                if left[place] == TAKEN:
                    chosen[size] = topics[first + place]
                    size += 1
        lengths[row] = size - before
    return size


@kernel
def message_size(sizes: Int64Array | None, topic: int) -> int:
    """The size of a topic's messages, or 1 where there is no list."""
    if sizes is None:
        return 1
    size: int = sizes[topic]
    return size


@kernel
def entry_cost(costs: Int64Array | None, by_topic: bool, entry: int, topic: int, brings: int, per_event: int) -> int:
    """What an entry costs: as listed by topic or by entry, or by its events where there is no list."""
    if costs is None:
        return per_event * brings
    cost: int = costs[topic] if by_topic else costs[entry]
    return cost


@kernel
def smallest_plain_sum(
    topics: Int32Array,
    first: int,
    last: int,
    events: Int64Array,
    costs: Int64Array | None,
    by_topic: bool,
    cost_per_event: int,
    need: int,
    history: WordArray,
    places: Int64Array,
    is_chosen: BoolArray,
) -> tuple[int, int]:
    """The least sum of plain topics of a row that reaches ``need``; marks those of one such sum.

    Goes through the row until a sum hits the need exactly. ``history`` takes a bitset of the sums below the need before
    each topic: bit s says whether topics so far can add up to s. Topics that reach the need alone need none.
    Returns the sum, or more than any if there is none or no room, and the number of topics that are not plain.
    """
    num_words = (need + 63) >> 6
    room = len(history) // num_words - 1
    history[0] = 1
    top = 0  # the largest sum below the need so far: the words beyond are not in use
    best, best_item, best_rest = NO_COST, -1, 0
    num_items, num_others = 0, 0
    for entry in range(first, last):
        brings = events[topics[entry]]
        if brings <= 0:
            continue
        if entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event) != cost_per_event * brings:
            num_others += 1
            continue
        if brings >= need:
            if brings < best:
                best, best_item, best_rest = brings, -1 - (entry - first), 0
                if best == need:
                    break
            continue
        if num_items == room:
            best, num_others = NO_COST, last - first
            break
        base = num_items * num_words
        # The least reachable sum from which this topic crosses the need.
        least = need - brings
        places[num_items] = entry - first
        if top >= least:
            word, bits = least >> 6, history[base + (least >> 6)] & (~np.uint64(0) << np.uint64(least & 63))
            while bits == 0 and word < top >> 6:
                word += 1
                bits = history[base + word]
            if bits != 0:
                found = (word << 6) + lowest_bit(bits)
                if found < need and found + brings < best:
                    best, best_item, best_rest = found + brings, num_items, found
                    if best == need:
                        break
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
    is_chosen[places[best_item]] = True
    rest, before = best_rest, 0
    for item in range(best_item):
        before += events[topics[first + places[item]]]
    for item in range(best_item - 1, -1, -1):
        brings = events[topics[first + places[item]]]
        before -= brings
        word = item * num_words + (rest >> 6)
        if rest > before or not (history[word] >> np.uint64(rest & 63)) & np.uint64(1):
            is_chosen[places[item]] = True
            rest -= brings
    return best, num_others


@kernel
def lowest_bit(bits: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bits & ((np.uint64(1) << np.uint64(step)) - np.uint64(1)) == 0:
            bits >>= np.uint64(step)
            place += step
    return place


@kernel
def cheapest_sum(
    events: Int64Array,
    costs: Int64Array,
    num_items: int,
    need: int,
    values: npt.NDArray[np.int64],
    flags: BoolArray,
    taken: BoolArray,
) -> int:
    """The least cost of items whose events reach ``need``; marks the items of one such set.

    ``values`` has room for two rows of ``need`` numbers, ``flags`` for a row per item.
    """
    for reached in range(need):
        values[reached] = NO_COST
    values[0] = 0
    best, best_item, best_sum = NO_COST, -1, 0
    old, new = 0, need
    for item in range(num_items):
        brings, cost = events[item], costs[item]
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
        taken[item] = False
    taken[best_item] = True
    rest = best_sum
    for item in range(best_item - 1, -1, -1):
        if flags[item * need + rest]:
            taken[item] = True
            rest -= events[item]
    return best


@kernel
def rough_sum(events: Int64Array, costs: Int64Array, num_items: int, need: int, taken: BoolArray) -> int:
    """Mark items whose events reach ``need``, by cost per event, without superfluous ones.

    Returns a cost that no such set is below: that of the fractional one.
    """
    order = np.argsort(costs[:num_items] / events[:num_items], kind="mergesort")
    for item in range(num_items):
        taken[item] = False
    rest, before, least = need, 0, 0
    for item in order:
        if rest <= 0:
            break
        least = before + int(costs[item] * (min(rest, events[item]) / events[item]) * (1 - 1e-9))
        taken[item] = True
        before += costs[item]
        rest -= events[item]
    for place in range(num_items - 1, -1, -1):
        item = order[place]
        if taken[item] and events[item] <= -rest:
            taken[item] = False
            rest += events[item]
    return least


@kernel
def cheapest_covers(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    costs: Int64Array | None,
    by_topic: bool,
    cost_per_event: int,
    thresholds: Int64Array,
    lengths: Int32Array,
    chosen: Int32Array,
    totals: Int64Array,
) -> int:
    """Give each subscriber a cover of least cost; returns how many topics were taken.

    ``costs`` are by topic or by entry, each at least ``cost_per_event`` x events: where that is exact, as everywhere if
    there are none, the topic is plain. ``totals`` takes what the covers cost, what they must cost at least (less where
    a row is too big to be exact), how many rows are not exact, and how many cannot reach their threshold.

    1. Whoever has only topics that are enough alone takes the cheapest, and whoever needs everything takes everything.
    2. Of few topics all sets are tried.
    3. A set of plain topics that hits the need exactly costs the least there can be; so does the smallest sum if all
       topics are plain.
    4. Otherwise, what the subscriber cannot do without is taken. Of the other topics with the same events only the
       cheapest can be of use, as many as fill the need.
    """
    size = 0
    longest, largest = 0, 0
    for row in range(len(thresholds)):
        longest = max(longest, offsets[row + 1] - offsets[row])
        largest = max(largest, thresholds[row])
    item_events, item_costs = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    places, taken = np.empty(longest, dtype=np.int64), np.zeros(longest, dtype=np.bool_)
    is_chosen = np.zeros(longest, dtype=np.bool_)
    history = np.empty(min((longest + 2) * ((largest + 63) >> 6), MAX_CELLS >> 6) + 2, dtype=np.uint64)
    values, flags = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    uses = np.empty(0, dtype=np.int64)
    set_events, set_costs = np.zeros(1 << FEW, dtype=np.int64), np.zeros(1 << FEW, dtype=np.int64)
    for row in range(len(thresholds)):
        first, last = offsets[row], offsets[row + 1]
        need, before = thresholds[row], size
        if need <= 0:
            lengths[row] = 0
            continue
        total, num_small, best, best_cost = 0, 0, first, NO_COST
        for entry in range(first, last):
            brings = events[topics[entry]]
            total += brings
            if brings >= need:
                cost = entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event)
                if cost < best_cost:
                    best, best_cost = entry, cost
            elif brings > 0:
                num_small += 1
            if num_small > 0 and total > need:
                break
        if num_small == 0 and total > need:  # 1
            totals[0] += best_cost
            totals[1] += best_cost
            chosen[size] = topics[best]
            lengths[row] = 1
            size += 1
            continue
        if total <= need:
            totals[3] += total < need
            least = 0
            for entry in range(first, last):
                brings = events[topics[entry]]
                if brings > 0:
                    least += entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event)
                    chosen[size] = topics[entry]
                    size += 1
            totals[0] += least
            totals[1] += least
            lengths[row] = size - before
            continue
        if last - first <= FEW:  # 2
            num_sets, best_set, best_cost = 1, 0, NO_COST
            for entry in range(first, last):
                brings = events[topics[entry]]
                cost = entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event)
                for number in range(num_sets):
                    set_events[num_sets + number] = set_events[number] + brings
                    set_costs[num_sets + number] = set_costs[number] + cost
                    if set_events[num_sets + number] >= need and set_costs[num_sets + number] < best_cost:
                        best_set, best_cost = num_sets + number, set_costs[num_sets + number]
                num_sets *= 2
            totals[0] += best_cost
            totals[1] += best_cost
            for entry in range(first, last):
                if best_set >> (entry - first) & 1 and events[topics[entry]] > 0:
                    chosen[size] = topics[entry]
                    size += 1
            lengths[row] = size - before
            continue
        is_chosen[: last - first] = False
        reached, num_others = NO_COST, last - first
        if cost_per_event > 0 and 2 * ((need + 63) >> 6) <= len(history):  # 3
            reached, num_others = smallest_plain_sum(
                topics, first, last, events, costs, by_topic, cost_per_event, need, history, places, is_chosen
            )
        least = cost_per_event * reached
        if reached > need and num_others > 0:  # 4
            num_items, least, rest = open_items(
                topics,
                first,
                last,
                events,
                costs,
                by_topic,
                cost_per_event,
                need,
                item_events,
                item_costs,
                places,
                is_chosen,
            )
            if num_items > 0:
                if rest > len(uses):
                    uses = np.empty(2 * rest, dtype=np.int64)
                num_items = useful_items(item_events, item_costs, places, num_items, rest, uses)
                if num_items * rest <= MAX_CELLS:
                    if 2 * rest > len(values):
                        values = np.empty(4 * rest, dtype=np.int64)
                    if num_items * rest > len(flags):
                        flags = np.empty(2 * num_items * rest, dtype=np.bool_)
                    least += cheapest_sum(item_events, item_costs, num_items, rest, values, flags, taken)
                else:
                    least += rough_sum(item_events, item_costs, num_items, rest, taken)
                    totals[2] += 1
                for item in range(num_items):
                    if taken[item]:
                        is_chosen[places[item]] = True
        totals[1] += least
        for place in range(last - first):
            if is_chosen[place]:
                topic = topics[first + place]
                totals[0] += entry_cost(costs, by_topic, first + place, topic, events[topic], cost_per_event)
                chosen[size] = topic
                size += 1
        lengths[row] = size - before
    return size


@kernel
def open_items(
    topics: Int32Array,
    first: int,
    last: int,
    events: Int64Array,
    costs: Int64Array | None,
    by_topic: bool,
    cost_per_event: int,
    need: int,
    item_events: Int64Array,
    item_costs: Int64Array,
    places: Int64Array,
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
            cost += entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event)
        elif brings > 0:
            item_events[num_items] = brings
            item_costs[num_items] = entry_cost(costs, by_topic, entry, topics[entry], brings, cost_per_event)
            places[num_items] = entry - first
            num_items += 1
    return num_items if rest > 0 else 0, cost, rest


@kernel
def useful_items(
    events: Int64Array, costs: Int64Array, places: Int64Array, num_items: int, need: int, uses: Int64Array
) -> int:
    """Keep, of the items with the same events, the cheapest ones that together reach the need; of those that reach it
    alone, the cheapest. Returns how many are left, cheapest first.
    """
    order = np.argsort(costs[:num_items], kind="mergesort")
    old_events, old_costs, old_places = events[:num_items].copy(), costs[:num_items].copy(), places[:num_items].copy()
    uses[:need] = 0
    num_kept = 0
    for item in order:
        brings = min(old_events[item], need)
        uses[brings - 1] += brings
        if uses[brings - 1] < need + brings:
            events[num_kept], costs[num_kept], places[num_kept] = brings, old_costs[item], old_places[item]
            num_kept += 1
    return num_kept


@kernel
def mandatory_topics(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    thresholds: Int64Array,
    lengths: Int32Array,
    chosen: Int32Array,
) -> int:
    """Name the topics without which a subscriber cannot reach its threshold; returns how many there are.

    As soon as all topics so far but the largest are enough, there is none.
    """
    size = 0
    for row in range(len(thresholds)):
        before, need = size, thresholds[row]
        total, largest = 0, 0
        for entry in range(offsets[row], offsets[row + 1]):
            brings = events[topics[entry]]
            total += brings
            largest = max(largest, brings)
            if total - largest >= need:
                break
        if total - largest < need:
            for entry in range(offsets[row], offsets[row + 1]):
                if total - events[topics[entry]] < need:
                    chosen[size] = topics[entry]
                    size += 1
        lengths[row] = size - before
    return size


@kernel
def simple_needs(offsets: Int64Array, topics: Int32Array, events: Int64Array, thresholds: Int64Array) -> int:
    """The sum over subscribers who need something of what they need, or their smallest topic if that is more."""
    total = 0
    for row in range(len(thresholds)):
        need, smallest = thresholds[row], 0
        if need <= 0:
            continue
        for entry in range(offsets[row], offsets[row + 1]):
            brings = events[topics[entry]]
            if brings > 0 and (smallest == 0 or brings < smallest):
                smallest = brings
                if smallest <= need:
                    break
        total += max(need, smallest)
    return total


# Free capacity of VMs as a tree of maxima: VM i is leaf ``width + i``, its parent is half its place, the root is 1.


@kernel
def set_free(tree: Int64Array, vm: int, free: int) -> None:
    """Change the free capacity of a VM."""
    place = len(tree) // 2 + vm
    tree[place] = free
    place >>= 1
    while place >= 1:
        largest = max(tree[2 * place], tree[2 * place + 1])
        if tree[place] == largest:
            break
        tree[place] = largest
        place >>= 1


@kernel
def first_with(tree: Int64Array, need: int) -> int:
    """The first VM with at least ``need`` free, or -1."""
    if tree[1] < need:
        return -1
    place, width = 1, len(tree) // 2
    while place < width:
        place *= 2
        if tree[place] < need:
            place += 1
    return place - width


@kernel
def widened(tree: Int64Array, num_vms: int) -> Int64Array:
    """The tree itself while it has a leaf left, else one of twice the width; VMs that are not there have -1 free."""
    width = len(tree) // 2
    if num_vms < width:
        return tree
    wide = np.full(4 * width, -1, dtype=np.int64)
    for vm in range(num_vms):
        set_free(wide, vm, tree[width + vm])
    return wide


@kernel
def put_part(parts: Int64Array, num_parts: int, topic: int, vm: int, pairs: int) -> Int64Array:
    """Note that a VM carries so many pairs of a topic; the table grows as needed."""
    if num_parts == len(parts):
        longer = np.empty((2 * num_parts + 16, 3), dtype=np.int64)
        longer[:num_parts] = parts
        parts = longer
    parts[num_parts, 0], parts[num_parts, 1], parts[num_parts, 2] = topic, vm, pairs
    return parts


@kernel
def spread(
    tree: Int64Array,
    stream: int,
    num_pairs: int,
    vms: Int64Array,
    shares: Int64Array,
) -> tuple[int, int]:
    """Distribute pairs of a topic that no VM carries yet, always to the VM with the most free capacity, until all are
    placed or none takes one more.

    Writes which VMs take how many; returns how many VMs, and how many pairs are left.
    """
    num_used = 0
    while num_pairs > 0 and num_used < len(vms):
        free = tree[1]
        vm = first_with(tree, free)
        if vm < 0 or free < 2 * stream:
            break
        taken = num_pairs if stream == 0 else min(num_pairs, free // stream - 1)
        set_free(tree, vm, free - (taken + 1) * stream)
        vms[num_used], shares[num_used] = vm, taken
        num_used += 1
        num_pairs -= taken
    return num_used, num_pairs


@kernel
def custom_pack(
    topics: Int64Array,
    streams: Int64Array,
    counts: Int64Array,
    limit: int,
    distributes: bool,
    weighs_cost: bool,
    vm_worth: float,
) -> Int64Array:
    """Pack the pairs of topic after topic (CustomBinPacking).

    1. All pairs of a topic go to the VM that was deployed last, if they fit.
    2. Otherwise, if ``distributes``, they fill existing VMs, the one with the most free capacity first,
    3. unless ``weighs_cost`` and new VMs are cheaper: ``vm_worth`` is how many bytes of traffic cost as much as a VM.
    4. What is left goes to new VMs.

    Returns a table of topic, VM and pairs.
    """
    tree = np.full(32, -1, dtype=np.int64)
    parts = np.empty((len(topics) + 16, 3), dtype=np.int64)
    num_parts, num_vms = 0, 0
    vms, shares = np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    for place in range(len(topics)):
        topic = topics[place]
        stream, left = streams[topic], counts[topic]
        if num_vms > 0:
            last = len(tree) // 2 + num_vms - 1
            if (left + 1) * stream <= tree[last]:  # 1
                parts = put_part(parts, num_parts, topic, num_vms - 1, left)
                num_parts += 1
                set_free(tree, num_vms - 1, tree[last] - (left + 1) * stream)
                continue
        if num_vms > len(vms):
            vms, shares = np.empty(2 * num_vms, dtype=np.int64), np.empty(2 * num_vms, dtype=np.int64)
        num_used, rest = spread(tree, stream, left, vms, shares) if distributes else (0, left)  # 2
        per_vm = limit // stream - 1 if stream > 0 else left
        if weighs_cost and num_used > 0:  # 3
            more_vms, all_new = -(-rest // per_vm), -(-left // per_vm)
            distributed = more_vms * vm_worth + float(num_used + more_vms) * stream
            if all_new * vm_worth + float(all_new) * stream <= distributed:
                for used in range(num_used):
                    free = tree[len(tree) // 2 + vms[used]]
                    set_free(tree, vms[used], free + (shares[used] + 1) * stream)
                num_used, rest = 0, left
        for used in range(num_used):
            parts = put_part(parts, num_parts, topic, vms[used], shares[used])
            num_parts += 1
        while rest > 0:  # 4
            taken = min(rest, per_vm)
            tree = widened(tree, num_vms)
            set_free(tree, num_vms, limit - (taken + 1) * stream)
            parts = put_part(parts, num_parts, topic, num_vms, taken)
            num_parts += 1
            num_vms += 1
            rest -= taken
    return parts[:num_parts]


@kernel
def level_pack(topics: Int64Array, streams: Int64Array, counts: Int64Array, limit: int, num_vms: int) -> Int64Array:
    """Pack topics, given by descending traffic, on ``num_vms`` VMs, and on more if it cannot be done.

    1. A topic with more traffic than a VM carries fills VMs of its own.
    2. What is left goes whole to the VM with the most free capacity.
    3. Topics that fit nowhere whole are split at the end, over the VMs with the most free capacity.

    Returns a table of topic, VM and pairs.
    """
    tree = np.full(4, -1, dtype=np.int64)
    for vm in range(num_vms):
        tree = widened(tree, vm)
        set_free(tree, vm, limit)
    parts = np.empty((len(topics) + 16, 3), dtype=np.int64)
    num_parts = 0
    late = np.empty((16, 2), dtype=np.int64)
    num_late = 0
    for place in range(len(topics)):
        topic = topics[place]
        stream, left = streams[topic], counts[topic]
        while left > 0:
            taken = left
            if (left + 1) * stream > limit:  # 1
                taken = limit // stream - 1
            vm = first_with(tree, tree[1])  # 2
            if num_vms > 0 and tree[1] >= (taken + 1) * stream:
                set_free(tree, vm, tree[1] - (taken + 1) * stream)
                parts = put_part(parts, num_parts, topic, vm, taken)
                num_parts += 1
            else:
                if num_late == len(late):
                    longer = np.empty((2 * num_late, 2), dtype=np.int64)
                    longer[:num_late] = late
                    late = longer
                late[num_late, 0], late[num_late, 1] = topic, taken
                num_late += 1
            left -= taken
    vms, shares = np.empty(num_vms + 16, dtype=np.int64), np.empty(num_vms + 16, dtype=np.int64)
    for place in range(num_late):  # 3
        topic, left = late[place, 0], late[place, 1]
        stream = streams[topic]
        while left > 0:
            num_used, left = spread(tree, stream, left, vms, shares)
            for used in range(num_used):
                parts = put_part(parts, num_parts, topic, vms[used], shares[used])
                num_parts += 1
            if left > 0:
                tree = widened(tree, num_vms)
                set_free(tree, num_vms, limit)
                num_vms += 1
                if num_vms > len(vms):
                    vms, shares = np.empty(2 * num_vms, dtype=np.int64), np.empty(2 * num_vms, dtype=np.int64)
    return parts[:num_parts]


@kernel
def first_fit(
    pairs: Int32Array,
    streams: Int64Array,
    limit: int,
    tree: Int64Array,
    num_vms: int,
    heads: Int32Array,
    hosts: Int64Array,
    num_hosts: int,
    vms: Int32Array,
) -> tuple[Int64Array, int, Int64Array, int]:
    """Put pair after pair, given by their topics, on the first VM that can take it (FFBinPacking); writes which.

    A VM takes a pair if its stream fits, and fits once more unless the VM carries the topic already. ``heads`` has for
    each topic the first of its ``hosts``: VM, pairs, the next host or -1, topic; a host that is too full for one more
    pair is never asked again. The tree of free capacity and the hosts grow as needed
    and are returned, with their numbers.
    """
    for place in range(len(pairs)):
        topic = pairs[place]
        stream = streams[topic]
        width = len(tree) // 2
        vm = first_with(tree, 2 * stream)
        best, before, link = -1, -1, heads[topic]
        while link >= 0:
            host, after = hosts[link, 0], hosts[link, 2]
            if tree[width + host] < stream:  # full for good: ask it no more
                if before < 0:
                    heads[topic] = after
                else:
                    hosts[before, 2] = after
            else:
                if (vm < 0 or host <= vm) and (best < 0 or host < hosts[best, 0]):
                    best = link
                before = link
            link = after
        if best >= 0:
            vm = hosts[best, 0]
            hosts[best, 1] += 1
            set_free(tree, vm, tree[width + vm] - stream)
        else:
            if vm < 0:
                tree = widened(tree, num_vms)
                width = len(tree) // 2
                vm = num_vms
                set_free(tree, vm, limit)
                num_vms += 1
            if num_hosts == len(hosts):
                longer = np.empty((2 * num_hosts + 16, 4), dtype=np.int64)
                longer[:num_hosts] = hosts
                hosts = longer
            hosts[num_hosts, 0], hosts[num_hosts, 1], hosts[num_hosts, 2] = vm, 1, heads[topic]
            hosts[num_hosts, 3] = topic
            heads[topic] = num_hosts
            num_hosts += 1
            set_free(tree, vm, tree[width + vm] - 2 * stream)
        vms[place] = vm
    return tree, num_vms, hosts, num_hosts


@kernel
def first_fit_by_topic(topics: Int64Array, streams: Int64Array, counts: Int64Array, limit: int) -> Int64Array:
    """What ``first_fit`` makes of all pairs of the first topic, then all of the second, and so on.

    VMs before the one with the topic's latest pair do not take a first pair of it and are too full for another, so its
    pairs fill one VM after the other. Returns a table of topic, VM and pairs.
    """
    tree = np.full(32, -1, dtype=np.int64)
    parts = np.empty((len(topics) + 16, 3), dtype=np.int64)
    num_parts, num_vms = 0, 0
    for index in range(len(topics)):
        topic = topics[index]
        stream, left = streams[topic], counts[topic]
        while left > 0:
            vm = first_with(tree, 2 * stream)
            if vm < 0:
                tree = widened(tree, num_vms)
                vm = num_vms
                set_free(tree, vm, limit)
                num_vms += 1
            free = tree[len(tree) // 2 + vm]
            taken = left if stream == 0 else min(left, free // stream - 1)
            set_free(tree, vm, free - (taken + 1) * stream)
            parts = put_part(parts, num_parts, topic, vm, taken)
            num_parts += 1
            left -= taken
    return parts[:num_parts]


@kernel
def place_pairs(
    topics: Int32Array,
    homes: Int32Array,
    split_numbers: Int32Array,
    part_offsets: Int64Array,
    part_ends: Int64Array,
    part_vms: Int32Array,
    ranks: Int64Array,
    vms: Int32Array,
) -> None:
    """The VM of each pair: its topic's only one, or that of its rank among the pairs of a topic that is split.

    Split topic s takes ``part_vms[part_offsets[s] : part_offsets[s + 1]]``, each up to the rank in ``part_ends``;
    ``ranks`` has how many of its pairs came before, and is moved on.
    """
    for place in range(len(topics)):
        topic = topics[place]
        vm = homes[topic]
        if vm < 0:
            split = split_numbers[topic]
            rank = ranks[split]
            ranks[split] += 1
            first, last = part_offsets[split], part_offsets[split + 1]
            while last - first > 1:
                middle = (first + last) // 2
                if part_ends[middle - 1] <= rank:
                    first = middle
                else:
                    last = middle
            vm = part_vms[first]
        vms[place] = vm


@kernel
def unsettled_rows(
    offsets: Int64Array,
    topics: Int32Array,
    thresholds: Int64Array,
    lengths: Int32Array,
    chosen: Int32Array,
    chosen_costs: Int64Array,
    other_costs: Int64Array,
    cost_per_event: int,
    open_offsets: Int64Array,
    open_topics: Int32Array,
    open_costs: Int64Array,
    open_thresholds: Int64Array,
) -> tuple[int, int]:
    """Leave out the subscribers whose chosen topics are just enough at the least cost per event: no cover is cheaper.

    A topic costs one thing if it is among a row's chosen ones, else another; both are in the same order. The other rows
    are written out with the cost of each entry. Returns what the covers left out cost, and the number of other rows.
    """
    settled, num_open, size, place = 0, 0, 0, 0
    open_offsets[0] = 0
    for row in range(len(thresholds)):
        last = place + lengths[row]
        cost = 0
        for taken in range(place, last):
            cost += chosen_costs[chosen[taken]]
        if cost == cost_per_event * thresholds[row]:
            settled += cost
            place = last
            continue
        for entry in range(offsets[row], offsets[row + 1]):
            topic = topics[entry]
            open_topics[size] = topic
            if place < last and chosen[place] == topic:
                open_costs[size] = chosen_costs[topic]
                place += 1
            else:
                open_costs[size] = other_costs[topic]
            size += 1
        open_thresholds[num_open] = thresholds[row]
        num_open += 1
        open_offsets[num_open] = size
        place = last
    return settled, num_open
