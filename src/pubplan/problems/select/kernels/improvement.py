"""Steps that improve a plan for B3M: what a topic is still good for, and a plan replayed in order.

``received`` and ``thresholds`` are of all subscribers here, those who want a single topic included.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.problems.select.kernels.values import DemandByTopic, Run

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


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
    """Stop serving the topics of ``queue``, in order, without which every subscriber stays as satisfied as before.

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
            # Satisfied now, and by less than this topic brings.
            if 0 <= received[subscriber] - thresholds[subscriber] < events[topic]:
                losses[topic] += weights[subscriber]


@kernel
def replay(
    state: Int64Array,
    demand: DemandByTopic,
    run: Run,
) -> None:
    """Serve the topics of ``run`` in order; fills in the cost and the weight of satisfied subscribers after each."""
    weights, events, costs = demand.weights, demand.events, demand.costs
    single_topic_weight, subscribers, offsets = demand.single_topic_weight, demand.subscribers, demand.offsets
    order, spent, gained = run.order, run.spent, run.gained
    total_cost, total_gain = 0, 0
    for position in range(len(order)):
        topic = order[position]
        for entry in range(offsets[topic], offsets[topic + 1]):
            subscriber = subscribers[entry]
            room = state[subscriber, 0]
            filled = min(room, state[subscriber, 1] * events[topic])
            state[subscriber, 0] = room - filled
            if room > 0 and filled == room:
                total_gain += weights[subscriber]
        total_cost += costs[topic]
        total_gain += single_topic_weight[topic]
        spent[position], gained[position] = total_cost, total_gain
