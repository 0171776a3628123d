"""The kernels of federate against twins that follow the definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.federate import closed, path, spanning, trees

from pubplan.problems.federate.clusters import clusters_of
from pubplan.problems.federate.exhaustive import all_trees
from pubplan.problems.federate.kernels.acyclic import add_flows, best_star, edge_traffic, hang_anew, order_of, tree_cost
from pubplan.problems.federate.kernels.mixing import span_channel
from pubplan.problems.federate.kernels.trees import (
    FIXED,
    SPANNING,
    TABLE,
    Trees,
    add_relays,
    cheapest_supersets,
    spanning_table,
    spanning_tree,
    tree_distances,
    weigh,
)

pytestmark = pytest.mark.kernel

SEEDS = st.integers(0, 2**32 - 1)
NONE = np.empty(0, dtype=np.int32)


def random_prices(rng: np.random.Generator, number: int) -> np.ndarray:
    """A metric with ties and zeros."""
    matrix = rng.integers(0, 9, (number, number))
    matrix = np.minimum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    return np.array(closed(matrix.tolist()), dtype=np.int64).reshape(number, number)


def random_tree(rng: np.random.Generator, number: int) -> np.ndarray:
    """Parents of a random tree: each node hangs below an earlier one of a random order."""
    order, parents = rng.permutation(number), np.full(number, -1, dtype=np.int32)
    for position in range(1, number):
        parents[order[position]] = order[rng.integers(position)]
    return parents


def edges_of(parents: np.ndarray) -> list[tuple[int, int]]:
    return [(min(a, int(b)), max(a, int(b))) for a, b in enumerate(parents) if b >= 0]


def work_for(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.empty(number, dtype=np.int64), np.empty((7, number), dtype=np.int64), np.empty(number, dtype=np.int32)


@given(SEEDS)
def test_spanning_trees_are_minimum(seed: int) -> None:
    """The tree spans the members and nobody else, and weighs what a plain search finds; also with one broker more."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 9))
    prices, counts = random_prices(rng, number), rng.integers(0, 3, number).astype(np.int32)
    members = np.flatnonzero(counts > 0)
    parents, nearest = np.empty(number, dtype=np.int32), np.empty(number, dtype=np.int64)
    weight = spanning_tree(prices, counts > 0, parents, nearest)
    assert weight == spanning(prices.tolist(), members.tolist())
    assert np.flatnonzero(parents != -2).tolist() == members.tolist()
    assert weight == sum(prices[a, b] for a, b in edges_of(parents))
    assert len(order_of(parents)) == len(members) or not len(members)
    weights, work, scratch = work_for(number)
    kinds = [Trees(SPANNING, prices, prices, np.empty(0, np.int64), NONE, NONE)]
    kinds.append(kinds[0]._replace(kind=TABLE, table=spanning_table(prices)))
    for kind in kinds:
        assert weigh(kind, counts, weights, work, scratch) == weight
        for broker in range(number):
            joined = sorted({broker, *members.tolist()})
            assert weights[broker] == (spanning(prices.tolist(), joined) if len(members) else 0)


@given(SEEDS)
def test_parts_of_a_tree_join_their_brokers(seed: int) -> None:
    """Inside one tree, joining brokers weighs the edges on all ways between them."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 8))
    prices, parents = random_prices(rng, number), random_tree(rng, number)
    order, counts = order_of(parents), rng.integers(0, 2, number).astype(np.int32)
    distances = tree_distances(prices, parents, order)
    fixed = Trees(FIXED, prices, distances, np.empty(0, np.int64), parents, order)
    weights, work, scratch = work_for(number)
    members = np.flatnonzero(counts > 0).tolist()

    def joined(brokers: list[int]) -> int:
        used = {edge for a, b in combinations(brokers, 2) for edge in path(edges_of(parents), a, b)}
        return sum(int(prices[edge]) for edge in used)

    assert weigh(fixed, counts, weights, work, scratch) == joined(members)
    for broker in range(number):
        assert weights[broker] == (joined(sorted({broker, *members})) if members else 0)
        for other in range(number):
            assert distances[broker, other] == joined(sorted({broker, other}))


@given(SEEDS)
def test_relays_make_trees_lighter(seed: int) -> None:
    """The table has the best Steiner trees; adding relays one by one never makes a tree heavier, nor beats those."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 7))
    prices, is_member = random_prices(rng, number), rng.random(number) < 0.5
    members = np.flatnonzero(is_member).tolist()
    others = [broker for broker in range(number) if broker not in members]
    best = min(
        spanning(prices.tolist(), sorted([*members, *more]))
        for size in range(len(others) + 1)
        for more in combinations(others, size)
    )
    least, sets = cheapest_supersets(spanning_table(prices), number)
    mask = sum(1 << broker for broker in members)
    assert least[mask] == best
    chosen = [broker for broker in range(number) if sets[mask] >> broker & 1]
    assert set(members) <= set(chosen)
    assert spanning(prices.tolist(), chosen) == best
    widened = is_member.copy()
    weight = add_relays(prices, widened)
    assert (widened | ~is_member).all()
    assert weight == (spanning(prices.tolist(), np.flatnonzero(widened).tolist()) if len(members) > 1 else 0)
    assert best <= weight <= spanning(prices.tolist(), members)


