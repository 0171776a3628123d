"""MinMax-ODA: as GM-M, but every matching is completed by links that join nothing, which are dropped at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.entries import components_of, entries_by_topic
from pubplan.problems.overlay.greedy import Greedy
from pubplan.problems.overlay.kernels.matchings import add_neighbours, complete_matching
from pubplan.problems.overlay.overlay import GREEDY, overlay_of_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import LINKING
from pubplan.workload import Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay whose maximum degree is at most log(V T) times the least, as GM-M has it nearly always.

    Before the maximum degree rises, nodes with fewer links get links that join nothing; the plan does not have them.
    Neither the seed nor Spark is used.

    Raises:
        EngineError: the pairs of nodes do not fit into memory.
    """
    topics_by_node = problem.instance.topics_by_node  # read before the stage: reading is not linking
    with stage(LINKING):
        degrees = np.zeros(problem.num_nodes, dtype=np.int32)
        greedy = Greedy(components_of(topics_by_node), entries_by_topic(topics_by_node, problem.num_topics), degrees)
        greedy.run(after_phase=_Matchings(problem.num_nodes).complete)
    return draft_of(problem, overlay_of_phase(greedy.links, GREEDY, greedy.work))


class _Matchings:
    """Links that join nothing, together with those of the greedy choice."""

    def __init__(self, num_nodes: int) -> None:
        self._neighbours: Int32Array = np.empty((num_nodes, 0), dtype=np.int32)
        self._degrees: Int32Array = np.zeros(num_nodes, dtype=np.int32)
        self._num_links = 0

    def complete(self, greedy: Greedy, degree_limit: int) -> None:
        """Complete the matching of a phase: no two unlinked nodes are left below the limit."""
        num_columns = degree_limit - self._neighbours.shape[1]
        self._neighbours = np.pad(self._neighbours, ((0, 0), (0, num_columns)))
        add_neighbours(greedy.links.take(slice(self._num_links, None)), self._degrees, self._neighbours)
        self._num_links = greedy.links.num_links
        complete_matching(self._degrees, degree_limit, self._neighbours)
        greedy.degrees[:] = self._degrees


METHOD = Method(
    name="minmax-oda",
    run=run,
    guarantee="at most log(V T) times the least maximum degree",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Onus and Richa 2009, as Chen, Vitenberg, Jacobsen 2011, section IV-A, describes it",
    applies="overlays of some thousand nodes",
)
