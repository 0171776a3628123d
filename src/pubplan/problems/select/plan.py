"""The decisions: which topics are served, and in which order they were chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import Reason
from pubplan.planning import Certificate, Draft, Exact, Plan
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array

SERVED = "served"
SERVED_SCHEMA = pa.schema([("topic", pa.int32()), ("topic_id", pa.string()), ("cost", pa.int64())])
"""The one table of decisions: every served topic, ascending."""

TRAJECTORY_SCHEMA = pa.schema(
    [("topic", pa.int32()), ("cost", pa.int64()), ("satisfied", pa.float64()), ("bound", pa.float64())]
)
"""The topics in the order of choice; after each, the cost, the objective, and what no plan of that cost can beat."""

MULTIPLIERS = "multipliers"
MULTIPLIERS_SCHEMA = pa.schema([pa.field("multiplier", pa.int32(), nullable=False)])
"""One row per interest, in the order of the workload's blocks, in units of 2^-20 subscribers."""

SEARCH = "search"
TREE, VECTORS = "tree", "multipliers"
TREE_SCHEMA = pa.schema(
    [
        pa.field("parent", pa.int32(), nullable=False),
        pa.field("topic", pa.int32(), nullable=False),
        pa.field("served", pa.bool_(), nullable=False),
        pa.field("vector", pa.int32(), nullable=False),
        pa.field("payment", pa.int64(), nullable=False),
        pa.field("cost", pa.int64(), nullable=False),
    ]
)
"""The nodes of an exact search, the root first; -1 where there is no parent, topic or vector of multipliers."""

NUMBERS = pa.list_(pa.field("element", pa.uint32(), nullable=False))
VECTORS_SCHEMA = pa.schema(
    [pa.field("interests", NUMBERS, nullable=False), pa.field("multipliers", NUMBERS, nullable=False)]
)
"""One vector of multipliers per row, in units of 2^-32, of some interests of distinct subscribers, ascending.

Interests that a vector does not have are decided, or pay nothing.
"""


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
    curves = [certificate.curve for certificate in certificates if certificate.curve is not None]
    if draft.trajectory is None or not curves:
        return draft
    costs = draft.trajectory["cost"].to_numpy()
    bound = np.minimum.reduce([draft.trajectory["bound"].to_numpy(), *(curve(costs) for curve in curves)])
    place = TRAJECTORY_SCHEMA.get_field_index("bound")
    return replace(draft, trajectory=draft.trajectory.set_column(place, "bound", pa.array(bound)))


def measures(plan: Plan, table: str) -> dict[str, pa.ChunkedArray]:
    """For every served topic, what it costs and what it brought when it was chosen; nothing brought is known without
    a trajectory.
    """
    served, trajectory = plan.decisions(table), plan.trajectory()
    found = {"cost": served["cost"]}
    if trajectory is not None and trajectory.num_rows == served.num_rows:
        satisfied = trajectory["satisfied"].to_numpy()
        brought = pa.array(np.diff(satisfied, prepend=np.nan)).take(pc.sort_indices(trajectory["topic"]))
        found["brings"] = pa.chunked_array(
            [pc.replace_with_mask(brought, pc.is_nan(brought), pa.scalar(None, pa.float64()))]
        )
    return found


def _binding(problem: Problem, choice: Choice) -> tuple[Reason, ...]:
    """What keeps the plan from satisfying more: the cheapest topic that would help and no longer fits."""
    left = problem.capacity_cost - choice.cost
    too_big = choice.would_help & problem.is_open & (problem.costs > left)
    too_big[choice.order] = False
    if not too_big.any():
        return ()
    cheapest = int(problem.costs[too_big].min())
    return (Reason("capacity", cheapest, left, "the cheapest topic that would help"),)
