"""``greedy-fb3m``: ModifiedGreedyFB3M (Alg. 4 to 7) of Setty et al., with exact lazy evaluation.

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pubplan.planning import Draft, Method
from pubplan.problems.select.kernels import lazy_greedy
from pubplan.problems.select.plan import Choice, draft_of
from pubplan.problems.select.problem import FULL, MAX_THRESHOLD, Instance, Problem
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

RULES = ("best", "gain", "ratio")


@dataclass(frozen=True)
class GreedyFb3mParameters:
    """``rule``: choose topics by gain, by gain per cost (``ratio``), or do both and keep the better (``best``).

    Only ``best`` has the guarantee: the ratio rule alone can be arbitrarily bad (section VI-A).
    """

    rule: Literal["best", "gain", "ratio"] = "best"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not '{self.rule}'.")


def greedy_fb3m(
    problem: Problem, parameters: GreedyFb3mParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """Take the topic with the largest gain (or gain per cost) that fits, until nothing fits or nothing is gained.

    Guarantee: at least (1 - 1/e) / 2 of the best possible F-B3M value, with ``rule = "best"``. Gains only fall, so a
    topic is valued again only when it comes to the top of the heap; the choice is that of the eager greedy, ties to
    the smaller topic number. Runs in one process: the seed and the session are not used.
    """
    by_gain = parameters.rule == "gain"
    choice = run_rule(problem, by_ratio=not by_gain)
    if parameters.rule == "best":
        other = run_rule(problem, by_ratio=False)
        if other.objective >= choice.objective:  # Alg. 7: the gain rule wins a tie
            choice = other
    return draft_of(problem, choice)


def run_rule(problem: Problem, *, by_ratio: bool) -> Choice:
    """One greedy run (Alg. 5): by gain per cost, or by gain."""
    instance = problem.instance
    by_topic = instance.interests.by_topic
    num_topics = by_topic.num_rows
    order = np.empty(num_topics, dtype=np.int32)
    spent = np.empty(num_topics, dtype=np.int64)
    gained = np.empty(num_topics, dtype=np.int64)
    state = _room_and_slope(instance)
    num_chosen = lazy_greedy(
        state,
        np.minimum(instance.rates, MAX_THRESHOLD),
        instance.costs,
        by_topic.values,
        by_topic.offsets,
        order,
        spent,
        gained,
        problem.capacity_cost,
        by_ratio,
    )
    start = FULL * int(np.count_nonzero(instance.thresholds == 0))
    return Choice(
        order=order[:num_chosen].copy(),
        spent=spent[:num_chosen].copy(),
        reached=gained[:num_chosen] + start,
        start=start,
        is_wanting=state[:, 0] > 0,
    )


def _room_and_slope(instance: Instance) -> Int64Array:
    """Per subscriber, what is left up to full satisfaction and what one event adds; nothing where tau_v is 0."""
    state = np.zeros((instance.num_subscribers, 2), dtype=np.int64)
    wanting = instance.thresholds > 0
    state[wanting, 0] = FULL
    state[wanting, 1] = -(-FULL // instance.thresholds[wanting])
    return state


METHOD = Method(
    name="greedy-fb3m",
    run=greedy_fb3m,
    guarantee="(1 - 1/e)/2 = 0.316 of the best possible F-B3M value",
    ratio=(1 - 1 / math.e) / 2,
    complexity="O(T (P + T log T)) at worst; close to O(P + T log T) on real traces",
    paper="Setty et al., INFOCOM 2014, Alg. 4-7",
    applies="F-B3M with any threshold",
    refusal=lambda problem: None if problem.objective == "fb3m" else f"it maximises fb3m, not {problem.objective}.",
    parameters=GreedyFb3mParameters,
)
