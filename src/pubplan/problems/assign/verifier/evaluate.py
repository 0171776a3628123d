"""Recomputes a plan from the tables on disk, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.errors import Violation
from pubplan.files import digest_value
from pubplan.planning import Exact, Plan, Verdict, wrong_columns, wrong_values
from pubplan.problems.assign.plan import (
    ASSIGNMENTS,
    BROKERS,
    BROKERS_SCHEMA,
    FILTERS,
    FILTERS_SCHEMA,
    LATENCY_BROKEN,
    LOAD_BROKEN,
)
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.verifier.bounds import BoundCheck
from pubplan.problems.assign.verifier.boxes import is_inside, measure_of_union
from pubplan.problems.assign.verifier.clients import Filters, Scan, faults_of, scan_clients
from pubplan.problems.assign.verifier.evidence import read_forced
from pubplan.problems.assign.verifier.tree import Tree, capacities, density_of, read_limits, read_tree
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that every client is served in time by a leaf whose filter contains its subscription, that filters contain
    those below them, and that loads keep their limits; recompute what filters measure and what bounds prove.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    tree = read_tree(problem)
    violations = [
        *wrong_columns(FILTERS, plan.decisions(FILTERS), FILTERS_SCHEMA),
        *wrong_columns(BROKERS, plan.decisions(BROKERS), BROKERS_SCHEMA),
    ]
    violations = violations or list(_wrong_filters(problem, plan, tree))
    forced = None
    if not violations and "forced" in plan.record["bounds"]:
        read = read_forced(plan, tree, problem.workload.counts.clients, len(problem.workload.space.attributes))
        if isinstance(read, Violation):
            violations.append(read)
        else:
            forced = read
    if violations:
        return Verdict(plan.exact, tuple(violations))
    filters = _filters_of(problem, plan, tree)
    wanted = np.empty(0, np.int64) if forced is None else forced.all_clients
    scan = scan_clients(problem, plan, tree, read_limits(problem, tree), filters, wanted, spark)
    most = capacities(problem, tree, scan.weight)
    density, widths, scale = density_of(problem)
    measures = [measure_of_union(_boxes_of(filters, broker), density, widths) for broker in range(tree.num_brokers)]
    broken = _broken(problem, tree, scan, most)
    violations = [
        *faults_of(scan),
        *_unnested(tree, filters),
        *_wrong_brokers(problem, plan, tree, scan, most, measures),
        *_wrong_reasons(plan, broken),
    ]
    if not violations:  # bounds are recomputed for plans that are right so far
        check = BoundCheck(plan, tree, scan, most, density, widths, scale, problem.boxes)
        violations = list(check.violations(forced, set(broken), spark))
    return Verdict(Exact(sum(measures), scale), tuple(violations))


def _wrong_filters(problem: Problem, plan: Plan, tree: Tree) -> Iterator[Violation]:
    """Boxes are of brokers that exist, numbered, not too many, not empty, inside the space, a row per attribute."""
    table, attributes = plan.decisions(FILTERS), problem.workload.space.attributes
    num_boxes, rest = divmod(table.num_rows, len(attributes))
    names = pa.array([attribute.name for attribute in attributes] * num_boxes, pa.string())
    if rest or not pa.chunked_array([names]).equals(table["attribute"]):
        yield Violation("boxes without a row for each attribute, in the order of the space", FILTERS)
        return
    rows = [table[name].to_numpy().reshape(-1, len(attributes)) for name in ("broker", "box", "low", "high")]
    brokers, numbers, lows, highs = rows
    if len(brokers) and (brokers.min() < 0 or brokers.max() >= tree.num_brokers):
        yield Violation("boxes of brokers that do not exist", FILTERS)
        return
    if (brokers != brokers[:, :1]).any() or (np.diff(brokers[:, 0]) < 0).any():
        yield Violation("boxes out of the order of brokers", FILTERS)
        return
    first_of = np.searchsorted(brokers[:, 0], brokers[:, 0])
    misnumbered = (numbers != (np.arange(num_boxes) - first_of)[:, None]).any(axis=1)
    if misnumbered.any():
        yield Violation("boxes that are not numbered from 0", FILTERS, cases=int(misnumbered.sum()))
        return
    most = int(np.bincount(brokers[:, 0], minlength=1).max())
    if most > problem.boxes:
        yield Violation("brokers with too many boxes", FILTERS, stated=most, expected=f"at most {problem.boxes}")
    steps = np.array([attribute.steps for attribute in attributes])
    outside = ((lows < 0) | (lows >= highs) | (highs > steps)).any(axis=1)
    if outside.any():
        yield Violation("boxes that are empty or leave the space", FILTERS, cases=int(outside.sum()))
    ids = problem.workload.ids("brokers", "broker_id").take(pa.array(brokers.reshape(-1)))
    if not pa.chunked_array([ids]).equals(table["broker_id"]):
        yield Violation("broker ids other than the workload's", f"{FILTERS}.broker_id")


def _filters_of(problem: Problem, plan: Plan, tree: Tree) -> Filters:
    """The boxes of every broker, from a table that is right."""
    table, num_attributes = plan.decisions(FILTERS), len(problem.workload.space.attributes)
    columns = {name: table[name].to_numpy().reshape(-1, num_attributes) for name in ("broker", "box", "low", "high")}
    shape = (tree.num_brokers, problem.boxes, num_attributes)
    lows, highs = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    position = columns["broker"][:, 0], columns["box"][:, 0]
    lows[position], highs[position] = columns["low"], columns["high"]
    return Filters(lows, highs)


def _boxes_of(filters: Filters, broker: int) -> list[tuple[list[int], list[int]]]:
    pairs = zip(filters.lows[broker].tolist(), filters.highs[broker].tolist(), strict=True)
    return [(low, high) for low, high in pairs if high[0] > low[0]]


def _unnested(tree: Tree, filters: Filters) -> Iterator[Violation]:
    """Boxes that are not inside the filter of the broker above."""
    brokers, boxes = np.nonzero((filters.highs > filters.lows).all(axis=2) & (tree.parents >= 0)[:, None])
    above = tree.parents[brokers]
    is_nested = is_inside(
        filters.lows[brokers, boxes], filters.highs[brokers, boxes], filters.lows[above], filters.highs[above]
    )
    if not is_nested.all():
        where = f"{FILTERS}, broker {brokers[np.argmin(is_nested)]}"
        yield Violation("boxes that are not inside the filter above", where, cases=int((~is_nested).sum()))


def _wrong_brokers(
    problem: Problem, plan: Plan, tree: Tree, scan: Scan, most: Int64Array, measures: list[int]
) -> Iterator[Violation]:
    table = plan.decisions(BROKERS)
    expected = {
        "broker": np.arange(tree.num_brokers),
        "level": tree.levels,
        "clients": scan.loads,
        "limit": most,
        "volume": np.array(measures, dtype=np.int64),
    }
    yield from wrong_values(BROKERS, expected, table)
    if not pa.chunked_array([problem.workload.ids("brokers", "broker_id")]).equals(table["broker_id"]):
        yield Violation("broker ids other than the workload's", f"{BROKERS}.broker_id")


def _broken(problem: Problem, tree: Tree, scan: Scan, most: Int64Array) -> dict[str, tuple[int, str]]:
    """The limits that a plan breaks: how often, and of which broker the most is said."""
    broken = {}
    if scan.late:
        broken[LATENCY_BROKEN] = (scan.late, "")
    excess = scan.loads - most
    if (excess > 0).any():
        name = problem.workload.ids("brokers", "broker_id")[int(np.argmax(excess))].as_py()
        broken[LOAD_BROKEN] = (int((excess > 0).sum()), name)
    return broken


def _wrong_reasons(plan: Plan, broken: dict[str, tuple[int, str]]) -> Iterator[Violation]:
    """A plan says of each limit that it breaks how often, and of no other."""
    faults = {
        LATENCY_BROKEN: ("clients served later than allowed", ASSIGNMENTS),
        LOAD_BROKEN: ("leaves that serve more than they may", BROKERS),
    }
    for limit, (fault, where) in faults.items():
        stated = [reason for reason in plan.record["reasons"] if reason["limit"] == limit]
        if limit not in broken:
            if stated:
                yield Violation("reason for a limit that the plan keeps", "reasons", stated=limit)
            continue
        cases, worst = broken[limit]
        expected = {"limit": limit, "need": 0, "have": cases, "where": worst}
        said = [{name: reason[name] for name in expected} for reason in stated]
        if not stated:
            yield Violation(fault, where, cases=cases)
        elif digest_value(said) != digest_value([expected]):  # == takes false for 0
            yield Violation("wrong reason", "reasons", stated=str(said[0])[:200], expected=str(expected)[:200])
