"""Local search: single clients move, and whole brokers are closed."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.attaching import (
    UNATTACHED,
    Field,
    State,
    Work,
    attach,
    detach,
    estimate,
    total_cost,
)
from pubplan.problems.federate.kernels.trees import INFINITE, Trees
from pubplan.workload import Int64Array

MAX_TRIES = 2
"""Brokers that are tried for a client, those with the least estimates, before it stays where it is."""


@kernel
def move_clients(field: Field, state: State, trees: Trees, clients: Int64Array, work: Work) -> int:
    """Move each of some clients to where it makes the total cost less, if there is such a broker; how many moved."""
    num_moved = 0
    for client in clients:
        before = total_cost(state)
        home = state.brokers[client]
        detach(field, state, trees, client, work)
        saved = before - total_cost(state)
        estimate(field, state, trees, client, work.estimates)
        work.estimates[home] = INFINITE
        is_moved = False
        for _ in range(MAX_TRIES):
            best = int(np.argmin(work.estimates))
            if work.estimates[best] >= saved:
                break
            attach(field, state, trees, client, best, work)
            if total_cost(state) < before:
                is_moved = True
                break
            detach(field, state, trees, client, work)
            work.estimates[best] = INFINITE
        if is_moved:
            num_moved += 1
        else:
            attach(field, state, trees, client, home, work)
    return num_moved


@kernel
def _cheapest_to_leave(field: Field, state: State, broker: int, needed: int) -> tuple[int, int]:
    """Of the clients of a full broker that make enough room by leaving, the one whose cheapest other broker with room
    costs least more than it pays for access here; that, or -1. What is paid between brokers is not looked at.
    """
    best, least = -1, INFINITE
    for client in range(len(state.brokers)):
        if state.brokers[client] != broker or field.demand[client] < needed:
            continue
        prices, demand = field.group_prices[field.group[client]], field.demand[client]
        for other in range(len(state.loads)):
            if other == broker or prices[other] < 0 or demand > field.capacities[other] - state.loads[other]:
                continue
            extra = demand * (prices[other] - prices[broker])
            if extra < least:
                best, least = client, extra
    return best, least


@kernel
def swap_clients(field: Field, state: State, trees: Trees, clients: Int64Array, work: Work) -> int:
    """Move each of some clients to a full broker that another one leaves for it, if that makes the total cost less; how
    many moved.
    """
    num_moved = 0
    for client in clients:
        before = total_cost(state)
        home = state.brokers[client]
        detach(field, state, trees, client, work)
        saved = before - total_cost(state)
        estimate(field, state, trees, client, work.estimates, True)
        best, gain, leaving = -1, 0, -1
        for broker in range(len(state.loads)):
            needed = field.demand[client] - (field.capacities[broker] - state.loads[broker])
            if broker == home or needed <= 0 or saved - work.estimates[broker] <= gain:
                continue
            other, extra = _cheapest_to_leave(field, state, broker, needed)
            if other >= 0 and saved - work.estimates[broker] - extra > gain:
                best, gain, leaving = broker, saved - work.estimates[broker] - extra, other
        if best < 0:
            attach(field, state, trees, client, home, work)
            continue
        detach(field, state, trees, leaving, work)
        attach(field, state, trees, client, best, work)
        estimate(field, state, trees, leaving, work.estimates)
        target = int(np.argmin(work.estimates))
        if work.estimates[target] < INFINITE:
            attach(field, state, trees, leaving, target, work)
            if total_cost(state) < before:
                num_moved += 1
                continue
            detach(field, state, trees, leaving, work)
        detach(field, state, trees, client, work)
        attach(field, state, trees, leaving, best, work)
        attach(field, state, trees, client, home, work)
    return num_moved


@kernel
def insert_clients(
    field: Field, state: State, trees: Trees, clients: Int64Array, closed: int, opened: int, work: Work
) -> bool:
    """Attach clients, one after the other, where each adds least; False as soon as one fits nowhere.

    Args:
        closed: a broker that takes nobody, or -1.
        opened: a broker that takes everybody who fits, or -1.
    """
    for client in clients:
        estimate(field, state, trees, client, work.estimates)
        if closed >= 0:
            work.estimates[closed] = INFINITE
        best = int(np.argmin(work.estimates))
        if work.estimates[best] >= INFINITE:
            return False
        if opened >= 0 and work.estimates[opened] < INFINITE:
            best = opened
        attach(field, state, trees, client, best, work)
    return True


@kernel
def detach_clients(field: Field, state: State, trees: Trees, clients: Int64Array, work: Work) -> None:
    for client in clients:
        if state.brokers[client] != UNATTACHED:
            detach(field, state, trees, client, work)


@kernel
def copy_state(source: State, target: State) -> None:
    target.brokers[:] = source.brokers
    target.loads[:] = source.loads
    target.subscribers[:] = source.subscribers
    target.num_members[:] = source.num_members
    target.traffic[:] = source.traffic
    target.weights[:] = source.weights
    target.pulls[:] = source.pulls
    target.costs[:] = source.costs
    target.access[:] = source.access
