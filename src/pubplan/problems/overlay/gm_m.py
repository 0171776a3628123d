"""GM-M: one greedy choice after the other among all pairs of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.conquer import greedy_links
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.links import GREEDY, in_one_phase
from pubplan.problems.overlay.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, own: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    rows = problem.rows
    with stage("linking nodes"):
        links, work = greedy_links(rows, problem.num_topics)
    return draft_of(problem, in_one_phase(links, GREEDY, work))


METHOD = Method(
    name="gm-m",
    run=run,
    guarantee="at most log(V T) times the least maximum degree",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Chen, Vitenberg, Jacobsen 2011, Algorithms 1 to 6; rule of Onus and Richa 2009",
    applies="overlays of some thousand nodes",
)
