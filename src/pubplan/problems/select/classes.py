"""Who is satisfied: subscribers counted by weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubplan.engine import map_blocks
from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_CLASSES = 12


@dataclass(frozen=True)
class WeightClass:
    """Subscribers with weights from ``min_weight`` to ``max_weight``.

    ``satisfied`` of them receive tau_v; ``mean_share`` is the mean of min(1, received / tau_v) over all of them.
    """

    min_weight: int
    max_weight: int
    subscribers: int
    satisfied: int
    mean_share: float


def satisfaction_by_weight(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> tuple[WeightClass, ...]:
    """How a plan treats subscribers of each weight, lightest first.

    Every weight has its class; where there are more than MAX_CLASSES weights, neighbours share one, with equally many
    different weights in each.

    Raises:
        InputError: the plan serves topics that the workload does not have.
    """
    groups = _groups(problem, spark)
    first = np.array([group[0] for group in groups], dtype=np.int64)
    num_classes = len(groups)
    reader, delivered = problem.instance.reader(), _delivered(problem, plan)

    def count(block: int) -> npt.NDArray[np.float64]:
        """By class: subscribers, satisfied ones, and the sum of their shares."""
        rows = reader.read(block)
        running = np.concatenate([[0], np.cumsum(delivered[rows.topics])])
        received = running[rows.offsets[1:]] - running[rows.offsets[:-1]]
        needed = rows.thresholds
        shares = np.where(needed > 0, np.minimum(received, needed) / np.maximum(needed, 1), 1.0)
        classes = np.searchsorted(first, rows.weights, side="right") - 1
        each = (np.ones(len(classes)), received >= needed, shares)
        return np.array([np.bincount(classes, values, num_classes) for values in each])

    totals = np.zeros((3, num_classes))
    for part in map_blocks(count, problem.workload.num_blocks, spark):
        totals += part
    return tuple(
        WeightClass(int(group[0]), int(group[-1]), int(number), int(satisfied), float(share / number))
        for group, number, satisfied, share in zip(groups, *totals, strict=True)
    )


def _groups(problem: Problem, spark: SparkSession | None) -> list[Int64Array]:
    """The different weights, cut into classes."""
    workload = problem.workload

    def distinct(block: int) -> Int64Array:
        return np.unique(workload.interests_block(block, "weight")["weight"].to_numpy())

    num_blocks = workload.num_blocks
    by_block = (
        map_blocks(distinct, num_blocks, spark) if problem.has_weights else [np.ones(min(1, num_blocks), np.int64)]
    )
    weights = np.unique(np.concatenate([np.empty(0, np.int64), *by_block]))
    return np.array_split(weights, min(len(weights), MAX_CLASSES)) if len(weights) else []


def _delivered(problem: Problem, plan: Plan) -> Int64Array:
    """Events per window that each topic delivers under the plan."""
    served = plan.decisions(SERVED)["topic"].to_numpy()
    if len(served) and (served.min() < 0 or served.max() >= len(problem.rates)):
        raise InputError(f"{plan.path} serves topics that {problem.workload.path} does not have.")
    delivered = np.zeros_like(problem.rates)
    delivered[served] = problem.rates[served]
    return delivered
