"""The trees of a plan, as who forwards to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.federate.plan import ALL, OUTSIDE, TREES, TREES_SCHEMA
from pubplan.workload import Int32Array, list_column

Edge = tuple[int, int]


@dataclass(frozen=True)
class Tree:
    """Brokers that forward messages.

    Attributes:
        channel: whose messages; None for all channels.
        origin: the broker where they are published; None for any broker in the tree that has clients who want them.
        parents: of every broker its neighbour on the way to the root, -1 for the root, -2 outside of the tree.
    """

    channel: int | None
    origin: int | None
    parents: Int32Array

    @property
    def edges(self) -> list[Edge]:
        """Every link once, the broker nearer to the root first."""
        below = np.flatnonzero(self.parents >= 0)
        return list(zip(self.parents[below].tolist(), below.tolist(), strict=True))


def read_trees(plan: Plan, num_brokers: int) -> Iterator[Tree]:
    """The trees of a plan in their order.

    Raises:
        InputError: the table is damaged.
    """
    table = plan.decisions(TREES, TREES_SCHEMA)
    offsets, parents = list_column(table, "parents")
    channels, origins = (table[name].to_pylist() for name in ("channel", "origin"))
    is_damaged = (np.diff(offsets) != num_brokers).any() or max(origins, default=ALL) >= num_brokers
    if is_damaged or (len(parents) and not OUTSIDE <= parents.min() <= parents.max() < num_brokers):
        raise InputError(f"{plan.path}: the decisions '{TREES}' are damaged: they name brokers that do not exist.")
    for channel, origin, row in zip(channels, origins, parents.reshape(-1, num_brokers), strict=True):
        yield Tree(None if channel == ALL else channel, None if origin == ALL else origin, row)


def forwarding_edges(tree: Tree) -> list[Edge]:
    """Who forwards to whom: away from the origin, or along every link in both directions where there are several."""
    if tree.origin is None:
        return sorted([*tree.edges, *((target, source) for source, target in tree.edges)])
    neighbours: dict[int, list[int]] = {}
    for source, target in tree.edges:
        neighbours.setdefault(source, []).append(target)
        neighbours.setdefault(target, []).append(source)
    reached, waiting, edges = {tree.origin}, [tree.origin], []
    while waiting:
        broker = waiting.pop(0)
        for other in sorted(neighbours.get(broker, ())):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
                edges.append((broker, other))
    return edges
