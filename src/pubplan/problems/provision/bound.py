"""What no plan can be below.

- ``paper`` (Theorem A.1): a subscriber is sent at least max(tau_v, its smallest topic) events.
- ``outgoing``: it is sent at least its smallest sum of topics that is enough; with sizes, the fewest bytes.
- ``mandatory``: beside that, a topic that somebody cannot do without flows in at least once, and once for every VM that
  those pairs fill.
- ``prices``: the other topics flow in if somebody takes them. For prices u_tv >= 0 whose sum over the subscribers of a
  topic is at most its stream, incoming and outgoing traffic together are at least

      streams of mandatory topics + sum over v of min { sum (stream(t) + u_tv) x_t : sum rate(t) x_t >= tau_v }.

  The stream of a topic that a plan of ``joint`` uses is shared by the pairs that use it; that of another topic, by all
  who want it. Bytes in and out are weighted by what they cost.

Each of them bounds the traffic; the VMs are at least those that carry it, and the cost is that of the cheapest type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, exact_sum, map_blocks, num_blocks, stage
from pubplan.planning import BlockTable, Certificate, Draft, Exact
from pubplan.problems.provision import joint
from pubplan.problems.provision.catalogue import MICROS, VmType
from pubplan.problems.provision.cost import TrafficBound, least_fleet_cost
from pubplan.problems.provision.exact import cover
from pubplan.problems.provision.joint import JointParameters, Pricing, shared_prices, unit_of
from pubplan.problems.provision.kernels import unsettled_rows
from pubplan.problems.provision.methods import weights_of
from pubplan.problems.provision.plan import CHARGED, CHARGED_SCHEMA, PRICES_SCHEMA, PRICES_TOPICS
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection, Weights
from pubplan.problems.provision.survey import Survey, survey
from pubplan.workload import Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_STEPS = 2 * 10**11
"""Up to so many interests times events of threshold, prices are tried."""


def paper_refusal(problem: Problem) -> str | None:
    return None if problem.size is not None else "Theorem A.1 counts events; here messages have sizes of their own."


def prices_refusal(problem: Problem) -> str | None:
    threshold = problem.threshold
    if threshold is None:
        thresholds = problem.workload.subscriber_array("threshold")
        threshold = int(thresholds.max()) if len(thresholds) else 0
    steps = problem.workload.counts.pairs * threshold
    if steps <= MAX_STEPS:
        return None
    return f"it would take {steps:.2g} steps, interests times threshold; up to {MAX_STEPS:.0e} are tried."


def paper_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    found = survey(problem, _largest_limit(problem), spark)
    floor = TrafficBound(outgoing=found.simple * (problem.size or 0))
    return (_certificate(problem, "paper", dict.fromkeys(_carrying(problem), floor)),)


def outgoing_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    found = survey(problem, _largest_limit(problem), spark)
    floor = TrafficBound(outgoing=found.outgoing * (problem.size or 1), num_vms=min(1, found.wanting))
    return (_certificate(problem, "outgoing", dict.fromkeys(_carrying(problem), floor)),)


def mandatory_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    found = survey(problem, _largest_limit(problem), spark)
    floors = {vm_type: _mandatory_floor(problem, vm_type, found) for vm_type in _carrying(problem)}
    return (_certificate(problem, "mandatory", floors),)


def prices_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound by prices: prices from the pairs of ``joint``, evaluated in one pass.

    The evidence is the price of each topic, for the subscribers that are charged and for everybody, and who is charged.
    """
    limit = _largest_limit(problem)
    found = survey(problem, limit, spark)
    weights = weights_of(problem, _carrying(problem)[0])
    is_known = isinstance(draft.aside, Selection) and draft.aside.name == joint.STAGE.name
    taken = draft.aside if is_known else joint.select(problem, limit, weights, JointParameters(), 0, spark)[0]
    charged = np.where(taken.counts > 0, shared_prices(problem, found.mandatory, taken.counts), 0)
    everybody = shared_prices(problem, found.mandatory, problem.workload.topic_array("subscribers"))
    everybody[taken.counts > 0] = 0
    with stage("bounding by prices"):
        least = _least_traffic(problem, weights, taken, charged, everybody, spark)
    floors, unit = {}, unit_of(problem)
    for vm_type in _carrying(problem):
        floor = _mandatory_floor(problem, vm_type, found)
        weighted = -(-least * (problem.size or 1) // unit) + weights.incoming * floor.incoming
        pair = (weights.incoming, weights.outgoing)
        floors[vm_type] = TrafficBound(floor.incoming, floor.outgoing, weighted, pair, floor.num_vms)
    blocks = {PRICES_TOPICS: _price_table(charged, everybody), CHARGED: _charged_table(problem, taken, charged)}
    evidence = {"weights": [weights.incoming, weights.outgoing], "unit": unit}
    return (_certificate(problem, "prices", floors, evidence, blocks),)


def _least_traffic(
    problem: Problem,
    weights: Weights,
    taken: Selection,
    charged: Int64Array,
    everybody: Int64Array,
    spark: SparkSession | None,
) -> int:
    """The sum over subscribers of the cheapest cover, prices included, in units."""
    reader, events, read = problem.rows(), problem.usable(_largest_limit(problem)), taken.read
    if_charged, if_not = (Pricing.of(problem, weights, prices) for prices in (charged, everybody))
    cost_per_event = if_charged.cost_per_event

    def evaluate(block: int) -> int:
        rows, pairs = reader.read(block), read(block)
        offsets, thresholds = np.empty_like(rows.offsets), np.empty_like(rows.thresholds)
        topics, costs = np.empty(len(rows.topics), np.int32), np.empty(len(rows.topics), np.int64)
        settled, num_open = unsettled_rows(
            *(rows.offsets, rows.topics, rows.thresholds, pairs.lengths, pairs.topics),
            if_charged.costs,
            if_not.costs,
            cost_per_event,
            offsets,
            topics,
            costs,
            thresholds,
        )
        size = offsets[num_open]
        unsettled = Rows(offsets[: num_open + 1], topics[:size], thresholds[:num_open], rows.weights[:num_open])
        return int(settled + cover(unsettled, events, costs, cost_per_event)[1][1])

    return sum(map_blocks(evaluate, len(problem.workload.interests_blocks), spark))


def _largest_limit(problem: Problem) -> int:
    return max(map(problem.limit, problem.types))


def _carrying(problem: Problem) -> list[VmType]:
    """The VM types that can carry anything."""
    return [vm_type for vm_type in problem.types if problem.limit(vm_type) > 0]


def _mandatory_floor(problem: Problem, vm_type: VmType, found: Survey) -> TrafficBound:
    """Mandatory topics flow in once for every VM that their mandatory pairs fill."""
    topics = np.flatnonzero((found.mandatory > 0) & (problem.streams > 0))
    streams = problem.streams[topics]
    pairs_per_vm = np.maximum(1, problem.limit(vm_type) // streams - 1)
    num_vms = -(-found.mandatory[topics] // pairs_per_vm)
    return TrafficBound(
        incoming=exact_sum(num_vms * streams),
        outgoing=found.outgoing * (problem.size or 1),
        num_vms=int(num_vms.max(initial=min(1, found.wanting))),
    )


def _certificate(
    problem: Problem,
    name: str,
    floors: dict[VmType, TrafficBound],
    evidence: dict[str, object] | None = None,
    blocks: dict[str, BlockTable] | None = None,
) -> Certificate:
    """The cost of the VM type for which it is least."""
    parts = {
        vm_type.name: Exact(least_fleet_cost(problem, vm_type, floor), MICROS) for vm_type, floor in floors.items()
    }
    bound = min(parts.values(), key=lambda part: part.value)
    return Certificate(name, bound, evidence or {}, blocks or {}, parts=parts)


def _price_table(charged: Int64Array, everybody: Int64Array) -> BlockTable:
    """The prices that are not 0, by block of topics."""

    def make(block: int) -> pa.Table:
        first, last = block_range(block, len(charged))
        topics = first + np.flatnonzero((charged[first:last] > 0) | (everybody[first:last] > 0))
        return pa.table([topics.astype(np.int32), charged[topics], everybody[topics]], schema=PRICES_SCHEMA)

    return BlockTable(num_blocks(len(charged)), make)


def _charged_table(problem: Problem, taken: Selection, charged: Int64Array) -> BlockTable:
    """For every subscriber the topics whose stream it shares."""
    read, is_charged = taken.read, charged > 0

    def make(block: int) -> pa.Table:
        pairs = read(block)
        chosen = is_charged[pairs.topics]
        ends = np.concatenate([[0], np.cumsum(chosen)])
        offsets = ends[np.concatenate([[0], np.cumsum(pairs.lengths)])].astype(np.int32)
        lists = pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(pairs.topics[chosen]), type=CHARGED_SCHEMA.field(0).type
        )
        return pa.Table.from_arrays([lists], schema=CHARGED_SCHEMA)

    return BlockTable(len(problem.workload.interests_blocks), make)
