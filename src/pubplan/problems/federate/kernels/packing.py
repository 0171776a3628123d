"""Attaching clients one after the other within capacities: the cheapest broker, or a list of preferences."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.attaching import UNATTACHED, Field
from pubplan.workload import Int32Array, Int64Array


@kernel
def cheapest_with_room(field: Field, loads: Int64Array, client: int) -> int:
    """The cheapest broker that a client may use and that has room, the first of equals; -1 if there is none."""
    prices, demand = field.group_prices[field.group[client]], field.demand[client]
    best = -1
    for broker in range(len(loads)):
        has_room = prices[broker] >= 0 and demand <= field.capacities[broker] - loads[broker]
        if has_room and (best < 0 or prices[broker] < prices[best]):
            best = broker
    return best


@kernel
def pack_cheapest(field: Field, clients: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
    """Attach clients in order, each to the cheapest broker with room; how many found none."""
    num_left = 0
    for client in clients:
        best = cheapest_with_room(field, loads, client)
        brokers[client] = best
        if best < 0:
            num_left += 1
        else:
            loads[best] += field.demand[client]
    return num_left


@kernel
def pack_drawn(field: Field, clients: Int64Array, draws: np.ndarray, brokers: Int32Array, loads: Int64Array) -> int:
    """Attach clients in order, each to the broker with room that a draw from 0 to 1 points to; how many found none."""
    num_brokers, num_left = len(loads), 0
    usable = np.empty(num_brokers, dtype=np.int64)
    for position in range(len(clients)):
        client = clients[position]
        prices, demand = field.group_prices[field.group[client]], field.demand[client]
        number = 0
        for broker in range(num_brokers):
            if prices[broker] >= 0 and demand <= field.capacities[broker] - loads[broker]:
                usable[number] = broker
                number += 1
        if number == 0:
            brokers[client] = UNATTACHED
            num_left += 1
            continue
        broker = usable[min(number - 1, int(draws[position] * number))]
        brokers[client] = broker
        loads[broker] += demand
    return num_left


@kernel
def pack_weighted(
    field: Field,
    clients: Int64Array,
    offsets: Int64Array,
    candidates: Int32Array,
    weights: Int64Array,
    draws: np.ndarray,
    brokers: Int32Array,
    loads: Int64Array,
) -> int:
    """Attach clients in order, each to a candidate with room drawn in proportion to the weights; where none has room,
    to the cheapest broker with room. Returns how many found none.

    Args:
        offsets: where the candidates of each client begin.
        draws: a number from 0 to 1 beside each of ``clients``.
    """
    num_left = 0
    for position in range(len(clients)):
        client = clients[position]
        demand = field.demand[client]
        first, last = offsets[client], offsets[client + 1]
        total = 0.0
        for entry in range(first, last):
            broker = candidates[entry]
            if demand <= field.capacities[broker] - loads[broker]:
                total += float(weights[entry])
        best = -1
        target = draws[position] * total
        for entry in range(first, last):
            broker = candidates[entry]
            if demand <= field.capacities[broker] - loads[broker]:
                best = broker
                target -= float(weights[entry])
                if target < 0.0:
                    break
        if best < 0:
            best = cheapest_with_room(field, loads, client)
        brokers[client] = best
        if best < 0:
            num_left += 1
        else:
            loads[best] += demand
    return num_left
