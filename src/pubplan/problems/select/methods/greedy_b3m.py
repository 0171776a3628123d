"""``greedy-b3m``: GreedyB3M (Alg. 1 and 2) of Setty et al.

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.select.draft import draft_of
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_eager

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def greedy_b3m(problem: Problem, parameters: NoParameters, seed: int = 0, spark: SparkSession | None = None) -> Draft:
    """Take the topic with the largest value per cost that fits, until nothing fits or nothing has a value.

    The value of t is the sum over its unsatisfied subscribers of min(1, rate(t) / what is still missing). It can rise
    when another topic is chosen, so every topic that shares an unsatisfied subscriber with the chosen one is corrected
    at once. Ties go to the smaller topic number. Runs in one process: the seed and the session are not used.
    """
    return draft_of(problem, run_eager(problem, is_whole=True))


METHOD = Method(
    name="greedy-b3m",
    run=greedy_b3m,
    guarantee="none: B3M has no constant factor unless densest-k-subgraph has one",
    ratio=None,
    complexity="O(T log T + sum over pairs (t, v) of |T_v| log T)",
    paper="Setty et al., INFOCOM 2014, Alg. 1-2",
    applies="B3M with any threshold",
    refusal=only_for("b3m"),
)
