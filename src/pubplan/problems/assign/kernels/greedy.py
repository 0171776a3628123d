"""The greedy choice: a client goes to the leaf with room whose path has to be enlarged least.

Ties go to the leaf with the least load for its share, then to the smallest number. A leaf that covers the rectangle
already comes before one whose filter would change.
"""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.kernels.heap import heapify, pop, sift_down, sift_up
from pubplan.problems.assign.kernels.field import UNASSIGNED, Field, State
from pubplan.problems.assign.kernels.filters import COVERED, covers, enlarge_path, path_cost
from pubplan.workload import Int32Array, Int64Array

NOT_COVERED = -2
"""In the role of a cost: more than nothing, and not computed yet."""


@kernel
def coverage(field: Field, state: State, rectangle: int, leaf: int) -> int:
    """``COVERED`` if the leaf covers a rectangle, else ``NOT_COVERED``; keeps the answer."""
    filters, costs = state.filters, state.costs
    cost = NOT_COVERED
    if covers(field.measure, filters.boxes[leaf], filters.sizes[leaf], field.boxes[rectangle], state.work):
        cost = COVERED
    row = costs.rows[rectangle]
    if row >= 0:
        costs.costs[row, leaf] = cost
        costs.known_at[row, leaf] = costs.versions[leaf]
    return cost


@kernel
def enlargement(field: Field, state: State, rectangle: int, leaf: int) -> int:
    """The cost of a rectangle at a leaf that does not cover it; keeps the answer."""
    filters, costs = state.filters, state.costs
    cost = path_cost(field.measure, field.parents, filters, leaf, field.boxes[rectangle], state.work)
    row = costs.rows[rectangle]
    if row >= 0:
        costs.costs[row, leaf] = cost
        costs.known_at[row, leaf] = costs.versions[leaf]
    return cost


@kernel
def cheapest_leaf(field: Field, state: State, limits: Int64Array, client: int) -> int:
    """The leaf with room that the greedy choice takes for a client, or ``UNASSIGNED``."""
    rectangle, group, weight = field.rectangles[client], field.groups[client], field.weights[client]
    candidates, loads, shares = field.candidates, state.loads, field.shares
    costs, known_at = state.costs.costs, state.costs.known_at
    versions, shrunk_at = state.costs.versions, state.costs.shrunk_at
    first, stop, row = field.offsets[group], field.offsets[group + 1], state.costs.rows[rectangle]
    best, best_cost, best_ratio = UNASSIGNED, 0, 0.0
    # 1. Leaves that cover the rectangle cost nothing: among them the least loaded. The test for a known cost is here
    #    and not in a function: it decides the time of the whole method, and a call costs ten times as much.
    for entry in range(first, stop):
        leaf = candidates[entry]
        if loads[leaf] + weight > limits[leaf]:
            continue
        is_known = False
        if row >= 0:
            known = known_at[row, leaf]
            is_known = known == versions[leaf] or (costs[row, leaf] == COVERED and known >= shrunk_at[leaf])
        cost = costs[row, leaf] if is_known else coverage(field, state, rectangle, leaf)
        if cost == COVERED:
            # A quotient only orders ties; division rounds correctly, so it does so the same everywhere.
            ratio = loads[leaf] / shares[leaf]
            if best < 0 or ratio < best_ratio:
                best, best_ratio = leaf, ratio
    if best >= 0:
        return int(best)
    # 2. Else the path with the least enlargement.
    for entry in range(first, stop):
        leaf = candidates[entry]
        if loads[leaf] + weight > limits[leaf]:
            continue
        cost = costs[row, leaf] if row >= 0 else NOT_COVERED
        if cost == NOT_COVERED:
            cost = enlargement(field, state, rectangle, leaf)
        ratio = loads[leaf] / shares[leaf]
        if best < 0 or cost < best_cost or (cost == best_cost and ratio < best_ratio):
            best, best_cost, best_ratio = leaf, cost, ratio
    return int(best)


@kernel
def least_loaded_leaf(field: Field, state: State, client: int) -> int:
    """The candidate with the least load for its share, whether or not it has room; those without a share come last."""
    group = field.groups[client]
    best, best_ratio = UNASSIGNED, 0.0
    for entry in range(field.offsets[group], field.offsets[group + 1]):
        leaf = field.candidates[entry]
        ratio = state.loads[leaf] / field.shares[leaf] if field.shares[leaf] > 0 else np.inf
        if best < 0 or ratio < best_ratio:
            best, best_ratio = leaf, ratio
    return int(best)


