"""Strips: one side of one box of a leaf is pushed inwards, and the clients who fall out go elsewhere."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, State, Tree
from pubplan.problems.assign.kernels.filters import contains, covers, drop_contained, widen
from pubplan.problems.assign.kernels.greedy import cheapest_leaf
from pubplan.problems.assign.kernels.measures import copy_box, union_of
from pubplan.problems.assign.kernels.members import Members, detach
from pubplan.problems.assign.kernels.ruin import clients_of, distinct_rectangles, pack_ancestors
from pubplan.problems.assign.kernels.trail import (
    Trail,
    begin,
    copy_filters,
    go_back,
    mark_shrunk,
    move,
    put_back,
    total_measure,
)
from pubplan.workload import Int32Array, Int64Array

MAX_CUTS = 32
"""How many times in a row a side is pushed inwards at most."""


@kernel
def held_alone(field: Field, boxes: Int64Array, slot: int, rectangles: Int32Array) -> Int32Array:
    """The rectangles that one box contains and no other box does."""
    held = np.empty(len(rectangles), dtype=np.int32)
    size = 0
    for rectangle in rectangles:
        box = field.boxes[rectangle]
        is_alone = contains(boxes[slot], box)
        for other in range(len(boxes)):
            if other != slot and is_alone:
                is_alone = not contains(boxes[other], box)
        if is_alone:
            held[size] = rectangle
            size += 1
    return held[:size]


@kernel
def push_side(
    field: Field,
    tree: Tree,
    state: State,
    members: Members,
    trail: Trail,
    limits: Int64Array,
    seen: Int64Array,
    leaf: int,
    slot: int,
    side: int,
) -> int:
    """Push one side of a box of a leaf inwards, cut by cut, and keep the cuts up to the best total.

    1. The rectangles that this box alone contains, outermost first. A cut takes out those whose side lies outermost.
    2. The box shrinks to what is left; a rectangle that only several boxes covered together may fall out with it.
    3. Clients who fall out go where the greedy choice sends them, but not back to this leaf.
    4. Stop where one finds no room, or where the total could not become the best any more even if the filters on the
       path of this leaf vanished. Take back the cuts after the best one.

    Args:
        side: a dimension for the low side, or d + a dimension for the high one.
        seen: scratch by rectangle, all -1.

    Returns:
        By how much the total measure fell.
    """
    filters, num_dimensions = state.filters, field.boxes.shape[1] // 2
    rectangles = distinct_rectangles(field, members, leaf, seen, leaf)
    held = held_alone(field, filters.boxes[leaf, : filters.sizes[leaf]], slot, rectangles)
    if len(held) == 0:
        return 0
    sign = 1 if side < num_dimensions else -1
    keys = np.empty(len(held), dtype=np.int64)
    for index in range(len(held)):
        keys[index] = sign * field.boxes[held[index], side]
    order = np.argsort(keys, kind="mergesort")
    begin(state, trail)
    start = best = total_measure(filters)
    best_moves = 0
    loads_limit = limits[leaf]
    limits[leaf] = -1  # nobody comes back
    others = filters.boxes[leaf, : filters.sizes[leaf]].copy()
    clients = np.empty(len(field.rectangles), dtype=np.int32)
    position = 0
    for _ in range(MAX_CUTS):
        if position == len(held):
            break
        # 1
        outermost = keys[order[position]]
        while position < len(held) and keys[order[position]] == outermost:
            seen[held[order[position]]] = leaf
            position += 1
        # 2
        size = 0
        for index in range(len(others)):
            if index != slot:
                copy_box(others[index], filters.boxes[leaf, size])
                size += 1
        if position < len(held):
            copy_box(field.boxes[held[order[position]]], filters.boxes[leaf, size])
            for index in range(position + 1, len(held)):
                widen(filters.boxes[leaf, size], field.boxes[held[order[index]]])
            size += 1
        size = drop_contained(filters.boxes[leaf], state.work.changed, size)
        for rectangle in rectangles:
            if not covers(field.measure, filters.boxes[leaf], size, field.boxes[rectangle], state.work):
                seen[rectangle] = leaf
        filters.sizes[leaf] = size
        filters.measures[leaf] = union_of(field.measure, filters.boxes[leaf], size, state.work.subsets, False)
        mark_shrunk(field, state, leaf)
        pack_ancestors(field, tree, state, trail)
        # 3
        has_room = True
        num_clients = clients_of(members, leaf, clients)
        for index in range(num_clients):
            client = int(np.int64(clients[index]))
            if seen[field.rectangles[client]] != leaf:
                continue
            detach(field, state, members, client)
            target = cheapest_leaf(field, state, limits, client)
            if target < 0:
                put_back(field, state, members, client, leaf)
                has_room = False
                break
            move(field, state, members, trail, client, leaf, target)
        if not has_room:
            break
        # 4
        pack_ancestors(field, tree, state, trail)
        total = total_measure(filters)
        if total < best:
            best, best_moves = total, trail.counts[0]
            copy_filters(filters, trail.best)
        removable, broker = 0, leaf
        while broker >= 0:
            removable += filters.measures[broker]
            broker = field.parents[broker]
        if total - removable >= best:
            break
    limits[leaf] = loads_limit
    for rectangle in rectangles:
        seen[rectangle] = -1
    go_back(field, state, members, trail, trail.best if best < start else trail.before, best_moves)
    return start - best
