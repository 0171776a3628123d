"""The best attachment of few clients to few brokers, by comparing all of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pubplan.engine import stage
from pubplan.errors import NotApplicable
from pubplan.problems.federate.kernels.acyclic import tree_cost
from pubplan.problems.federate.kernels.exhaustive import search_all
from pubplan.problems.federate.kernels.trees import cheapest_supersets, spanning_table
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.stages import SEARCHING
from pubplan.workload import Int32Array

MAX_CLIENTS = 40
MAX_BROKERS = 10
MAX_TREE_BROKERS = 6
"""For acyclic routing all trees are compared as well: 1,296 of 6 brokers."""

DEFAULT_SEARCH_NODES = 2_000_000


def size_refusal(problem: Problem) -> str | None:
    """Why a problem is too large for comparing everything."""
    clients, brokers = problem.workload.counts.clients, problem.workload.counts.brokers
    most = MAX_TREE_BROKERS if problem.routing == "acyclic" else MAX_BROKERS
    if clients > MAX_CLIENTS or brokers > most:
        return (
            f"all attachments are compared for up to {MAX_CLIENTS} clients and {most} brokers; here are "
            f"{clients:,} and {brokers:,}."
        )
    return None


@dataclass(frozen=True)
class Optimum:
    """The best attachment, what it costs, and for acyclic routing its tree."""

    brokers: Int32Array
    cost: int
    tree: Int32Array | None


def find_optimum(network: Network, start: Int32Array, cost: int, max_nodes: int) -> Optimum:
    """The best attachment.

    Args:
        start: some attachment of that cost.

    Raises:
        NotApplicable: the search did not end within ``max_nodes``.
    """
    prices = network.prices
    spanning = spanning_table(prices)
    least, _ = cheapest_supersets(spanning, network.num_brokers)
    is_acyclic = network.problem.routing == "acyclic"
    trees = all_trees(network.num_brokers) if is_acyclic else np.empty((0, network.num_brokers), dtype=np.int32)
    demand = network.field.demand
    order = np.lexsort((np.arange(len(demand)), -demand)).astype(np.int64)
    best = start.astype(np.int32).copy()
    with stage(SEARCHING):
        reached, num_nodes = search_all(
            network.field,
            network.problem.instance.num_channels,
            prices,
            least,
            least if network.problem.routing == "steiner" else spanning,
            trees,
            order,
            best,
            cost,
            max_nodes,
        )
    if num_nodes > max_nodes:
        raise NotApplicable(
            f"exact has looked at {max_nodes:,} parts of attachments without coming to an end. Give it more "
            "search_nodes, or use local-moves."
        )
    return Optimum(best, int(reached), _best_of(network, best, trees) if is_acyclic else None)


def _best_of(network: Network, brokers: Int32Array, trees: Int32Array) -> Int32Array:
    state = network.state_of(brokers)
    costs = [tree_cost(network.prices, tree, state.subscribers, state.traffic, network.replicates) for tree in trees]
    best: Int32Array = trees[int(np.argmin(costs))]
    return best


def all_trees(number: int) -> Int32Array:
    """All trees on some nodes, rooted at node 0, as rows of parents: one for every Prüfer sequence."""
    if number == 1:
        return np.full((1, 1), -1, dtype=np.int32)
    rows = []
    for sequence in product(range(number), repeat=number - 2):
        degrees = [1 + sequence.count(node) for node in range(number)]
        edges = []
        for node in sequence:
            leaf = degrees.index(1)
            edges.append((leaf, node))
            degrees[leaf] -= 1
            degrees[node] -= 1
        first, second = (node for node in range(number) if degrees[node] == 1)
        edges.append((first, second))
        rows.append(_parents(number, edges))
    return np.array(rows, dtype=np.int32)


def _parents(number: int, edges: list[tuple[int, int]]) -> list[int]:
    parents = [-1] * number
    waiting, seen = [0], {0}
    while waiting:
        node = waiting.pop()
        for edge in edges:
            if node in edge:
                other = edge[0] + edge[1] - node
                if other not in seen:
                    parents[other] = node
                    seen.add(other)
                    waiting.append(other)
    return parents
