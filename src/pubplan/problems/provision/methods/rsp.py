"""``rsp``: topics of each subscriber in an order that looks at nothing, until it has enough (RandomSelectPairs)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.engine import random_stream
from pubplan.problems.provision.kernels.covers import first_covers, shuffle_rows, sort_rows
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
from pubplan.workload import Int32Array, Int64Array, SubscriberBlock

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

    def __call__(self, rows: SubscriberBlock, block: int = 0) -> tuple[Pairs, Totals]:
        chosen, ordered = room_for(rows), rows_of(rows)
        if self.seed is not None:
            ordered = ordered._replace(topics=shuffled(rows, self.seed, block))
        size = first_covers(ordered, self.events, chosen)
        if self.seed is not None:
            sort_rows(chosen.lengths, chosen.topics[:size])
        return Pairs(chosen.lengths, chosen.topics[:size]), Totals()


def shuffled(rows: SubscriberBlock, seed: int, block: int) -> Int32Array:
    """The topics of the rows, each row in a random order."""
    topics = rows.topics.copy()
    shuffle_rows(rows.offsets, topics, random_stream(seed, "provision/rsp", block).random(len(topics)))
    return topics


def select(
    problem: Problem, limit: int, weights: Weights, parameters: RspParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    """One selection: each subscriber's topics in the given order until it has enough.

    ``weights`` do not matter, and the seed matters only for the random order.
    """
    chooser = FirstCovers(problem.instance.usable(limit), seed if parameters.interest_order == "random" else None)
    return (selection_of(problem, "rsp", chooser, spark),)


STAGE = Stage1("rsp", select, "the first topics that are enough", "P", RspParameters)
