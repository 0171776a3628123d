"""How brokers forward once clients are attached: trees by channel or one for everything, and what crosses links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_dot, map_blocks, stage
from pubplan.problems.federate.instance import Matrices
from pubplan.problems.federate.kernels.acyclic import (
    add_flows,
    best_star,
    edge_traffic,
    hang_anew,
    order_of,
    tree_cost,
)
from pubplan.problems.federate.kernels.attaching import Field, State, attach_all, empty_state
from pubplan.problems.federate.kernels.trees import (
    FIXED,
    MAX_TABLE_BROKERS,
    SPANNING,
    TABLE,
    Trees,
    add_relays,
    cheapest_supersets,
    spanning_table,
    spanning_tree,
    tree_distances,
)
from pubplan.problems.federate.plan import ALL
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.stages import ROUTING
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_NEIGHBOURS = 8
"""A broker is hung anew only to this many others, those with the lowest prices."""

MAX_TREE_ROUNDS = 20


@dataclass(frozen=True)
class Routing:
    """Trees and what they carry.

    Attributes:
        channels: of every tree, ``ALL`` for the one that carries everything.
        origins: the broker whose messages a tree carries; ``ALL`` for those of all brokers with subscribers.
        parents: a row per tree; -1 for the root, -2 for brokers that are not in it.
        flows: messages from a broker (row) to another (column).
        cost: prices times messages, between brokers.
    """

    channels: Int32Array
    origins: Int32Array
    parents: Int32Array
    flows: Int64Array
    cost: int


@dataclass(frozen=True)
class Network:
    """A problem with what routing needs to know of it, computed once."""

    problem: Problem

    @cached_property
    def field(self) -> Field:
        instance = self.problem.instance
        return Field(
            instance.wanted_offsets,
            instance.wanted,
            instance.published_offsets,
            instance.published,
            instance.counts,
            instance.demand,
            instance.group,
            instance.group_prices,
            instance.capacities,
            self.problem.cost == "replicating",
        )

    @property
    def prices(self) -> Int64Array:
        return self.problem.instance.link_prices

    @property
    def num_brokers(self) -> int:
        return len(self.prices)

    @property
    def replicates(self) -> bool:
        return self.problem.cost == "replicating"

    @cached_property
    def _supersets(self) -> tuple[Int64Array, Int64Array]:
        """For every set of brokers what its Steiner tree weighs, and the brokers in it."""
        return cheapest_supersets(spanning_table(self.prices), self.num_brokers)

    @property
    def has_table(self) -> bool:
        return self.num_brokers <= MAX_TABLE_BROKERS

    @cached_property
    def trees(self) -> Trees:
        """How sets of brokers are connected while clients move: exactly for few brokers and for spanning trees."""
        table, kind = np.empty(0, dtype=np.int64), SPANNING
        if self.has_table:
            kind = TABLE
            table = self._supersets[0] if self.problem.routing == "steiner" else spanning_table(self.prices)
        none = np.empty(0, dtype=np.int32)
        return Trees(kind, self.prices, self.prices, table, none, none)

    def fixed(self, parents: Int32Array) -> Trees:
        """One tree for everything."""
        order = order_of(parents)
        distances = tree_distances(self.prices, parents, order)
        return Trees(FIXED, self.prices, distances, np.empty(0, dtype=np.int64), parents, order)

    def state_of(self, brokers: Int32Array) -> State:
        """Who wants and publishes what where; weights and costs are not computed yet."""
        state = empty_state(len(brokers), self.num_brokers, self.problem.instance.num_channels)
        attach_all(self.field, state, brokers.astype(np.int32))
        return state

    def access_cost(self, brokers: Int32Array) -> int:
        """What the traffic between clients and their brokers costs."""
        return exact_dot(self.field.demand, self.field.group_prices[self.field.group, brokers])

    def matrices_of(self, brokers: Int32Array, spark: SparkSession | None = None) -> Matrices:
        """Who wants and publishes what where: from the arrays of this process, or counted as Spark tasks."""
        if spark is not None:
            return self.problem.instance.matrices(brokers, spark)
        state = self.state_of(brokers)
        return Matrices(state.subscribers, state.traffic)

    def best_tree(self, counted: Matrices) -> Int32Array:
        """A cheap tree of all brokers for the traffic of an attachment: the better of a minimum spanning tree and a
        star, improved by hanging parts of it to other neighbours.
        """
        arguments = (counted.subscribers, counted.traffic, self.replicates)
        used = np.asarray(((counted.subscribers > 0) | (counted.traffic > 0)).any(axis=0))
        hub, _ = best_star(self.prices, *arguments)
        star = np.full(self.num_brokers, hub, dtype=np.int32)
        star[hub] = -1
        best, least = star, tree_cost(self.prices, star, *arguments)
        for start in (star, _grown(self.prices, used), _grown(self.prices, np.ones_like(used))):
            parents = start.copy()
            cost = tree_cost(self.prices, parents, *arguments)
            for _ in range(MAX_TREE_ROUNDS):
                before = cost
                cost = hang_anew(self.prices, self._neighbours, parents, *arguments, cost)
                if cost == before:
                    break
            if cost < least:
                best, least = parents, cost
        return best

    @cached_property
    def _neighbours(self) -> Int32Array:
        """The nearest brokers of each, itself left out."""
        prices = self.prices.copy()
        np.fill_diagonal(prices, np.iinfo(np.int64).max)
        nearest = np.argsort(prices, axis=1, kind="stable")[:, : min(MAX_NEIGHBOURS, self.num_brokers - 1)]
        return np.ascontiguousarray(nearest.astype(np.int32))

    def route(self, brokers: Int32Array, tree: Int32Array | None = None, spark: SparkSession | None = None) -> Routing:
        """Route the traffic of an attachment.

        Args:
            tree: for acyclic routing, the tree to use; the best that can be found where none is given.
        """
        counted = self.matrices_of(brokers, spark)
        if self.problem.routing == "acyclic":
            return self._route_in(self.best_tree(counted) if tree is None else tree, counted)
        if self.replicates:
            flows = counted.traffic.T @ counted.subscribers.astype(np.int64)
            np.fill_diagonal(flows, 0)
            none = np.empty(0, dtype=np.int32)
            return self._routing(none, none, np.empty((0, self.num_brokers), dtype=np.int32), flows)
        prices, finish = self.prices, self._with_relays if self.problem.routing == "steiner" else _unchanged
        subscribers, traffic = counted

        def trees_of(channel: int) -> tuple[Int32Array, Int32Array, Int64Array]:
            return _trees_of(prices, finish, subscribers[channel], traffic[channel])

        with stage(ROUTING, len(subscribers)) as advance:
            origins, parents, flows = [], [], np.zeros_like(prices)
            for some_origins, some_parents, some_flows in map_blocks(trees_of, len(subscribers), spark):
                origins.append(some_origins)
                parents.append(some_parents)
                flows += some_flows
                advance(1)
        channels = np.repeat(np.arange(len(origins), dtype=np.int32), [len(some) for some in origins])
        return self._routing(channels, np.concatenate(origins), np.concatenate(parents), flows)

    def _route_in(self, tree: Int32Array, counted: Matrices) -> Routing:
        """Route everything along one tree."""
        up, down = (np.empty(self.num_brokers, dtype=np.int64) for _ in range(2))
        edge_traffic(order_of(tree), tree, *counted, self.replicates, up, down)
        flows = np.zeros_like(self.prices)
        nodes = np.flatnonzero(tree >= 0)
        flows[nodes, tree[nodes]], flows[tree[nodes], nodes] = up[nodes], down[nodes]
        everything = np.full(1, ALL, dtype=np.int32)
        return self._routing(everything, everything, tree[None, :].astype(np.int32), flows)

    def _routing(self, channels: Int32Array, origins: Int32Array, parents: Int32Array, flows: Int64Array) -> Routing:
        return Routing(channels, origins, parents, flows, exact_dot(flows.reshape(-1), self.prices.reshape(-1)))

    def _with_relays(self, is_member: npt.NDArray[np.bool_]) -> None:
        """Add the brokers of a Steiner tree: the best one for few brokers, a good one otherwise."""
        if not self.has_table:
            add_relays(self.prices, is_member)
            return
        mask = sum(1 << int(broker) for broker in np.flatnonzero(is_member))
        whole = int(self._supersets[1][mask])
        is_member[:] = [bool(whole >> broker & 1) for broker in range(self.num_brokers)]


def _unchanged(is_member: npt.NDArray[np.bool_]) -> None:
    pass


def _trees_of(
    prices: Int64Array, add: Callable[[npt.NDArray[np.bool_]], None], subscribers: Int32Array, traffic: Int64Array
) -> tuple[Int32Array, Int32Array, Int64Array]:
    """The trees of a channel: one for all brokers with subscribers, one for every other broker that publishes; their
    origins, their parents, and what they carry.
    """
    num_brokers = len(prices)
    is_wanted = subscribers > 0
    flows = np.zeros_like(prices)
    if not is_wanted.any() or not traffic.any():
        return np.empty(0, np.int32), np.empty((0, num_brokers), np.int32), flows
    origins, parents = [], []
    nearest = np.empty(num_brokers, dtype=np.int64)
    inside = np.where(is_wanted, traffic, 0)
    for origin in (ALL, *np.flatnonzero(~is_wanted & (traffic > 0)).tolist()):
        is_member = is_wanted.copy()
        sent = inside
        if origin != ALL:
            is_member[origin] = True
            sent = np.zeros_like(traffic)
            sent[origin] = traffic[origin]
        elif is_member.sum() < 2 or not inside.any():
            continue
        add(is_member)
        tree = np.empty(num_brokers, dtype=np.int32)
        spanning_tree(prices, is_member, tree, nearest)
        add_flows(tree, is_wanted, sent, flows)
        origins.append(origin)
        parents.append(tree)
    return np.array(origins, np.int32), np.array(parents, np.int32).reshape(-1, num_brokers), flows


def _grown(prices: Int64Array, is_member: npt.NDArray[np.bool_]) -> Int32Array:
    """A minimum spanning tree of some brokers, to which the others are hung where that is cheapest."""
    parents = np.empty(len(prices), dtype=np.int32)
    if not is_member.any():
        is_member = np.ones_like(is_member)
    spanning_tree(prices, is_member, parents, np.empty(len(prices), dtype=np.int64))
    inside = np.flatnonzero(is_member)
    outside = np.flatnonzero(~is_member)
    parents[outside] = inside[np.argmin(prices[np.ix_(outside, inside)], axis=1)]
    return parents
