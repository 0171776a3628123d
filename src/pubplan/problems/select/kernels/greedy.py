"""The greedy loops of select.

Topics wait in a heap by value, or by value per cost, ties to the smaller topic. What a topic is worth changes as others
are chosen; the three loops differ in when they notice. Where an index is cast with ``np.uint32``, the compiler need not
ask whether it is negative, which would count from the end of the array.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.kernels.heap import heapify, pop, sift_down, sift_up
from pubplan.problems.select.kernels.values import (
    FIXED_POINT_ONE,
    DemandByTopic,
    Run,
    TopicLists,
    pair_value,
    serve,
    topic_gain,
    topic_key,
)

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

_EVENTS, _VALUE, _KEYED_VALUE, _CHANGED_AT = 0, 1, 2, 3
"""The columns of what ``eager_greedy`` knows of a topic."""

_NOT_WAITING = -2


@kernel
def lazy_greedy(
    state: Int64Array,
    demand: DemandByTopic,
    is_open: BoolArray,
    first_choices: Int32Array,
    run: Run,
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

    Fills ``run`` and returns how many topics were chosen.

    Steps 2, 4 and 5 write out the loops of ``topic_gain`` and ``serve``: most topics have few subscribers, and calls
    would make the whole run a tenth slower.
    """
    weights, events, costs = demand.weights, demand.events, demand.costs
    single_topic_weight, subscribers, offsets = demand.single_topic_weight, demand.subscribers, demand.offsets
    order, spent, gained = run.order, run.spent, run.gained
    num_topics = len(events)
    gains = np.zeros(num_topics, dtype=np.int64)
    valued_at = np.zeros(num_topics, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    no_slots = np.empty(0, dtype=np.int32)
    num_chosen, total_cost, total_gain = 0, 0, 0
    for topic in first_choices:  # 1
        total_cost += costs[topic]
        total_gain += topic_gain(state, demand, topic)
        serve(state, demand, topic)
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        valued_at[topic] = -1
        num_chosen += 1

    size = 0
    for topic in range(num_topics):  # 2
        if not is_open[topic] or valued_at[topic] < 0 or costs[topic] > capacity - total_cost:
            continue
        gain, rate = single_topic_weight[topic] * FIXED_POINT_ONE, events[topic]
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = np.uint32(subscribers[entry])
            gain += min(state[subscriber, 0], state[subscriber, 1] * rate) * weights[subscriber]
        if gain > 0:
            gains[topic] = gain
            valued_at[topic] = num_chosen
            keys[size], heap[size] = topic_key(gain, costs[topic], by_ratio), topic
            size += 1
    heapify(keys, heap, no_slots, size)

    while size > 0:
        topic = heap[0]  # 3
        if keys[0] < floor_key or (keys[0] == floor_key and topic > floor_topic):
            break
        first, last = offsets[topic], offsets[topic + 1]
        fits = costs[topic] <= capacity - total_cost
        rate = events[topic]
        if fits and valued_at[topic] != num_chosen:  # 4
            gain = single_topic_weight[topic] * FIXED_POINT_ONE
            for entry in range(first, last):
                subscriber = np.uint32(subscribers[entry])
                gain += min(state[subscriber, 0], state[subscriber, 1] * rate) * weights[subscriber]
            valued_at[topic] = num_chosen
            if gain > 0:
                gains[topic] = gain
                keys[0] = topic_key(gain, costs[topic], by_ratio)
                sift_down(keys, heap, no_slots, size, 0)
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
        size = pop(keys, heap, no_slots, size)
    return num_chosen


@kernel
def eager_greedy(
    state: Int64Array,
    demand: DemandByTopic,
    lists: TopicLists,
    is_open: BoolArray,
    first_choices: Int32Array,
    run: Run,
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

    What is known of a topic is a row of ``table``, so that a correction, which may hit any topic, touches one cache
    line: its events, its value, the value that its key in the heap stands for, and the choice that last changed it, or
    _NOT_WAITING when it can no longer be chosen.

    Fills ``run``, whose gains are F-B3M gains or the weight of newly satisfied subscribers, and returns how many topics
    were chosen.
    """
    weights, events, costs = demand.weights, demand.events, demand.costs
    single_topic_weight, subscribers, offsets = demand.single_topic_weight, demand.subscribers, demand.offsets
    order, spent, gained = run.order, run.spent, run.gained
    topics, row_offsets = lists.topics, lists.offsets
    num_topics = len(events)
    table = np.zeros((num_topics, 4), dtype=np.int64)
    slots = np.full(num_topics, -1, dtype=np.int32)
    touched = np.empty(num_topics, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    size = 0
    for topic in range(num_topics):  # 1
        rate, value = events[topic], single_topic_weight[topic] * FIXED_POINT_ONE
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = np.uint32(subscribers[entry])
            value += pair_value(state[subscriber, 0], state[subscriber, 1], rate, is_whole) * weights[subscriber]
        table[topic, _EVENTS], table[topic, _VALUE], table[topic, _KEYED_VALUE] = rate, value, value
        table[topic, _CHANGED_AT] = -1 if is_open[topic] else _NOT_WAITING
        if is_open[topic] and value > 0 and costs[topic] <= capacity:
            keys[size], heap[size] = topic_key(value, costs[topic], by_ratio), topic
            size += 1
    for slot in range(size):
        slots[heap[slot]] = slot
    heapify(keys, heap, slots, size)

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
            value = table[topic, _VALUE]
            is_wanted = value > 0 and costs[topic] <= capacity - total_cost
            if is_wanted and value != table[topic, _KEYED_VALUE]:
                table[topic, _KEYED_VALUE] = value
                keys[0] = topic_key(value, costs[topic], by_ratio)
                sift_down(keys, heap, slots, size, 0)
                continue
            slots[topic] = -1
            size = pop(keys, heap, slots, size)
            if not is_wanted:
                continue
        table[topic, _CHANGED_AT] = _NOT_WAITING
        num_touched, rate = 0, events[topic]
        gain = single_topic_weight[topic] * (1 if is_whole else FIXED_POINT_ONE)
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
            for position in range(row_offsets[subscriber], row_offsets[subscriber + 1]):
                other = np.uint32(topics[position])
                if table[other, _CHANGED_AT] == _NOT_WAITING:
                    continue
                before = pair_value(room, slope, table[other, _EVENTS], is_whole)
                after = pair_value(room - filled, slope, table[other, _EVENTS], is_whole)
                table[other, _VALUE] += (after - before) * weight
                # F-B3M values only fall, which is noticed at the top: only B3M has topics to move up.
                if is_whole and table[other, _CHANGED_AT] != num_chosen:
                    table[other, _CHANGED_AT] = num_chosen
                    touched[num_touched] = other
                    num_touched += 1
        total_cost += costs[topic]
        total_gain += gain
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        num_chosen += 1
        for other in touched[:num_touched]:
            if table[other, _VALUE] <= table[other, _KEYED_VALUE] or slots[other] < 0:
                continue
            table[other, _KEYED_VALUE] = table[other, _VALUE]
            keys[slots[other]] = topic_key(table[other, _VALUE], costs[other], by_ratio)
            sift_up(keys, heap, slots, slots[other])
    return num_chosen


@kernel
def recomputing_greedy(
    state: Int64Array,
    demand: DemandByTopic,
    lists: TopicLists,
    is_open: BoolArray,
    first_choices: Int32Array,
    run: Run,
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

    Fills ``run`` and returns how many topics were chosen.
    """
    costs, subscribers, offsets = demand.costs, demand.subscribers, demand.offsets
    order, spent, gained = run.order, run.spent, run.gained
    topics, row_offsets = lists.topics, lists.offsets
    num_topics = len(costs)
    gains = np.zeros(num_topics, dtype=np.int64)
    valued_at = np.full(num_topics, -1, dtype=np.int32)
    slots = np.full(num_topics, -1, dtype=np.int32)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    num_chosen, total_cost, total_gain = 0, 0, 0
    for topic in first_choices:  # 1
        total_cost += costs[topic]
        total_gain += topic_gain(state, demand, topic)
        serve(state, demand, topic)
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        valued_at[topic] = 0
        num_chosen += 1

    size = 0
    for topic in range(num_topics):  # 2
        if is_open[topic] and valued_at[topic] < 0 and costs[topic] <= capacity - total_cost:
            gains[topic] = topic_gain(state, demand, topic)
            keys[size], heap[size] = topic_key(gains[topic], costs[topic], by_ratio), topic
            slots[topic] = size
            size += 1
    heapify(keys, heap, slots, size)

    while size > 0:
        topic = heap[0]  # 3
        slots[topic] = -1
        size = pop(keys, heap, slots, size)
        if gains[topic] == 0 or costs[topic] > capacity - total_cost:
            continue
        serve(state, demand, topic)
        total_cost += costs[topic]
        total_gain += gains[topic]
        order[num_chosen], spent[num_chosen], gained[num_chosen] = topic, total_cost, total_gain
        num_chosen += 1
        for entry in range(offsets[topic], offsets[topic + 1]):  # 4
            subscriber = subscribers[entry]
            for position in range(row_offsets[subscriber], row_offsets[subscriber + 1]):
                other = topics[position]
                if slots[other] < 0 or valued_at[other] == num_chosen:
                    continue
                valued_at[other] = num_chosen
                gains[other] = topic_gain(state, demand, other)
                keys[slots[other]] = topic_key(gains[other], costs[other], by_ratio)
                sift_down(keys, heap, slots, size, slots[other])
    return num_chosen
