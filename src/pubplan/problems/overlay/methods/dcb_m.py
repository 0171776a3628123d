"""DCB-M: parts of light nodes are conquered, then all nodes combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.overlay.conquer import divide_and_conquer
from pubplan.problems.overlay.division import BulkParameters, divide
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: BulkParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay of parts of light nodes that are connected by GM-M, then combined by GM-M among all nodes.

    Light nodes, with at most eta topics, get O(eta) links in their part; combining adds at most what GM-M does. The
    seed decides the parts; with Spark each part is a task, and the overlay is the same.

    Raises:
        EngineError: the pairs of nodes do not fit into memory.
    """
    division = divide(problem, parameters, seed, eta=parameters.eta)
    return draft_of(problem, divide_and_conquer(problem, division, None, spark))


METHOD = Method(
    name="dcb-m",
    run=run,
    guarantee="O(eta + log(V T) times the least maximum degree)",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Chen, Vitenberg, Jacobsen 2011, Algorithms 8 to 10",
    applies="overlays of some thousand nodes",
    parameters=BulkParameters,
)
