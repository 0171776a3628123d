"""Stage 1: which pairs are placed, subscriber by subscriber, in passes over blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import Store, block_groups, map_blocks, open_store, stage
from pubplan.kernels import count_columns, row_sums
from pubplan.planning import NoParameters
from pubplan.problems.provision.problem import Problem
from pubplan.workload import Int32Array, Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Pairs:
    """The topics chosen for the subscribers of one block: how many each has, and which, end to end."""

    lengths: Int32Array
    topics: Int32Array


Chooser = Callable[[Rows, int], tuple[Pairs, Int64Array]]
"""Chooses pairs for the subscribers of one block, here or in a task; also sums that the pass adds up.

Takes the rows and the number of the block, by which random numbers are drawn.
"""


@dataclass(frozen=True)
class Selection:
    """Pairs that satisfy everybody: how many of each topic, and those of one block.

    ``inexact`` is how many subscribers were too big for a cover of least cost, where one is looked for.
    """

    name: str
    counts: Int64Array
    read: Callable[[int], Pairs]
    inexact: int = 0


@dataclass(frozen=True)
class Stage1:
    """A way to choose pairs.

    Attributes:
        select: takes the problem, the limit of a VM, what bytes in and out cost in proportion, the method's parameters,
            the seed and a Spark session or None. The first of several selections is the one it is named after; the
            others are fallbacks, in case they turn out cheaper once they are packed.
    """

    name: str
    select: Callable[[Problem, int, Weights, Any, int, SparkSession | None], tuple[Selection, ...]]
    told: str
    complexity: str
    parameters: type = NoParameters


MAX_WEIGHT = 64


@dataclass(frozen=True)
class Weights:
    """What a byte in and a byte out cost in proportion, VMs included: whole numbers up to MAX_WEIGHT."""

    incoming: int = 1
    outgoing: int = 1


@dataclass(frozen=True)
class Passed:
    """What one chooser found in a pass: pairs by topic, and its sums."""

    counts: Int64Array
    sums: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))


def pass_over(
    problem: Problem,
    choosers: Mapping[str, Chooser],
    spark: SparkSession | None,
    keep: Store | None = None,
) -> dict[str, Passed]:
    """Let choosers see every subscriber once.

    Args:
        keep: where the pairs of the first chooser stay, by block; None forgets them.
    """
    reader, num_topics = problem.rows(), problem.workload.counts.topics
    groups = block_groups(len(problem.workload.interests_blocks), spark)
    counting = open_store(spark)
    kept_name = next(iter(choosers))

    def choose(group: int) -> dict[str, Int64Array]:
        counts = {name: np.zeros(num_topics, dtype=np.int64) for name in choosers}
        sums: dict[str, Int64Array] = {}
        for block in groups[group]:
            rows = reader.read(block)
            for name, chooser in choosers.items():
                pairs, found = chooser(rows, block)
                count_columns(pairs.topics, counts[name])
                sums[name] = sums[name] + found if name in sums else found
                if keep is not None and name == kept_name:
                    keep.put(block, lengths=pairs.lengths, topics=pairs.topics)
        counting.put(group, **{name: found.astype(np.uint32) for name, found in counts.items()})
        return sums

    totals: dict[str, Int64Array] = {}
    with stage("choosing pairs", len(groups)) as advance:
        for found in map_blocks(choose, len(groups), spark):
            for name, sums in found.items():
                totals[name] = totals[name] + sums if name in totals else sums
            advance(1)
    passed = {}
    for name in choosers:
        counts = np.zeros(num_topics, dtype=np.int64)
        for group in range(len(groups)):
            counts += counting.get(group, name)
        passed[name] = Passed(counts, totals.get(name, np.zeros(0, np.int64)))
    return passed


def kept_pairs(store: Store) -> Callable[[int], Pairs]:
    """Reads the pairs that a pass kept."""
    return lambda block: Pairs(store.get(block, "lengths"), store.get(block, "topics"))


def chosen_pairs(problem: Problem, chooser: Chooser) -> Callable[[int], Pairs]:
    """Chooses the pairs of a block again."""
    reader = problem.rows()
    return lambda block: chooser(reader.read(block), block)[0]


def selection_of(
    problem: Problem, name: str, chooser: Chooser, spark: SparkSession | None
) -> tuple[Selection, Int64Array]:
    """One pass with one chooser: its pairs, and its sums."""
    store = open_store(spark)
    found = pass_over(problem, {name: chooser}, spark, store)[name]
    return Selection(name, found.counts, kept_pairs(store)), found.sums


def missing(rows: Rows, events: Int64Array) -> Int64Array:
    """What each subscriber lacks even with all of its usable topics."""
    reachable = np.empty(len(rows.thresholds), dtype=np.int64)
    row_sums(events, rows.topics, rows.offsets, reachable)
    lack: Int64Array = np.maximum(0, rows.thresholds - reachable)
    return lack
