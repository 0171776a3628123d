"""The decisions: which topics are served, and in which order they were chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import Reason
from pubplan.kernels import row_sums
from pubplan.planning import Draft, Exact
from pubplan.problems.select.problem import Instance, Problem
from pubplan.workload import Int32Array, Int64Array

SERVED = "served"
SERVED_SCHEMA = pa.schema([("topic", pa.int32()), ("topic_id", pa.string()), ("cost", pa.int64())])
"""The one table of decisions: every served topic, ascending."""

TRAJECTORY_SCHEMA = pa.schema([("topic", pa.int32()), ("cost", pa.int64()), ("satisfied", pa.float64())])
"""The topics in the order of choice, with cost and objective after each."""


@dataclass(frozen=True)
class Choice:
    """Topics in the order a method chose them, with cost and objective (in units of 1 / scale) after each.

    ``start`` is the objective before the first choice, ``is_wanting`` which subscribers are not satisfied at the end.
    """

    order: Int32Array
    spent: Int64Array
    reached: Int64Array
    start: int
    is_wanting: npt.NDArray[np.bool_]

    @property
    def objective(self) -> int:
        return int(self.reached[-1]) if len(self.reached) else self.start

    @property
    def cost(self) -> int:
        return int(self.spent[-1]) if len(self.spent) else 0


def draft_of(problem: Problem, choice: Choice) -> Draft:
    """A draft plan that serves the chosen topics."""
    instance = problem.instance
    served = np.sort(choice.order)
    topic_ids = problem.workload.topics("topic_id")["topic_id"]
    names = topic_ids.take(pa.array(served)).combine_chunks()
    decisions = pa.table([served, names, instance.costs[served]], schema=SERVED_SCHEMA)
    curve = [choice.order, choice.spent, choice.reached / problem.scale]
    trajectory = pa.table(curve, schema=TRAJECTORY_SCHEMA)
    claimed = Exact(choice.objective, problem.scale)
    return Draft({SERVED: decisions}, claimed, trajectory, _binding(problem, instance, choice))


def _binding(problem: Problem, instance: Instance, choice: Choice) -> tuple[Reason, ...]:
    """What keeps the plan from satisfying more: the cheapest topic that would help and no longer fits."""
    by_topic = instance.interests.by_topic
    num_wanting = np.empty(by_topic.num_rows, dtype=np.int64)
    row_sums(choice.is_wanting.astype(np.int64), by_topic.values, by_topic.offsets, num_wanting)
    left = problem.capacity_cost - choice.cost
    would_help = (num_wanting > 0) & (instance.costs > left)
    would_help[choice.order] = False
    if not would_help.any():
        return ()
    cheapest = int(instance.costs[would_help].min())
    return (Reason("capacity", cheapest, left, "the cheapest topic that would help"),)
