"""``exact``: for every subscriber the topics with the least traffic that are enough.

With one message size that is the smallest sum of rates that reaches the threshold, found over a bitset of sums; with
sizes per topic, the cover of the fewest bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pubplan.planning import NoParameters
from pubplan.problems.provision.kernels import cheapest_covers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Pairs, Selection, Stage1, Weights, selection_of
from pubplan.workload import Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class CheapestCovers:
    """Chooses covers of least cost.

    ``costs`` are by topic, ``cost_per_event`` what an event costs at least, or just that without ``costs``. The sums
    are what the covers cost, what they must cost at least, how many are not exact, and how many subscribers cannot be
    satisfied.
    """

    events: Int64Array
    costs: Int64Array | None
    cost_per_event: int

    def __call__(self, rows: Rows, block: int = 0) -> tuple[Pairs, Int64Array]:
        return cover(rows, self.events, self.costs, self.cost_per_event, by_topic=True)


def cover(
    rows: Rows, events: Int64Array, costs: Int64Array | None, cost_per_event: int, *, by_topic: bool = False
) -> tuple[Pairs, Int64Array]:
    """Covers of least cost, with costs by entry of the rows, or by topic."""
    lengths, chosen = np.empty(len(rows.thresholds), np.int32), np.empty(len(rows.topics), np.int32)
    totals = np.zeros(4, np.int64)
    size = cheapest_covers(
        *(rows.offsets, rows.topics, events, costs, by_topic, cost_per_event, rows.thresholds),
        lengths,
        chosen,
        totals,
    )
    return Pairs(lengths, chosen[:size]), totals


def least_traffic(problem: Problem, events: Int64Array) -> CheapestCovers:
    """Chooses the covers with the least traffic: events if they are all of one size, else bytes."""
    if problem.size is not None:
        return CheapestCovers(events, None, 1)
    return CheapestCovers(events, problem.streams, 0)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: NoParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    return (cheapest_selection(problem, "exact", least_traffic(problem, problem.usable(limit)), spark),)


def cheapest_selection(problem: Problem, name: str, chooser: CheapestCovers, spark: SparkSession | None) -> Selection:
    """One pass for covers of least cost."""
    selection, sums = selection_of(problem, name, chooser, spark)
    return replace(selection, inexact=int(sums[2:3].sum()))


STAGE = Stage1("exact", select, "the least traffic per subscriber", "P x threshold / 64, with sizes P x threshold")
