"""From what a method chose to the draft of a plan, and what certificates add to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import Reason
from pubplan.planning import Certificate, Draft, Exact
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA, TRAJECTORY_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array


@dataclass(frozen=True)
class CurveCertificate(Certificate):
    """A certificate that bounds the objective for other capacities too: ``curve`` has the bound for each of them."""

    curve: Callable[[Int64Array], npt.NDArray[np.float64]] = field(kw_only=True)


@dataclass(frozen=True)
class Choice:
    """Topics in the order a method chose them, with cost and objective (in units of 1 / scale) after each.

    ``start`` is the objective before the first choice, ``would_help`` which topics have a subscriber who is not
    satisfied at the end.
    """

    order: Int32Array
    spent: Int64Array
    reached: Int64Array
    start: int
    would_help: npt.NDArray[np.bool_]

    @property
    def objective(self) -> int:
        return int(self.reached[-1]) if len(self.reached) else self.start

    @property
    def cost(self) -> int:
        return int(self.spent[-1]) if len(self.spent) else 0


def draft_of(problem: Problem, choice: Choice) -> Draft:
    """A draft plan that serves the chosen topics."""
    served = np.sort(choice.order)
    topic_ids = problem.workload.topics("topic_id")["topic_id"]
    names = topic_ids.take(pa.array(served)).combine_chunks()
    decisions = pa.table([served, names, problem.costs[served]], schema=SERVED_SCHEMA)
    unbounded = np.full(len(served), float(problem.total_weight))
    curve = [choice.order, choice.spent, choice.reached / problem.scale, unbounded]
    trajectory = pa.table(curve, schema=TRAJECTORY_SCHEMA)
    claimed = Exact(choice.objective, problem.scale)
    return Draft({SERVED: decisions}, claimed, trajectory, _binding(problem, choice))


def with_bound_curve(problem: Problem, draft: Draft, certificates: tuple[Certificate, ...]) -> Draft:
    """Fill in the trajectory's bounds: for every cost on the way, the least that a certificate gives."""
    curves = [certificate.curve for certificate in certificates if isinstance(certificate, CurveCertificate)]
    if draft.trajectory is None or not curves:
        return draft
    costs = draft.trajectory["cost"].to_numpy()
    bound = np.minimum.reduce([draft.trajectory["bound"].to_numpy(), *(curve(costs) for curve in curves)])
    column = TRAJECTORY_SCHEMA.get_field_index("bound")
    return replace(draft, trajectory=draft.trajectory.set_column(column, "bound", pa.array(bound)))


def _binding(problem: Problem, choice: Choice) -> tuple[Reason, ...]:
    """What keeps the plan from satisfying more: the cheapest topic that would help and no longer fits."""
    left = problem.capacity_cost - choice.cost
    too_big = choice.would_help & problem.is_open & (problem.costs > left)
    too_big[choice.order] = False
    if not too_big.any():
        return ()
    cheapest = int(problem.costs[too_big].min())
    return (problem.capacity_reason(cheapest, left, "the cheapest topic that would help"),)
