"""``greedy-fb3m-slow``: ModifiedGreedyFB3MSlow of Setty et al., the baseline of their Fig. 4.

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.select.draft import draft_of
from pubplan.problems.select.methods.greedy_fb3m import GUARANTEE, RATIO, GreedyFb3mParameters, better_rule
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_recomputing

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def greedy_fb3m_slow(
    problem: Problem, parameters: GreedyFb3mParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """``greedy-fb3m`` that after each choice values from scratch every topic that shares a subscriber with it.

    Chooses what the lazy one chooses, with much more work. Subscribers of a single topic, who share none, are counted
    once. Runs in one process: the seed and the session are not used.
    """
    return draft_of(problem, better_rule(parameters.rule, lambda by_ratio: run_recomputing(problem, by_ratio=by_ratio)))


METHOD = Method(
    name="greedy-fb3m-slow",
    run=greedy_fb3m_slow,
    guarantee=GUARANTEE,
    ratio=RATIO,
    complexity="O(T log T + sum over topics t of the subscribers of all topics that share one with t)",
    paper="Setty et al., INFOCOM 2014, section VII-C (ModifiedGreedyFB3MSlow)",
    applies="F-B3M with any threshold; the paper's baseline, to measure against",
    refusal=only_for("fb3m"),
    parameters=GreedyFb3mParameters,
)
