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


@kernel
def find_packing(
    demand: Int64Array,
    group: Int32Array,
    group_prices: Int64Array,
    capacities: Int64Array,
    clients: Int64Array,
    brokers: Int32Array,
    max_nodes: int,
) -> int:
    """Attach clients within capacities, whatever it costs, by trying everything: depth first in the order given.

    Returns:
        1 if ``brokers`` holds an attachment, 0 if there is none, -1 if ``max_nodes`` did not suffice to tell.
    """
    number, num_brokers = len(clients), len(capacities)
    loads = np.zeros(num_brokers, dtype=np.int64)
    depth, num_nodes = 0, 0
    brokers[:] = UNATTACHED
    while 0 <= depth < number:
        client = clients[depth]
        broker = brokers[client]
        if broker >= 0:
            loads[broker] -= demand[client]
        broker += 1
        while broker < num_brokers:
            fits = demand[client] <= capacities[broker] - loads[broker]
            if fits and group_prices[group[client], broker] >= 0:
                break
            broker += 1
        if broker == num_brokers:
            brokers[client] = UNATTACHED
            depth -= 1
            continue
        num_nodes += 1
        if num_nodes > max_nodes:
            return -1
        brokers[client] = broker
        loads[broker] += demand[client]
        depth += 1
    return 1 if depth == number else 0
