"""``rsp``: the first topics of each subscriber, in their order, until it has enough (RandomSelectPairs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.planning import NoParameters
from pubplan.problems.provision.kernels import first_covers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Pairs, Selection, Stage1, Weights, selection_of
from pubplan.workload import Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class FirstCovers:
    """Chooses the first topics that are enough."""

    events: Int64Array

    def __call__(self, rows: Rows) -> tuple[Pairs, Int64Array]:
        lengths, chosen = np.empty(len(rows.thresholds), np.int32), np.empty(len(rows.topics), np.int32)
        size = first_covers(rows.offsets, rows.topics, self.events, rows.thresholds, lengths, chosen)
        return Pairs(lengths, chosen[:size]), np.zeros(0, np.int64)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: NoParameters, spark: SparkSession | None
) -> tuple[Selection, ...]:
    return (selection_of(problem, "rsp", FirstCovers(problem.usable(limit)), spark)[0],)


STAGE = Stage1("rsp", select, "the first topics that are enough", "P")