@kernel
def attach(field: Field, state: State, client: int, leaf: int) -> None:
    """Assign a client to a leaf, and enlarge the filters of its path where they do not cover its rectangle."""
    state.brokers[client] = leaf
    state.loads[leaf] += field.weights[client]
    rectangle, costs = field.rectangles[client], state.costs
    row = costs.rows[rectangle]
    if row >= 0 and costs.costs[row, leaf] == COVERED and costs.known_at[row, leaf] >= costs.shrunk_at[leaf]:
        return
    last = enlarge_path(field.measure, field.parents, state.filters, leaf, field.boxes[rectangle], state.work)
    if last >= 0:  # costs at all leaves below any broker that changed are out of date
        for entry in range(field.leaf_offsets[last], field.leaf_offsets[last + 1]):
            state.costs.versions[field.leaves_below[entry]] += 1


@kernel
def has_room(state: State, limits: Int64Array, leaf: int) -> bool:
    """Whether a leaf can take a client of weight 1."""
    return bool(state.loads[leaf] < limits[leaf])


@kernel
def assign_fewest_first(
    field: Field,
    state: State,
    limits: Int64Array,
    member_offsets: Int64Array,
    members: Int32Array,
    group_offsets: Int64Array,
    groups_of: Int32Array,
) -> int:
    """Gr*: the groups with the fewest candidates that have room come first, counted again when a leaf fills up.

    1. The heap orders groups by how many of their candidates have room; the clients of a group come in their order.
    2. Where none has room, the limits of all leaves rise by a step, while there is one.
    3. When a leaf fills up, or has room again, only the groups that have it as a candidate change.

    Args:
        limits: by step and broker, how much load it may have; rising.
        member_offsets: ``members[member_offsets[group] : member_offsets[group + 1]]`` are the clients of a group.
        group_offsets: ``groups_of[group_offsets[leaf] : group_offsets[leaf + 1]]`` are the groups of a leaf.

    Returns:
        The step of the limits that was needed. Clients for whom there was no room stay ``UNASSIGNED``.
    """
    num_groups = len(field.offsets) - 1
    keys = np.empty(num_groups, dtype=np.int64)  # the number of candidates with room, negative: larger keys come first
    items = np.empty(num_groups, dtype=np.int32)
    slots = np.empty(num_groups, dtype=np.int32)
    pointers = member_offsets[:-1].copy()
    size, step = 0, 0
    for group in range(num_groups):
        slots[group] = -1
        if pointers[group] == member_offsets[group + 1]:
            continue
        count = 0
        for entry in range(field.offsets[group], field.offsets[group + 1]):
            count += 1 if has_room(state, limits[step], field.candidates[entry]) else 0
        keys[size], items[size], slots[group] = -count, group, size
        size += 1
    heapify(keys, items, slots, size)
    while size > 0:
        group = items[0]
        client = int(np.int64(members[pointers[group]]))
        leaf = cheapest_leaf(field, state, limits[step], client)
        while leaf < 0 and step + 1 < len(limits):
            step += 1
            for other in range(len(field.parents)):
                if has_room(state, limits[step], other) and not has_room(state, limits[step - 1], other):
                    for entry in range(group_offsets[other], group_offsets[other + 1]):
                        slot = slots[groups_of[entry]]
                        if slot >= 0:
                            keys[slot] -= 1
                            sift_down(keys, items, slots, size, slot)
            leaf = cheapest_leaf(field, state, limits[step], client)
        pointers[group] += 1
        if leaf >= 0:
            had_room = has_room(state, limits[step], leaf)
            attach(field, state, client, leaf)
            if had_room and not has_room(state, limits[step], leaf):
                for entry in range(group_offsets[leaf], group_offsets[leaf + 1]):
                    slot = slots[groups_of[entry]]
                    if slot >= 0:
                        keys[slot] += 1
                        sift_up(keys, items, slots, slot)
        if pointers[group] == member_offsets[group + 1]:
            # The group is done. It may no longer be first: bring it there, then remove it.
            slot = slots[group]
            keys[slot] = 1
            sift_up(keys, items, slots, slot)
            size = pop(keys, items, slots, size)
            slots[group] = -1
    return step
