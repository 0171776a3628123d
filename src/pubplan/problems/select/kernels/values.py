"""What topics are worth to subscribers, in integers: the arrays and small steps that the other kernels share.

A subscriber's state is a row (*room*, *slope*): what is left up to satisfaction, and by how much one event lowers it.
For F-B3M room is counted in units of 2^-32 subscribers (see ``problem.py``), so min(room, slope * events) is what a
topic adds to a subscriber. For B3M room is counted in events and slope is 1; what a topic is worth to a subscriber is
then the share of the room that it fills, in units of 2^-32. Both are multiplied by the subscriber's weight. Products
fit int64 because events are cut to 2^31 - 1 (no threshold is larger) and weights sum to less than 2^31.

Subscribers who want a single topic need no state: they are satisfied with it and not without. A kernel has only their
weight by topic; all arrays by subscriber have only the subscribers who want several topics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

FIXED_POINT_ONE = 2**32
"""One satisfied subscriber, in fixed point."""

MIN_KEY = -1
"""Below the key of every topic."""

MAX_KEY = 2**63 - 1
"""The key of a topic that costs nothing."""


class DemandByTopic(NamedTuple):
    """Topics with their subscribers.

    ``subscribers[offsets[topic] : offsets[topic + 1]]`` want that topic and others too; ``weights`` are theirs. By
    topic: ``events`` per window, ``costs``, and ``single_topic_weight``, the weight of those who want it alone.
    """

    offsets: Int64Array
    subscribers: Int32Array
    weights: Int64Array
    events: Int64Array
    costs: Int64Array
    single_topic_weight: Int64Array


class TopicLists(NamedTuple):
    """The topics of each subscriber: ``topics[offsets[subscriber] : offsets[subscriber + 1]]``."""

    offsets: Int64Array
    topics: Int32Array


class Run(NamedTuple):
    """Topics in the order of choice, with the cost and the gain after each."""

    order: Int32Array
    spent: Int64Array
    gained: Int64Array


@kernel
def topic_key(value: int, cost: int, by_ratio: bool) -> int:
    """The key of a topic in the heap; what costs nothing comes first.

    The bits of a float64 that is not negative, read as an integer, are ordered like the float.
    """
    if not by_ratio:
        return value
    if cost == 0:
        return MAX_KEY
    return np.float64(value / cost).view(np.int64)  # type: ignore[return-value]


@kernel
def topic_gain(state: Int64Array, demand: DemandByTopic, topic: int) -> int:
    """What a topic adds now to the F-B3M value, its subscribers who want nothing else included."""
    gain: int = demand.single_topic_weight[topic] * FIXED_POINT_ONE
    rate = demand.events[topic]
    for entry in range(demand.offsets[topic], demand.offsets[topic + 1]):
        subscriber = demand.subscribers[entry]
        gain += min(state[subscriber, 0], state[subscriber, 1] * rate) * demand.weights[subscriber]
    return gain


@kernel
def serve(state: Int64Array, demand: DemandByTopic, topic: int) -> None:
    """Lower the room of the subscribers of a topic."""
    rate = demand.events[topic]
    for entry in range(demand.offsets[topic], demand.offsets[topic + 1]):
        subscriber = demand.subscribers[entry]
        state[subscriber, 0] -= min(state[subscriber, 0], state[subscriber, 1] * rate)


@kernel
def pair_value(room: int, slope: int, events: int, is_whole: bool) -> int:
    """What a topic is worth to a subscriber of weight 1: a gain for F-B3M, the share of the room it fills for B3M."""
    if not is_whole:
        return min(room, slope * events)
    if room == 0:
        return 0
    if events >= room:
        return FIXED_POINT_ONE
    # The shift fits 64 bits without a sign: events are below room, which is below 2^31.
    return np.int64((np.uint64(events) << np.uint64(32)) // np.uint64(room))  # type: ignore[return-value]


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
        # Room and slope as in ``state``, but computed from what is served: blocks keep no state between passes.
        room = thresholds[row] if is_whole or thresholds[row] == 0 else FIXED_POINT_ONE
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
