"""What no plan can be below.

* ``union``: at every level that all paths to leaves cross, the filters contain all subscriptions together.
* ``capacity``: of the brokers at such a level, at least as many let an event through as it takes to serve all clients
  that want it: the fewest whose capacities, at the greatest load factor, add up to their weight.
* ``forced`` (pubplan): a broker's filter contains what only leaves below it can serve, in a few boxes at most; for a
  few clients of each broker, the witnesses, what that takes is solved for (see ``forced.py``), and for some clients of
  few leaves in all cases (see ``cases.py``). At levels that all paths cross, it is not less than ``union``.

A plan that serves clients too late may be below ``forced``, and one that overloads leaves below ``capacity``: such a
plan does not have that bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.planning import BlockTable, Certificate, Draft, Exact
from pubplan.problems.assign.cases import Cases
from pubplan.problems.assign.forced import ancestors_by_level, find_witnesses
from pubplan.problems.assign.grids import edges_of, integrals_of_counts, strides_for
from pubplan.problems.assign.instance import Instance
from pubplan.problems.assign.plan import (
    FORCED,
    FORCED_SCHEMA,
    LATENCY_BROKEN,
    LOAD_BROKEN,
    SHARED,
    SHARED_SCHEMA,
    WITNESSES,
    WITNESSES_SCHEMA,
)
from pubplan.problems.assign.problem import Problem
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def union_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``union``: the measure of all subscriptions together, once per level."""
    instance = problem.instance
    strides = _strides(instance)
    measure, levels = union_measure(instance, strides), num_common_levels(instance)
    evidence = {"levels": levels, "measure": measure, "strides": strides}
    return (Certificate("union", Exact(levels * measure, instance.scale), evidence),)


def capacity_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``capacity``: every event as often as brokers are needed for those who want it, level by level."""
    if _breaks(draft, LOAD_BROKEN):
        return ()
    instance = problem.instance
    weights: Int64Array = np.zeros(len(instance.lows), dtype=np.int64)
    np.add.at(weights, instance.rectangle, instance.weights)
    strides = _strides(instance)
    capacities = level_capacities(instance, instance.capacity(problem.max_factor))
    thresholds = [np.cumsum([0, *-np.sort(-some)[:-1]]) for some in capacities]
    levels = integrals_of_counts(instance.lows, instance.highs, weights, instance.measure, strides, thresholds)
    evidence = {"levels": levels, "strides": strides}
    return (Certificate("capacity", Exact(sum(levels), instance.scale), evidence),)


def forced_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``forced``: what filters measure at least because of clients that only certain leaves can serve."""
    if _breaks(draft, LATENCY_BROKEN):
        return ()
    instance = problem.instance
    strides = _strides(instance)
    union, num_common = union_measure(instance, strides), num_common_levels(instance)
    witnesses = find_witnesses(instance, problem.boxes, spark)
    shared, total = Cases(instance, problem.boxes, witnesses, union, num_common).choose()
    brokers = np.repeat([some.broker for some in witnesses], [len(some.clients) for some in witnesses]).astype(np.int32)
    clients = np.concatenate([np.empty(0, np.int64), *(some.clients for some in witnesses)])
    of_brokers = np.array([some.broker for some in witnesses], dtype=np.int32)
    measures = np.array([some.measure for some in witnesses], dtype=np.int64)
    tables = {
        WITNESSES: BlockTable.of(pa.table([brokers, clients], schema=WITNESSES_SCHEMA)),
        FORCED: BlockTable.of(pa.table([of_brokers, measures], schema=FORCED_SCHEMA)),
        SHARED: BlockTable.of(pa.table([np.array(shared, dtype=np.int64)], schema=SHARED_SCHEMA)),
    }
    return (Certificate("forced", Exact(total, instance.scale), {"strides": strides}, tables),)


def union_measure(instance: Instance, strides: list[int]) -> int:
    """The measure of all subscriptions together."""
    ones = np.ones(len(instance.lows), dtype=np.int64)
    threshold = np.zeros(1, dtype=np.int64)
    return integrals_of_counts(instance.lows, instance.highs, ones, instance.measure, strides, [threshold])[0]


def num_common_levels(instance: Instance) -> int:
    """How many levels the path to every leaf crosses."""
    return int(instance.levels[instance.leaves].min())


def level_capacities(instance: Instance, capacity: Int64Array) -> list[Int64Array]:
    """For every level that all paths cross, what the leaves below each of its brokers may serve together."""
    ancestors, leaves = ancestors_by_level(instance.parents, instance.levels), instance.leaves
    levels = []
    for level in range(num_common_levels(instance)):
        totals: Int64Array = np.zeros(instance.num_brokers, dtype=np.int64)
        np.add.at(totals, ancestors[level, leaves], capacity[leaves])
        levels.append(totals[instance.levels == level + 1])
    return levels


def _strides(instance: Instance) -> list[int]:
    return strides_for(edges_of(instance.lows, instance.highs))


def _breaks(draft: Draft, limit: str) -> bool:
    return any(reason.limit == limit for reason in draft.reasons)
