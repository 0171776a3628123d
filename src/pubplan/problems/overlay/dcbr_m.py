"""DCBR-M: parts of light nodes are conquered, then bulk nodes and representatives of the parts combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.overlay.conquer import divide_and_conquer
from pubplan.problems.overlay.division import CoverageParameters, divide
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.links import Overlay
from pubplan.problems.overlay.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def overlay_of(problem: Problem, own: CoverageParameters, seed: int, spark: SparkSession | None) -> Overlay:
    """The overlay of DCBR-M."""
    division = divide(problem, own, seed, eta=own.eta, coverage=own.coverage)
    return divide_and_conquer(problem, division, own.coverage, spark)


def run(problem: Problem, own: CoverageParameters, seed: int, spark: SparkSession | None) -> Draft:
    return draft_of(problem, overlay_of(problem, own, seed, spark))


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
