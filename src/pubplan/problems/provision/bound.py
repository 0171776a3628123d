"""What no plan can be below.

- ``paper`` (Theorem A.1): a subscriber is sent at least max(tau_v, its smallest topic) events.
- ``outgoing``: it is sent at least its smallest sum of topics that is enough; with sizes, the fewest bytes.
- ``mandatory``: also, a topic that some subscriber cannot do without flows in at least once, and once for every VM that
  those pairs fill.
- ``prices``: the other topics flow in if a subscriber takes them. For prices u_tv >= 0 whose sum over the subscribers
  of a topic is at most its stream, incoming and outgoing traffic together are at least

      streams of mandatory topics + sum over v of min { sum (stream(t) + u_tv) x_t : sum rate(t) x_t >= tau_v }.

  The stream of a topic that a plan of ``joint`` uses is shared by the pairs that use it; that of another topic, by all
  who want it. Bytes in and out are weighted by what they cost.

Each of them bounds the traffic; the VMs are at least those that carry it, and the cost is that of the cheapest type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, exact_sum, map_blocks, num_blocks, stage
from pubplan.planning import BlockTable, Bound, Certificate, Exact
from pubplan.problems.provision.catalogue import MICROS, VmType
from pubplan.problems.provision.cost import TrafficBound, least_fleet_cost
from pubplan.problems.provision.draft import FleetDraft
from pubplan.problems.provision.kernels.cheapest_covers import Costs
from pubplan.problems.provision.kernels.covers import Chosen
from pubplan.problems.provision.kernels.open_rows import OpenRows, list_open_rows
from pubplan.problems.provision.methods import joint
from pubplan.problems.provision.methods.joint import JointParameters, Pricing, price_scale, shared_prices
from pubplan.problems.provision.methods.least_traffic import cover
from pubplan.problems.provision.plan import CHARGED, CHARGED_SCHEMA, PRICES_SCHEMA, PRICES_TOPICS
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection, Weights, rows_of
from pubplan.problems.provision.stages import weights_of
from pubplan.problems.provision.survey import Survey, survey
from pubplan.workload import ALL_EVENTS, Int64Array, SubscriberBlock

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_STEPS = 2 * 10**11
"""Prices are tried up to this many interests times events of threshold."""


@dataclass(frozen=True)
class FleetCertificate(Certificate):
    """A bound on the cost of every fleet. ``by_type`` has what it is for each VM type alone; the bound is the least."""

    by_type: Mapping[str, Exact] = field(default_factory=dict)


def bounds_by_type(
    bounds: Iterable[Bound[Problem, FleetDraft]], problem: Problem, draft: FleetDraft, spark: SparkSession | None
) -> dict[str, dict[str, Exact]]:
    """By the names of VM type and bound: what no fleet of that type alone can cost less than."""
    by_type: dict[str, dict[str, Exact]] = {vm_type.name: {} for vm_type in problem.types}
    for bound in bounds:
        for certificate in bound.run(problem, draft, spark):
            assert isinstance(certificate, FleetCertificate)
            for type_name, value in certificate.by_type.items():
                by_type[type_name][certificate.name] = value
    return by_type


def paper_refusal(problem: Problem) -> str | None:
    if problem.instance.common_size is not None:
        return None
    return "Theorem A.1 counts events; here topics have messages of different sizes."


def prices_refusal(problem: Problem) -> str | None:
    threshold = problem.threshold
    if threshold == ALL_EVENTS:
        return None  # the only cover of a subscriber is everything
    if threshold is None:
        thresholds = problem.workload.subscriber_array("threshold")
        threshold = int(thresholds.max()) if len(thresholds) else 0
    steps = problem.workload.counts.pairs * threshold
    if steps <= MAX_STEPS:
        return None
    return f"it would take {steps:.2g} steps, interests times threshold; up to {MAX_STEPS:.0e} are tried."


def paper_bound(problem: Problem, draft: FleetDraft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The paper's bound on outgoing traffic; messages have one size."""
    surveyed = survey(problem, _largest_limit(problem), spark)
    least = TrafficBound(outgoing=surveyed.simple_need * (problem.instance.common_size or 0))
    return (_certificate(problem, "paper", dict.fromkeys(_carrying(problem), least)),)


