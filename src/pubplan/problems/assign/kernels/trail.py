"""Steps that can be taken back: what was moved and what filters were before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, State
from pubplan.problems.assign.kernels.filters import Filters
from pubplan.problems.assign.kernels.measures import copy_box
from pubplan.problems.assign.kernels.members import Members, detach, join, link
from pubplan.workload import Int32Array, Int64Array


class Trail(NamedTuple):
    """What it takes to go back to where a step began, or to the best state that it passed.

    Attributes:
        moved: the clients that were moved, in order.
        sources: the leaf that each came from.
        counts: how many moves there are.
        versions: of all leaves when the step began.
        before: filters when the step began.
        best: filters of the best state on the way.
    """

    moved: Int32Array
    sources: Int32Array
    counts: Int64Array
    versions: Int32Array
    before: Filters
    best: Filters

    @classmethod
    def empty(cls, num_clients: int, filters: Filters) -> Trail:
        moved, sources = np.empty(num_clients, np.int32), np.empty(num_clients, np.int32)
        versions = np.zeros(len(filters.sizes), np.int32)
        return cls(moved, sources, np.zeros(1, np.int64), versions, filters.copy(), filters.copy())


@kernel
def copy_filters(source: Filters, target: Filters) -> None:
    """Make ``target`` equal to ``source``."""
    for broker in range(len(source.sizes)):
        target.sizes[broker] = source.sizes[broker]
        target.measures[broker] = source.measures[broker]
        for slot in range(source.boxes.shape[1]):
            copy_box(source.boxes[broker, slot], target.boxes[broker, slot])


@kernel
def begin(state: State, trail: Trail) -> None:
    """Remember the state from which a step begins."""
    trail.counts[0] = 0
    for broker in range(len(trail.versions)):
        trail.versions[broker] = state.costs.versions[broker]
    copy_filters(state.filters, trail.before)


@kernel
def move(field: Field, state: State, members: Members, trail: Trail, client: int, source: int, leaf: int) -> None:
    """Assign a client who was taken off ``source`` to a leaf, and remember it."""
    join(field, state, members, client, leaf)
    trail.moved[trail.counts[0]] = client
    trail.sources[trail.counts[0]] = source
    trail.counts[0] += 1


@kernel
def go_back(field: Field, state: State, members: Members, trail: Trail, filters: Filters, num_moves: int) -> None:
    """Take back all moves but the first ``num_moves``, and put ``filters`` in force, which were so at that time."""
    while trail.counts[0] > num_moves:
        trail.counts[0] -= 1
        client = int(np.int64(trail.moved[trail.counts[0]]))
        source = int(np.int64(trail.sources[trail.counts[0]]))
        detach(field, state, members, client)
        put_back(field, state, members, client, source)
    copy_filters(filters, state.filters)
    costs = state.costs
    for leaf in range(len(costs.versions)):
        if costs.versions[leaf] != trail.versions[leaf]:
            costs.versions[leaf] += 1
            costs.shrunk_at[leaf] = costs.versions[leaf]


@kernel
def put_back(field: Field, state: State, members: Members, client: int, leaf: int) -> None:
    """Assign a client to a leaf whose filter is put in force afterwards."""
    state.brokers[client] = leaf
    state.loads[leaf] += field.weights[client]
    link(members, client, leaf)


@kernel
def mark_shrunk(field: Field, state: State, broker: int) -> None:
    """Declare costs out of date that were computed before the filter of a broker shrank."""
    costs = state.costs
    for entry in range(field.leaf_offsets[broker], field.leaf_offsets[broker + 1]):
        leaf = field.leaves_below[entry]
        costs.versions[leaf] += 1
        if leaf == broker:
            costs.shrunk_at[leaf] = costs.versions[leaf]


@kernel
def total_measure(filters: Filters) -> int:
    """The measure of all filters."""
    total = 0
    for broker in range(len(filters.measures)):
        total += filters.measures[broker]
    return total
