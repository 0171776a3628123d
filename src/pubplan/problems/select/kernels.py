"""Lazy greedy for F-B3M in fixed point.

A subscriber's satisfaction is min(full, slope * received) with full = 2^32 (see ``problem.py``), so all the state a
subscriber needs is its *room*, what is left up to full. A topic adds min(room, slope * events) to each of its
subscribers: exact in int64 as long as events <= 2^31 - 1, to which rates are cut (no threshold is larger).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@kernel
def topic_gain(state: Int64Array, subscribers: Int32Array, first: int, last: int, events: int) -> int:
    """What a topic adds now to the subscribers ``subscribers[first:last]``; ``state`` has rows (room, slope)."""
    gain = 0
    for entry in range(first, last):
        subscriber = subscribers[entry]
        gain += min(state[subscriber, 0], state[subscriber, 1] * events)
    return gain


@kernel
def precedes(keys: FloatArray, fine_keys: Int64Array, topic: int, other: int) -> bool:
    """Whether a topic comes before another one: the larger key first, then the larger fine key, then the smaller
    number.
    """
    if keys[topic] != keys[other]:
        return bool(keys[topic] > keys[other])
    if fine_keys[topic] != fine_keys[other]:
        return bool(fine_keys[topic] > fine_keys[other])
    return topic < other


@kernel
def sift_down(keys: FloatArray, fine_keys: Int64Array, heap: Int32Array, size: int, place: int) -> None:
    """Restore the heap order of ``heap[:size]`` below ``place``."""
    topic = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and precedes(keys, fine_keys, heap[right], heap[child]):
            child = right
        if precedes(keys, fine_keys, topic, heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = topic


@kernel
def lazy_greedy(
    state: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    subscribers: Int32Array,
    offsets: Int64Array,
    order: Int32Array,
    spent: Int64Array,
    gained: Int64Array,
    capacity: int,
    by_ratio: bool,
) -> int:
    """Choose topics by gain, or by gain per cost, until nothing fits or nothing is gained (Alg. 5).

    1. Value every topic and build a heap.
    2. Take the top. Drop it for good when it no longer fits: what is left only shrinks.
    3. If its value is older than the last choice, value it again and put it back. Values only fall, so a topic that is
       still on top afterwards is the one an eager greedy would choose.
    4. Otherwise choose it and lower the room of its subscribers.

    Fills ``order``, ``spent`` (cost so far) and ``gained`` (gain so far) and returns how many topics were chosen.
    Equal values go to the smaller topic. A ratio is float64(gain) / float64(cost), which never rises when the gain
    falls; gains themselves are compared as integers, of which a float holds only the upper 53 bits.
    """
    num_topics = len(events)
    keys = np.empty(num_topics, dtype=np.float64)
    gains = np.zeros(num_topics, dtype=np.int64)
    fine_keys = np.zeros(num_topics, dtype=np.int64) if by_ratio else gains
    valued_at = np.zeros(num_topics, dtype=np.int32)
    heap = np.empty(num_topics, dtype=np.int32)
    size = 0
    for topic in range(num_topics):  # 1
        if costs[topic] > capacity:
            continue
        gain = topic_gain(state, subscribers, offsets[topic], offsets[topic + 1], events[topic])
        if gain > 0:
            gains[topic] = gain
            keys[topic] = gain / costs[topic] if by_ratio else float(gain)
            heap[size] = topic
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        sift_down(keys, fine_keys, heap, size, place)

    num_chosen, total_cost, total_gain = 0, 0, 0
    while size > 0:
        topic = heap[0]  # 2
        fits = costs[topic] <= capacity - total_cost
        if fits and valued_at[topic] != num_chosen:  # 3
            gain = topic_gain(state, subscribers, offsets[topic], offsets[topic + 1], events[topic])
            valued_at[topic] = num_chosen
            if gain > 0:
                gains[topic] = gain
                keys[topic] = gain / costs[topic] if by_ratio else float(gain)
                sift_down(keys, fine_keys, heap, size, 0)
                continue
            fits = False
        if fits:  # 4
            for entry in range(offsets[topic], offsets[topic + 1]):
                subscriber = subscribers[entry]
                state[subscriber, 0] -= min(state[subscriber, 0], state[subscriber, 1] * events[topic])
            total_cost += costs[topic]
            total_gain += gains[topic]
            order[num_chosen] = topic
            spent[num_chosen] = total_cost
            gained[num_chosen] = total_gain
            num_chosen += 1
        size -= 1
        heap[0] = heap[size]
        if size > 0:
            sift_down(keys, fine_keys, heap, size, 0)
    return num_chosen
