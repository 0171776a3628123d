"""``joint``: covers that also spare incoming streams.

What a subscriber takes costs the traffic to it and, the first time a topic is taken, the topic's stream into the cloud.
Topics that some subscriber cannot do without flow in anyway and cost nothing more. Every other topic has a price: its
stream, shared by all who took it in the round before. Subscribers choose by traffic and price; topics that few take
become expensive, are given up, and their takers move to topics that flow anyway. At the end, when it is known which
topics flow, these cost nothing more, and a subscriber who takes another one pays for all of its stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import exact_dot, is_time_over
from pubplan.problems.provision.methods import least_traffic
from pubplan.problems.provision.methods.gsp import GreedyCovers
from pubplan.problems.provision.methods.least_traffic import CheapestCovers
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import (
    MAX_WEIGHT,
    Selection,
    Stage1,
    Weights,
    chosen_pairs,
    scan_subscribers,
    selection_of,
)
from pubplan.problems.provision.survey import survey, traffic
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

PRICE_SCALE = 1 << 10
"""Costs of covers are in units of 1 / PRICE_SCALE of an event, or of a byte where sizes differ; coarser for huge
traffic.
"""

MAX_ROUNDS = 100


@dataclass(frozen=True)
class JointParameters:
    """How long prices are adjusted."""

    rounds: int = field(
        default=1, metadata={"help": "How often prices are set and covers chosen by them, from 1 to 100."}
    )

    def __post_init__(self) -> None:
        if not isinstance(self.rounds, int) or isinstance(self.rounds, bool) or not 1 <= self.rounds <= MAX_ROUNDS:
            raise ValueError(f"rounds must be a whole number from 1 to {MAX_ROUNDS}, not {self.rounds!r}.")


@dataclass(frozen=True)
class Pricing:
    """What taking a topic costs: ``costs`` by topic, prices included, and ``cost_per_event`` where there is none."""

    costs: Int64Array
    cost_per_event: int

    @classmethod
    def of(cls, problem: Problem, weights: Weights, prices: Int64Array) -> Pricing:
        """From prices by topic, times ``price_scale``."""
        is_uniform = problem.instance.common_size is not None
        per_event = price_scale(problem) * weights.outgoing
        return cls(traffic(problem) * per_event + weights.incoming * prices, per_event if is_uniform else 0)


def price_scale(problem: Problem) -> int:
    """The largest scale, up to PRICE_SCALE, with which the cost of all covers fits 64 bits, weights included."""
    scale, num_pairs = PRICE_SCALE, problem.workload.topic_array("subscribers") + 1
    largest = MAX_WEIGHT * exact_dot(traffic(problem), num_pairs)
    while scale > 1 and scale * largest >= 2**61:
        scale //= 2
    return scale


def shared_prices(problem: Problem, mandatory: Int64Array, takers: Int64Array) -> Int64Array:
    """The stream of each topic, shared by its takers, or in full if it has none; 0 for mandatory topics."""
    prices = price_scale(problem) * traffic(problem) // np.maximum(1, takers)
    prices[mandatory > 0] = 0
    return prices


def chooser_at(problem: Problem, events: Int64Array, weights: Weights, prices: Int64Array) -> CheapestCovers:
    """Chooses covers of least cost at these prices."""
    pricing = Pricing.of(problem, weights, prices)
    return CheapestCovers(events, pricing.costs, pricing.cost_per_event)


def select(
    problem: Problem, limit: int, weights: Weights, parameters: JointParameters, seed: int, spark: SparkSession | None
) -> tuple[Selection, ...]:
    """Three selections: covers by what flows after rounds of prices and covers; as fallbacks those of ``least-traffic``
    and ``gsp``. No round begins when time is over. The seed does not matter.
    """
    events = problem.instance.usable(limit)
    surveyed = survey(problem, limit, spark)
    takers = surveyed.least_traffic
    for _ in range(parameters.rounds):
        if is_time_over():
            break
        prices = shared_prices(problem, surveyed.mandatory, takers)
        choosers = {"joint": chooser_at(problem, events, weights, prices)}
        takers = scan_subscribers(problem, choosers, spark)["joint"].counts
    flows = (takers > 0) | (surveyed.mandatory > 0)
    last_prices = np.where(flows, 0, price_scale(problem) * traffic(problem))
    cheapest, greedy = least_traffic.least_traffic(problem, events), GreedyCovers.of(problem, events)
    return (
        selection_of(problem, "joint", chooser_at(problem, events, weights, last_prices), spark),
        Selection(least_traffic.NAME, surveyed.least_traffic, chosen_pairs(problem, cheapest), surveyed.num_inexact),
        Selection("gsp", surveyed.greedy, chosen_pairs(problem, greedy)),
    )


STAGE = Stage1(
    "joint",
    select,
    "the least traffic, incoming streams included",
    "P x threshold for each round, P x threshold / 64 where free topics do",
    JointParameters,
)
