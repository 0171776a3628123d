"""One tree of all brokers that carries everything: what it costs, and how to make it cheaper."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array


@kernel
def order_of(parents: Int32Array) -> Int32Array:
    """The nodes of a rooted tree, parents before children; fewer than all where parents form a circle.

    The root has the parent -1; nodes with a smaller one are not in the tree.
    """
    number = len(parents)
    starts = np.zeros(number + 1, dtype=np.int64)
    root = -1
    for node in range(number):
        if parents[node] == -1:
            root = node
        elif parents[node] >= 0:
            starts[parents[node] + 1] += 1
    for node in range(number):
        starts[node + 1] += starts[node]
    children = np.empty(number, dtype=np.int32)
    filled = starts[:-1].copy()
    for node in range(number):
        if parents[node] >= 0:
            children[filled[parents[node]]] = node
            filled[parents[node]] += 1
    order = np.empty(number, dtype=np.int32)
    order[0] = root
    size = 1
    position = 0
    while position < size:
        node = order[position]
        for entry in range(starts[node], starts[node + 1]):
            order[size] = children[entry]
            size += 1
        position += 1
    return order[:size]


@kernel
def edge_traffic(
    order: Int32Array,
    parents: Int32Array,
    subscribers: Int32Array,
    traffic: Int64Array,
    replicates: bool,
    up: Int64Array,
    down: Int64Array,
) -> None:
    """Messages from every node to its parent, and from the parent to it.

    Shared, a message crosses an edge if there is a subscriber behind it; replicating, once for each.

    Args:
        subscribers: by channel (row) and node.
        traffic: by channel and node, messages published there.
    """
    num_channels, number = subscribers.shape
    up[:] = 0
    down[:] = 0
    wanting = np.empty(number, dtype=np.int64)
    sending = np.empty(number, dtype=np.int64)
    for channel in range(num_channels):
        all_wanting, all_sending = 0, 0
        for node in range(number):
            wanting[node] = subscribers[channel, node]
            sending[node] = traffic[channel, node]
            all_wanting += wanting[node]
            all_sending += sending[node]
        if all_sending == 0 or all_wanting == 0:
            continue
        for step in range(number - 1, 0, -1):
            node = order[step]
            above = parents[node]
            behind, outside = wanting[node], all_wanting - wanting[node]
            if not replicates:
                behind, outside = min(behind, 1), min(outside, 1)
            down[node] += behind * (all_sending - sending[node])
            up[node] += outside * sending[node]
            wanting[above] += wanting[node]
            sending[above] += sending[node]


@kernel
def add_flows(parents: Int32Array, wants: np.ndarray, traffic: Int64Array, flows: Int64Array) -> None:
    """Add the messages that cross the edges of a tree, in both directions, to ``flows`` (from row to column).

    Args:
        parents: of brokers; -1 for the root, -2 for those that are not in the tree.
        wants: whether there are subscribers at each broker.
        traffic: messages that are published at each broker.
    """
    order = order_of(parents)
    wanting = np.zeros(len(parents), dtype=np.int64)
    sending = np.zeros(len(parents), dtype=np.int64)
    all_wanting, all_sending = 0, 0
    for node in order:
        wanting[node] = 1 if wants[node] else 0
        sending[node] = traffic[node]
        all_wanting += wanting[node]
        all_sending += sending[node]
    for step in range(len(order) - 1, 0, -1):
        node = order[step]
        above = parents[node]
        if wanting[node] > 0:
            flows[above, node] += all_sending - sending[node]
        if wanting[node] < all_wanting:
            flows[node, above] += sending[node]
        wanting[above] += wanting[node]
        sending[above] += sending[node]


@kernel
def tree_cost(
    prices: Int64Array, parents: Int32Array, subscribers: Int32Array, traffic: Int64Array, replicates: bool
) -> int:
    """What all traffic costs inside a tree; -1 where parents form a circle."""
    order = order_of(parents)
    number = len(parents)
    if len(order) < number:
        return -1
    up, down = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int64)
    edge_traffic(order, parents, subscribers, traffic, replicates, up, down)
    total = 0
    for node in range(number):
        if parents[node] >= 0:
            total += prices[node, parents[node]] * (up[node] + down[node])
    return total


@kernel
def best_star(prices: Int64Array, subscribers: Int32Array, traffic: Int64Array, replicates: bool) -> tuple[int, int]:
    """The hub of the cheapest star, and its cost."""
    number = len(prices)
    parents = np.empty(number, dtype=np.int32)
    best, least = 0, -1
    for hub in range(number):
        parents[:] = hub
        parents[hub] = -1
        cost = tree_cost(prices, parents, subscribers, traffic, replicates)
        if least < 0 or cost < least:
            best, least = hub, cost
    return best, least


@kernel
def hang_anew(
    prices: Int64Array,
    neighbours: Int32Array,
    parents: Int32Array,
    subscribers: Int32Array,
    traffic: Int64Array,
    replicates: bool,
    cost: int,
) -> int:
    """Hang nodes with all that is below them to one of their neighbours where that is cheaper; the new cost.

    Args:
        neighbours: the nearest of every node (row), nearest first.
        parents: changed.
    """
    for node in range(len(parents)):
        if parents[node] < 0:
            continue
        best = parents[node]
        for other in neighbours[node]:
            if other == best:
                continue
            parents[node] = other
            changed = tree_cost(prices, parents, subscribers, traffic, replicates)
            if 0 <= changed < cost:
                cost, best = changed, other
        parents[node] = best
    return cost
