"""``rsp``: topics of each subscriber in an order that looks at nothing, until it has enough (RandomSelectPairs)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import draws
from pubplan.problems.provision.kernels import first_covers, shuffle_rows, sort_rows
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Pairs, Selection, Stage1, Weights, selection_of
from pubplan.workload import Int32Array, Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class RspParameters:
    """In which order a subscriber's topics are taken."""

    interest_order: str = field(
        default="topic",
        metadata={"help": "Take each subscriber's interests by topic number (topic) or shuffled by the seed (random)."},
    )

    def __post_init__(self) -> None:
        if self.interest_order not in ("topic", "random"):
            raise ValueError(f"interest_order must be topic or random, not {self.interest_order!r}.")


@dataclass(frozen=True)
class FirstCovers:
    """Chooses the first topics that are enough: by topic number, or in a random order for each subscriber."""

    events: Int64Array
    seed: int | None = None

    def __call__(self, rows: Rows, block: int = 0) -> tuple[Pairs, Int64Array]:
        lengths, chosen = np.empty(len(rows.thresholds), np.int32), np.empty(len(rows.topics), np.int32)
        topics = rows.topics if self.seed is None else shuffled(rows, self.seed, block)
        size = first_covers(rows.offsets, topics, self.events, rows.thresholds, lengths, chosen)
        if self.seed is not None:
            sort_rows(lengths, chosen[:size])
        return Pairs(lengths, chosen[:size]), np.zeros(0, np.int64)


def shuffled(rows: Rows, seed: int, block: int) -> Int32Array:
    """The topics of the rows, each row in a random order."""
    topics = rows.topics.copy()
    shuffle_rows(rows.offsets, topics, draws(seed, "provision/rsp", block).random(len(topics)))
    return topics


def select(
    problem: Problem, limit: int, weights: Weights, parameters: RspParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    chooser = FirstCovers(problem.usable(limit), seed if parameters.interest_order == "random" else None)
    return (selection_of(problem, "rsp", chooser, spark)[0],)


STAGE = Stage1("rsp", select, "the first topics that are enough", "P", RspParameters)
