"""The clients of every leaf, as chains in both directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import UNASSIGNED, Field, State
from pubplan.problems.assign.kernels.greedy import attach
from pubplan.workload import Int32Array


class Members(NamedTuple):
    """Chains of clients: the first of each leaf, and for each client the next and the one before, or -1."""

    heads: Int32Array
    following: Int32Array
    previous: Int32Array

    @classmethod
    def empty(cls, num_brokers: int, num_clients: int) -> Members:
        return cls(*(np.full(size, UNASSIGNED, np.int32) for size in (num_brokers, num_clients, num_clients)))


@kernel
def link(members: Members, client: int, leaf: int) -> None:
    """Put a client at the front of the chain of a leaf."""
    second = members.heads[leaf]
    members.following[client], members.previous[client] = second, UNASSIGNED
    if second >= 0:
        members.previous[second] = client
    members.heads[leaf] = client


@kernel
def link_all(brokers: Int32Array, members: Members) -> None:
    """Chain all clients who are assigned; in each chain the larger number comes first."""
    for client in range(len(brokers)):
        if brokers[client] >= 0:
            link(members, client, int(np.int64(brokers[client])))


@kernel
def detach(field: Field, state: State, members: Members, client: int) -> None:
    """Take a client off its leaf; filters stay as they are."""
    leaf = state.brokers[client]
    before, after = members.previous[client], members.following[client]
    if before >= 0:
        members.following[before] = after
    else:
        members.heads[leaf] = after
    if after >= 0:
        members.previous[after] = before
    state.brokers[client] = UNASSIGNED
    state.loads[leaf] -= field.weights[client]


@kernel
def join(field: Field, state: State, members: Members, client: int, leaf: int) -> None:
    """Assign a client who is nowhere to a leaf, whose path is enlarged if need be."""
    attach(field, state, client, leaf)
    link(members, client, leaf)
