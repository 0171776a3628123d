"""``greedy-fb3m-eager``: ModifiedGreedyFB3M of Setty et al. with incremental instead of lazy updates.

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.select.draft import draft_of
from pubplan.problems.select.methods.greedy_fb3m import GUARANTEE, RATIO, GreedyFb3mParameters, better_rule
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_eager

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def greedy_fb3m_eager(
    problem: Problem, parameters: GreedyFb3mParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """``greedy-fb3m`` that corrects the gain of every topic that shares a subscriber with the one just chosen, by what
    changes for that subscriber alone.

    Chooses what the lazy one chooses. The paper has no such method: its baseline, ``greedy-fb3m-slow``, sums up the
    gain of such topics again over all their subscribers. Runs in one process: the seed and the session are not used.
    """
    choice = better_rule(parameters.rule, lambda by_ratio: run_eager(problem, is_whole=False, by_ratio=by_ratio))
    return draft_of(problem, choice)


METHOD = Method(
    name="greedy-fb3m-eager",
    run=greedy_fb3m_eager,
    guarantee=GUARANTEE,
    ratio=RATIO,
    complexity="O(T log T + sum over pairs (t, v) of |T_v|)",
    paper="pubplan; after Setty et al., INFOCOM 2014, Alg. 4-7",
    applies="F-B3M with any threshold; incremental updates, to measure lazy ones against",
    refusal=only_for("fb3m"),
    parameters=GreedyFb3mParameters,
)
