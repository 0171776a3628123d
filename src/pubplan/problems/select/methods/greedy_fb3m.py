"""``greedy-fb3m``: ModifiedGreedyFB3M (Alg. 4 to 7) of Setty et al., with exact lazy evaluation.

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pubplan.planning import Draft, Method
from pubplan.problems.select.draft import Choice, draft_of
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import run_lazy

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

RULES = ("best", "gain", "ratio")
GUARANTEE = "(1 - 1/e)/2 = 0.316 of the best possible F-B3M value"
RATIO = (1 - 1 / math.e) / 2


@dataclass(frozen=True)
class GreedyFb3mParameters:
    """By what topics are chosen.

    Only ``best`` has the guarantee: the ratio rule alone can be arbitrarily bad (section VI-A).
    """

    rule: Literal["best", "gain", "ratio"] = field(
        default="best",
        metadata={"help": "Choose topics by gain, by gain per cost (ratio), or do both and keep the better (best)."},
    )

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not '{self.rule}'")


def better_rule(rule: str, run: Callable[[bool], Choice]) -> Choice:
    """What ``run(by_ratio)`` chooses under a rule of :class:`GreedyFb3mParameters`."""
    choice = run(rule != "gain")
    if rule == "best":
        other = run(False)
        if other.objective >= choice.objective:  # Alg. 7: the gain rule wins a tie
            choice = other
    return choice


def greedy_fb3m(
    problem: Problem, parameters: GreedyFb3mParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """Take the topic with the largest gain (or gain per cost) that fits, until nothing fits or nothing is gained.

    Guarantee: at least (1 - 1/e) / 2 of the best possible F-B3M value, with ``rule = "best"``. Gains only fall, so a
    topic is valued again only when it comes to the top of the heap; the choice is that of the eager greedy, ties to
    the smaller topic number. Runs in one process: the seed and the session are not used.
    """
    return draft_of(problem, better_rule(parameters.rule, lambda by_ratio: run_lazy(problem, by_ratio=by_ratio)))


METHOD = Method(
    name="greedy-fb3m",
    run=greedy_fb3m,
    guarantee=GUARANTEE,
    ratio=RATIO,
    complexity="O(T (P + T log T)) at worst; close to O(P + T log T) on real traces",
    paper="Setty et al., INFOCOM 2014, Alg. 4-7",
    applies="F-B3M with any threshold",
    refusal=only_for("fb3m"),
    parameters=GreedyFb3mParameters,
)
