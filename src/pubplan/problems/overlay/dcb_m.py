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


def run(problem: Problem, own: BulkParameters, seed: int, spark: SparkSession | None) -> Draft:
    division = divide(problem, own, seed, eta=own.eta)
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
