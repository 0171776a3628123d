"""``least-traffic``: for every subscriber the topics with the least traffic that are enough.

With one message size that is the smallest sum of rates that reaches the threshold, by a bitset of sums; with sizes per
topic, the cover of the fewest bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pubplan.planning import NoParameters
from pubplan.problems.provision.kernels.cheapest_covers import Costs, cheapest_covers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import (
    Pairs,
    Selection,
    Stage1,
    Totals,
    Weights,
    room_for,
    rows_of,
    selection_of,
)
from pubplan.workload import Int64Array, SubscriberBlock

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

NAME = "least-traffic"


@dataclass(frozen=True)
class CheapestCovers:
    """Chooses covers of least cost, and counts what they cost and how many are not exact.

    ``costs`` are by topic, ``cost_per_event`` what an event costs at least, or just that without ``costs``.
    """

    events: Int64Array
    costs: Int64Array | None
    cost_per_event: int

    def __call__(self, rows: SubscriberBlock, block: int = 0) -> tuple[Pairs, Totals]:
        return cover(rows, self.events, Costs(self.costs, is_by_topic=True, per_event=self.cost_per_event))


def cover(rows: SubscriberBlock, events: Int64Array, costs: Costs) -> tuple[Pairs, Totals]:
    """Covers of least cost for the subscribers of a block."""
    chosen = room_for(rows)
    totals = cheapest_covers(rows_of(rows), events, costs, chosen)
    pairs = Pairs(chosen.lengths, chosen.topics[: totals.num_chosen])
    return pairs, Totals(
        cost=int(totals.cost),
        least_cost=int(totals.least_cost),
        num_inexact=int(totals.num_inexact),
        num_unsatisfied=int(totals.num_unsatisfied),
    )


def least_traffic(problem: Problem, events: Int64Array) -> CheapestCovers:
    """Chooses the covers with the least traffic: events if they are all of one size, else bytes."""
    if problem.instance.common_size is not None:
        return CheapestCovers(events, None, 1)
    return CheapestCovers(events, problem.instance.streams, 0)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: NoParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    """One selection: for each subscriber the cover of topics that fit a VM with the least traffic.

    Covers are exact for all subscribers but ``num_inexact`` of them, which have a greedy cover by cost per
    event. ``weights`` and ``seed`` do not matter.
    """
    return (selection_of(problem, NAME, least_traffic(problem, problem.instance.usable(limit)), spark),)


STAGE = Stage1(NAME, select, "the least traffic per subscriber", "P x threshold / 64, with sizes P x threshold")
