"""GM-M: one greedy choice after the other among all pairs of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.conquer import greedy_links
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.overlay import GREEDY, overlay_of_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import LINKING

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay whose maximum degree is at most log(V T) times the least.

    Each link is the one with the largest contribution among those that do not raise the maximum degree, else among all
    (:mod:`~pubplan.problems.overlay.greedy`). Neither the seed nor Spark is used.

    Raises:
        EngineError: the pairs of nodes do not fit into memory.
    """
    topics_by_node = problem.instance.topics_by_node  # read before the stage: reading is not linking
    with stage(LINKING):
        links, work = greedy_links(topics_by_node, problem.num_topics)
    return draft_of(problem, overlay_of_phase(links, GREEDY, work))


METHOD = Method(
    name="gm-m",
    run=run,
    guarantee="at most log(V T) times the least maximum degree",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Chen, Vitenberg, Jacobsen 2011, Algorithms 1 to 6; rule of Onus and Richa 2009",
    applies="overlays of some thousand nodes",
)
