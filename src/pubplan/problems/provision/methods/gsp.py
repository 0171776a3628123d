"""``gsp``: the topic with the most benefit per cost, again and again (GreedySelectPairs).

The benefit of a topic is the share of what the subscriber misses that it fills, at most 1; its cost is its stream in
and out. So every topic that does not exceed what is missing is equally good, and better than those that do: of these
the smallest is best. Among equals the paper leaves the choice open; here it is a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.problems.provision.kernels.covers import greedy_covers
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


TIE_SIGNS = {"largest": 1, "smallest": -1, "first": 0}
"""What the kernel takes for each rule: the sign by which it compares equally good topics."""


@dataclass(frozen=True)
class GspParameters:
    """What is taken among equally good topics."""

    ties: str = field(
        default="largest",
        metadata={"help": "Among equally good topics, take the largest, the smallest or the first by topic number."},
    )

    def __post_init__(self) -> None:
        if self.ties not in TIE_SIGNS:
            raise ValueError(f"ties must be largest, smallest or first, not {self.ties!r}.")


@dataclass(frozen=True)
class GreedyCovers:
    """Chooses greedily."""

    events: Int64Array
    sizes: Int64Array | None
    ties: str = "largest"

    @classmethod
    def of(cls, problem: Problem, events: Int64Array, ties: str = "largest") -> GreedyCovers:
        """With sizes only where they differ."""
        return cls(events, problem.instance.sizes if problem.instance.common_size is None else None, ties)

    def __call__(self, rows: SubscriberBlock, block: int = 0) -> tuple[Pairs, Totals]:
        chosen = room_for(rows)
        size = greedy_covers(rows_of(rows), self.events, self.sizes, TIE_SIGNS[self.ties], chosen)
        return Pairs(chosen.lengths, chosen.topics[:size]), Totals()


def select(
    problem: Problem, limit: int, weights: Weights, parameters: GspParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    """One selection: GreedySelectPairs for every subscriber, with the given rule for ties.

    ``weights`` and ``seed`` do not matter.
    """
    chooser = GreedyCovers.of(problem, problem.instance.usable(limit), parameters.ties)
    return (selection_of(problem, "gsp", chooser, spark),)


STAGE = Stage1("gsp", select, "greedily by benefit per cost", "P x topics chosen per subscriber", GspParameters)
