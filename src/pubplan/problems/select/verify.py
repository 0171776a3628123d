"""Recomputes a plan from the tables on disk, block by block, with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import MAX_INT64, exact_sum, map_blocks
from pubplan.errors import InputError, Reason
from pubplan.planning import Exact, Plan, Verdict
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA, TRAJECTORY_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolArray = npt.NDArray[np.bool_]

_ONE = 2**32


@dataclass(frozen=True)
class _Found:
    """Sums over one block of subscribers.

    ``objective`` and ``deliveries`` of the plan; ``start``, the objective with nothing served, and ``gains``, what the
    choice at each of ``places`` of the trajectory adds to it; ``excess``, what fixed point may add to the real
    objective; ``below_cut``, the dual of the paper's bound.
    """

    objective: int
    deliveries: int
    start: int
    places: Int64Array
    gains: Int64Array
    excess: int
    below_cut: int


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check decisions, capacity, trajectory and bound, and recompute the objective.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    rates = problem.workload.topic_array("rate")
    served_table, trajectory = plan.decisions(SERVED), plan.trajectory()
    topics, violations = _served_topics(problem, served_table, len(rates))
    order, wrong_order = _order(trajectory, topics)
    cut, wrong_cut = _cut_weight(plan)
    violations += [*wrong_order, *wrong_cut]

    served = np.zeros(len(rates), dtype=bool)
    served[topics] = True
    place = np.full(len(rates), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    evaluate = _evaluator(problem, rates, served, place, cut)
    parts = list(map_blocks(evaluate, len(problem.workload.interests_blocks), spark))

    objective = Exact(sum(part.objective for part in parts), problem.scale)
    deliveries = sum(part.deliveries for part in parts)
    if deliveries > problem.capacity_cost:
        violations.append(Reason("capacity", deliveries, problem.capacity_cost))
    costs = rates * problem.workload.topic_array("subscribers")
    violations += _wrong_costs(served_table, topics, costs)
    if trajectory is not None and not wrong_order:
        violations += _wrong_trajectory(problem, trajectory, costs[order], parts)
    if not wrong_cut:
        violations += _wrong_bound(problem, plan, cut, parts)
    return Verdict(objective, tuple(violations))


def _served_topics(problem: Problem, table: pa.Table, num_topics: int) -> tuple[Int64Array, list[Reason]]:
    """The served topics that exist, each once, and what is wrong with the others."""
    trouble = _wrong_columns("decisions", table, SERVED_SCHEMA)
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


def _wrong_columns(where: str, table: pa.Table, expected: pa.Schema) -> list[Reason]:
    if table.schema.equals(expected) and not any(column.null_count for column in table.columns):
        return []
    found = ", ".join(f"{field.name} {field.type}" for field in table.schema)
    names = ", ".join(f"{field.name} {field.type}" for field in expected)
    return [Reason("columns without nulls", names, found, where)]


def _order(trajectory: pa.Table | None, topics: Int64Array) -> tuple[Int64Array, list[Reason]]:
    """The served topics in the order of choice; without a usable trajectory, none."""
    nothing = np.empty(0, np.int64)
    if trajectory is None:
        return nothing, []
    trouble = _wrong_columns("trajectory", trajectory, TRAJECTORY_SCHEMA)
    if trouble:
        return nothing, trouble
    order = trajectory["topic"].to_numpy().astype(np.int64)
    if not np.array_equal(np.sort(order), topics):
        return nothing, [Reason("trajectory chooses the served topics", len(topics), len(order), "trajectory")]
    return order, []


def _cut_weight(plan: Plan) -> tuple[int | None, list[Reason]]:
    """The evidence of the paper's bound: a positive weight, or None where everybody fits."""
    if "paper" not in plan.record["bounds"]:
        return None, []
    cut = plan.certificate("paper").evidence.get("cut_weight")
    is_weight = isinstance(cut, int) and not isinstance(cut, bool) and 1 <= cut <= MAX_INT64
    if cut is None or is_weight:
        return cut, []
    return None, [Reason("cut weight is positive", "1 or more", str(cut), "certificate/paper.json")]


def _evaluator(
    problem: Problem, rates: Int64Array, served: BoolArray, place: Int64Array, cut: int | None
) -> Callable[[int], _Found]:
    workload, threshold, objective = problem.workload, problem.threshold, problem.objective
    columns = ("topics",) if threshold is not None else ("topics", "threshold")

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
        received = _per_row(delivered, offsets)
        asked = threshold if threshold is not None else table["threshold"].to_numpy()
        needed = np.minimum(asked, _per_row(events, offsets))
        places, gains = _gains_in_order(place[topics], events, offsets, needed, satisfaction)
        below_cut = 0
        if cut is not None:
            least = np.where(needed > 0, np.maximum(needed, _smallest_positive(events, offsets)), 0)
            below_cut = exact_sum(np.maximum(0, cut - least))
        slope = -(-_ONE // np.maximum(needed, 1))
        return _Found(
            objective=exact_sum(satisfaction(needed, received)),
            deliveries=exact_sum(delivered),
            start=exact_sum(satisfaction(needed, np.zeros_like(needed))),
            places=places,
            gains=gains,
            excess=exact_sum(np.where(needed > 0, slope * needed - _ONE, 0)),
            below_cut=below_cut,
        )

    return evaluate


def _gains_in_order(
    places: Int64Array,
    events: Int64Array,
    offsets: Int64Array,
    needed: Int64Array,
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
    unique, inverse = np.unique(places, return_inverse=True)
    sums = np.zeros(len(unique), dtype=np.int64)
    np.add.at(sums, inverse, gains)
    return unique, sums


def _per_row(values: Int64Array, offsets: Int64Array) -> Int64Array:
    """Sums per row from running totals; these may wrap, their differences do not."""
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]


def _smallest_positive(values: Int64Array, offsets: Int64Array) -> Int64Array:
    """The smallest positive value per row, 0 where there is none."""
    positive = np.where(values > 0, values, MAX_INT64)
    smallest = np.zeros(len(offsets) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        smallest[filled] = np.minimum.reduceat(positive, offsets[filled])
    return np.where(smallest == MAX_INT64, 0, smallest)


def _wrong_costs(table: pa.Table, topics: Int64Array, costs: Int64Array) -> list[Reason]:
    if len(topics) != table.num_rows or "cost" not in table.column_names:
        return []  # said already
    wrong = int(np.count_nonzero(costs[topics] != table["cost"].to_numpy()))
    return [Reason("cost = rate x subscribers", 0, wrong, "decisions")] if wrong else []


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


def _wrong_bound(problem: Problem, plan: Plan, cut: int | None, parts: list[_Found]) -> list[Reason]:
    """Evaluate the dual of the knapsack at the stored cut: every positive cut gives a valid bound.

    sum over v of max(0, 1 - c_v / cut) + capacity / cut >= the fractional knapsack >= any plan.
    """
    if "paper" not in plan.record["bounds"]:
        return []
    stored = plan.certificate("paper").bound
    needed = everybody = problem.workload.counts.subscribers * problem.scale
    if cut is not None:
        dual = Fraction(sum(part.below_cut for part in parts) + problem.capacity_cost, cut)
        excess = sum(part.excess for part in parts)
        needed = min(everybody, floor(dual) if problem.objective == "b3m" else ceil(dual * _ONE) + excess)
    if stored.scale != problem.scale or stored.value < needed:
        return [Reason("bound follows from its certificate", needed, stored.value, "certificate/paper.json")]
    return []
