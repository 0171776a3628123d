"""Capacity against satisfaction: what one plan's trajectory says about every smaller capacity."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pubplan.arguments import argument
from pubplan.engine import exact_sum, map_blocks, muted, stage, stores_below
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Exact, Plan, make_parameters
from pubplan.problems.select.bound import lagrangian_bound
from pubplan.problems.select.entry import MAX_RUNS, narrowed
from pubplan.problems.select.methods import blockwise
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.runs import run_eager, run_lazy
from pubplan.quantities import share_fraction, share_hint, share_text
from pubplan.text import counted, percent
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pubplan.engine import SparkSession
    from pubplan.planning import Draft, Method

SHARES = (1, 2, 5, 10, 20, 50)
"""The capacities that a curve is asked for, in percent of the total cost."""

MAX_TIGHT_INTERESTS = 5_000_000
"""Up to this many interests, what no plan can beat is computed anew for every capacity that is shown."""


@dataclass(frozen=True)
class Point:
    """What a capacity gives: the objective of the plan's choices up to there, and what no plan can beat."""

    percent: float
    cost: int
    satisfied: float
    satisfied_percent: float
    bound: float
    bound_percent: float


@dataclass(frozen=True, repr=False)
class Curve:
    """Points at round capacities up to that of the plan, and the knee of the whole curve.

    Attributes:
        has_tight_bounds: whether bounds were computed for each capacity, not carried over from that of the plan.

    >>> curve = pubplan.select.curve_of(problem, plan)
    >>> curve
    Curve(5 points, knee at 9.5 % of the total cost)
    >>> curve.knee.satisfied
    1.0
    """

    points: tuple[Point, ...]
    knee: Point
    has_tight_bounds: bool

    def __repr__(self) -> str:
        return (
            f"Curve({counted(len(self.points), 'point')}, knee at {percent(self.knee.percent / 100)} of the total cost)"
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def curve_of(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Curve:
    """The curve of a plan that has a trajectory, with its knee, and bounds as tight as a plan for each capacity has.

    Args:
        spark: a session to run passes over the workload on; None runs them in this process.

    Raises:
        InputError: the plan has no trajectory.

    >>> [point.cost for point in pubplan.select.curve_of(problem, plan).points]
    [0, 0, 1, 2, 4]
    """
    points, knee = curve_points(problem, plan, spark), knee_point(problem, plan.method, spark)
    is_tight = plan.record["bound"] is not None and problem.workload.counts.pairs <= MAX_TIGHT_INTERESTS
    if not is_tight:
        return Curve(points, knee, False)
    with stage("bounding at smaller capacities"), muted(), stores_below(plan.path.parent):
        tight = [_tightened(problem, point, spark) for point in (*points, knee)]
    return Curve(tuple(tight[:-1]), tight[-1], True)


def curve_points(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> tuple[Point, ...]:
    """What a plan's trajectory says of round capacities up to its own.

    The satisfied share at a smaller capacity is a lower estimate: a plan made for it may fill up with topics that
    this one took later.

    Raises:
        InputError: the plan has no trajectory.
    """
    trajectory = plan.trajectory()
    if trajectory is None:
        raise InputError(f"{plan.path} has no trajectory, so it has no curve.")
    costs = np.concatenate([[0], trajectory["cost"].to_numpy()])
    satisfied = np.concatenate([[_start(problem, spark)], trajectory["satisfied"].to_numpy()])
    bounds = np.concatenate([[float(problem.total_weight)], trajectory["bound"].to_numpy()])
    last_bound = float(problem.total_weight) if plan.record["bound"] is None else plan.record["bound"]

    def at(cost: int) -> Point:
        position = int(np.searchsorted(costs, cost, side="right")) - 1
        following = position if costs[position] == cost else position + 1
        # A bound holds for its capacity and every smaller one; after the last choice it is that of the plan.
        bound = bounds[following] if following < len(bounds) else last_bound
        return _point(problem, cost, float(satisfied[position]), float(bound))

    asked = [share * problem.total_cost // 100 for share in SHARES]
    return tuple(at(cost) for cost in asked if cost <= problem.capacity_cost)


def knee_point(problem: Problem, method: str, spark: SparkSession | None = None) -> Point:
    """The knee of the whole curve: where it stands highest above the straight line from nothing to everything.

    Beyond it a unit of cost brings less than on average. The curve is that of the greedy by value per cost without a
    limit, so the knee is one number for a workload, a threshold and an objective, whatever capacity was asked for. Its
    bound is the trivial one.
    """
    costs, satisfied = _whole_curve(problem, method, spark)
    knee = knee_of(costs, satisfied)
    return _point(problem, int(costs[knee]), float(satisfied[knee]), float(problem.total_weight))


def _whole_curve(
    problem: Problem, method: str, spark: SparkSession | None
) -> tuple[Int64Array, npt.NDArray[np.float64]]:
    """Costs and objectives of a greedy run without a limit, from nothing on; over blocks where the plan's method is."""
    unlimited = problem.at_capacity(problem.total_cost)
    with stage("planning without a limit"), muted():
        if method in (each.name for each in blockwise.METHODS):
            draft = blockwise.blockwise_greedy(unlimited, blockwise.BlockwiseParameters(), 0, spark)
            assert draft.trajectory is not None
            spent, reached = (draft.trajectory[name].to_numpy() for name in ("cost", "satisfied"))
        else:
            is_whole = problem.objective == "b3m"
            choice = run_eager(unlimited, is_whole=True) if is_whole else run_lazy(unlimited, by_ratio=True)
            spent, reached = choice.spent, choice.reached / problem.scale
    return np.concatenate([[0], spent]), np.concatenate([[_start(problem, spark)], reached])


def knee_of(costs: Int64Array, satisfied: npt.NDArray[np.float64]) -> int:
    """The position at which a curve stands highest above the straight line from its beginning to its end."""
    width, height = max(1, int(costs[-1] - costs[0])), max(satisfied[-1] - satisfied[0], 1e-300)
    return int(np.argmax((satisfied - satisfied[0]) / height - (costs - costs[0]) / width))


def _tightened(problem: Problem, point: Point, spark: SparkSession | None) -> Point:
    """A point with the Lagrangian bound of its capacity, if that is less than what it has."""
    if point.cost < exact_sum(problem.costs[problem.first_choices]):
        return point  # no plan for that capacity serves what must be served
    reached = Exact(int(point.satisfied * problem.scale), problem.scale)
    bound = lagrangian_bound(problem.at_capacity(point.cost), reached, spark).bound.rounded_up()
    return _point(problem, point.cost, point.satisfied, max(point.satisfied, min(point.bound, bound)))


def _point(problem: Problem, cost: int, satisfied: float, bound: float) -> Point:
    total = problem.total_weight
    shares = (100 * satisfied / total, 100 * bound / total) if total else (100.0, 100.0)
    return Point(
        percent=100 * cost / problem.total_cost if problem.total_cost else 0.0,
        cost=cost,
        satisfied=satisfied,
        satisfied_percent=shares[0],
        bound=bound,
        bound_percent=shares[1],
    )


def _start(problem: Problem, spark: SparkSession | None) -> float:
    """What nothing satisfies: the weight of the subscribers who want nothing."""
    reader = problem.instance.reader()

    def idle(block: int) -> int:
        rows = reader.read(block)
        return exact_sum(rows.weights[rows.thresholds == 0])

    return float(sum(map_blocks(idle, problem.workload.num_blocks, spark)))


def share_of(text: str) -> Fraction:
    """A share such as ``80%``.

    Raises:
        InputError: it is not a percentage from 0% to 100%.
    """
    share = share_text(text)
    if share is None or share_fraction(share) > 1:
        raise InputError(f"{argument('satisfy')} is a share such as 80%, not '{text}'.{share_hint(text)}")
    return share_fraction(share)


def least_capacity(
    problem: Problem,
    share: str,
    method: Method[Problem, Draft, Any],
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    spark: SparkSession | None = None,
) -> Problem:
    """The problem with the least capacity for which ``method`` satisfies a share of the subscribers' weight.

    1. Plan without a limit; what it has spent when it reaches the share is the next capacity to try.
    2. Go on like that, and halve the range where a run does not help: a run for a smaller capacity can do better than
       the beginning of a long one. Ends within a thousandth of the capacity.

    Args:
        share: of the weight, such as ``"75%"``.
        method: with its ``parameters`` and ``seed``.
        spark: a session to run passes over the workload on; None runs them in this process.

    Raises:
        Infeasible: no capacity is enough.

    >>> pubplan.select.least_capacity(problem, "75%", pubplan.select.FAMILY.methods["greedy-fb3m"]).capacity
    9
    """
    goal = -(-share_of(share) * problem.total_weight * problem.scale // 1)
    method_parameters: Any = make_parameters(method.parameters, parameters or {}, f"method {method.name}")
    problem.check()

    low, high = exact_sum(problem.costs[problem.first_choices]), problem.total_cost
    with stage("looking for the least capacity", MAX_RUNS) as advance:

        def reaching(capacity: int) -> int | None:
            """The cost at which a run for ``capacity`` has reached the goal."""
            with muted():
                draft = method.run(problem.at_capacity(capacity), method_parameters, seed, spark)
            advance(1)
            if draft.claimed.value < goal or draft.trajectory is None:
                return None
            satisfied = draft.trajectory["satisfied"].to_numpy() * problem.scale
            at_goal = np.flatnonzero(satisfied >= float(goal))
            return int(draft.trajectory["cost"][int(at_goal[0])].as_py()) if len(at_goal) else 0

        reached = reaching(high)  # 1
        if reached is None:
            sentence = f"less than {share} is satisfied with every topic served"
            reason = Reason("satisfied", share, "less", sentence=sentence)
            raise Infeasible(f"No capacity satisfies {share}.", [reason])
        _, high = narrowed(low, high, reached, reaching)  # 2
    return problem.at_capacity(high)
