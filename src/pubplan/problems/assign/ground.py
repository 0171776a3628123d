"""What all methods begin with: the arrays of a problem, and how much load leaves may have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pubplan.errors import Reason
from pubplan.problems.assign.assignment import Assignment
from pubplan.problems.assign.field import field_of, start_state, tree_of
from pubplan.problems.assign.kernels.field import Field, State, Tree
from pubplan.problems.assign.problem import Problem
from pubplan.workload import UNLIMITED_US, Int64Array, candidates_of

LOAD_STEPS = 32
"""In how many steps the load factor rises from the desired to the greatest allowed one."""


@dataclass(frozen=True)
class Ground:
    """What a method works on.

    Attributes:
        limits: by step and broker how much load it may have, from the desired load factor to the greatest allowed.
        alpha: how many boxes a filter may have.
    """

    field: Field
    tree: Tree
    limits: Int64Array
    alpha: int

    def start(self) -> State:
        """Nobody assigned yet."""
        return start_state(self.field, self.alpha)


def ground_of(problem: Problem, *, is_latency_kept: bool = True) -> Ground:
    """The ground of a problem; without latency limits, clients may go to all leaves that they are allowed to use."""
    instance = problem.instance
    field = field_of(instance)
    if not is_latency_kept:
        groups = instance.groups
        unlimited = replace(groups, limits=np.full(groups.num_groups, UNLIMITED_US, dtype=np.int64))
        candidates = candidates_of(problem.workload, unlimited, problem.hop)
        field = field._replace(offsets=candidates.offsets, candidates=candidates.brokers)
    rise = problem.max_factor - problem.factor
    factors = [problem.factor + rise * step / LOAD_STEPS for step in range(LOAD_STEPS + 1)]
    limits = np.array([instance.capacity(factor) for factor in factors], dtype=np.int64)
    return Ground(field, tree_of(instance), limits, problem.boxes)


def assignment_of(state: State, reasons: tuple[Reason, ...] = ()) -> Assignment:
    """Who is where, and the boxes that are in use.

    Args:
        reasons: why clients are not where the method's rule would have them.
    """
    boxes, sizes = state.filters.boxes, state.filters.sizes
    is_used = np.arange(boxes.shape[1]) < sizes[:, None]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    return Assignment(state.brokers, boxes[is_used], offsets, reasons)
