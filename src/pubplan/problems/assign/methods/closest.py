"""Closest: the nearest leaf that has room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.assign.nearest import nearest_leaves
from pubplan.problems.assign.plan import LOAD_BROKEN
from pubplan.problems.assign.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Every client, in its order, at the nearest candidate that is not full at the greatest allowed load factor.

    A client whose candidates are all full overloads the nearest. The seed is not used; Spark reads the clients.
    """
    return nearest_leaves(problem, problem.instance.capacity(problem.max_factor), spark)


METHOD = Method(
    name="closest",
    run=run,
    guarantee="latency limits are kept",
    ratio=None,
    complexity="O(C L) for C clients and L leaves",
    paper="Yu, Agarwal, Yang 2011, section VI (Closest)",
    applies="comparison: what it costs not to look at subscriptions",
    may_break=frozenset({LOAD_BROKEN}),
)
