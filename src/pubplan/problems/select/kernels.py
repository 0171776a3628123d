"""Greedy loops for select, in integers.

A subscriber's state is a row (*room*, *slope*): what is left up to satisfaction, and by how much one event lowers it.
For F-B3M room is counted in units of 2^-32 subscribers (see ``problem.py``), so min(room, slope * events) is what a
topic adds to a subscriber. For B3M room is counted in events and slope is 1; what a topic is worth to a subscriber is
then the share of the room that it fills, in units of 2^-32. Both are multiplied by the subscriber's weight. Products
fit int64 because events are cut to 2^31 - 1 (no threshold is larger) and weights sum to less than 2^31.

Subscribers who want a single topic need no state: they are satisfied with it and not without. Of those a kernel knows
their weight by topic, ``own``; its other arrays have only the subscribers who want several.

Topics wait in a heap of (key, topic) pairs: the larger key first, then the smaller topic. A key is an integer: a value
itself, or the bits of the float64 value / cost, which for numbers that are not negative are ordered like the floats.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

ANY_KEY = -1
"""A floor that no key is below."""

MAX_KEY = 2**63 - 1
"""The key of what costs nothing."""

UNIT = 2**20
"""Multipliers count in units of 2^-20 subscribers."""

SHORT_ROW = 8
"""Up to so many topics, all sets of them are tried."""

_FULL = 2**32
_GONE = -2
_SHIFT = 12
_ROUND_UP = 2**12 - 1


@kernel
def topic_key(value: int, cost: int, by_ratio: bool) -> int:
    """The place of a topic in the heap; what costs nothing comes first."""
    if not by_ratio:
        return value
    if cost == 0:
        return MAX_KEY
    return np.float64(value / cost).view(np.int64)  # type: ignore[return-value]


@kernel
def sift_down(keys: Int64Array, topics: Int32Array, places: Int32Array, size: int, place: int) -> None:
    """Restore the heap order of the first ``size`` pairs below ``place``; keep the ``places`` of topics, if any."""
    key, topic = keys[place], topics[place]
    keeps_places = len(places) > 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            keys[right] > keys[child] or (keys[right] == keys[child] and topics[right] < topics[child])
        ):
            child = right
        if key > keys[child] or (key == keys[child] and topic <= topics[child]):
            break
        keys[place], topics[place] = keys[child], topics[child]
        if keeps_places:
            places[topics[place]] = place
        place = child
    keys[place], topics[place] = key, topic
    if keeps_places:
        places[topic] = place


@kernel
def sift_up(keys: Int64Array, topics: Int32Array, places: Int32Array, place: int) -> None:
    """Restore the heap order above ``place`` and keep the ``places`` of topics."""
    key, topic = keys[place], topics[place]
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] > key or (keys[parent] == key and topics[parent] <= topic):
            break
        keys[place], topics[place] = keys[parent], topics[parent]
        places[topics[place]] = place
        place = parent
    keys[place], topics[place] = key, topic
    places[topic] = place


@kernel
def heapify(keys: Int64Array, topics: Int32Array, places: Int32Array, size: int) -> None:
    """Bring pairs into heap order."""
    for place in range(size // 2 - 1, -1, -1):
        sift_down(keys, topics, places, size, place)


@kernel
def pop(keys: Int64Array, topics: Int32Array, places: Int32Array, size: int) -> int:
    """Drop the top and return the new size."""
    size -= 1
    keys[0], topics[0] = keys[size], topics[size]
    if size > 0:
        sift_down(keys, topics, places, size, 0)
    return size


@kernel
def topic_gain(
    state: Int64Array, weights: Int64Array, subscribers: Int32Array, first: int, last: int, events: int
) -> int:
    """What a topic adds now to the F-B3M value of the subscribers ``subscribers[first:last]``."""
    gain = 0
    for entry in range(first, last):
        subscriber = subscribers[entry]
        gain += min(state[subscriber, 0], state[subscriber, 1] * events) * weights[subscriber]
    return gain


@kernel
def serve(state: Int64Array, subscribers: Int32Array, first: int, last: int, events: int) -> None:
    """Lower the room of the subscribers ``subscribers[first:last]`` of a topic."""
    for entry in range(first, last):
        subscriber = subscribers[entry]
        state[subscriber, 0] -= min(state[subscriber, 0], state[subscriber, 1] * events)


@kernel
def lazy_greedy(
    state: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    is_open: BoolArray,
    first_choices: Int32Array,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
    capacity: int,
    by_ratio: bool,
    floor_key: int,
    floor_topic: int,
) -> int:
    """Choose topics for F-B3M by gain, or by gain per cost, until nothing fits or nothing is gained (Alg. 5).

    1. Choose ``first_choices``, which must fit, as they come.
    2. Value every topic that is open and build a heap.
    3. Take the top. Drop it for good when it no longer fits: what is left only shrinks. End when it comes after
       (``floor_key``, ``floor_topic``).
    4. If its value is older than the last choice, value it again and put it back. Values only fall, so a topic that is
       still on top afterwards is the one an eager greedy would choose.
    5. Otherwise choose it and lower the room of its subscribers.

    Fills ``order``, ``spent`` (cost so far) and ``gained`` (gain so far) and returns how many topics were chosen.
    """
    num_topics = len(events)
    gains = np.zeros(num_topics, dtype=np.int64)
    valued_at = np.zeros(num_topics, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    no_places = np.empty(0, dtype=np.int32)
    num_chosen, total_cost, total_gain = 0, 0, 0
    for topic in first_choices:  # 1
        first, last = offsets[topic], offsets[topic + 1]
        total_cost += costs[topic]
        total_gain += own[topic] * _FULL + topic_gain(state, weights, subscribers, first, last, events[topic])
        serve(state, subscribers, first, last, events[topic])
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        valued_at[topic] = -1
        num_chosen += 1

    size = 0
    for topic in range(num_topics):  # 2
        if not is_open[topic] or valued_at[topic] < 0 or costs[topic] > capacity - total_cost:
            continue
        gain, rate = own[topic] * _FULL, events[topic]
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = np.uint32(subscribers[entry])
            gain += min(state[subscriber, 0], state[subscriber, 1] * rate) * weights[subscriber]
        if gain > 0:
            gains[topic] = gain
            valued_at[topic] = num_chosen
            keys[size], heap[size] = topic_key(gain, costs[topic], by_ratio), topic
            size += 1
    heapify(keys, heap, no_places, size)

    while size > 0:
        topic = heap[0]  # 3
        if keys[0] < floor_key or (keys[0] == floor_key and topic > floor_topic):
            break
        first, last = offsets[topic], offsets[topic + 1]
        fits = costs[topic] <= capacity - total_cost
        rate = events[topic]
        if fits and valued_at[topic] != num_chosen:  # 4
            gain = own[topic] * _FULL
            for entry in range(first, last):
                subscriber = np.uint32(subscribers[entry])
                gain += min(state[subscriber, 0], state[subscriber, 1] * rate) * weights[subscriber]
            valued_at[topic] = num_chosen
            if gain > 0:
                gains[topic] = gain
                keys[0] = topic_key(gain, costs[topic], by_ratio)
                sift_down(keys, heap, no_places, size, 0)
                continue
            fits = False
        if fits:  # 5
            for entry in range(first, last):
                subscriber = np.uint32(subscribers[entry])
                state[subscriber, 0] -= min(state[subscriber, 0], state[subscriber, 1] * rate)
            total_cost += costs[topic]
            total_gain += gains[topic]
            order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
            num_chosen += 1
        size = pop(keys, heap, no_places, size)
    return num_chosen


@kernel
def pair_value(room: int, slope: int, events: int, is_whole: bool) -> int:
    """What a topic is worth to a subscriber of weight 1: a gain for F-B3M, the share of the room it fills for B3M."""
    if not is_whole:
        return min(room, slope * events)
    if room == 0:
        return 0
    if events >= room:
        return _FULL
    return np.int64((np.uint64(events) << np.uint64(32)) // np.uint64(room))  # type: ignore[return-value]


@kernel
def eager_greedy(
    state: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    topics: Int32Array,
    row_offsets: Int64Array,
    is_open: BoolArray,
    first_choices: Int32Array,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
    capacity: int,
    by_ratio: bool,
    is_whole: bool,
    floor_key: int,
    floor_topic: int,
) -> int:
    """Choose topics by value, or by value per cost, and correct every value that a choice changes (Alg. 1 and 2).

    1. Value every topic that is open and build a heap.
    2. Choose ``first_choices``, which must fit and not be open, as they come; then the top of the heap. Drop it for
       good when it no longer fits. End when it comes after (``floor_key``, ``floor_topic``).
    3. Correct the values of all topics that share an unsatisfied subscriber with the choice. B3M values can rise: the
       topic then moves up in the heap. A value that falls is noticed when it comes to the top.

    What is known of a topic is a row of ``table``, because topics are corrected in no order: its events, its value, the
    value that its key in the heap stands for, and the choice that last changed it, or _GONE when it was chosen.

    Fills ``order``, ``spent`` and ``gained`` (F-B3M gain, or weight of newly satisfied subscribers, so far) and returns
    how many topics were chosen.
    """
    num_topics = len(events)
    table = np.zeros((num_topics, 4), dtype=np.int64)
    places = np.full(num_topics, -1, dtype=np.int32)
    touched = np.empty(num_topics, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    size = 0
    for topic in range(num_topics):  # 1
        rate, value = events[topic], own[topic] * _FULL
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = np.uint32(subscribers[entry])
            value += pair_value(state[subscriber, 0], state[subscriber, 1], rate, is_whole) * weights[subscriber]
        table[topic, 0], table[topic, 1], table[topic, 2] = rate, value, value
        table[topic, 3] = -1 if is_open[topic] else _GONE
        if is_open[topic] and value > 0 and costs[topic] <= capacity:
            keys[size], heap[size] = topic_key(value, costs[topic], by_ratio), topic
            size += 1
    for place in range(size):
        places[heap[place]] = place
    heapify(keys, heap, places, size)

    num_chosen, total_cost, total_gain = 0, 0, 0
    while True:
        if num_chosen < len(first_choices):  # 2
            topic = first_choices[num_chosen]
        else:
            if size == 0:
                break
            topic = heap[0]
            if keys[0] < floor_key or (keys[0] == floor_key and topic > floor_topic):
                break
            value = table[topic, 1]
            is_wanted = value > 0 and costs[topic] <= capacity - total_cost
            if is_wanted and value != table[topic, 2]:
                table[topic, 2] = value
                keys[0] = topic_key(value, costs[topic], by_ratio)
                sift_down(keys, heap, places, size, 0)
                continue
            places[topic] = -1
            size = pop(keys, heap, places, size)
            if not is_wanted:
                continue
        table[topic, 3] = _GONE
        num_touched, gain, rate = 0, own[topic] if is_whole else own[topic] * _FULL, events[topic]
        for entry in range(offsets[topic], offsets[topic + 1]):  # 3
            subscriber = np.uint32(subscribers[entry])
            room, slope, weight = state[subscriber, 0], state[subscriber, 1], weights[subscriber]
            filled = min(room, slope * rate)
            if filled == 0:
                continue
            state[subscriber, 0] = room - filled
            if not is_whole:
                gain += filled * weight
            elif filled == room:
                gain += weight
            for place in range(row_offsets[subscriber], row_offsets[subscriber + 1]):
                other = np.uint32(topics[place])
                if table[other, 3] == _GONE:
                    continue
                was = pair_value(room, slope, table[other, 0], is_whole)
                table[other, 1] += (pair_value(room - filled, slope, table[other, 0], is_whole) - was) * weight
                if is_whole and table[other, 3] != num_chosen:
                    table[other, 3] = num_chosen
                    touched[num_touched] = other
                    num_touched += 1
        total_cost += costs[topic]
        total_gain += gain
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        num_chosen += 1
        for number in range(num_touched):
            other = touched[number]
            if table[other, 1] <= table[other, 2] or places[other] < 0:
                continue
            table[other, 2] = table[other, 1]
            keys[places[other]] = topic_key(table[other, 1], costs[other], by_ratio)
            sift_up(keys, heap, places, places[other])
    return num_chosen


@kernel
def recomputing_greedy(
    state: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    topics: Int32Array,
    row_offsets: Int64Array,
    is_open: BoolArray,
    first_choices: Int32Array,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
    capacity: int,
    by_ratio: bool,
) -> int:
    """Choose topics for F-B3M as ``lazy_greedy`` does, but value everything that a choice may change from scratch
    (Alg. 5 with lines 9 and 10 of Alg. 2 in place of its lines 9 to 12).

    1. Choose ``first_choices``, which must fit, as they come.
    2. Value every topic that is open and build a heap.
    3. Choose the top. Drop it for good when it no longer fits or gains nothing.
    4. Value every topic in the heap that shares a subscriber with the choice, over all its subscribers, once per
       choice. Gains only fall, so its key moves down.

    Fills ``order``, ``spent`` (cost so far) and ``gained`` (gain so far) and returns how many topics were chosen.
    """
    num_topics = len(events)
    gains = np.zeros(num_topics, dtype=np.int64)
    valued_at = np.full(num_topics, -1, dtype=np.int32)
    places = np.full(num_topics, -1, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    num_chosen, total_cost, total_gain = 0, 0, 0
    for topic in first_choices:  # 1
        first, last = offsets[topic], offsets[topic + 1]
        total_cost += costs[topic]
        total_gain += own[topic] * _FULL + topic_gain(state, weights, subscribers, first, last, events[topic])
        serve(state, subscribers, first, last, events[topic])
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        valued_at[topic] = 0
        num_chosen += 1

    size = 0
    for topic in range(num_topics):  # 2
        if is_open[topic] and valued_at[topic] < 0 and costs[topic] <= capacity - total_cost:
            gain = topic_gain(state, weights, subscribers, offsets[topic], offsets[topic + 1], events[topic])
            gains[topic] = own[topic] * _FULL + gain
            keys[size], heap[size] = topic_key(gains[topic], costs[topic], by_ratio), topic
            places[topic] = size
            size += 1
    heapify(keys, heap, places, size)

    while size > 0:
        topic = heap[0]  # 3
        places[topic] = -1
        size = pop(keys, heap, places, size)
        if gains[topic] == 0 or costs[topic] > capacity - total_cost:
            continue
        serve(state, subscribers, offsets[topic], offsets[topic + 1], events[topic])
        total_cost += costs[topic]
        total_gain += gains[topic]
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        num_chosen += 1
        for entry in range(offsets[topic], offsets[topic + 1]):  # 4
            subscriber = subscribers[entry]
            for place in range(row_offsets[subscriber], row_offsets[subscriber + 1]):
                other = topics[place]
                if places[other] < 0 or valued_at[other] == num_chosen:
                    continue
                valued_at[other] = num_chosen
                gain = topic_gain(state, weights, subscribers, offsets[other], offsets[other + 1], events[other])
                gains[other] = own[other] * _FULL + gain
                keys[places[other]] = topic_key(gains[other], costs[other], by_ratio)
                sift_down(keys, heap, places, size, places[other])
    return num_chosen


@kernel
def best_completion(
    state: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    is_open: BoolArray,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
    num_first: int,
    capacity: int,
) -> tuple[int, int]:
    """The prefix of a greedy run that is worth most together with one more topic that fits beside it.

    Walks along ``order`` from its first ``num_first`` choices on, which every prefix has. Topics wait by a gain that
    may be old, which is never too small: only those that could beat the best so far are valued again. Returns the
    length of the prefix and the topic, or (-1, -1) when the whole run is worth more.
    """
    num_topics = len(events)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    no_places = np.empty(0, dtype=np.int32)
    waits = is_open.copy()
    size = 0
    for topic in range(num_topics):
        if waits[topic] and costs[topic] <= capacity:
            gain = own[topic] * _FULL
            gain += topic_gain(state, weights, subscribers, offsets[topic], offsets[topic + 1], events[topic])
            if gain > 0:
                keys[size], heap[size] = gain, topic
                size += 1
    heapify(keys, heap, no_places, size)
    best = gained[-1] if len(gained) > 0 else 0
    best_prefix, best_topic = -1, -1
    for prefix in range(len(order)):
        reached = gained[prefix - 1] if prefix > 0 else 0
        left = capacity - (spent[prefix - 1] if prefix > 0 else 0)
        while prefix >= num_first and size > 0 and keys[0] > best - reached:
            topic = heap[0]
            if not waits[topic] or costs[topic] > left:
                size = pop(keys, heap, no_places, size)
                continue
            gain = own[topic] * _FULL
            gain += topic_gain(state, weights, subscribers, offsets[topic], offsets[topic + 1], events[topic])
            if gain > best - reached:
                best, best_prefix, best_topic = reached + gain, prefix, topic
            keys[0] = gain
            sift_down(keys, heap, no_places, size, 0)
        chosen = order[prefix]
        waits[chosen] = False
        serve(state, subscribers, offsets[chosen], offsets[chosen + 1], events[chosen])
    return best_prefix, best_topic


@kernel
def enumerate_greedy(
    start: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    is_open: BoolArray,
    first_choices: Int32Array,
    capacity: int,
) -> Int32Array:
    """Complete every set of up to three open topics greedily by gain per cost; return what the best run began with."""
    num_topics, num_first = len(events), len(first_choices)
    order, spent = np.empty(num_topics, dtype=np.int32), np.empty(num_topics, dtype=np.int64)
    gained = np.empty(num_topics, dtype=np.int64)
    begin = np.empty(num_first + 3, dtype=np.int32)
    begin[:num_first] = first_choices
    best_begin, best = begin[:num_first].copy(), -1
    fixed = 0
    for topic in first_choices:
        fixed += costs[topic]
    candidates = np.flatnonzero(is_open)
    num_candidates = len(candidates)
    for one in range(-1, num_candidates):  # -1 leaves a place empty; places fill from the right
        for two in range(one if one == -1 else one + 1, num_candidates):
            for three in range(two if two == -1 else two + 1, num_candidates):
                size, cost = num_first, fixed
                for place in (one, two, three):
                    if place >= 0:
                        begin[size] = candidates[place]
                        cost += costs[candidates[place]]
                        size += 1
                if cost > capacity:
                    continue
                state = start.copy()
                num_chosen = lazy_greedy(
                    state, weights, events, costs, own, subscribers, offsets, is_open, begin[:size],
                    order, spent, gained, capacity, True, ANY_KEY, 0,
                )  # fmt: skip
                value = gained[num_chosen - 1] if num_chosen > 0 else 0
                if value > best:
                    best, best_begin = value, begin[:size].copy()
    return best_begin


@kernel
def drop_idle(
    received: Int64Array,
    thresholds: Int64Array,
    events: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    queue: Int32Array,
    is_served: BoolArray,
) -> int:
    """Stop serving the topics of ``queue``, in order, without which everybody stays as satisfied as before.

    Returns how many were dropped.
    """
    num_dropped = 0
    for topic in queue:
        is_idle = True
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = subscribers[entry]
            missed = received[subscriber] - events[topic] < thresholds[subscriber]
            if missed and received[subscriber] >= thresholds[subscriber]:
                is_idle = False
                break
        if not is_idle:
            continue
        is_served[topic] = False
        num_dropped += 1
        for entry in range(offsets[topic], offsets[topic + 1]):
            received[subscribers[entry]] -= events[topic]
    return num_dropped


@kernel
def replay(
    state: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    own: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
) -> None:
    """Serve topics in order; fills ``spent`` and ``gained`` with cost and weight of satisfied subscribers so far."""
    total_cost, total_gain = 0, 0
    for place in range(len(order)):
        topic = order[place]
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = subscribers[entry]
            room = state[subscriber, 0]
            filled = min(room, state[subscriber, 1] * events[topic])
            state[subscriber, 0] = room - filled
            if room > 0 and filled == room:
                total_gain += weights[subscriber]
        total_cost += costs[topic]
        total_gain += own[topic]
        spent[place], gained[place] = total_cost, total_gain


@kernel
def removal_losses(
    received: Int64Array,
    thresholds: Int64Array,
    weights: Int64Array,
    events: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    is_served: BoolArray,
    losses: Int64Array,
) -> None:
    """The weight of subscribers who would no longer be satisfied without each served topic."""
    for topic in range(len(events)):
        losses[topic] = 0
        if not is_served[topic]:
            continue
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = subscribers[entry]
            if 0 <= received[subscriber] - thresholds[subscriber] < events[topic]:
                losses[topic] += weights[subscriber]


@kernel
def block_values(
    offsets: Int64Array,
    topics: Int32Array,
    events: Int64Array,
    thresholds: Int64Array,
    slopes: Int64Array,
    weights: Int64Array,
    is_served: BoolArray,
    is_whole: bool,
    values: Int64Array,
    rooms: Int64Array,
) -> int:
    """Add what every topic that is not served is worth to some subscribers; fills their ``rooms``.

    Returns the weight of the subscribers who want nothing.
    """
    idle = 0
    for row in range(len(offsets) - 1):
        first, last = offsets[row], offsets[row + 1]
        room = thresholds[row] if is_whole or thresholds[row] == 0 else _FULL
        if room == 0:
            idle += weights[row]
        for entry in range(first, last):
            if is_served[topics[entry]]:
                room -= min(room, slopes[row] * events[topics[entry]])
        rooms[row] = room
        if room == 0:
            continue
        for entry in range(first, last):
            if not is_served[topics[entry]]:
                value = pair_value(room, slopes[row], events[topics[entry]], is_whole)
                values[topics[entry]] += value * weights[row]
    return idle


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
        return UNIT
    slope = -(-_FULL // threshold)
    if length <= SHORT_ROW:
        best, best_set = 0, 0
        sums[0], prices[0] = 0, 0
        for place in range(length):
            rate, price = events[topics[first + place]], multipliers[first + place]
            half = 1 << place
            for subset in range(half):
                received, paid = sums[subset] + rate, prices[subset] + price
                sums[half + subset], prices[half + subset] = received, paid
                if received >= threshold:
                    worth = UNIT - paid
                elif is_whole:
                    continue
                else:
                    worth = ((slope * received + _ROUND_UP) >> _SHIFT) - paid
                if worth > best:
                    best, best_set = worth, half + subset
        for place in range(length):
            if best_set >> place & 1:
                answers[first + place] = 1.0
        return best
    ratios = np.empty(length, dtype=np.float64)
    for place in range(length):
        rate = events[topics[first + place]]
        ratios[place] = multipliers[first + place] / min(rate, threshold) if rate > 0 else np.inf
    room, paid = _FULL, 0
    for place in np.argsort(ratios, kind="mergesort"):
        if ratios[place] * _FULL >= float(slope * UNIT):
            break
        brings = slope * min(events[topics[first + place]], threshold)
        price = np.int64(multipliers[first + place])
        if brings >= room:
            answers[first + place] = room / brings
            return int(max(0, UNIT + 1 - paid - price * room // brings))
        room, paid = room - brings, paid + price
        answers[first + place] = 1.0
    return int(max(0, ((_FULL - room + _ROUND_UP) >> _SHIFT) + 1 - paid))


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
    sums, paid = np.empty(1 << SHORT_ROW, dtype=np.int64), np.empty(1 << SHORT_ROW, dtype=np.int64)
    total, length = 0, 0.0
    for row in range(len(offsets) - 1):
        first, last, weight = offsets[row], offsets[row + 1], weights[row]
        if step > 0.0:
            for entry in range(first, last):  # 1
                move = served[topics[entry]] - answers[entry] + momentum * direction[entry]
                if multipliers[entry] == 0 and move > 0.0:
                    move = 0.0
                direction[entry] = move
                length += weight * move * move
                moved = multipliers[entry] - step * move
                multipliers[entry] = np.int32(min(max(moved + 0.5, 0.0), 2.0 * UNIT))
        if last == first + 1 and thresholds[row] > 0:  # 2: tau_v is never more than all topics of v bring
            is_taken = multipliers[first] < UNIT
            answers[first] = 1.0 if is_taken else 0.0
            total += weight * (UNIT - multipliers[first]) if is_taken else 0
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

    Halves the range of keys until one is left; candidates that are decided leave.
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
        for place in range(size):
            if keys[place] > middle:
                cost += costs[active[place]]
        if cost > left:
            low = middle + 1
        else:
            high = middle
            left -= int(cost)
        kept = 0
        for place in range(size):
            if low <= keys[place] <= high:
                keys[kept], active[kept] = keys[place], active[place]
                kept += 1
        size = kept
    return np.int64(low).view(np.float64)
