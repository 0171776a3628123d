"""What it takes to connect sets of brokers: by spanning trees, by a table of all sets, or inside one fixed tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

SPANNING, TABLE, FIXED = 0, 1, 2
"""How sets of brokers are connected: by a minimum spanning tree of theirs, as a table says for every set, or by the
part of one tree that joins them.
"""

MAX_TABLE_BROKERS = 12
"""Up to this many brokers, a table holds the weights of all sets of them."""

NO_NODE = -2
"""Beside parents in a tree: the broker is not in it. Its root has the parent -1."""

INFINITE = 2**62


class Trees(NamedTuple):
    """How sets of brokers are connected.

    Attributes:
        prices: between any two brokers.
        pairs: what connecting two brokers weighs.
        table: by set of brokers as bits of a number, what connecting them weighs (``TABLE``).
        parents: of every broker in the fixed tree, -1 for its root (``FIXED``).
        order: brokers of the fixed tree, parents before children.
    """

    kind: int
    prices: Int64Array
    pairs: Int64Array
    table: Int64Array
    parents: Int32Array
    order: Int32Array


@kernel
def spanning_tree(prices: Int64Array, is_member: np.ndarray, parents: Int32Array, nearest: Int64Array) -> int:
    """A minimum spanning tree of some brokers, grown from the smallest (Prim); its weight.

    Ties go to the smaller number. ``parents`` is filled: -1 for the root, -2 for others than members.

    Args:
        nearest: scratch, as long as there are brokers.
    """
    num_brokers = len(prices)
    root, left = -1, 0
    for broker in range(num_brokers):
        parents[broker] = NO_NODE
        if is_member[broker]:
            left += 1
            if root < 0:
                root = broker
    if root < 0:
        return 0
    parents[root] = -1
    # nearest: the price to the tree; members of the tree have -1.
    for broker in range(num_brokers):
        nearest[broker] = prices[root, broker]
        if is_member[broker] and broker != root:
            parents[broker] = root
    nearest[root] = -1
    weight = 0
    for _ in range(left - 1):
        best = -1
        for broker in range(num_brokers):
            if is_member[broker] and nearest[broker] >= 0 and (best < 0 or nearest[broker] < nearest[best]):
                best = broker
        weight += nearest[best]
        nearest[best] = -1
        for broker in range(num_brokers):
            if is_member[broker] and nearest[broker] >= 0 and prices[best, broker] < nearest[broker]:
                nearest[broker] = prices[best, broker]
                parents[broker] = best
    return weight


@kernel
def _weigh_spanning(
    prices: Int64Array, members: Int32Array, num_members: int, weights: Int64Array, work: Int64Array
) -> int:
    """As :func:`weigh`, for minimum spanning trees.

    1. Prim's algorithm over the members gives their tree, each after its parent.
    2. For another broker, the tree with it is found by adding it as a leaf of every member and breaking circles, from
       the last member to the first: a member, its parent and the broker close one, whose heaviest edge goes. ``link``
       is the heaviest edge on the way from a member to the broker.
    """
    num_brokers = len(prices)
    order, parent, edge, link = work[0], work[1], work[2], work[3]
    # 1. order[k] is a position in ``members``; parent and edge are by position in ``order``.
    for position in range(num_members):
        link[position] = INFINITE
        parent[position] = -1
    done = work[4]
    for position in range(num_members):
        done[position] = 0
    weight = 0
    current = 0
    done[0] = 1
    order[0] = 0
    edge[0] = 0
    where = work[5]  # where each position stands in ``order``
    where[0] = 0
    from_ = work[6]
    for step in range(1, num_members):
        best = -1
        row = prices[members[current]]
        for position in range(num_members):
            if done[position]:
                continue
            price = row[members[position]]
            if price < link[position]:
                link[position] = price
                from_[position] = current
            if best < 0 or link[position] < link[best]:
                best = position
        done[best] = 1
        order[step] = best
        where[best] = step
        parent[step] = where[from_[best]]
        edge[step] = link[best]
        weight += link[best]
        current = best
    # 2.
    for broker in range(num_brokers):
        weights[broker] = -1
    for position in range(num_members):
        weights[members[position]] = weight
    for broker in range(num_brokers):
        if weights[broker] >= 0:
            continue
        row = prices[broker]
        total = weight
        for step in range(num_members):
            link[step] = row[members[order[step]]]
            total += link[step]
        for step in range(num_members - 1, 0, -1):
            above = parent[step]
            direct, other, joint = link[step], link[above], edge[step]
            if other >= direct and other >= joint:
                total -= other
                link[above] = max(direct, joint)
            elif direct >= joint:
                total -= direct
            else:
                total -= joint
        weights[broker] = total
    return weight


@kernel
def _weigh_fixed(trees: Trees, is_member: np.ndarray, num_members: int, weights: Int64Array, work: Int64Array) -> int:
    """As :func:`weigh`, inside the fixed tree: the edges between members, and the way from others to those."""
    num_brokers = len(trees.prices)
    below, away = work[0], work[1]
    for broker in range(num_brokers):
        below[broker] = 1 if is_member[broker] else 0
        away[broker] = 0 if is_member[broker] else INFINITE
    weight = 0
    for step in range(num_brokers - 1, 0, -1):
        broker = trees.order[step]
        above = trees.parents[broker]
        if 0 < below[broker] < num_members:
            weight += trees.prices[broker, above]
            away[broker] = 0
            away[above] = 0
        below[above] += below[broker]
    for step in range(num_brokers - 1, 0, -1):
        broker = trees.order[step]
        above = trees.parents[broker]
        away[above] = min(away[above], away[broker] + trees.prices[broker, above])
    for step in range(1, num_brokers):
        broker = trees.order[step]
        above = trees.parents[broker]
        away[broker] = min(away[broker], away[above] + trees.prices[broker, above])
    for broker in range(num_brokers):
        weights[broker] = weight + away[broker]
    return weight


@kernel
def weigh(trees: Trees, counts: Int32Array, weights: Int64Array, work: Int64Array, members: Int32Array) -> int:
    """What connecting all brokers with a count above 0 weighs, and for every broker, what it weighs with that broker.

    Args:
        counts: by broker; those above 0 are members.
        weights: filled; all 0 where there is no member.
        work: scratch, 7 rows as long as there are brokers.
        members: scratch, as long as there are brokers.
    """
    num_brokers = len(counts)
    num_members, mask = 0, 0
    for broker in range(num_brokers):
        if counts[broker] > 0:
            members[num_members] = broker
            num_members += 1
            if trees.kind == TABLE:
                mask |= 1 << broker
    if num_members == 0:
        weights[:] = 0
        return 0
    if trees.kind == TABLE:
        for broker in range(num_brokers):
            weights[broker] = trees.table[mask | (1 << broker)]
        return int(trees.table[mask])
    if trees.kind == FIXED:
        return _weigh_fixed(trees, counts > 0, num_members, weights, work)
    return _weigh_spanning(trees.prices, members, num_members, weights, work)


@kernel
def spanning_table(prices: Int64Array) -> Int64Array:
    """The weight of a minimum spanning tree for every set of brokers, as bits of a number."""
    num_brokers = len(prices)
    table = np.zeros(1 << num_brokers, dtype=np.int64)
    parents = np.empty(num_brokers, dtype=np.int32)
    nearest = np.empty(num_brokers, dtype=np.int64)
    is_member = np.zeros(num_brokers, dtype=np.bool_)
    for mask in range(1 << num_brokers):
        for broker in range(num_brokers):
            is_member[broker] = (mask >> broker) & 1 == 1
        table[mask] = spanning_tree(prices, is_member, parents, nearest)
    return table


@kernel
def cheapest_supersets(table: Int64Array, num_brokers: int) -> tuple[Int64Array, Int64Array]:
    """For every set of brokers, the least weight of the sets that contain it, and the smallest such set."""
    least = table.copy()
    best = np.arange(len(table))
    for broker in range(num_brokers):
        bit = 1 << broker
        for mask in range(len(table)):
            if not mask & bit and least[mask | bit] < least[mask]:
                least[mask] = least[mask | bit]
                best[mask] = best[mask | bit]
    return least, best


@kernel
def add_relays(prices: Int64Array, is_member: np.ndarray) -> int:
    """Add brokers to a set as long as each makes its minimum spanning tree lighter; the weight of the tree.

    The one that helps most is added; at the end those that help no more are taken out again. ``is_member`` is changed.
    """
    num_brokers = len(prices)
    weights = np.empty(num_brokers, dtype=np.int64)
    work = np.empty((7, num_brokers), dtype=np.int64)
    members = np.empty(num_brokers, dtype=np.int32)
    parents = np.empty(num_brokers, dtype=np.int32)
    is_relay = np.zeros(num_brokers, dtype=np.bool_)
    weight = 0
    while True:
        num_members = 0
        for broker in range(num_brokers):
            if is_member[broker]:
                members[num_members] = broker
                num_members += 1
        if num_members < 2:
            return 0
        weight = _weigh_spanning(prices, members, num_members, weights, work)
        best = np.argmin(weights)
        if weights[best] >= weight:
            break
        is_member[best] = True
        is_relay[best] = True
    for broker in range(num_brokers):
        if is_relay[broker]:
            is_member[broker] = False
            without = spanning_tree(prices, is_member, parents, work[0])
            if without <= weight:
                weight = without
            else:
                is_member[broker] = True
    return weight


@kernel
def tree_distances(prices: Int64Array, parents: Int32Array, order: Int32Array) -> Int64Array:
    """The way between any two brokers inside a tree."""
    num_brokers = len(prices)
    distances = np.zeros((num_brokers, num_brokers), dtype=np.int64)
    for step in range(1, num_brokers):
        broker = order[step]
        above = parents[broker]
        for earlier in range(step):
            other = order[earlier]
            distances[broker, other] = distances[above, other] + prices[broker, above]
            distances[other, broker] = distances[broker, other]
    return distances
