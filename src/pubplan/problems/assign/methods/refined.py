"""Refined: the assignment of Gr*, improved step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.greedy import fewest_first
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.refine import refine
from pubplan.problems.assign.tighten import tighten

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class RefinedParameters:
    """How long an assignment is improved."""

    steps: int = field(
        default=6_000,
        metadata={"help": "How many steps improve the assignment at most: 6000 take 20 seconds for 100,000 clients."},
    )

    def __post_init__(self) -> None:
        check_int("steps", self.steps, 0, 100_000_000)


def run(problem: Problem, parameters: RefinedParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The assignment of ``gr-star`` with smaller filters; loads and latencies stay within the same limits.

    Two kinds of steps take turns. One pushes a side of a box of a leaf inwards as far as that pays: clients who fall
    out go where filters grow least. The other empties one to four leaves and assigns their clients anew, the large
    rectangles first, with some noise; it is taken back if filters are larger afterwards. The seed decides leaves and
    noise; Spark reads the clients.

    Raises:
        NotApplicable: clients of different weights found no room.
    """
    problem.instance.load(spark)
    ground = ground_of(problem)
    state, step, _ = fewest_first(ground)
    tighten(ground, state)
    refine(ground, state, ground.limits[step], seed, parameters.steps)
    return draft_of(problem, assignment_of(state))


METHOD = Method(
    name="refined",
    run=run,
    guarantee="never worse than gr-star; keeps the limits that gr-star keeps",
    ratio=None,
    complexity="that of gr-star for the clients of one leaf or some, for every step",
    paper="pubplan; starts from Yu, Agarwal, Yang 2011, section III (Gr*)",
    applies="the least bandwidth, for up to a million clients",
    parameters=RefinedParameters,
    stops_early=True,
)
