"""``gsp``: the topic with the most benefit per cost, again and again (GreedySelectPairs).

The benefit of a topic is the share of what the subscriber misses that it fills, at most 1; its cost is its stream in
and out. So every topic that does not exceed what is missing is equally good, and better than those that do: of these
the smallest is best. Among equals the paper leaves the choice open; here it is a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.problems.provision.kernels import greedy_covers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Pairs, Selection, Stage1, Weights, selection_of
from pubplan.workload import Int64Array, Rows

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
        return cls(events, problem.sizes if problem.size is None else None, ties)

    def __call__(self, rows: Rows, block: int = 0) -> tuple[Pairs, Int64Array]:
        lengths, chosen = np.empty(len(rows.thresholds), np.int32), np.empty(len(rows.topics), np.int32)
        size = greedy_covers(
            *(rows.offsets, rows.topics, self.events, self.sizes, rows.thresholds, TIE_SIGNS[self.ties]),
            lengths,
            chosen,
        )
        return Pairs(lengths, chosen[:size]), np.zeros(0, np.int64)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: GspParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    chooser = GreedyCovers.of(problem, problem.usable(limit), parameters.ties)
    return (selection_of(problem, "gsp", chooser, spark)[0],)


STAGE = Stage1("gsp", select, "greedily by benefit per cost", "P x topics chosen per subscriber", GspParameters)
