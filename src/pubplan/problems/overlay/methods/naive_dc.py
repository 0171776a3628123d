"""Naive divide and conquer: parts of all nodes, bulk ones included, are conquered, then all nodes combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.overlay.conquer import divide_and_conquer
from pubplan.problems.overlay.division import PartParameters, divide
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: PartParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay of parts that are drawn at random and connected by GM-M, then combined by GM-M among all nodes.

    Nothing is guaranteed: a part may make a node take a link for every topic (Lemma 8 of the paper). The seed decides
    the parts; with Spark each part is a task, and the overlay is the same.

    Raises:
        EngineError: the pairs of nodes do not fit into memory.
    """
    division = divide(problem, parameters, seed, eta=problem.num_topics)
    return draft_of(problem, divide_and_conquer(problem, division, None, spark))


METHOD = Method(
    name="naive-dc",
    run=run,
    guarantee="none: a part may make a node take a link for every topic",
    ratio=None,
    complexity="O(V^2 T)",
    paper="Chen, Vitenberg, Jacobsen 2011, Algorithm 7, combined as in Algorithm 10",
    applies="a baseline",
    parameters=PartParameters,
)
