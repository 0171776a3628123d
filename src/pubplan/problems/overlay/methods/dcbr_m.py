"""DCBR-M: parts of light nodes are conquered, then bulk nodes and representatives of the parts combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.overlay.conquer import divide_and_conquer
from pubplan.problems.overlay.division import CoverageParameters, divide
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.overlay import Overlay
from pubplan.problems.overlay.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def overlay_of(problem: Problem, parameters: CoverageParameters, seed: int, spark: SparkSession | None) -> Overlay:
    """The overlay of DCBR-M, without trees."""
    division = divide(problem, parameters, seed, eta=parameters.eta, coverage=parameters.coverage)
    return divide_and_conquer(problem, division, parameters.coverage, spark)


def run(problem: Problem, parameters: CoverageParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay of parts of light nodes that are connected by GM-M, then combined by GM-M among bulk nodes and
    representatives of the parts.

    Each topic of a part that other nodes want too has ``coverage`` representatives, or all its nodes if it has fewer;
    so pairs are sought among few nodes at a time. The seed decides the parts; with Spark each part is a task, and the
    overlay is the same.

    Raises:
        EngineError: the pairs of nodes that are compared at once do not fit into memory.
    """
    return draft_of(problem, overlay_of(problem, parameters, seed, spark))


METHOD = Method(
    name="dcbr-m",
    run=run,
    guarantee="O(eta + log(V T) times the least maximum degree for bulk nodes and representatives)",
    ratio=None,
    complexity="O(((B + R)^2 + L^2 / p) T) for B bulk nodes, L others in p parts, R representatives",
    paper="Chen, Vitenberg, Jacobsen 2011, Algorithms 11 to 13",
    applies="overlays of many nodes",
    parameters=CoverageParameters,
)
