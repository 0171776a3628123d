"""Gr*: the clients with the fewest leaves to choose from first, each where filters grow least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.greedy import fewest_first
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.tighten import tighten

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An assignment in which filters have grown little, and loads are even.

    Clients are assigned one after the other, those first who have the fewest candidates with room; the order changes
    when a leaf fills up. Each goes to the candidate for which the filters from there to the publisher grow least, in
    case of a tie to the least loaded one. Loads stay within the desired factor as long as there is room, then rise
    towards the greatest allowed. Where even that leaves a client without room, others move on to make it. The seed is
    not used; Spark reads the clients.

    Raises:
        NotApplicable: clients of different weights found no room.
    """
    problem.instance.load(spark)
    ground = ground_of(problem)
    state, _, reasons = fewest_first(ground)
    tighten(ground, state)
    return draft_of(problem, assignment_of(state, reasons))


METHOD = Method(
    name="gr-star",
    run=run,
    guarantee="limits are kept wherever clients of weight 1 allow it",
    ratio=None,
    complexity="O(C L 2^b) for C clients, L leaves and b boxes; less where clients share rectangles",
    paper="Yu, Agarwal, Yang 2011, section III (Gr*)",
    applies="a million clients and more",
)
