"""Gr: clients in their order, with the ways of the paper's section VI to make room where there is none."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import UNASSIGNED, Field, State
from pubplan.problems.assign.kernels.greedy import attach, cheapest_leaf, least_loaded_leaf
from pubplan.problems.assign.kernels.randomness import draw_below
from pubplan.workload import Int32Array, Int64Array

MAX_DRAWS = 1000
"""How many clients are drawn at most to find enough of them at a given leaf."""


@kernel
def evict(
    field: Field, state: State, limit: int, leaf: int, weight: int, generator: Int64Array, queue: Int32Array
) -> int:
    """Remove clients of a leaf, drawn at random, until it has room for ``weight``; returns how many.

    Filters stay as they are: what the removed clients needed is seen when filters are tightened.

    Args:
        queue: where the removed clients are written.
    """
    size = 0
    for _ in range(MAX_DRAWS):
        if state.loads[leaf] + weight <= limit or size == len(queue):
            break
        client = draw_below(generator, len(state.brokers))
        if state.brokers[client] == leaf:
            state.brokers[client] = UNASSIGNED
            state.loads[leaf] -= field.weights[client]
            queue[size] = client
            size += 1
    return size


@kernel
def assign_in_order(
    field: Field, state: State, limits: Int64Array, generator: Int64Array, max_evictions: int, is_now: bool
) -> tuple[int, int]:
    """Gr: each client goes to the cheapest leaf with room.

    1. Where none has room, the limits of all leaves rise by a step, while there is one.
    2. Then clients of one of its leaves, both drawn at random, are removed, at most ``max_evictions`` in all. They are
       the next ones to be assigned, or the last ones.
    3. Then the client goes to the candidate with the least load for its share, whose limit that breaks.

    Args:
        limits: by step and broker, how much load it may have; rising.
        is_now: removed clients come next.

    Returns:
        The step of the limits that was needed, and how many clients were removed.
    """
    num_clients = len(field.rectangles)
    step, num_evicted = 0, 0
    # Removed clients: a stack if they come next, else a queue; each eviction adds one at most.
    removed = np.empty(max_evictions, dtype=np.int32)
    head, tail, position = 0, 0, 0
    while position < num_clients or head < tail:
        if head < tail and (is_now or position == num_clients):
            if is_now:
                tail -= 1
                client = int(np.int64(removed[tail]))
            else:
                client = int(np.int64(removed[head]))
                head += 1
        else:
            client = position
            position += 1
        leaf = cheapest_leaf(field, state, limits[step], client)
        while leaf < 0 and step + 1 < len(limits):
            step += 1
            leaf = cheapest_leaf(field, state, limits[step], client)
        group = field.groups[client]
        num_candidates = field.offsets[group + 1] - field.offsets[group]
        if leaf < 0 and num_evicted < max_evictions and num_candidates > 0:
            chosen = field.candidates[field.offsets[group] + draw_below(generator, num_candidates)]
            room = removed[tail : tail + max_evictions - num_evicted]
            size = evict(field, state, limits[step, chosen], chosen, field.weights[client], generator, room)
            num_evicted += size
            tail += size
            leaf = cheapest_leaf(field, state, limits[step], client)
        if leaf < 0:
            leaf = least_loaded_leaf(field, state, client)
        if leaf >= 0:
            attach(field, state, client, leaf)
    return step, num_evicted
