"""Gr without latency limits: how little bandwidth it takes if nobody has to be served in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.kernels.order import assign_in_order
from pubplan.problems.assign.plan import LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.problems.assign.tighten import tighten

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The assignment of ``gr`` if every client could use all leaves that it is allowed to, however far they are.

    The seed is not used; Spark reads the clients.
    """
    problem.instance.load(spark)
    ground = ground_of(problem, is_latency_kept=False)
    state = ground.start()
    with stage(ASSIGNING):
        assign_in_order(ground.field, state, ground.limits, np.ones(1, dtype=np.int64), 0, False)
    tighten(ground, state)
    return draft_of(problem, assignment_of(state))


METHOD = Method(
    name="gr-no-latency",
    run=run,
    guarantee="loads are kept where all leaves are allowed and clients weigh the same",
    ratio=None,
    complexity="that of gr, with all leaves as candidates",
    paper="Yu, Agarwal, Yang 2011, section VI (Gr-l)",
    applies="comparison: what latency limits cost",
    may_break=frozenset({LATENCY_BROKEN, LOAD_BROKEN}),
)
