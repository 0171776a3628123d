"""Brokers, sites and limits as the workload's tables have them, and what follows from them for a problem."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from pubplan.engine import MAX_INT64
from pubplan.errors import InputError
from pubplan.problems.assign.problem import Problem
from pubplan.workload import Int64Array, list_column

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tree:
    """The brokers of a workload.

    Attributes:
        parents: of every broker, -1 where the publisher feeds it.
        levels: 1 for brokers that the publisher feeds.
        is_leaf: whether no broker has it as a parent.
        shares: of every broker.
    """

    parents: Int64Array
    levels: Int64Array
    is_leaf: BoolArray
    shares: Int64Array

    @property
    def num_brokers(self) -> int:
        return len(self.parents)

    def path(self, broker: int) -> list[int]:
        """A broker and all above it, from below."""
        path = [broker]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return path

    def is_below(self, broker: int) -> BoolArray:
        """Whether the path to each broker crosses this one."""
        is_below: BoolArray = np.arange(self.num_brokers) == broker
        for level in range(int(self.levels[broker]) + 1, int(self.levels.max()) + 1):
            here = np.flatnonzero(self.levels == level)
            is_below[here] = is_below[self.parents[here]]
        return is_below


@dataclass(frozen=True)
class Limits:
    """What it takes to say whether a leaf may serve a client.

    Attributes:
        latencies: in us, from every site to every broker, along the whole path or on the last hop.
        by_site: the latency that clients of each site accept; None where every client has a limit of its own.
        has_list: whether clients have lists of brokers that they may use.
    """

    latencies: Int64Array
    by_site: Int64Array | None
    has_list: bool


def read_tree(problem: Problem) -> Tree:
    """The brokers, from their table.

    Raises:
        InputError: they are not a tree.
    """
    parents = problem.workload.column("brokers", "parent").astype(np.int64)
    shares = problem.workload.column("brokers", "share").astype(np.int64)
    levels: Int64Array = np.zeros(len(parents), dtype=np.int64)
    if len(parents) and (parents.min() < -1 or parents.max() >= len(parents)):
        raise InputError(f"{problem.workload.path}/brokers names parents that do not exist.")
    here, level = np.flatnonzero(parents == -1), 1
    while len(here):  # level by level, from the publisher
        levels[here] = level
        here, level = np.flatnonzero(np.isin(parents, here)), level + 1
    if not levels.all():
        raise InputError(f"{problem.workload.path}/brokers has brokers that the publisher does not reach.")
    is_leaf = np.ones(len(parents), dtype=bool)
    is_leaf[parents[parents >= 0]] = False
    return Tree(parents, levels, is_leaf, shares)


def read_limits(problem: Problem, tree: Tree) -> Limits:
    """Latencies and limits, from the tables of sites and brokers."""
    workload = problem.workload
    lists = [list_column(table, "latency") for table in workload.blocks("sites", "latency")]
    if any((np.diff(offsets) != tree.num_brokers).any() for offsets, _ in lists):
        raise InputError(f"{workload.path}/sites lacks a latency to each of the {tree.num_brokers} brokers.")
    values = np.concatenate([np.empty(0, np.int64), *(values for _, values in lists)])
    latencies = values.astype(np.int64).reshape(-1, tree.num_brokers)
    if problem.hop == "path":
        from_parents = workload.column("brokers", "latency")
        latencies += np.array([sum(from_parents[tree.path(broker)].tolist()) for broker in range(tree.num_brokers)])
    has_list = "allowed" in workload.column_names("clients")
    if problem.max_delay is None:
        return Limits(latencies, None, has_list)
    if problem.max_delay == "none":
        return Limits(latencies, np.full(len(latencies), MAX_INT64), has_list)
    factor = 1 + Fraction(str(problem.max_delay))
    nearest = latencies[:, tree.is_leaf].min(axis=1).tolist()
    by_site = [min(MAX_INT64, shortest * factor.numerator // factor.denominator) for shortest in nearest]
    return Limits(latencies, np.array(by_site, dtype=np.int64), has_list)


def capacities(problem: Problem, tree: Tree, total_weight: int) -> Int64Array:
    """What every broker may serve at the greatest load factor: never more than all clients weigh."""
    factor, shares = Fraction(str(problem.max_load)), tree.shares.tolist()
    whole = factor.denominator * sum(shares)
    most = [factor.numerator * share * total_weight // whole for share in shares]
    return np.array([min(total_weight, value) for value in most], dtype=np.int64)


def density_of(problem: Problem) -> tuple[Int64Array, tuple[int, ...], int]:
    """The messages of every cell, with an axis per attribute, the grid steps of a cell, and the scale of measures.

    Without a density, the space is one cell with one message in every grid step.
    """
    space = problem.workload.space
    steps = tuple(attribute.steps for attribute in space.attributes)
    if space.cells is None:
        return np.ones((1,) * len(steps), dtype=np.int64), steps, 1
    widths = tuple(extent // number for extent, number in zip(steps, space.cells, strict=True))
    messages = problem.workload.column("density", "messages").astype(np.int64)
    return messages.reshape(space.cells), widths, prod(widths)
