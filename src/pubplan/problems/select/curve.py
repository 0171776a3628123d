"""Capacity against satisfaction: what one plan's trajectory says about every smaller capacity."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_sum, map_blocks, stage
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Plan, make_parameters
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pubplan.engine import SparkSession
    from pubplan.planning import Method

SHARES = (1, 2, 5, 10, 20, 50)
"""The capacities that a curve is asked for, in percent of the total cost."""

MAX_RUNS = 16


@dataclass(frozen=True)
class Point:
    """What a capacity gives: the objective of the plan's choices up to there, and what no plan can beat."""

    percent: float
    cost: int
    satisfied: float
    satisfied_percent: float
    bound: float


@dataclass(frozen=True)
class Curve:
    """Points at round capacities up to the plan's own, and the knee: where more capacity begins to bring less.

    A plan without choices has its knee where it starts.
    """

    points: tuple[Point, ...]
    knee: Point

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def curve_of(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Curve:
    """The curve of a plan that has a trajectory.

    The satisfied share at a smaller capacity is a lower estimate: a plan made for it may fill up with topics that
    this one took later.

    Raises:
        InputError: the plan has no trajectory.
    """
    trajectory = plan.trajectory()
    if trajectory is None:
        raise InputError(f"{plan.path} has no trajectory, so it has no curve.")
    start = _start(problem, spark)
    costs = np.concatenate([[0], trajectory["cost"].to_numpy()])
    satisfied = np.concatenate([[start], trajectory["satisfied"].to_numpy()])
    bounds = np.concatenate([[float(problem.total_weight)], trajectory["bound"].to_numpy()])
    last_bound = float(problem.total_weight) if plan.record["bound"] is None else plan.record["bound"]

    def at(place: int, cost: int) -> Point:
        share = 100 * satisfied[place] / problem.total_weight if problem.total_weight else 100.0
        next_place = place if costs[place] == cost else place + 1
        # A bound holds for its capacity and every smaller one; behind the last choice there is the plan's own.
        bound = bounds[next_place] if next_place < len(bounds) else last_bound
        percent = 100 * cost / problem.total_cost if problem.total_cost else 0.0
        return Point(float(percent), cost, float(satisfied[place]), float(share), float(bound))

    def percent_of(share: int) -> int:
        return share * problem.total_cost // 100

    limit = problem.capacity_cost
    asked = [percent_of(share) for share in SHARES if percent_of(share) <= limit]
    points = tuple(at(int(np.searchsorted(costs, cost, side="right")) - 1, cost) for cost in asked)
    knee = 1 + knee_of(costs[1:], satisfied[1:]) if len(costs) > 1 else 0
    return Curve(points, at(knee, int(costs[knee])))


def knee_of(costs: Int64Array, satisfied: npt.NDArray[np.float64]) -> int:
    """The choice at which a trajectory stands highest above the straight line from its first choice to its last."""
    width, height = max(1, int(costs[-1] - costs[0])), max(satisfied[-1] - satisfied[0], 1e-300)
    return int(np.argmax((satisfied - satisfied[0]) / height - (costs - costs[0]) / width))


def _start(problem: Problem, spark: SparkSession | None) -> float:
    """What nothing satisfies: the weight of the subscribers who want nothing."""
    reader = problem.rows()

    def idle(block: int) -> int:
        rows = reader.read(block)
        return exact_sum(rows.weights[rows.thresholds == 0])

    return float(sum(map_blocks(idle, len(problem.workload.interests_blocks), spark)))


def share_of(text: str) -> Fraction:
    """A share such as ``80%``.

    Raises:
        InputError: it is not a percentage from 0% to 100%.
    """
    try:
        share = Fraction(text.strip().removesuffix("%").strip()) / 100 if text.strip().endswith("%") else None
    except (ValueError, ZeroDivisionError):
        share = None
    if share is None or not 0 <= share <= 1:
        raise InputError(f"The share to satisfy is a percentage such as 80%, not '{text}'.")
    return share


def least_capacity(
    problem: Problem,
    share: str,
    method: Method,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    spark: SparkSession | None = None,
) -> Problem:
    """The problem with the least capacity for which ``method`` satisfies a share of the subscribers' weight.

    1. Plan without a limit; what it has spent when it reaches the share is the next capacity to try.
    2. Go on like that, and halve the range where a run does not help: a run for a smaller capacity can do better than
       the beginning of a long one. Ends within a thousandth of the capacity.

    Raises:
        Infeasible: no capacity is enough.
    """
    goal = -(-share_of(share) * problem.total_weight * problem.scale // 1)
    own: Any = make_parameters(method.parameters, parameters or {}, f"method {method.name}")

    def reaching(capacity: int) -> int | None:
        """The cost at which a run for ``capacity`` has reached the goal."""
        asked = replace(problem, capacity=capacity)
        if "instance" in problem.__dict__:
            asked.__dict__["instance"] = problem.instance
        draft = method.run(asked, own, seed, spark)
        if draft.claimed.value < goal or draft.trajectory is None:
            return None
        reached = draft.trajectory["satisfied"].to_numpy() * problem.scale
        places = np.flatnonzero(reached >= float(goal))
        return int(draft.trajectory["cost"][int(places[0])].as_py()) if len(places) else 0

    low, high = exact_sum(problem.costs[problem.first_choices]), problem.total_cost
    with stage("looking for the least capacity", MAX_RUNS) as advance:
        reached = reaching(high)  # 1
        if reached is None:
            raise Infeasible(
                f"No capacity satisfies {share}.", [Reason("satisfied", share, "less, even with everything served")]
            )
        for _ in range(MAX_RUNS):  # 2
            if high - low <= max(1, high // 1000):
                break
            trial = (low + high) // 2 if reached is None or not low < reached < high else reached
            reached = reaching(trial)
            low, high = (trial, high) if reached is None else (low, trial)
            advance(1)
    return replace(problem, capacity=high)
