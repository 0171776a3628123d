"""``enumerate-fb3m``: every set of up to three topics, completed greedily; for small instances.

The remark in section VI-B of Setty et al. (INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205), after M. Sviridenko: A note
on maximizing a submodular set function subject to a knapsack constraint. Operations Research Letters 32, 2004,
doi 10.1016/S0167-6377(03)00062-2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.select.draft import draft_of
from pubplan.problems.select.instance import start_state
from pubplan.problems.select.kernels.enumeration import enumerate_greedy
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_lazy

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_WORK = 2 * 10**9
"""Sets times the size of the instance: about a minute."""


def enumerate_fb3m(
    problem: Problem, parameters: NoParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """Complete every set of up to three topics by the greedy by gain per cost, and keep the best.

    Guarantee: at least 1 - 1/e of the best possible F-B3M value. Runs in one process: the seed and the session are not
    used.
    """
    instance = problem.instance
    begin = enumerate_greedy(
        start_state(instance.multi_topic.thresholds, is_whole=False),
        instance.demand,
        problem.is_open,
        problem.first_choices,
        problem.capacity_cost,
    )
    return draft_of(problem, run_lazy(problem, by_ratio=True, first_choices=begin))


def _refusal(problem: Problem) -> str | None:
    counts = problem.workload.counts
    num_sets = sum(math.comb(counts.topics, size) for size in range(4))
    if num_sets * (counts.pairs + counts.subscribers + counts.topics) > MAX_WORK:
        return f"it would complete {num_sets:,} sets of topics; it is meant for small instances."
    return only_for("fb3m")(problem)


METHOD = Method(
    name="enumerate-fb3m",
    run=enumerate_fb3m,
    guarantee="1 - 1/e = 0.632 of the best possible F-B3M value",
    ratio=1 - 1 / math.e,
    complexity="O(T^3 (P + T log T)) and more",
    paper="Setty et al., INFOCOM 2014, section VI-B; Sviridenko, Operations Research Letters 2004",
    applies="F-B3M on small instances: a hundred topics or so",
    refusal=_refusal,
)
