"""Ruin and recreate: leaves are emptied and their clients assigned anew, the large rectangles first."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, State, Tree
from pubplan.problems.assign.kernels.greedy import cheapest_leaf
from pubplan.problems.assign.kernels.measures import box_measure
from pubplan.problems.assign.kernels.members import Members, detach
from pubplan.problems.assign.kernels.randomness import draw_below
from pubplan.problems.assign.kernels.tightening import pack_inner, pack_leaf
from pubplan.problems.assign.kernels.trail import Trail, begin, go_back, mark_shrunk, move, put_back, total_measure
from pubplan.workload import Int32Array, Int64Array

NOISE_STEPS = 1 << 20
"""How many values a random factor has."""

MAX_SKIPPED = 256
"""Among how many clients of a leaf one is drawn."""


@kernel
def clients_of(members: Members, leaf: int, clients: Int32Array) -> int:
    """Write the clients of a leaf to ``clients``; returns how many."""
    size, client = 0, members.heads[leaf]
    while client >= 0:
        clients[size] = client
        size += 1
        client = members.following[client]
    return size


@kernel
def distinct_rectangles(field: Field, members: Members, leaf: int, seen: Int64Array, mark: int) -> Int32Array:
    """The distinct rectangles of the clients of a leaf.

    Args:
        seen: by rectangle, the mark of the last call that saw it; ``mark`` must be new.
    """
    size, client = 0, members.heads[leaf]
    while client >= 0:
        rectangle = field.rectangles[client]
        if seen[rectangle] != mark:
            seen[rectangle] = mark
            size += 1
        client = members.following[client]
    rectangles = np.empty(size, dtype=np.int32)
    client = members.heads[leaf]
    while client >= 0:
        rectangle = field.rectangles[client]
        if seen[rectangle] == mark:
            seen[rectangle] = -1
            size -= 1
            rectangles[size] = rectangle
        client = members.following[client]
    return rectangles


@kernel
def pack_ancestors(field: Field, tree: Tree, state: State, trail: Trail) -> None:
    """Pack the filters of brokers that feed leaves whose paths have changed in this step, the deepest first."""
    for broker in tree.inner:
        is_changed = False
        for entry in range(field.leaf_offsets[broker], field.leaf_offsets[broker + 1]):
            leaf = field.leaves_below[entry]
            if state.costs.versions[leaf] != trail.versions[leaf]:
                is_changed = True
                break
        if is_changed:
            pack_inner(field, tree, state.filters, broker, state.work)
            mark_shrunk(field, state, broker)


@kernel
def random_order(field: Field, clients: Int32Array, generator: Int64Array) -> Int64Array:
    """An order of clients: the largest rectangles first, or those with the fewest candidates, as a coin decides.

    What they are ordered by is multiplied by a random number from 1 to 2, the same for all clients of a rectangle or
    of a group.
    """
    keys = np.empty(len(clients), dtype=np.float64)
    is_by_measure = draw_below(generator, 2) == 1
    salt = draw_below(generator, NOISE_STEPS) + 1
    noise = np.empty(1, dtype=np.int64)
    for index in range(len(clients)):
        rectangle, group = field.rectangles[clients[index]], field.groups[clients[index]]
        noise[0] = (np.int64(rectangle if is_by_measure else group) + 1) * salt % 0xFFFFFFFB + 1
        factor = 1.0 + draw_below(noise, NOISE_STEPS) / NOISE_STEPS
        if is_by_measure:
            keys[index] = -factor * box_measure(field.measure, field.boxes[rectangle])
        else:
            keys[index] = factor * (field.offsets[group + 1] - field.offsets[group])
    return np.argsort(keys, kind="mergesort")


@kernel
def random_client(members: Members, leaf: int, generator: Int64Array) -> int:
    """One of the first ``MAX_SKIPPED`` clients of a leaf, or -1 if it has none."""
    client = members.heads[leaf]
    for _ in range(draw_below(generator, MAX_SKIPPED)):
        if client < 0 or members.following[client] < 0:
            break
        client = members.following[client]
    return int(client)


@kernel
def related_leaves(field: Field, members: Members, leaf: int, generator: Int64Array, chosen: Int64Array) -> int:
    """Fill ``chosen`` with a leaf and others that one of its clients may use, drawn at random; returns how many."""
    chosen[0] = leaf
    size, client = 1, random_client(members, leaf, generator)
    if client < 0:
        return 0
    group = field.groups[client]
    num_candidates = field.offsets[group + 1] - field.offsets[group]
    for _ in range(len(chosen) - 1):
        other = field.candidates[field.offsets[group] + draw_below(generator, num_candidates)]
        is_new = True
        for index in range(size):
            is_new = is_new and chosen[index] != other
        if is_new:
            chosen[size] = other
            size += 1
    return size


@kernel
def ruin_and_recreate(
    field: Field,
    tree: Tree,
    state: State,
    members: Members,
    trail: Trail,
    limits: Int64Array,
    generator: Int64Array,
    seen: Int64Array,
    num_leaves: int,
    first_leaf: int,
) -> int:
    """Empty some leaves and assign their clients anew; the step is taken back if that costs more.

    1. Empty ``first_leaf`` and others that its clients may use, ``num_leaves`` in all at most.
    2. Order their clients at random, the large rectangles or those with few candidates first.
    3. Assign them as the greedy choice does. Where one finds no room, take everything back.
    4. Pack the filters of the emptied leaves, and of brokers above those that changed.

    Args:
        seen: scratch by rectangle.

    Returns:
        By how much the total measure fell.
    """
    chosen = np.empty(num_leaves, dtype=np.int64)
    num_chosen = related_leaves(field, members, first_leaf, generator, chosen)
    begin(state, trail)
    num_moves = trail.counts[0]  # none yet
    before = total_measure(state.filters)
    # 1
    freed = np.empty(len(field.rectangles), dtype=np.int32)
    num_freed = 0
    for index in range(num_chosen):
        num_freed += clients_of(members, chosen[index], freed[num_freed:])
    clients = freed[:num_freed]
    sources = np.empty(num_freed, dtype=np.int32)
    for index in range(num_freed):
        sources[index] = state.brokers[clients[index]]
        detach(field, state, members, int(np.int64(clients[index])))
    for index in range(num_chosen):
        leaf = chosen[index]
        state.filters.sizes[leaf] = state.filters.measures[leaf] = 0
        mark_shrunk(field, state, leaf)
    pack_ancestors(field, tree, state, trail)
    # 2
    order = random_order(field, clients, generator)
    # 3
    for index in range(num_freed):
        client = int(np.int64(clients[order[index]]))
        leaf = cheapest_leaf(field, state, limits, client)
        if leaf < 0:
            for rest in range(index, num_freed):
                put_back(
                    field, state, members, int(np.int64(clients[order[rest]])), int(np.int64(sources[order[rest]]))
                )
            go_back(field, state, members, trail, trail.before, num_moves)
            return 0
        move(field, state, members, trail, client, int(np.int64(sources[order[index]])), leaf)
    # 4
    for index in range(num_chosen):
        leaf = chosen[index]
        rectangles = distinct_rectangles(field, members, leaf, seen, leaf)
        pack_leaf(field, state.filters, leaf, rectangles, state.work)
        mark_shrunk(field, state, leaf)
    pack_ancestors(field, tree, state, trail)
    after = total_measure(state.filters)
    if after > before:
        go_back(field, state, members, trail, trail.before, num_moves)
        return 0
    return before - after
