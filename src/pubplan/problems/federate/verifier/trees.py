"""Recomputes what trees of brokers carry, and whether they are the trees that the routing asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pubplan.errors import Violation
from pubplan.problems.federate.plan import ALL, OUTSIDE, TREES
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.verifier.clients import Traffic
from pubplan.problems.federate.verifier.content import Prices
from pubplan.workload import Int64Array, list_column

MAX_SHOWN = 10


@dataclass(frozen=True)
class Tree:
    """A row of the table: whose messages it carries, and the neighbour of every broker on the way to the root."""

    channel: int
    origin: int
    parents: Int64Array


def read_trees(table: pa.Table, num_brokers: int) -> list[Tree] | Violation:
    """The rows, or what is wrong with their lists."""
    offsets, values = list_column(table, "parents")
    if (np.diff(offsets) != num_brokers).any():
        return Violation("trees without an entry for each broker", TREES)
    rows = values.astype(np.int64).reshape(-1, num_brokers)
    channels, origins = table["channel"].to_pylist(), table["origin"].to_pylist()
    return [Tree(*row) for row in zip(channels, origins, rows, strict=True)]


def wanted_trees(problem: Problem, traffic: Traffic) -> list[tuple[int, int]]:
    """Which trees there must be, as channel and origin, in order."""
    if problem.routing == "acyclic":
        return [(ALL, ALL)]
    if problem.cost == "replicating":
        return []
    wanted = []
    for channel in range(len(traffic.messages)):
        members = traffic.subscribers[channel] > 0
        if members.sum() > 1 and traffic.sent[channel][members].any():
            wanted.append((channel, ALL))
        if members.any():
            wanted += [(channel, int(broker)) for broker in np.flatnonzero(~members & (traffic.sent[channel] > 0))]
    return wanted


def flows_of(
    problem: Problem, prices: Prices, traffic: Traffic, trees: list[Tree]
) -> tuple[Int64Array, list[Violation]]:
    """Messages from every broker (row) to every other (column), and what is wrong with trees."""
    flows = np.zeros_like(prices.links)
    if [(tree.channel, tree.origin) for tree in trees] != wanted_trees(problem, traffic):
        return flows, [Violation("trees missing, repeated, out of order or without messages", TREES)]
    if problem.routing != "acyclic" and problem.cost == "replicating":
        flows = traffic.sent.T @ traffic.subscribers
        np.fill_diagonal(flows, 0)
        return flows, []
    violations: list[Violation] = []
    weights: dict[bytes, int] = {}
    for tree in trees:
        where = f"{TREES}, channel {tree.channel}, origin {tree.origin}"
        order = _order(tree.parents)
        if order is None:
            violations.append(Violation("tree that is not one", where))
        elif tree.channel == ALL:
            if len(order) < prices.num_brokers:
                violations.append(Violation("tree that does not reach all brokers", where))
                continue
            for channel in range(len(traffic.messages)):
                copies = traffic.subscribers[channel]
                if problem.cost == "shared":
                    copies = (copies > 0).astype(np.int64)
                _add(flows, tree.parents, order, copies, traffic.sent[channel], problem.cost == "shared")
        else:
            members = traffic.subscribers[tree.channel] > 0
            sent = np.where(members, traffic.sent[tree.channel], 0)
            if tree.origin != ALL:
                sent = np.zeros_like(sent)
                sent[tree.origin] = traffic.sent[tree.channel, tree.origin]
            needed = members | (sent > 0)
            violations += _wrong_members(problem, prices, tree, order, needed, weights, where)
            _add(flows, tree.parents, order, members.astype(np.int64), sent, True)
    return flows, violations[:MAX_SHOWN]


def _order(parents: Int64Array) -> list[int] | None:
    """The brokers of a tree, children after their parents; None if it is not a tree."""
    inside = [broker for broker, parent in enumerate(parents.tolist()) if parent != OUTSIDE]
    roots = [broker for broker in inside if parents[broker] == -1]
    if len(roots) != 1:
        return None
    children: dict[int, list[int]] = {broker: [] for broker in inside}
    for broker in inside:
        parent = int(parents[broker])
        if parent >= 0:
            if parent not in children:
                return None
            children[parent].append(broker)
        elif parent != -1:
            return None
    order = roots
    for broker in order:  # grows while it is read
        order.extend(children[broker])
    return order if len(order) == len(inside) else None


def _add(
    flows: Int64Array, parents: Int64Array, order: list[int], copies: Int64Array, sent: Int64Array, shared: bool
) -> None:
    """Add what one channel sends along a tree."""
    behind, below = copies.tolist(), sent.tolist()
    all_copies, all_sent = sum(behind[broker] for broker in order), sum(below[broker] for broker in order)
    for broker in reversed(order[1:]):
        parent = int(parents[broker])
        outside = all_copies - behind[broker]
        into, out_of = (min(behind[broker], 1), min(outside, 1)) if shared else (behind[broker], outside)
        flows[parent, broker] += into * (all_sent - below[broker])
        flows[broker, parent] += out_of * below[broker]
        behind[parent] += behind[broker]
        below[parent] += below[broker]


def _wrong_members(
    problem: Problem,
    prices: Prices,
    tree: Tree,
    order: list[int],
    needed: np.ndarray,
    weights: dict[bytes, int],
    where: str,
) -> Iterator[Violation]:
    """A tree reaches whom it must; a spanning tree nobody else, and none is lighter."""
    inside = np.zeros(prices.num_brokers, dtype=np.bool_)
    inside[order] = True
    if (needed & ~inside).any():
        yield Violation("tree that does not reach all brokers with subscribers", where)
    elif problem.routing == "spanning":
        if (inside & ~needed).any():
            yield Violation("spanning tree with brokers that need no messages", where)
            return
        weight = sum(int(prices.links[broker, tree.parents[broker]]) for broker in order[1:])
        key = needed.tobytes()
        if key not in weights:
            weights[key] = least_weight(prices.links, np.flatnonzero(needed))
        if weight != weights[key]:
            yield Violation("spanning tree that is not minimum", where, stated=weight, expected=weights[key])


def least_weight(links: Int64Array, brokers: Int64Array) -> int:
    """The weight of a minimum spanning tree, by adding the nearest broker each time."""
    if not len(brokers):
        return 0
    inner = links[np.ix_(brokers, brokers)]
    nearest, total = inner[0].copy(), 0
    is_left = np.ones(len(brokers), dtype=np.bool_)
    is_left[0] = False
    for _ in range(len(brokers) - 1):
        left = np.flatnonzero(is_left)
        best = left[np.argmin(nearest[left])]
        total += int(nearest[best])
        is_left[best] = False
        nearest = np.minimum(nearest, inner[best])
    return total
