"""``greedy-max``: the ratio greedy, each of whose prefixes may be completed with its best single topic, or the greedy
by gain where that is better.

G. Yaroslavtsev, S. Zhou, D. Avdiukhin: "Bring Your Own Greedy"+Max: Near-Optimal 1/2-Approximations for Submodular
Knapsack. AISTATS 2020, arXiv 1910.05646.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.select.draft import draft_of
from pubplan.problems.select.instance import start_state
from pubplan.problems.select.kernels.enumeration import best_completion
from pubplan.problems.select.kernels.values import Run
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_lazy

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def greedy_max(problem: Problem, parameters: NoParameters, seed: int = 0, spark: SparkSession | None = None) -> Draft:
    """Run the greedy by gain per cost, take the prefix that is worth most with one more topic, and fill up the rest.

    The greedy by gain, which is quick in comparison, replaces it where it reaches more. Guarantee: at
    least 1/2 of the best possible F-B3M value, and no less than ``greedy-fb3m``. Runs in one process: the seed and the
    session are not used.
    """
    choice = run_lazy(problem, by_ratio=True)
    instance = problem.instance
    prefix, topic = best_completion(
        start_state(instance.multi_topic.thresholds, is_whole=False),
        instance.demand,
        problem.is_open,
        Run(choice.order, choice.spent, choice.reached - choice.start),
        len(problem.first_choices),
        problem.capacity_cost,
    )
    if prefix >= 0:
        begin = np.append(choice.order[:prefix], np.int32(topic))
        completed = run_lazy(problem, by_ratio=True, first_choices=begin)
        if completed.objective > choice.objective:
            choice = completed
    by_gain = run_lazy(problem, by_ratio=False)
    if by_gain.objective > choice.objective:
        choice = by_gain
    return draft_of(problem, choice)


METHOD = Method(
    name="greedy-max",
    run=greedy_max,
    guarantee="1/2 of the best possible F-B3M value, and never worse than greedy-fb3m",
    ratio=0.5,
    complexity="that of greedy-fb3m twice; close to O(P + T log T) on real traces",
    paper="Yaroslavtsev, Zhou, Avdiukhin, AISTATS 2020 (Greedy+Max), on the greedy of Setty et al., INFOCOM 2014",
    applies="F-B3M with any threshold",
    refusal=only_for("fb3m"),
)
