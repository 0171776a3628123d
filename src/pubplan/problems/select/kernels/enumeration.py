"""Many greedy runs at once: every prefix of a run with one more topic, every small set completed by a run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.kernels.heap import heapify, pop, sift_down
from pubplan.problems.select.kernels.greedy import lazy_greedy
from pubplan.problems.select.kernels.values import MIN_KEY, DemandByTopic, Run, serve, topic_gain

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


@kernel
def best_completion(
    state: Int64Array,
    demand: DemandByTopic,
    is_open: BoolArray,
    run: Run,
    num_first: int,
    capacity: int,
) -> tuple[int, int]:
    """The prefix of a greedy run that is worth most together with one more topic that still fits.

    Walks along ``run`` from its first ``num_first`` choices on, which every prefix has. Topics wait by a gain that
    may be old, which is never too small: only those that could beat the best so far are valued again. Returns the
    length of the prefix and the topic, or (-1, -1) when the whole run is worth more.
    """
    costs, order, spent, gained = demand.costs, run.order, run.spent, run.gained
    num_topics = len(costs)
    keys = np.empty(num_topics, dtype=np.int64)
    heap = np.empty(num_topics, dtype=np.int32)
    no_slots = np.empty(0, dtype=np.int32)
    waits = is_open.copy()
    size = 0
    # Every open topic by its gain with nothing served: an upper bound on its gain after any prefix.
    for topic in range(num_topics):
        if waits[topic] and costs[topic] <= capacity:
            gain = topic_gain(state, demand, topic)
            if gain > 0:
                keys[size], heap[size] = gain, topic
                size += 1
    heapify(keys, heap, no_slots, size)
    best = gained[-1] if len(gained) > 0 else 0
    best_prefix, best_topic = -1, -1
    for prefix in range(len(order)):
        reached = gained[prefix - 1] if prefix > 0 else 0
        left = capacity - (spent[prefix - 1] if prefix > 0 else 0)
        # As long as the top could still beat the best completion, value it again after this prefix.
        while prefix >= num_first and size > 0 and keys[0] > best - reached:
            topic = heap[0]
            if not waits[topic] or costs[topic] > left:
                size = pop(keys, heap, no_slots, size)  # for good: what is left only shrinks
                continue
            gain = topic_gain(state, demand, topic)
            if gain > best - reached:
                best, best_prefix, best_topic = reached + gain, prefix, topic
            keys[0] = gain
            sift_down(keys, heap, no_slots, size, 0)
        chosen = order[prefix]
        waits[chosen] = False
        serve(state, demand, chosen)
    return best_prefix, best_topic


@kernel
def enumerate_greedy(
    start: Int64Array,
    demand: DemandByTopic,
    is_open: BoolArray,
    first_choices: Int32Array,
    capacity: int,
) -> Int32Array:
    """Complete every set of up to three open topics greedily by gain per cost; return what the best run began with."""
    costs = demand.costs
    num_topics, num_first = len(costs), len(first_choices)
    run = Run(
        np.empty(num_topics, dtype=np.int32),
        np.empty(num_topics, dtype=np.int64),
        np.empty(num_topics, dtype=np.int64),
    )
    begin = np.empty(num_first + 3, dtype=np.int32)
    begin[:num_first] = first_choices
    best_begin, best = begin[:num_first].copy(), -1
    fixed = 0
    for topic in first_choices:
        fixed += costs[topic]
    candidates = np.flatnonzero(is_open)
    num_candidates = len(candidates)
    for one in range(-1, num_candidates):  # -1 is no topic: sets of fewer than three begin with it
        for two in range(one if one == -1 else one + 1, num_candidates):
            for three in range(two if two == -1 else two + 1, num_candidates):
                size, cost = num_first, fixed
                for position in (one, two, three):
                    if position >= 0:
                        begin[size] = candidates[position]
                        cost += costs[candidates[position]]
                        size += 1
                if cost > capacity:
                    continue
                state = start.copy()
                num_chosen = lazy_greedy(state, demand, is_open, begin[:size], run, capacity, True, MIN_KEY, 0)
                value = run.gained[num_chosen - 1] if num_chosen > 0 else 0
                if value > best:
                    best, best_begin = value, begin[:size].copy()
    return best_begin
