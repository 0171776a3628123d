"""Closest without balance: the nearest leaf, however many clients it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.assign.nearest import nearest_leaves
from pubplan.problems.assign.plan import LOAD_BROKEN
from pubplan.problems.assign.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Every client at its nearest candidate. The seed is not used; Spark reads the clients."""
    unlimited = np.full(problem.instance.num_brokers, np.iinfo(np.int64).max, dtype=np.int64)
    return nearest_leaves(problem, unlimited, spark)


METHOD = Method(
    name="closest-unbalanced",
    run=run,
    guarantee="the least latency of all assignments",
    ratio=None,
    complexity="O(C L) for C clients and L leaves",
    paper="Yu, Agarwal, Yang 2011, section VI (Closest-b)",
    applies="comparison: what it costs to look at latency alone",
    may_break=frozenset({LOAD_BROKEN}),
)