@given(SEEDS, st.booleans())
def test_trees_carry_every_message_once_or_once_each(seed: int, replicates: bool) -> None:
    """What crosses an edge is what is published on one side and wanted on the other."""
    rng = np.random.default_rng(seed)
    number, num_channels = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    prices, parents = random_prices(rng, number), random_tree(rng, number)
    subscribers = rng.integers(0, 3, (num_channels, number)).astype(np.int32)
    traffic = rng.integers(0, 4, (num_channels, number))
    up, down = (np.empty(number, dtype=np.int64) for _ in range(2))
    edge_traffic(order_of(parents), parents, subscribers, traffic, replicates, up, down)
    expected = np.zeros((number, number), dtype=np.int64)
    for channel in range(num_channels):
        for start in range(number):
            crossed: list[tuple[int, int]] = []
            for end in range(number):
                at = start
                for edge in path(edges_of(parents), start, end) if subscribers[channel, end] else []:
                    following = edge[0] + edge[1] - at
                    crossed += [(at, following)] * (int(subscribers[channel, end]) if replicates else 1)
                    at = following
            for edge in crossed if replicates else set(crossed):
                expected[edge] += traffic[channel, start]
    for node in range(number):
        if parents[node] >= 0:
            assert (up[node], down[node]) == (expected[node, parents[node]], expected[parents[node], node])
    assert tree_cost(prices, parents, subscribers, traffic, replicates) == (expected * prices).sum()
    if num_channels == 1 and not replicates:
        flows = np.zeros_like(expected)
        add_flows(parents, subscribers[0] > 0, traffic[0], flows)
        assert (flows == expected).all()


@given(SEEDS)
def test_trees_get_cheaper(seed: int) -> None:
    """The star is the cheapest of all, hanging anew never makes a tree more expensive, and circles are noticed."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 6))
    prices = random_prices(rng, number)
    asked = (rng.integers(0, 3, (2, number)).astype(np.int32), rng.integers(0, 4, (2, number)), False)
    hub, cost = best_star(prices, *asked)
    stars = [np.array([-1 if node == each else each for node in range(number)], np.int32) for each in range(number)]
    assert cost == min(tree_cost(prices, star, *asked) for star in stars) == tree_cost(prices, stars[hub], *asked)
    parents = random_tree(rng, number)
    before = tree_cost(prices, parents, *asked)
    neighbours = np.array([[b for b in range(number) if b != a] for a in range(number)], dtype=np.int32)
    after = hang_anew(prices, neighbours, parents, *asked, before)
    assert after == tree_cost(prices, parents, *asked) <= before
    assert after >= min(tree_cost(prices, tree, *asked) for tree in all_trees(number))
    assert tree_cost(prices, np.array([1, 0, *[0] * (number - 2)], dtype=np.int32), *asked) == -1


def test_all_trees_are_all_trees() -> None:
    """As many as Cayley counts, each once."""
    for number, count in ((1, 1), (2, 1), (3, 3), (4, 16), (5, 125)):
        rows = {frozenset(edges_of(parents)) for parents in all_trees(number)}
        assert rows == {frozenset(map(tuple, edges)) for edges in trees(number)}
        assert len(all_trees(number)) == count


@given(SEEDS)
def test_clusters_fit_into_links(seed: int) -> None:
    """Along every link, clusters that it leads into are no longer than its price; around every broker they add up to
    the height; and those that do not hold a broker add up to the minimum spanning tree.
    """
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 8))
    prices = random_prices(rng, number)
    clusters = clusters_of(prices)
    pairs = list(zip(map(set, (some.tolist() for some in clusters.members)), clusters.lengths.tolist(), strict=True))
    for a in range(number):
        assert sum(length for some, length in pairs if a in some) == clusters.height
        assert sum(length for some, length in pairs if a not in some) == spanning(prices.tolist(), list(range(number)))
        for b in range(number):
            assert sum(length for some, length in pairs if b in some and a not in some) <= prices[a, b]


@given(SEEDS)
def test_groups_enter_by_the_shortest_way(seed: int) -> None:
    """A tree grown one group at a time, the nearest first, enters by the same brokers."""
    rng = np.random.default_rng(seed)
    number, num_groups = int(rng.integers(1, 6)), int(rng.integers(1, 7))
    # Distinct ways: ties may be taken in any order.
    prices = random_prices(rng, number) * 1000
    group_prices = rng.permutation(number * num_groups * 10)[: number * num_groups].reshape(num_groups, number)
    entries = np.zeros(num_groups, dtype=np.int32)
    span_channel(prices, group_prices.astype(np.int64), np.arange(num_groups, dtype=np.int32), entries)
    tree = {int(np.argmin(group_prices[0]))}
    expected, left = {0: min(tree)}, set(range(1, num_groups))
    while left:
        ways = [
            (group_prices[group, broker] + min(prices[broker, other] for other in tree), broker, group)
            for group in left
            for broker in range(number)
        ]
        _, broker, group = min(ways)
        expected[group] = broker
        tree.add(broker)
        left.remove(group)
    assert entries.tolist() == [expected[group] for group in range(num_groups)]
