"""All attachments of few clients to few brokers, compared depth first."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.acyclic import tree_cost
from pubplan.problems.federate.kernels.attaching import Field
from pubplan.problems.federate.kernels.trees import INFINITE
from pubplan.workload import Int32Array, Int64Array


@kernel
def _core(subscribers: Int32Array, traffic: Int64Array, prices: Int64Array, table: Int64Array, replicates: bool) -> int:
    """What traffic between brokers costs, with the weights of a table by set of brokers."""
    num_channels, num_brokers = subscribers.shape
    total = 0
    for channel in range(num_channels):
        mask = 0
        for broker in range(num_brokers):
            if subscribers[channel, broker] > 0:
                mask |= 1 << broker
        for broker in range(num_brokers):
            count = traffic[channel, broker]
            if count == 0 or mask == 0:
                continue
            if replicates:
                for other in range(num_brokers):
                    total += count * subscribers[channel, other] * prices[broker, other]
            else:
                total += count * table[mask | (1 << broker)]
    return total


@kernel
def _in_any_tree(
    subscribers: Int32Array, traffic: Int64Array, prices: Int64Array, trees: Int32Array, replicates: bool
) -> int:
    """What traffic between brokers costs in the cheapest of some trees, given as rows of parents."""
    least = INFINITE
    for number in range(len(trees)):
        least = min(least, tree_cost(prices, trees[number], subscribers, traffic, replicates))
    return least


@kernel
def _shift(field: Field, client: int, broker: int, sign: int, subscribers: Int32Array, traffic: Int64Array) -> None:
    for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
        subscribers[field.wanted[entry], broker] += sign
    for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
        traffic[field.published[entry], broker] += sign * field.counts[entry]


@kernel
def search_all(
    field: Field,
    num_channels: int,
    prices: Int64Array,
    least_table: Int64Array,
    table: Int64Array,
    trees: Int32Array,
    order: Int64Array,
    best: Int32Array,
    cost: int,
    max_nodes: int,
) -> tuple[int, int]:
    """The least cost of all attachments within capacities, and how many parts of attachments were looked at.

    A part is left where what is paid for it already, with the cheapest access of the others, reaches the best so far:
    adding clients never makes Steiner trees lighter.

    Args:
        least_table: by set of brokers, what a Steiner tree weighs.
        table: what the routing's tree weighs.
        trees: for acyclic routing, all trees as rows of parents; otherwise none.
        order: of clients.
        best: of clients, the best attachment so far; replaced by a better one.
        cost: of ``best``.
    """
    num_brokers, num_clients = len(prices), len(order)
    subscribers = np.zeros((num_channels, num_brokers), dtype=np.int32)
    traffic = np.zeros((num_channels, num_brokers), dtype=np.int64)
    loads = np.zeros(num_brokers, dtype=np.int64)
    rest = np.zeros(num_clients + 1, dtype=np.int64)  # the cheapest access of clients from a depth on
    for depth in range(num_clients - 1, -1, -1):
        client = order[depth]
        cheapest = INFINITE
        for broker in range(num_brokers):
            price = field.group_prices[field.group[client], broker]
            if price >= 0:
                cheapest = min(cheapest, price * field.demand[client])
        rest[depth] = rest[depth + 1] + cheapest
    chosen = np.full(num_clients + 1, -1, dtype=np.int64)
    access = np.zeros(num_clients + 1, dtype=np.int64)
    depth, num_nodes = 0, 0
    while depth >= 0:
        client = order[depth]
        if chosen[depth] >= 0:
            _shift(field, client, chosen[depth], -1, subscribers, traffic)
            loads[chosen[depth]] -= field.demand[client]
        chosen[depth] += 1
        broker = chosen[depth]
        if broker == num_brokers:
            chosen[depth] = -1
            depth -= 1
            continue
        price = field.group_prices[field.group[client], broker]
        _shift(field, client, broker, 1, subscribers, traffic)
        loads[broker] += field.demand[client]
        if price < 0 or loads[broker] > field.capacities[broker]:
            continue
        num_nodes += 1
        if num_nodes > max_nodes:
            return cost, num_nodes
        access[depth + 1] = access[depth] + price * field.demand[client]
        paid = access[depth + 1] + rest[depth + 1]
        if paid >= cost:
            continue
        if paid + _core(subscribers, traffic, prices, least_table, field.replicates) >= cost:
            continue
        if depth + 1 < num_clients:
            depth += 1
            continue
        if len(trees):
            total = paid + _in_any_tree(subscribers, traffic, prices, trees, field.replicates)
        else:
            total = paid + _core(subscribers, traffic, prices, table, field.replicates)
        if total < cost:
            cost = total
            for position in range(num_clients):
                best[order[position]] = chosen[position]
    return cost, num_nodes
