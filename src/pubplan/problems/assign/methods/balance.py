"""Balance: the most even loads that latency limits allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.greedy import assign_rest
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.kernels.flows import follow_flows
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.problems.assign.tighten import tighten

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The assignment with the least load factor, by flows from groups of clients to leaves.

    A group that goes to several leaves is divided by the order of its rectangles. The seed is not used; Spark reads the
    clients.

    Raises:
        NotApplicable: clients of different weights found no room.
    """
    problem.instance.load(spark)
    ground, evenly = ground_of(problem), problem.instance.balance
    field, state = ground.field, ground.start()
    with stage(ASSIGNING):
        by_rectangle = np.argsort(field.rectangles, kind="stable").astype(np.int32)
        follow_flows(field, np.array(evenly.flows, dtype=np.int64), by_rectangle, state)
    reasons = assign_rest(ground, state, problem.instance.capacity(evenly.factor), METHOD.name)
    state.filters.sizes[:] = 0  # those that were enlarged for the rest know nothing of the others
    tighten(ground, state)
    return draft_of(problem, assignment_of(state, reasons))


METHOD = Method(
    name="balance",
    run=run,
    guarantee="the least load factor of all assignments where clients weigh the same",
    ratio=None,
    complexity="some flows over groups x leaves",
    paper="Yu, Agarwal, Yang 2011, section VI (Balance)",
    applies="comparison; how tight loads can be made",
)
