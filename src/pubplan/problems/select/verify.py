"""Recomputes a plan from the tables on disk, block by block, with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import exact_dot, exact_sum, map_blocks
from pubplan.errors import InputError, Reason
from pubplan.planning import Exact, Plan, Verdict, sums_by_row, wrong_columns
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA, TRAJECTORY_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.verify_bounds import BlockRows, BoundCheck, bound_checks
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolArray = npt.NDArray[np.bool_]

_ONE = 2**32


@dataclass(frozen=True)
class _Found:
    """Sums over one block of subscribers.

    ``objective`` and ``deliveries`` of the plan; ``start``, the objective with nothing served, and ``gains``, what the
    choice at each of ``places`` of the trajectory adds to it; ``bounds``, what each bound needs to know of the block.
    """

    objective: int
    deliveries: int
    start: int
    places: Int64Array
    gains: Int64Array
    bounds: tuple[object, ...]


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check decisions, lists, capacity, trajectory and bounds, and recompute the objective.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    rates = problem.workload.topic_array("rate")
    subscribers = problem.workload.topic_array("subscribers")
    costs = rates * subscribers if problem.cost is None else problem.workload.topic_array(problem.cost)
    served_table, trajectory = plan.decisions(SERVED), plan.trajectory()
    topics, violations = _served_topics(problem, served_table, len(rates))
    violations += _wrong_lists(problem, served_table, topics)
    order, wrong_order = _order(trajectory, topics)
    checks, wrong_evidence = bound_checks(problem, plan, rates, costs)
    violations += [*wrong_order, *wrong_evidence]

    served = np.zeros(len(rates), dtype=bool)
    served[topics] = True
    place = np.full(len(rates), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    evaluate = _evaluator(problem, rates, served, place, checks)
    parts = list(map_blocks(evaluate, len(problem.workload.interests_blocks), spark))

    objective = Exact(sum(part.objective for part in parts), problem.scale)
    spent = sum(part.deliveries for part in parts) if problem.cost is None else exact_sum(costs[topics])
    if spent > problem.capacity_cost:
        violations.append(Reason("capacity", spent, problem.capacity_cost))
    violations += _wrong_costs(problem, served_table, topics, costs)
    curves = []
    for number, check in enumerate(checks):
        wrong, curve = check.conclude([part.bounds[number] for part in parts])
        violations += wrong
        curves.append(curve)
    if trajectory is not None and not wrong_order:
        violations += _wrong_trajectory(problem, trajectory, costs[order], parts)
        violations += _wrong_curve(problem, trajectory, curves)
    return Verdict(objective, tuple(violations))


def _served_topics(problem: Problem, table: pa.Table, num_topics: int) -> tuple[Int64Array, list[Reason]]:
    """The served topics that exist, each once, and what is wrong with the others."""
    trouble = wrong_columns("decisions", table, SERVED_SCHEMA)
    if trouble:
        return np.empty(0, np.int64), trouble
    topics = table["topic"].to_numpy().astype(np.int64)
    violations = []
    real = topics[(topics >= 0) & (topics < num_topics)]
    if len(real) < len(topics):
        violations.append(Reason("topic exists", f"0 … {num_topics - 1}", int(len(topics) - len(real)), "decisions"))
    if len(topics) > 1 and not (np.diff(topics) > 0).all():
        violations.append(Reason("topics ascending, each once", "strictly ascending", "not", "decisions"))
    if not violations:
        ids = problem.workload.topics("topic_id")["topic_id"].take(pa.array(topics))
        wrong = len(topics) - (pc.sum(pc.equal(ids, table["topic_id"])).as_py() or 0)
        if wrong:
            violations.append(Reason("topic_id belongs to topic", 0, wrong, "decisions"))
    return np.unique(real), violations


def _order(trajectory: pa.Table | None, topics: Int64Array) -> tuple[Int64Array, list[Reason]]:
    """The served topics in the order of choice; without a usable trajectory, none."""
    nothing = np.empty(0, np.int64)
    if trajectory is None:
        return nothing, []
    trouble = wrong_columns("trajectory", trajectory, TRAJECTORY_SCHEMA)
    if trouble:
        return nothing, trouble
    order = trajectory["topic"].to_numpy().astype(np.int64)
    if not np.array_equal(np.sort(order), topics):
        return nothing, [Reason("trajectory chooses the served topics", len(topics), len(order), "trajectory")]
    return order, []


def _wrong_lists(problem: Problem, table: pa.Table, topics: Int64Array) -> list[Reason]:
    if len(topics) != table.num_rows or "topic_id" not in table.column_names:
        return []  # said already
    served = set(table["topic_id"].to_pylist()) if problem.must_serve or problem.must_not_serve else set()
    missing, forbidden = set(problem.must_serve) - served, set(problem.must_not_serve) & served
    found = []
    if missing:
        found.append(Reason("topics that must be served", 0, len(missing), "decisions"))
    if forbidden:
        found.append(Reason("topics that must not be served", 0, len(forbidden), "decisions"))
    return found


def _evaluator(
    problem: Problem, rates: Int64Array, served: BoolArray, place: Int64Array, checks: list[BoundCheck]
) -> Callable[[int], _Found]:
    workload, threshold, objective = problem.workload, problem.threshold, problem.objective
    has_weights = problem.has_weights
    columns = ["topics", *(["threshold"] if threshold is None else []), *(["weight"] if has_weights else [])]

    def satisfaction(needed: Int64Array, received: Int64Array) -> Int64Array:
        """In units of the objective, as the definitions in problem.py have it."""
        if objective == "b3m":
            return (received >= needed).astype(np.int64)
        slope = -(-_ONE // np.maximum(needed, 1))
        return np.where(needed > 0, np.minimum(_ONE, slope * np.minimum(received, needed)), _ONE)

    def evaluate(block: int) -> _Found:
        table = workload.interests_block(block, *columns)
        offsets, topics = topic_lists(table)
        if len(topics) and (topics.min() < 0 or topics.max() >= len(rates)):
            raise InputError(f"Block {block} of {workload.path}/interests names topics that do not exist.")
        events = rates[topics]
        delivered = np.where(served[topics], events, 0)
        received = sums_by_row(delivered, offsets)
        asked = threshold if threshold is not None else table["threshold"].to_numpy()
        needed = np.minimum(asked, sums_by_row(events, offsets))
        weights = table["weight"].to_numpy() if has_weights else np.ones(len(needed), dtype=np.int64)
        places, gains = _gains_in_order(place[topics], events, offsets, needed, weights, satisfaction)
        rows = BlockRows(block, offsets, topics, events, needed, weights)
        return _Found(
            objective=exact_dot(satisfaction(needed, received), weights),
            deliveries=exact_sum(delivered),
            start=exact_dot(satisfaction(needed, np.zeros_like(needed)), weights),
            places=places,
            gains=gains,
            bounds=tuple(check.look(rows) for check in checks),
        )

    return evaluate


def _gains_in_order(
    places: Int64Array,
    events: Int64Array,
    offsets: Int64Array,
    needed: Int64Array,
    weights: Int64Array,
    satisfaction: Callable[[Int64Array, Int64Array], Int64Array],
) -> tuple[Int64Array, Int64Array]:
    """What each choice adds to the satisfaction of these subscribers when topics are served in order.

    ``places`` has the place of every interest in the order, or -1. Returns the places that occur, and their gains.
    """
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chosen = np.flatnonzero(places >= 0)
    chosen = chosen[np.lexsort((places[chosen], rows[chosen]))]
    rows, places, events = rows[chosen], places[chosen], events[chosen]
    running = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(events, out=running[1:])
    before_row = running[np.searchsorted(rows, rows)]  # what was served to earlier subscribers
    after = running[1:] - before_row
    gains = satisfaction(needed[rows], after) - satisfaction(needed[rows], after - events)
    gains *= weights[rows]
    unique, inverse = np.unique(places, return_inverse=True)
    sums = np.zeros(len(unique), dtype=np.int64)
    np.add.at(sums, inverse, gains)
    return unique, sums


def _wrong_costs(problem: Problem, table: pa.Table, topics: Int64Array, costs: Int64Array) -> list[Reason]:
    if len(topics) != table.num_rows or "cost" not in table.column_names:
        return []  # said already
    wrong = int(np.count_nonzero(costs[topics] != table["cost"].to_numpy()))
    return [Reason(f"cost = {problem.cost or 'rate x subscribers'}", 0, wrong, "decisions")] if wrong else []


def _wrong_trajectory(problem: Problem, trajectory: pa.Table, costs: Int64Array, parts: list[_Found]) -> list[Reason]:
    """Replay the choices: cost and objective after each one are those that the trajectory says."""
    gains = np.zeros(len(costs), dtype=np.int64)
    for part in parts:
        gains[part.places] += part.gains
    reached = (sum(part.start for part in parts) + np.cumsum(gains)) / problem.scale
    found = []
    for name, expected in (("cost", np.cumsum(costs)), ("satisfied", reached)):
        wrong = int(np.count_nonzero(trajectory[name].to_numpy() != expected))
        if wrong:
            found.append(Reason(f"trajectory: {name} as replayed", 0, wrong, "trajectory"))
    return found


def _wrong_curve(
    problem: Problem, trajectory: pa.Table, curves: list[Callable[[Int64Array], npt.NDArray[np.float64]]]
) -> list[Reason]:
    """Every bound of the trajectory must be one that a certificate proves, or that everybody counts."""
    capacities, stated = trajectory["cost"].to_numpy(), trajectory["bound"].to_numpy()
    proven = np.full(len(capacities), float(problem.total_weight))
    for curve in curves:
        proven = np.minimum(proven, curve(capacities))
    wrong = int(np.count_nonzero(~((stated >= proven) & (stated <= problem.total_weight))))
    return [Reason("trajectory: bounds follow from certificates", 0, wrong, "trajectory")] if wrong else []
