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
from pubplan.errors import InputError, Violation
from pubplan.planning import Exact, Plan, Verdict, sums_by_row, wrong_columns
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA, TRAJECTORY_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.verifier.asked import BYTES, capacity_of, costs_of, needs_of
from pubplan.problems.select.verifier.bounds import BlockRows, BoundCheck, bound_checks
from pubplan.workload import Int64Array, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolArray = npt.NDArray[np.bool_]

FIXED_POINT_ONE = 2**32


@dataclass(frozen=True)
class _BlockSums:
    """Sums over one block of subscribers.

    Attributes:
        objective, deliveries: of the plan.
        start: the objective with nothing served.
        positions, gains: what the choices at these positions of the trajectory add to it.
        bounds: what each bound needs to know of the block.
    """

    objective: int
    deliveries: int
    start: int
    positions: Int64Array
    gains: Int64Array
    bounds: tuple[object, ...]


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check decisions, lists, capacity, trajectory and bounds, and recompute the objective.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    rates = problem.workload.topic_array("rate")
    costs = costs_of(problem, rates)
    capacity = capacity_of(problem, costs)
    served_table, trajectory = plan.decisions(SERVED), plan.trajectory()
    topics, violations = _served_topics(problem, served_table, len(rates))
    violations += _wrong_lists(problem, served_table, topics)
    order, wrong_order = _order(trajectory, topics)
    checks, wrong_evidence = bound_checks(problem, plan, costs, capacity)
    violations += [*wrong_order, *wrong_evidence]

    served = np.zeros(len(rates), dtype=bool)
    served[topics] = True
    position = np.full(len(rates), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    evaluate = _evaluator(problem, rates, served, position, checks)
    sums = list(map_blocks(evaluate, problem.workload.num_blocks, spark))

    objective = Exact(sum(block.objective for block in sums), problem.scale)
    spent = sum(block.deliveries for block in sums) if problem.cost is None else exact_sum(costs[topics])
    if spent > capacity:
        expected = f"at most {capacity:,}"
        violations.append(Violation("cost above the capacity", "decisions", stated=spent, expected=expected))
    violations += _wrong_costs(problem, served_table, topics, costs)
    curves = []
    for number, check in enumerate(checks):
        wrong, curve = check.finish([block.bounds[number] for block in sums])
        violations += wrong
        curves.append(curve)
    if trajectory is not None and not wrong_order:
        violations += _wrong_trajectory(problem, trajectory, costs[order], sums)
        violations += _wrong_curve(problem, trajectory, curves)
    return Verdict(objective, tuple(violations))


def _served_topics(problem: Problem, table: pa.Table, num_topics: int) -> tuple[Int64Array, list[Violation]]:
    """The served topics that exist, each once, and what is wrong with the others."""
    trouble = wrong_columns("decisions", table, SERVED_SCHEMA)
    if trouble:
        return np.empty(0, np.int64), [*trouble]
    topics = table["topic"].to_numpy().astype(np.int64)
    violations: list[Violation] = []
    real = topics[(topics >= 0) & (topics < num_topics)]
    if len(real) < len(topics):
        violations.append(Violation("topics that do not exist", "decisions", cases=len(topics) - len(real)))
    if len(topics) > 1 and not (np.diff(topics) > 0).all():
        violations.append(Violation("topics repeated or out of order", "decisions"))
    if not violations:
        ids = problem.workload.topics("topic_id")["topic_id"].take(pa.array(topics))
        wrong = len(topics) - (pc.sum(pc.equal(ids, table["topic_id"])).as_py() or 0)
        if wrong:
            violations.append(Violation("topics under the id of another", "decisions", cases=wrong))
    return np.unique(real), violations


def _order(trajectory: pa.Table | None, topics: Int64Array) -> tuple[Int64Array, list[Violation]]:
    """The served topics in the order of choice; without a usable trajectory, none."""
    nothing = np.empty(0, np.int64)
    if trajectory is None:
        return nothing, []
    trouble = wrong_columns("trajectory", trajectory, TRAJECTORY_SCHEMA)
    if trouble:
        return nothing, [*trouble]
    order = trajectory["topic"].to_numpy().astype(np.int64)
    if not np.array_equal(np.sort(order), topics):
        return nothing, [Violation("choices that are not the served topics", "trajectory")]
    return order, []


def _wrong_lists(problem: Problem, table: pa.Table, topics: Int64Array) -> list[Violation]:
    if len(topics) != table.num_rows or "topic_id" not in table.column_names:
        return []  # reported already
    served = set(table["topic_id"].to_pylist()) if problem.must_serve or problem.must_not_serve else set()
    missing, forbidden = set(problem.must_serve) - served, set(problem.must_not_serve) & served
    violations = []
    if missing:
        violations.append(Violation("topics not served that must be", "decisions", cases=len(missing)))
    if forbidden:
        violations.append(Violation("topics served that must not be", "decisions", cases=len(forbidden)))
    return violations


def _evaluator(
    problem: Problem, rates: Int64Array, served: BoolArray, position: Int64Array, checks: list[BoundCheck]
) -> Callable[[int], _BlockSums]:
    workload, threshold, objective = problem.workload, problem.threshold, problem.objective
    has_weights = problem.has_weights
    columns = ["topics", *(["threshold"] if threshold is None else []), *(["weight"] if has_weights else [])]

    def satisfaction(needed: Int64Array, received: Int64Array) -> Int64Array:
        """In units of the objective, as the definitions in problem.py have it."""
        if objective == "b3m":
            return (received >= needed).astype(np.int64)
        slope = -(-FIXED_POINT_ONE // np.maximum(needed, 1))
        return np.where(needed > 0, np.minimum(FIXED_POINT_ONE, slope * np.minimum(received, needed)), FIXED_POINT_ONE)

    def evaluate(block: int) -> _BlockSums:
        table = workload.interests_block(block, *columns)
        offsets, topics = list_column(table, "topics")
        if len(topics) and (topics.min() < 0 or topics.max() >= len(rates)):
            raise InputError(f"Block {block} of {workload.path}/interests names topics that do not exist.")
        events = rates[topics]
        delivered = np.where(served[topics], events, 0)
        received = sums_by_row(delivered, offsets)
        needed = needs_of(threshold, table, sums_by_row(events, offsets))
        weights = table["weight"].to_numpy() if has_weights else np.ones(len(needed), dtype=np.int64)
        positions, gains = _gains_in_order(position[topics], events, offsets, needed, weights, satisfaction)
        rows = BlockRows(block, offsets, topics, events, needed, weights)
        return _BlockSums(
            objective=exact_dot(satisfaction(needed, received), weights),
            deliveries=exact_sum(delivered),
            start=exact_dot(satisfaction(needed, np.zeros_like(needed)), weights),
            positions=positions,
            gains=gains,
            bounds=tuple(check.scan_block(rows) for check in checks),
        )

    return evaluate


def _gains_in_order(
    positions: Int64Array,
    events: Int64Array,
    offsets: Int64Array,
    needed: Int64Array,
    weights: Int64Array,
    satisfaction: Callable[[Int64Array, Int64Array], Int64Array],
) -> tuple[Int64Array, Int64Array]:
    """What each choice adds to the satisfaction of these subscribers when topics are served in order.

    ``positions`` are those of the topics of all interests in the order, or -1. Returns the ones that occur, and their
    gains.
    """
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chosen = np.flatnonzero(positions >= 0)
    chosen = chosen[np.lexsort((positions[chosen], rows[chosen]))]
    rows, positions, events = rows[chosen], positions[chosen], events[chosen]
    running = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(events, out=running[1:])
    before_row = running[np.searchsorted(rows, rows)]  # what was served to earlier subscribers
    after = running[1:] - before_row
    gains = satisfaction(needed[rows], after) - satisfaction(needed[rows], after - events)
    gains *= weights[rows]
    unique, inverse = np.unique(positions, return_inverse=True)
    sums = np.zeros(len(unique), dtype=np.int64)
    np.add.at(sums, inverse, gains)
    return unique, sums


def _wrong_costs(problem: Problem, table: pa.Table, topics: Int64Array, costs: Int64Array) -> list[Violation]:
    if len(topics) != table.num_rows or "cost" not in table.column_names:
        return []  # reported already
    wrong = int(np.count_nonzero(costs[topics] != table["cost"].to_numpy()))
    stated = {None: "rate x subscribers", BYTES: "rate x subscribers x message size"}
    fault = f"costs other than {stated.get(problem.cost, f'the column {problem.cost}')}"
    return [Violation(fault, "decisions", cases=wrong)] if wrong else []


def _wrong_trajectory(
    problem: Problem, trajectory: pa.Table, costs: Int64Array, sums: list[_BlockSums]
) -> list[Violation]:
    """Replay the choices: cost and objective after each one are those that the trajectory says."""
    gains = np.zeros(len(costs), dtype=np.int64)
    for block in sums:
        gains[block.positions] += block.gains
    reached = (sum(block.start for block in sums) + np.cumsum(gains)) / problem.scale
    violations = []
    for name, fault, expected in (
        ("cost", "costs that differ from the choices replayed", np.cumsum(costs)),
        ("satisfied", "objectives that differ from the choices replayed", reached),
    ):
        wrong = int(np.count_nonzero(trajectory[name].to_numpy() != expected))
        if wrong:
            violations.append(Violation(fault, "trajectory", cases=wrong))
    return violations


def _wrong_curve(
    problem: Problem, trajectory: pa.Table, curves: list[Callable[[Int64Array], npt.NDArray[np.float64]]]
) -> list[Violation]:
    """Every bound of the trajectory must be one that a certificate proves, or the total weight."""
    capacities, stated = trajectory["cost"].to_numpy(), trajectory["bound"].to_numpy()
    proven = np.full(len(capacities), float(problem.total_weight))
    for curve in curves:
        proven = np.minimum(proven, curve(capacities))
    wrong = int(np.count_nonzero(~((stated >= proven) & (stated <= problem.total_weight))))
    return [Violation("bounds that no certificate proves", "trajectory", cases=wrong)] if wrong else []
