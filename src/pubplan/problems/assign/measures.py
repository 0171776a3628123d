"""What is worth knowing about an assignment: bandwidth, delays, loads, boxes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import map_blocks
from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.assign.plan import ASSIGNMENTS, ASSIGNMENTS_SCHEMA, BROKERS, BROKERS_SCHEMA, FILTERS
from pubplan.problems.assign.problem import Problem
from pubplan.workload import Int64Array, load_factor, site_latencies

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_DELAY_PERCENT = 1000
"""Delays are counted by percent of the shortest latency; longer ones are counted with this one."""


@dataclass(frozen=True)
class Measures:
    """An assignment in numbers.

    Attributes:
        bandwidth: the measure of all filters, unscaled.
        scale: what bandwidth is divided by.
        delays: how many clients have a delay of 0, 1, 2 … percent more than the shortest way (rounded up).
        rms_delay: the root mean square of delays, as a share.
        largest_delay: as a share.
        loads: clients per leaf, by weight.
        limits: the most that each may serve.
        load_factor: the largest load in multiples of a leaf's share.
        load_deviation: the standard deviation of loads.
        boxes: of all filters.
        by_level: bandwidth by level of the tree, unscaled.

    >>> feeds = pubplan.generate.generate(pubplan.generate.content_feeds(200, 5), "feeds", replace=True)
    >>> problem = pubplan.assign.Problem(feeds, max_delay=0.5, load=3, max_load=5)
    >>> plan = pubplan.assign.solve(problem, "gr-star").plan
    >>> pubplan.assign.measures_of(problem, plan).clients
    200
    """

    clients: int
    leaves: int
    bandwidth: int
    scale: int
    delays: tuple[int, ...]
    rms_delay: float
    largest_delay: float
    loads: tuple[int, ...]
    limits: tuple[int, ...]
    load_factor: Fraction
    load_deviation: float
    boxes: int
    by_level: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "load_factor": float(self.load_factor)}


def measures_of(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Measures:
    """Measure a plan, block by block, in this process or on Spark.

    Args:
        problem: the one that the plan answers.
        plan: of ``assign``.
        spark: a session to run on; None measures in this process.

    Raises:
        InputError: its tables are damaged.

    >>> feeds = pubplan.generate.generate(pubplan.generate.content_feeds(200, 5), "feeds", replace=True)
    >>> problem = pubplan.assign.Problem(feeds, max_delay=0.5, load=3, max_load=5)
    >>> sum(pubplan.assign.measures_of(problem, pubplan.assign.solve(problem, "gr-star").plan).loads)
    200
    """
    workload = problem.workload
    leaves, shares = workload.brokers.leaves, workload.brokers.shares
    latencies = site_latencies(workload, problem.hop)
    nearest = latencies.min(axis=1)
    column_of = np.full(workload.counts.brokers, -1, dtype=np.int64)
    column_of[leaves] = np.arange(len(leaves))

    def measure(block: int) -> tuple[Int64Array, float, float]:
        sites = workload.client_block(block, "site")["site"].to_numpy()
        brokers = plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)["broker"].to_numpy()
        if len(brokers) != len(sites) or not np.isin(brokers, leaves).all():
            raise InputError(f"{plan.path}: the decisions '{ASSIGNMENTS}' are damaged: not every client has a leaf.")
        shortest = np.maximum(nearest[sites], 1)
        delays = (latencies[sites, column_of[brokers]] - nearest[sites]) / shortest
        percents = np.minimum(np.ceil(delays * 100), MAX_DELAY_PERCENT).astype(np.int64)
        return (
            np.bincount(percents, minlength=MAX_DELAY_PERCENT + 1),
            float((delays**2).sum()),
            float(delays.max(initial=0)),
        )

    bins, squares, largest = np.zeros(MAX_DELAY_PERCENT + 1, dtype=np.int64), 0.0, 0.0
    for counts, sum_of_squares, most in map_blocks(measure, workload.num_blocks, spark):
        bins += counts
        squares += sum_of_squares
        largest = max(largest, most)
    brokers = plan.decisions(BROKERS, BROKERS_SCHEMA)
    if brokers.num_rows != workload.counts.brokers:
        raise InputError(f"{plan.path}: the decisions '{BROKERS}' are damaged: they have {brokers.num_rows} rows.")
    loads, limits = (brokers[name].to_numpy()[leaves] for name in ("clients", "limit"))
    volumes, levels = brokers["volume"].to_numpy(), brokers["level"].to_numpy()
    by_level = [int(volumes[levels == level].sum()) for level in range(1, int(levels.max(initial=0)) + 1)]
    used = np.trim_zeros(bins, "b")
    return Measures(
        clients=workload.counts.clients,
        leaves=len(leaves),
        bandwidth=plan.exact.value,
        scale=plan.exact.scale,
        delays=tuple(used.tolist()),
        rms_delay=float(np.sqrt(squares / max(1, workload.counts.clients))),
        largest_delay=largest,
        loads=tuple(loads.tolist()),
        limits=tuple(limits.tolist()),
        load_factor=load_factor(loads, shares[leaves]),
        load_deviation=float(np.std(loads)) if len(loads) else 0.0,
        boxes=plan.decisions(FILTERS).num_rows // workload.space.num_dimensions,
        by_level=tuple(by_level),
    )


def copies(problem: Problem, bandwidth: float) -> float:
    """How many brokers an event goes into on average.

    Events are spread evenly over the space, or as the workload's messages are.

    Args:
        problem: whose workload has the space.
        bandwidth: the measure of filters, unscaled.

    >>> feeds = pubplan.generate.generate(pubplan.generate.content_feeds(200, 5), "feeds", replace=True)
    >>> pubplan.assign.copies(pubplan.assign.Problem(feeds, max_delay=0.5), feeds.space.volume)
    1.0
    """
    total = problem.workload.totals.rate * problem.instance.scale if problem.workload.space.cells else None
    whole = problem.workload.space.volume if total is None else total
    return bandwidth / whole if whole else 0.0
