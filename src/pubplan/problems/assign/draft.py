"""From an assignment to the draft of a plan."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range
from pubplan.errors import Reason
from pubplan.planning import BlockTable, Draft, Exact
from pubplan.problems.assign.assignment import Assignment, loads_of
from pubplan.problems.assign.kernels.measures import union_of
from pubplan.problems.assign.plan import (
    ASSIGNMENTS,
    ASSIGNMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    FILTERS,
    FILTERS_SCHEMA,
    LATENCY_BROKEN,
    LOAD_BROKEN,
)
from pubplan.problems.assign.problem import MAX_BOXES, Problem
from pubplan.text import counted
from pubplan.workload import Int32Array, Int64Array


def draft_of(problem: Problem, assignment: Assignment) -> Draft:
    """The tables of a plan, what it is worth, and which limits it breaks, if its method may break some."""
    instance = problem.instance
    loads = loads_of(assignment.brokers, instance.weights, instance.num_brokers)
    limits = instance.capacity(problem.max_factor)
    measures = _measures(problem, assignment)
    return Draft(
        decisions={
            ASSIGNMENTS: _assignments(assignment.brokers, problem.workload.num_blocks),
            FILTERS: _filters(problem, assignment),
            BROKERS: _brokers(problem, loads, limits, measures),
        },
        claimed=Exact(sum(measures.tolist()), instance.scale),
        reasons=(*assignment.reasons, *_broken(problem, assignment.brokers, loads, limits)),
        deterministic=assignment.deterministic,
    )


def _measures(problem: Problem, assignment: Assignment) -> Int64Array:
    """What the filter of every broker lets through."""
    instance = problem.instance
    scratch = np.empty((1 << MAX_BOXES, 2 * instance.dims + 1), dtype=np.int64)
    filters = [assignment.boxes_of(broker) for broker in range(instance.num_brokers)]
    measures = [union_of(instance.measure, boxes, len(boxes), scratch, False) for boxes in filters]
    return np.array(measures, dtype=np.int64)


def _assignments(brokers: Int32Array, num_blocks: int) -> BlockTable:
    def make(block: int) -> pa.Table:
        first, last = block_range(block, len(brokers))
        return pa.Table.from_arrays([np.arange(first, last), brokers[first:last]], schema=ASSIGNMENTS_SCHEMA)

    return BlockTable(num_blocks, make)


def _filters(problem: Problem, assignment: Assignment) -> pa.Table:
    """A row per box and attribute."""
    names = [attribute.name for attribute in problem.workload.space.attributes]
    dims, num_boxes = len(names), np.diff(assignment.box_offsets)
    brokers = np.repeat(np.arange(len(num_boxes), dtype=np.int32), num_boxes)
    positions = (np.arange(len(brokers)) - assignment.box_offsets[:-1][brokers]).astype(np.int32)
    columns = [
        np.repeat(brokers, dims),
        problem.workload.brokers.ids.take(pa.array(np.repeat(brokers, dims))),
        np.repeat(positions, dims),
        pa.array(names * len(brokers), pa.string()),
        assignment.boxes[:, :dims].reshape(-1),
        assignment.boxes[:, dims:].reshape(-1),
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=FILTERS_SCHEMA)


def _brokers(problem: Problem, loads: Int64Array, limits: Int64Array, measures: Int64Array) -> pa.Table:
    brokers = problem.workload.brokers
    numbers = np.arange(brokers.num_brokers, dtype=np.int32)
    columns = [numbers, brokers.ids, brokers.levels, loads, limits, measures]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=BROKERS_SCHEMA)


def _broken(problem: Problem, brokers: Int32Array, loads: Int64Array, limits: Int64Array) -> list[Reason]:
    """The limits that an assignment breaks: clients that are served too late, and leaves with too many."""
    reasons = []
    late = np.flatnonzero(~_is_candidate(problem, brokers))
    if len(late):
        sentence = f"{counted(len(late), 'client')} of {len(brokers):,} {_are(len(late))} served later than allowed"
        reasons.append(Reason(LATENCY_BROKEN, 0, len(late), "", sentence))
    above = np.flatnonzero(loads > limits)
    if len(above):
        ids = problem.workload.brokers.ids
        worst = int(above[np.argmax(loads[above] - limits[above])])
        name = ids[worst].as_py()
        overloaded = f"{counted(len(above), 'leaf broker')} of {problem.workload.counts.leaves:,} {_are(len(above))}"
        sentence = f"{overloaded} overloaded: {name} serves {loads[worst]:,} clients and may serve {limits[worst]:,}"
        reasons.append(Reason(LOAD_BROKEN, 0, len(above), name, sentence))
    return reasons


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _is_candidate(problem: Problem, brokers: Int32Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each client is served by a candidate of its group."""
    instance = problem.instance
    groups = np.repeat(np.arange(len(instance.candidate_offsets) - 1), np.diff(instance.candidate_offsets))
    is_candidate = np.zeros((len(instance.candidate_offsets) - 1, instance.num_brokers), dtype=np.bool_)
    is_candidate[groups, instance.candidates] = True
    return is_candidate[instance.group, brokers]
