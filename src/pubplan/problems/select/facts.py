"""What a plan of ``select`` says, in numbers: the facts behind its sentences."""

from __future__ import annotations

from typing import Any

from pubplan.planning import Result
from pubplan.problems.select.curve import share_of
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem, cost_unit

MAX_PERCENT = 100
"""A capacity up to this may be a share whose percent sign was forgotten."""

NEXT_TO_NOTHING = 1000
"""A capacity below the total cost over this serves next to nothing."""


def hints(problem: Problem) -> list[str]:
    """What was probably not meant: a capacity like a percentage that serves next to nothing."""
    capacity, total = problem.capacity, problem.total_cost
    if not isinstance(capacity, int) or not 0 < capacity <= MAX_PERCENT or capacity * NEXT_TO_NOTHING > total:
        return []
    return [
        f"A capacity of {capacity} is less than 0.1 % of the {total:,} {cost_unit(problem.cost)} that all topics take. "
        f"For a share, write the capacity as {capacity}%."
    ]


def facts_of(problem: Problem, result: Result, satisfy: str | None) -> dict[str, Any]:
    """What is served, satisfied, used and proven; for a share that was asked for, the capacity that it takes."""
    served = result.plan.decisions(SERVED)
    total = problem.total_weight
    facts: dict[str, Any] = {
        "topics_served": served.num_rows,
        "topics": problem.workload.counts.topics,
        "satisfied": result.objective,
        "satisfiable": total,
        "satisfied_share": result.objective / total if total else None,
        "unit": problem.unit,
        "capacity_used": sum(served["cost"].to_pylist()),
        "capacity": problem.capacity_cost,
        "capacity_asked": problem.capacity,
        "total_cost": problem.total_cost,
        "capacity_unit": cost_unit(problem.cost),
        "bound": result.bound,
        "gap": result.gap,
        "hints": hints(problem),
    }
    if satisfy is not None:
        facts["least_capacity"] = {
            "share": satisfy,
            "capacity": problem.capacity_cost,
            "ruled_out": ruled_out_capacity(problem, result, satisfy),
        }
    return facts


def ruled_out_capacity(problem: Problem, result: Result, share: str) -> int | None:
    """The largest capacity of which the bound proves that it cannot satisfy a share; None where nothing is proven."""
    trajectory = result.plan.trajectory()
    if trajectory is None or result.bound is None:
        return None
    goal = float(share_of(share) * problem.total_weight)
    too_little = trajectory.filter(trajectory["bound"].to_numpy() < goal)["cost"].to_pylist()
    return max(too_little, default=None)
