"""What a plan was asked, in numbers, from the fields of its problem and the tables of its workload alone."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, exact_sum
from pubplan.errors import InputError
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array

BYTES = "bytes"

_PER_SECOND = {
    "msg/s": (None, Fraction(1)),
    **{
        f"{prefix}bit/s": (BYTES, Fraction(size, 8))
        for prefix, size in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))
    },
    **{f"{prefix}B/s": (BYTES, Fraction(size)) for prefix, size in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))},
}
"""What a unit counts, as the cost of topics has it, and how much of that."""


def costs_of(problem: Problem, rates: Int64Array) -> Int64Array:
    """What serving each topic costs."""
    if problem.cost is not None and problem.cost != BYTES:
        return problem.workload.topic_array(problem.cost)
    deliveries = rates * problem.workload.topic_array("subscribers")
    return deliveries if problem.cost is None else deliveries * problem.workload.topic_array("message_bytes")


def capacity_of(problem: Problem, costs: Int64Array) -> int:
    """The most that the served topics may cost.

    Raises:
        InputError: the capacity is not in a form that plans have.
    """
    capacity = problem.capacity
    if isinstance(capacity, int):
        return capacity
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(?:%| ([A-Za-z]+/s))", capacity)
    counts, factor = _PER_SECOND.get(match[2], ("", Fraction(0))) if match and match[2] else (problem.cost, Fraction(0))
    if match is None or counts != problem.cost:
        raise InputError(f"The capacity {capacity!r} does not limit what topics cost.")
    if match[2] is None:
        return min(MAX_INT64, int(Fraction(match[1]) * exact_sum(costs) / 100))
    return min(MAX_INT64, int(Fraction(match[1]) * factor * Fraction(str(problem.workload.manifest.window.seconds))))


def needs_of(threshold: int | str | None, table: pa.Table, wanted: Int64Array) -> Int64Array:
    """What satisfies each subscriber of a block, of whom ``wanted`` says how many events they asked for."""
    if threshold == "all":
        return wanted
    return np.minimum(table["threshold"].to_numpy() if threshold is None else threshold, wanted)
