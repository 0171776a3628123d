"""``joint``: covers that also spare incoming streams.

What a subscriber takes costs its own traffic and, the first time somebody takes a topic, the topic's stream into the
cloud. Topics that some subscriber cannot do without flow in anyway and cost nothing more. Every other topic has a
price: its stream, shared by all who took it in the round before. Subscribers choose by traffic and price; topics that
few take become dear, are given up, and their takers move to topics that flow anyway. At the end, when it is known which
topics flow, these cost nothing more, and whoever opened another one would pay for all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import exact_dot
from pubplan.problems.provision.exact import CheapestCovers, cheapest_selection, least_traffic
from pubplan.problems.provision.gsp import GreedyCovers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import (
    MAX_WEIGHT,
    Selection,
    Stage1,
    Weights,
    chosen_pairs,
    pass_over,
)
from pubplan.problems.provision.survey import survey, traffic
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

UNIT = 1 << 10
"""Costs of covers are in units of 1 / UNIT of an event, or of a byte where sizes differ; coarser for huge traffic."""


@dataclass(frozen=True)
class JointParameters:
    """How long prices are adjusted."""

    rounds: int = field(
        default=1, metadata={"help": "How often prices are set and covers chosen by them, from 1 to 100."}
    )

    def __post_init__(self) -> None:
        if not isinstance(self.rounds, int) or isinstance(self.rounds, bool) or not 1 <= self.rounds <= 100:
            raise ValueError(f"rounds must be a whole number from 1 to 100, not {self.rounds!r}.")


@dataclass(frozen=True)
class Pricing:
    """What taking a topic costs: ``costs`` by topic, prices included, and ``cost_per_event`` where there is none."""

    costs: Int64Array
    cost_per_event: int

    @classmethod
    def of(cls, problem: Problem, weights: Weights, prices: Int64Array) -> Pricing:
        """From prices in units."""
        is_uniform = problem.size is not None
        per_event = unit_of(problem) * weights.outgoing
        return cls(traffic(problem) * per_event + weights.incoming * prices, per_event if is_uniform else 0)


def unit_of(problem: Problem) -> int:
    """The finest unit in which what everybody's covers cost fits 64 bits, weights included."""
    unit, most = UNIT, MAX_WEIGHT * exact_dot(traffic(problem), problem.workload.topic_array("subscribers") + 1)
    while unit > 1 and unit * most >= 2**61:
        unit //= 2
    return unit


def shared_prices(problem: Problem, mandatory: Int64Array, takers: Int64Array) -> Int64Array:
    """The stream of each topic that nobody needs, shared by its takers; nobody's is asked in full."""
    prices = unit_of(problem) * traffic(problem) // np.maximum(1, takers)
    prices[mandatory > 0] = 0
    return prices


def chooser_at(problem: Problem, events: Int64Array, weights: Weights, prices: Int64Array) -> CheapestCovers:
    """Chooses covers of least cost at these prices."""
    pricing = Pricing.of(problem, weights, prices)
    return CheapestCovers(events, pricing.costs, pricing.cost_per_event)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: JointParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    """Rounds of prices and covers, then covers by what flows; those of ``exact`` and ``gsp`` are fallbacks."""
    events = problem.usable(limit)
    surveyed = survey(problem, limit, spark)
    takers = surveyed.exact
    for _ in range(parameters.rounds):
        prices = shared_prices(problem, surveyed.mandatory, takers)
        takers = pass_over(problem, {"joint": chooser_at(problem, events, weights, prices)}, spark)["joint"].counts
    flows = (takers > 0) | (surveyed.mandatory > 0)
    last_prices = np.where(flows, 0, unit_of(problem) * traffic(problem))
    exact, greedy = least_traffic(problem, events), GreedyCovers.of(problem, events)
    return (
        cheapest_selection(problem, "joint", chooser_at(problem, events, weights, last_prices), spark),
        Selection("exact", surveyed.exact, chosen_pairs(problem, exact), surveyed.inexact),
        Selection("gsp", surveyed.greedy, chosen_pairs(problem, greedy)),
    )


STAGE = Stage1(
    "joint",
    select,
    "the least traffic, incoming streams included",
    "P x threshold for each round, P x threshold / 64 where free topics do",
    JointParameters,
)
