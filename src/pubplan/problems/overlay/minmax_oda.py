"""MinMax-ODA: as GM-M, but every matching is completed by links that join nothing, which are dropped at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.greedy import Greedy, by_topic_of, components_of
from pubplan.problems.overlay.kernels import add_neighbours, complete_matching
from pubplan.problems.overlay.links import GREEDY, in_one_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, own: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    rows = problem.rows
    with stage("linking nodes"):
        degrees = np.zeros(rows.num_rows, dtype=np.int32)
        greedy = Greedy(components_of(rows), by_topic_of(rows, problem.num_topics), degrees)
        greedy.run(after_phase=_Matchings(rows.num_rows).complete)
    return draft_of(problem, in_one_phase(greedy.links, GREEDY, greedy.work))


class _Matchings:
    """Links that join nothing, beside those that the greedy choice made."""

    def __init__(self, num_nodes: int) -> None:
        self._neighbours: Int32Array = np.empty((num_nodes, 0), dtype=np.int32)
        self._counted: Int32Array = np.zeros(num_nodes, dtype=np.int32)
        self._num_links = 0

    def complete(self, greedy: Greedy, limit: int) -> None:
        """Complete the matching of a phase."""
        more = limit - self._neighbours.shape[1]
        self._neighbours = np.pad(self._neighbours, ((0, 0), (0, more)))
        add_neighbours(greedy.links[self._num_links :], self._counted, self._neighbours)
        self._num_links = len(greedy.links)
        complete_matching(self._counted, limit, self._neighbours)
        greedy.degrees[:] = self._counted


METHOD = Method(
    name="minmax-oda",
    run=run,
    guarantee="at most log(V T) times the least maximum degree",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Onus and Richa 2009, as Chen, Vitenberg, Jacobsen 2011, section IV-A, describes it",
    applies="overlays of some thousand nodes",
)
