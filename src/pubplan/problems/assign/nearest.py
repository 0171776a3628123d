"""Assignments to the nearest leaf, which do not look at rectangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import stage
from pubplan.planning import Draft
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.kernels.nearest import assign_nearest
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.problems.assign.tighten import tighten
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def nearest_leaves(problem: Problem, limits: Int64Array, spark: SparkSession | None) -> Draft:
    """Every client in its order at its nearest candidate with room within ``limits``, else at its nearest candidate.

    Nearest by the latency that the problem counts. Since the nearest leaf of all is a candidate, latency limits hold.
    """
    problem.instance.load(spark)
    ground = ground_of(problem)
    state = ground.start()
    with stage(ASSIGNING):
        assign_nearest(ground.field, np.array(problem.instance.latencies, dtype=np.int64), limits, state)
    tighten(ground, state)
    return draft_of(problem, assignment_of(state))
