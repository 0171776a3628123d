"""Proves again that no attachment is cheaper than a bound: all are compared, some parts at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product

import numpy as np

from pubplan.errors import Violation
from pubplan.planning import Plan
from pubplan.problems.federate.plan import SEARCH
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem
from pubplan.problems.federate.verifier.clients import Traffic, demand_of, kept
from pubplan.problems.federate.verifier.content import Cut, Prices, read_rows
from pubplan.problems.federate.verifier.trees import least_weight
from pubplan.workload import Int64Array

PARTS_AT_ONCE = 2_048
MAX_BROKERS = 10
MAX_TREE_BROKERS = 6
"""All trees of this many brokers are compared, at most."""

MAX_PARTS = 50_000_000


class _Attachments:
    """All attachments of the clients of a problem, built client by client."""

    def __init__(self, problem: Problem, cut: Cut, prices: Prices, traffic: Traffic) -> None:
        rows = [rows for block in range(problem.workload.num_blocks) for rows in read_rows(problem, cut, block)]
        self.wants = np.concatenate([some.wants for some in rows])
        published = np.concatenate([some.published for some in rows])
        self.sent = kept(self.wants, published, traffic.wanting)
        self.demand = demand_of(self.wants, published, traffic.wanting, traffic.messages)
        sites = np.concatenate([some.sites for some in rows])
        self.access = (self.demand[:, None] * prices.sites[sites]).astype(object)
        everything = frozenset(range(prices.num_brokers))
        self.allowed = [
            some
            for part in rows
            for some in (part.allowed if part.allowed is not None else [everything] * len(part.sites))
        ]
        self.problem, self.prices = problem, prices
        self.order = sorted(range(len(self.demand)), key=lambda client: (-int(self.demand[client]), client))
        spanning = [
            least_weight(
                prices.links, np.array([b for b in range(prices.num_brokers) if mask >> b & 1], dtype=np.int64)
            )
            for mask in range(1 << prices.num_brokers)
        ]
        # A Steiner tree is the lightest spanning tree of any brokers that include the given ones.
        steiner = list(spanning)
        for mask in range(len(steiner) - 1, -1, -1):
            more = [steiner[mask | 1 << b] for b in range(prices.num_brokers) if not mask >> b & 1]
            steiner[mask] = min([steiner[mask], *more])
        self.spanning, self.steiner = np.array(spanning, dtype=np.int64), np.array(steiner, dtype=np.int64)

    def core(self, parts: Int64Array, table: Int64Array) -> Int64Array:
        """What traffic between brokers costs for parts of attachments: rows of brokers of the first clients."""
        number, depth = parts.shape
        num_brokers, num_channels = self.prices.num_brokers, self.wants.shape[1]
        total = np.zeros(number, dtype=np.int64)
        clients = self.order[:depth]
        for channel in range(num_channels):
            wanting = [position for position, client in enumerate(clients) if self.wants[client, channel]]
            sending = [position for position, client in enumerate(clients) if self.sent[client, channel]]
            if not wanting or not sending:
                continue
            masks = np.bitwise_or.reduce(1 << parts[:, wanting], axis=1)
            copies = np.zeros((number, num_brokers), dtype=np.int64)
            for position in wanting:
                copies[np.arange(number), parts[:, position]] += 1
            for position in sending:
                brokers, messages = parts[:, position], int(self.sent[clients[position], channel])
                if self.problem.cost == "replicating":
                    total += messages * (copies * self.prices.links[brokers]).sum(axis=1)
                else:
                    total += messages * table[masks | 1 << brokers]
        return total

    def in_trees(self, attached: Int64Array) -> int:
        """What traffic between brokers costs in the cheapest of all trees."""
        num_brokers, num_channels = self.prices.num_brokers, self.wants.shape[1]
        sent, wanted = (np.zeros((num_brokers, num_channels), dtype=np.int64) for _ in range(2))
        np.add.at(sent, attached, self.sent[self.order])
        np.add.at(wanted, attached, self.wants[self.order])
        # What crosses a link depends only on which brokers are on its one side: there are few such sets.
        inside = (np.arange(1 << num_brokers)[:, None] >> np.arange(num_brokers)) & 1
        copies, others = inside @ wanted, (1 - inside) @ wanted
        if self.problem.cost == "shared":
            copies, others = np.minimum(copies, 1), np.minimum(others, 1)
        crossing = ((inside @ sent) * others + ((1 - inside) @ sent) * copies).sum(axis=1)
        return min(sum(price * int(crossing[side]) for price, side in tree) for tree in self._trees)

    @cached_property
    def _trees(self) -> list[list[tuple[int, int]]]:
        """All trees: of every edge its price, and the brokers on one side of it as bits of a number."""
        number = self.prices.num_brokers
        return [
            [
                (int(self.prices.links[edge]), sum(1 << broker for broker in _side(edges, edge, number)))
                for edge in edges
            ]
            for edges in _all_trees(number)
        ]

    def cheaper_than(self, limit: int) -> bool | None:
        """Whether some attachment costs less; None where there are too many to compare."""
        brokers = range(self.prices.num_brokers)
        rest = [0]
        for client in reversed(self.order):
            rest.append(rest[-1] + min(int(self.access[client][broker]) for broker in self.allowed[client]))
        rest.reverse()
        waiting, looked_at = [np.empty((1, 0), dtype=np.int64)], 0
        while waiting:
            parts = waiting.pop()
            depth = parts.shape[1]
            if depth == len(self.order):
                if any(self._cost(row) < limit for row in parts):
                    return True
                continue
            client = self.order[depth]
            longer = np.concatenate(
                [
                    np.column_stack([parts, np.full(len(parts), broker)])
                    for broker in brokers
                    if broker in self.allowed[client]
                ]
            )
            looked_at += len(longer)
            if looked_at > MAX_PARTS:
                return None
            paid = self._paid(longer) + rest[depth + 1]
            is_open = self._fits(longer) & (paid < limit)
            longer, paid = longer[is_open], paid[is_open]
            if len(longer):
                longer = longer[paid + self.core(longer, self.steiner).astype(object) < limit]
            waiting += [longer[first : first + PARTS_AT_ONCE] for first in range(0, len(longer), PARTS_AT_ONCE)]
        return False

    def _paid(self, parts: Int64Array) -> np.ndarray:
        total = np.zeros(len(parts), dtype=object)
        for position in range(parts.shape[1]):
            total = total + self.access[self.order[position]][parts[:, position]]
        return total

    def _fits(self, parts: Int64Array) -> np.ndarray:
        loads = np.zeros((len(parts), self.prices.num_brokers), dtype=np.int64)
        for position in range(parts.shape[1]):
            loads[np.arange(len(parts)), parts[:, position]] += self.demand[self.order[position]]
        limits = self.prices.capacities
        fits: np.ndarray = ((limits == 0) | (loads <= limits)).all(axis=1)
        return fits

    def _cost(self, attached: Int64Array) -> int:
        access = int(self._paid(attached[None, :])[0])
        if self.problem.routing == "acyclic":
            return access + self.in_trees(attached)
        table = self.spanning if self.problem.routing == "spanning" else self.steiner
        return access + int(self.core(attached[None, :], table)[0])


def wrong_search(problem: Problem, plan: Plan, cut: Cut, prices: Prices, traffic: Traffic) -> Iterator[Violation]:
    """Whether some attachment is cheaper than the bound ``search`` says."""
    bound = plan.certificate(SEARCH).bound
    cost, rest = divmod(bound.value, problem.message_bytes)
    most = MAX_TREE_BROKERS if problem.routing == "acyclic" else MAX_BROKERS
    if bound.scale != DOLLAR_SCALE or rest or prices.num_brokers > most:
        yield Violation("bound that a comparison of all attachments cannot give", SEARCH, stated=float(bound))
        return
    is_beaten = _Attachments(problem, cut, prices, traffic).cheaper_than(cost)
    if is_beaten is None:
        yield Violation("bound with too many attachments to compare", SEARCH, stated=float(bound))
    elif is_beaten:
        yield Violation("bound above the cheapest attachment", SEARCH, stated=float(bound))


def _all_trees(number: int) -> Iterator[list[tuple[int, int]]]:
    """All trees on some nodes, from sequences in which each node is named one time less than it has neighbours."""
    if number == 1:
        yield []
        return
    for sequence in product(range(number), repeat=number - 2):
        left, edges = list(sequence), []
        nodes = set(range(number))
        while left:
            leaf = min(nodes - set(left))
            edges.append((leaf, left.pop(0)))
            nodes.remove(leaf)
        first, second = sorted(nodes)
        edges.append((first, second))
        yield edges


def _side(edges: list[tuple[int, int]], without: tuple[int, int], number: int) -> set[int]:
    """The nodes on the side of the first end of an edge."""
    side = {without[0]}
    for _ in range(number):
        for edge in edges:
            if edge != without and side & set(edge):
                side |= set(edge)
    return side
