"""Room for clients whose candidates are all full: others move on, one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import UNASSIGNED, Field, State
from pubplan.problems.assign.kernels.members import Members, detach, join, link_all
from pubplan.workload import Int32Array, Int64Array


class Search(NamedTuple):
    """A breadth-first search over leaves.

    Attributes:
        queue: the leaves in the order in which they were reached.
        movers: who would come to each leaf that was reached.
        is_reached: whether a leaf was reached, 0 or 1.
    """

    queue: Int64Array
    movers: Int64Array
    is_reached: Int64Array


@kernel
def reach(field: Field, state: State, limits: Int64Array, search: Search, size: int, client: int) -> tuple[int, int]:
    """Reach the candidates of a client, up to one that has room for it.

    Returns how many leaves were reached so far, and the one with room or ``UNASSIGNED``.
    """
    group, weight = field.groups[client], field.weights[client]
    for entry in range(field.offsets[group], field.offsets[group + 1]):
        leaf = field.candidates[entry]
        if search.is_reached[leaf] == 1 or weight > limits[leaf]:
            continue
        search.is_reached[leaf] = 1
        search.movers[leaf] = client
        search.queue[size] = leaf
        size += 1
        if state.loads[leaf] + weight <= limits[leaf]:
            return size, int(leaf)
    return size, UNASSIGNED


@kernel
def make_room(field: Field, state: State, limits: Int64Array, members: Members, clients: Int32Array) -> int:
    """Assign ``clients``, who are nowhere yet, by moving others; returns how many found no room even so.

    A breadth-first search over leaves, beginning at the candidates of the client: one leaf leads to another if a client
    of the first may move to it, and the first then has room for whoever comes. It ends at a leaf with room. Where all
    clients weigh the same this is an augmenting path of a flow: it fails only if there is no room for all of them.

    Args:
        members: empty chains.
    """
    num_brokers = len(field.parents)
    search = Search(np.empty(num_brokers, np.int64), np.empty(num_brokers, np.int64), np.zeros(num_brokers, np.int64))
    seen_at = np.full(len(field.offsets) - 1, -1, dtype=np.int64)  # by group, the search and leaf that saw it last
    seen_weights = np.zeros(len(field.offsets) - 1, dtype=np.int64)
    link_all(state.brokers, members)
    num_without_room = 0
    for index in range(len(clients)):
        search.is_reached[:] = 0
        position = 0
        size, target = reach(field, state, limits, search, 0, int(np.int64(clients[index])))
        while position < size and target < 0:
            leaf = search.queue[position]
            position += 1
            needed = state.loads[leaf] + field.weights[search.movers[leaf]] - limits[leaf]
            mark = index * num_brokers + leaf
            client = int(np.int64(members.heads[leaf]))
            while client >= 0 and target < 0:
                group, weight = field.groups[client], field.weights[client]
                # A group reaches the same leaves again only with a client of less weight.
                if weight >= needed and (seen_at[group] != mark or weight < seen_weights[group]):
                    seen_at[group], seen_weights[group] = mark, weight
                    size, target = reach(field, state, limits, search, size, client)
                client = int(np.int64(members.following[client]))
        if target < 0:
            num_without_room += 1
            continue
        # Move everybody on the path by one leaf, from its end.
        source = target
        while source >= 0:
            target = source
            mover = search.movers[target]
            source = int(np.int64(state.brokers[mover]))
            if source >= 0:
                detach(field, state, members, mover)
            join(field, state, members, mover, target)
    return num_without_room