def outgoing_bound(problem: Problem, draft: FleetDraft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The least outgoing traffic, and a VM if a subscriber needs anything."""
    surveyed = survey(problem, _largest_limit(problem), spark)
    outgoing = surveyed.outgoing * (problem.instance.common_size or 1)
    least = TrafficBound(outgoing=outgoing, num_vms=min(1, surveyed.num_wanting))
    return (_certificate(problem, "outgoing", dict.fromkeys(_carrying(problem), least)),)


def mandatory_bound(problem: Problem, draft: FleetDraft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """Outgoing traffic, and the streams of topics that some subscriber cannot do without."""
    surveyed = survey(problem, _largest_limit(problem), spark)
    least = {vm_type: _mandatory_traffic(problem, vm_type, surveyed) for vm_type in _carrying(problem)}
    return (_certificate(problem, "mandatory", least),)


def prices_bound(problem: Problem, draft: FleetDraft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound by prices: prices from the pairs of ``joint``, evaluated in one scan.

    The evidence is the price of each topic, for the subscribers that are charged and for others, and who is charged.
    """
    limit = _largest_limit(problem)
    surveyed = survey(problem, limit, spark)
    weights = weights_of(problem, _carrying(problem)[0])
    taken = draft.selection
    if taken is None or taken.name != joint.STAGE.name:
        taken = joint.select(problem, limit, weights, JointParameters(), 0, spark)[0]
    is_taken, subscribers = taken.counts > 0, problem.workload.topic_array("subscribers")
    prices = TopicPrices(
        if_charged=np.where(is_taken, shared_prices(problem, surveyed.mandatory, taken.counts), 0),
        otherwise=np.where(is_taken, 0, shared_prices(problem, surveyed.mandatory, subscribers)),
    )
    with stage("bounding by prices"):
        least_cost = _least_cover_cost(problem, weights, taken, prices, spark)
    least, scale = {}, price_scale(problem)
    for vm_type in _carrying(problem):
        flows = _mandatory_traffic(problem, vm_type, surveyed)
        size = problem.instance.common_size or 1
        weighted = -(-least_cost * size // scale) + weights.incoming * flows.incoming
        least[vm_type] = replace(flows, weighted=weighted, weights=(weights.incoming, weights.outgoing))
    blocks = {PRICES_TOPICS: _price_table(prices), CHARGED: _charged_table(problem, taken, prices)}
    evidence = {"weights": [weights.incoming, weights.outgoing], "unit": scale}
    return (_certificate(problem, "prices", least, evidence, blocks),)


@dataclass(frozen=True)
class TopicPrices:
    """By topic, what a subscriber pays who shares its stream, and what any other pays who takes it."""

    if_charged: Int64Array
    otherwise: Int64Array


def _least_cover_cost(
    problem: Problem, weights: Weights, taken: Selection, prices: TopicPrices, spark: SparkSession | None
) -> int:
    """The sum over subscribers of the cheapest cover, prices included, times ``price_scale``."""
    instance = problem.instance
    reader, events, read = instance.reader(), instance.usable(_largest_limit(problem)), taken.read
    if_charged = Pricing.of(problem, weights, prices.if_charged)
    otherwise = Pricing.of(problem, weights, prices.otherwise)
    cost_per_event = if_charged.cost_per_event

    def evaluate(block: int) -> int:
        rows, pairs = reader.read(block), read(block)
        open_rows = OpenRows(
            offsets=np.empty_like(rows.offsets),
            topics=np.empty_like(rows.topics),
            costs=np.empty(len(rows.topics), np.int64),
            thresholds=np.empty_like(rows.thresholds),
        )
        chosen = Chosen(pairs.lengths, pairs.topics)
        known_cost, num_open = list_open_rows(
            rows_of(rows), chosen, if_charged.costs, otherwise.costs, cost_per_event, open_rows
        )
        size = open_rows.offsets[num_open]
        unknown = SubscriberBlock(
            open_rows.offsets[: num_open + 1],
            open_rows.topics[:size],
            open_rows.thresholds[:num_open],
            rows.weights[:num_open],
        )
        costs = Costs(open_rows.costs[:size], is_by_topic=False, per_event=cost_per_event)
        return int(known_cost) + cover(unknown, events, costs)[1].least_cost

    return sum(map_blocks(evaluate, problem.workload.num_blocks, spark))


def _largest_limit(problem: Problem) -> int:
    return max(map(problem.limit, problem.types))


def _carrying(problem: Problem) -> list[VmType]:
    """The VM types that can carry anything."""
    return [vm_type for vm_type in problem.types if problem.limit(vm_type) > 0]


def _mandatory_traffic(problem: Problem, vm_type: VmType, surveyed: Survey) -> TrafficBound:
    """Mandatory topics flow in once for every VM that their mandatory pairs fill."""
    all_streams = problem.instance.streams
    topics = np.flatnonzero((surveyed.mandatory > 0) & (all_streams > 0))
    streams = all_streams[topics]
    pairs_per_vm = np.maximum(1, problem.limit(vm_type) // streams - 1)
    num_vms = -(-surveyed.mandatory[topics] // pairs_per_vm)
    return TrafficBound(
        incoming=exact_sum(num_vms * streams),
        outgoing=surveyed.outgoing * (problem.instance.common_size or 1),
        num_vms=int(num_vms.max(initial=min(1, surveyed.num_wanting))),
    )


def _certificate(
    problem: Problem,
    name: str,
    least: Mapping[VmType, TrafficBound],
    evidence: Mapping[str, object] | None = None,
    blocks: Mapping[str, BlockTable] | None = None,
) -> FleetCertificate:
    """The cost of the VM type for which it is least."""
    by_type = {
        vm_type.name: Exact(least_fleet_cost(problem, vm_type, traffic), MICROS) for vm_type, traffic in least.items()
    }
    bound = min(by_type.values(), key=lambda value: value.value)
    return FleetCertificate(name, bound, evidence or {}, blocks or {}, by_type=by_type)


def _price_table(prices: TopicPrices) -> BlockTable:
    """The prices that are not 0, by block of topics."""
    if_charged, otherwise = prices.if_charged, prices.otherwise

    def make(block: int) -> pa.Table:
        first, last = block_range(block, len(if_charged))
        topics = first + np.flatnonzero((if_charged[first:last] > 0) | (otherwise[first:last] > 0))
        return pa.table([topics.astype(np.int32), if_charged[topics], otherwise[topics]], schema=PRICES_SCHEMA)

    return BlockTable(num_blocks(len(if_charged)), make)


def _charged_table(problem: Problem, taken: Selection, prices: TopicPrices) -> BlockTable:
    """For every subscriber the topics whose stream it shares."""
    read, is_charged = taken.read, prices.if_charged > 0

    def make(block: int) -> pa.Table:
        pairs = read(block)
        chosen = is_charged[pairs.topics]
        ends = np.concatenate([[0], np.cumsum(chosen)])
        offsets = ends[np.concatenate([[0], np.cumsum(pairs.lengths)])].astype(np.int32)
        lists = pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(pairs.topics[chosen]), type=CHARGED_SCHEMA.field(0).type
        )
        return pa.Table.from_arrays([lists], schema=CHARGED_SCHEMA)

    return BlockTable(problem.workload.num_blocks, make)
