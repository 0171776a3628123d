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
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolArray = npt.NDArray[np.bool_]

_ONE = 2**32


@dataclass(frozen=True)
class _Found:
    """Sums over subscribers: objective, deliveries, what fixed point may add, and the dual of the paper's bound."""

    objective: int
    deliveries: int
    excess: int
    below_cut: int


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check decisions, capacity, trajectory and bound, and recompute the objective.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    served_table = plan.decisions(SERVED)
    rates = problem.workload.topic_array("rate")
    topics, violations = _served_topics(problem, served_table, len(rates))
    served = np.zeros(len(rates), dtype=bool)
    served[topics] = True
    cut_weight = plan.certificate("paper").evidence.get("cut_weight") if "paper" in plan.record["bounds"] else None

    evaluate = _evaluator(problem, rates, served, cut_weight)
    parts = list(map_blocks(evaluate, len(problem.workload.interests_blocks), spark))
    found = _Found(*(sum(getattr(part, name) for part in parts) for name in _Found.__dataclass_fields__))

    objective = Exact(found.objective, problem.scale)
    if found.deliveries > problem.capacity_cost:
        violations.append(Reason("capacity", found.deliveries, problem.capacity_cost))
    violations += _wrong_costs(problem, served_table, topics, rates)
    violations += _wrong_trajectory(plan, topics, found.deliveries, objective)
    violations += _wrong_bound(problem, plan, cut_weight, found)
    return Verdict(objective, tuple(violations))


def _served_topics(problem: Problem, table: pa.Table, num_topics: int) -> tuple[Int64Array, list[Reason]]:
    """The served topics that exist, each once, and what is wrong with the others."""
    if table.schema.names != ["topic", "topic_id", "cost"] or any(column.null_count for column in table.columns):
        return np.empty(0, np.int64), [
            Reason("decisions", "topic, topic_id, cost without nulls", str(table.schema.names))
        ]
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


def _evaluator(
    problem: Problem, rates: Int64Array, served: BoolArray, cut_weight: int | None
) -> Callable[[int], _Found]:
    workload, threshold, objective = problem.workload, problem.threshold, problem.objective
    columns = ("topics",) if threshold is not None else ("topics", "threshold")

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
        # Satisfaction as the definition in problem.py has it; the divisor 1 stands in where nothing is needed.
        slope = -(-_ONE // np.maximum(needed, 1))
        fixed = np.where(needed > 0, np.minimum(_ONE, slope * np.minimum(received, needed)), _ONE)
        excess = np.where(needed > 0, slope * needed - _ONE, 0)
        below_cut = 0
        if cut_weight is not None:
            least = np.where(needed > 0, np.maximum(needed, _smallest_positive(events, offsets)), 0)
            below_cut = exact_sum(np.maximum(0, cut_weight - least))
        return _Found(
            objective=exact_sum(fixed) if objective == "fb3m" else int(np.count_nonzero(received >= needed)),
            deliveries=exact_sum(delivered),
            excess=exact_sum(excess),
            below_cut=below_cut,
        )

    return evaluate


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


def _wrong_costs(problem: Problem, table: pa.Table, topics: Int64Array, rates: Int64Array) -> list[Reason]:
    if len(topics) != table.num_rows:
        return []  # said already
    costs = rates[topics] * problem.workload.topic_array("subscribers")[topics]
    wrong = int(np.count_nonzero(costs != table["cost"].to_numpy()))
    return [Reason("cost = rate x subscribers", 0, wrong, "decisions")] if wrong else []


def _wrong_trajectory(plan: Plan, topics: Int64Array, deliveries: int, objective: Exact) -> list[Reason]:
    trajectory = plan.trajectory()
    if trajectory is None:
        return []
    if not np.array_equal(np.sort(trajectory["topic"].to_numpy()), topics):
        return [Reason("trajectory chooses the served topics", len(topics), trajectory.num_rows, "trajectory")]
    cost, satisfied = trajectory["cost"].to_numpy(), trajectory["satisfied"].to_numpy()
    found = []
    if (np.diff(cost) < 0).any() or (np.diff(satisfied) < 0).any():
        found.append(Reason("trajectory never falls", "ascending", "not", "trajectory"))
    if len(cost) and (int(cost[-1]), float(satisfied[-1])) != (deliveries, float(objective)):
        found.append(Reason("trajectory ends at the plan", float(objective), float(satisfied[-1]), "trajectory"))
    return found


def _wrong_bound(problem: Problem, plan: Plan, cut_weight: int | None, found: _Found) -> list[Reason]:
    """Evaluate the dual of the knapsack at the stored cut: every cut gives a valid bound.

    sum over v of max(0, 1 - c_v / cut) + capacity / cut >= the fractional knapsack >= any plan.
    """
    if "paper" not in plan.record["bounds"]:
        return []
    stored = plan.certificate("paper").bound
    everybody = problem.workload.counts.subscribers * problem.scale
    if cut_weight is None:
        needed = everybody
    else:
        dual = Fraction(found.below_cut + problem.capacity_cost, max(1, cut_weight))
        needed = floor(dual) if problem.objective == "b3m" else ceil(dual * _ONE) + found.excess
        needed = min(needed, everybody)
    if stored.scale != problem.scale or stored.value < needed:
        return [Reason("bound follows from its certificate", needed, stored.value, "certificate/paper.json")]
    return []
