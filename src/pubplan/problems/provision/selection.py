"""Stage 1: which pairs are placed, subscriber by subscriber, in scans over blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pubplan.engine import Store, block_groups, map_blocks, open_store, stage
from pubplan.kernels import count_columns, row_sums
from pubplan.planning import NoParameters
from pubplan.problems.provision.kernels.covers import Chosen, Rows
from pubplan.problems.provision.problem import Problem
from pubplan.workload import Int32Array, Int64Array, SubscriberBlock

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Pairs:
    """The topics chosen for the subscribers of one block: how many each has, and which, end to end."""

    lengths: Int32Array
    topics: Int32Array


class Totals(NamedTuple):
    """What choosers count besides pairs, over subscribers; 0 where a chooser does not.

    Attributes:
        cost: what the covers cost.
        least_cost: what covers must cost at least; less than ``cost`` where some are not exact.
        num_inexact: covers that may cost more than necessary.
        num_unsatisfied: subscribers that cannot reach their threshold.
        simple_need: the sum of max(tau_v, smallest topic), in events.
        num_wanting: subscribers that need anything.
    """

    cost: int = 0
    least_cost: int = 0
    num_inexact: int = 0
    num_unsatisfied: int = 0
    simple_need: int = 0
    num_wanting: int = 0

    def plus(self, other: Totals) -> Totals:
        return Totals(*(one + more for one, more in zip(self, other, strict=True)))


Chooser = Callable[[SubscriberBlock, int], tuple[Pairs, Totals]]
"""Chooses pairs for the subscribers of one block, here or in a task, and counts what is added up over blocks.

Takes the block's rows and its number, by which random numbers are drawn.
"""


def rows_of(block: SubscriberBlock) -> Rows:
    """Subscribers as kernels take them."""
    return Rows(block.offsets, block.topics, block.thresholds)


def room_for(block: SubscriberBlock) -> Chosen:
    """Room for the topics that a kernel chooses for each subscriber of a block."""
    return Chosen(np.empty(len(block.thresholds), np.int32), np.empty(len(block.topics), np.int32))


@dataclass(frozen=True)
class Selection:
    """Pairs that satisfy every subscriber: how many of each topic, and those of one block.

    ``num_inexact`` is how many subscribers were too big for a cover of least cost, where one is looked for.
    """

    name: str
    counts: Int64Array
    read: Callable[[int], Pairs]
    num_inexact: int = 0


@dataclass(frozen=True)
class Stage1:
    """A way to choose pairs.

    Attributes:
        select: takes the problem, the limit of a VM, what bytes in and out cost in proportion, the stage's parameters,
            the seed and a Spark session or None. Pairs are of topics that fit a VM, and bring every subscriber what it
            needs wherever such topics can. The first of several selections is the one that the stage is named after;
            the others are fallbacks, in case they turn out cheaper once they are packed.
        summary: what it chooses, to follow "chooses".
    """

    name: str
    select: Callable[[Problem, int, Weights, Any, int, SparkSession | None], tuple[Selection, ...]]
    summary: str
    complexity: str
    parameters: type = NoParameters


MAX_WEIGHT = 64


@dataclass(frozen=True)
class Weights:
    """What a byte in and a byte out cost in proportion, VMs included: whole numbers up to MAX_WEIGHT."""

    incoming: int = 1
    outgoing: int = 1


@dataclass(frozen=True)
class ScanResult:
    """What one chooser chose over all subscribers: how many pairs by topic, and its totals."""

    counts: Int64Array
    totals: Totals


def scan_subscribers(
    problem: Problem,
    choosers: Mapping[str, Chooser],
    spark: SparkSession | None,
    keep: Store | None = None,
) -> dict[str, ScanResult]:
    """Let choosers see every subscriber once; results by the names of the choosers.

    Args:
        keep: where the pairs of the first chooser stay, by block; None forgets them.
    """
    reader, num_topics = problem.instance.reader(), problem.workload.counts.topics
    groups = block_groups(problem.workload.num_blocks, spark)
    counting = open_store(spark)
    kept_name = next(iter(choosers))

    def choose(group: int) -> dict[str, Totals]:
        counts = {name: np.zeros(num_topics, dtype=np.int64) for name in choosers}
        group_totals = dict.fromkeys(choosers, Totals())
        for block in groups[group]:
            rows = reader.read(block)
            for name, chooser in choosers.items():
                pairs, block_totals = chooser(rows, block)
                count_columns(pairs.topics, counts[name])
                group_totals[name] = group_totals[name].plus(block_totals)
                if keep is not None and name == kept_name:
                    keep.put(block, lengths=pairs.lengths, topics=pairs.topics)
        counting.put(group, **{name: by_topic.astype(np.uint32) for name, by_topic in counts.items()})
        return group_totals

    totals = dict.fromkeys(choosers, Totals())
    with stage("choosing pairs", len(groups)) as advance:
        for group_totals in map_blocks(choose, len(groups), spark):
            totals = {name: totals[name].plus(group_totals[name]) for name in choosers}
            advance(1)
    results = {}
    for name in choosers:
        counts = np.zeros(num_topics, dtype=np.int64)
        for group in range(len(groups)):
            counts += counting.get(group, name)
        results[name] = ScanResult(counts, totals[name])
    return results


def kept_pairs(store: Store) -> Callable[[int], Pairs]:
    """Reads the pairs that a scan kept."""
    return lambda block: Pairs(store.get(block, "lengths"), store.get(block, "topics"))


def chosen_pairs(problem: Problem, chooser: Chooser) -> Callable[[int], Pairs]:
    """Chooses the pairs of a block again."""
    reader = problem.instance.reader()
    return lambda block: chooser(reader.read(block), block)[0]


def selection_of(problem: Problem, name: str, chooser: Chooser, spark: SparkSession | None) -> Selection:
    """What one chooser chooses in one scan."""
    store = open_store(spark)
    scanned = scan_subscribers(problem, {name: chooser}, spark, store)[name]
    return Selection(name, scanned.counts, kept_pairs(store), scanned.totals.num_inexact)


def missing(rows: SubscriberBlock, events: Int64Array) -> Int64Array:
    """What each subscriber lacks even with all of its usable topics."""
    reachable = np.empty(len(rows.thresholds), dtype=np.int64)
    row_sums(events, rows.topics, rows.offsets, reachable)
    lack: Int64Array = np.maximum(0, rows.thresholds - reachable)
    return lack
