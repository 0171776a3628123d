"""Evaluates bounds again from their evidence, in exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import exact_sum, map_blocks
from pubplan.errors import Violation
from pubplan.planning import Exact, Plan, wrong_columns
from pubplan.problems.federate.plan import (
    CLUSTERS,
    CLUSTERS_SCHEMA,
    PRICES,
    PRICES_SCHEMA,
    SEARCH,
    SHARES,
    SHARES_SCHEMA,
)
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem
from pubplan.problems.federate.verifier.clients import Traffic, demand_of
from pubplan.problems.federate.verifier.content import Cut, Prices, read_rows
from pubplan.problems.federate.verifier.search import wrong_search
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_SCALE_BITS = 30
LARGEST = 2**62


@dataclass(frozen=True)
class Evidence:
    """Multipliers as the plan states them, checked for their range."""

    bits: int
    room_prices: Int64Array
    clusters: tuple[Int64Array, ...]
    lengths: Int64Array
    clients: Int64Array
    kinds: Int64Array
    channels: Int64Array
    shares: Int64Array


class _WrongEvidence(Exception):
    """Evidence that proves nothing."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(str(violation))
        self.violation = violation


def wrong_bounds(
    problem: Problem, plan: Plan, cut: Cut, prices: Prices, traffic: Traffic, spark: SparkSession | None
) -> Iterator[Violation]:
    """Bounds that are not what their evidence proves."""
    for name in ("access", "laminar"):
        if name not in plan.record["bounds"]:
            continue
        try:
            evidence = _read(problem, plan, name, cut, prices)
        except _WrongEvidence as error:
            yield error.violation
            continue
        value = max(0, _value(problem, cut, prices, traffic, evidence, spark))
        expected = Exact(value * problem.message_bytes, DOLLAR_SCALE)
        stated = plan.certificate(name).bound
        if stated != expected:
            yield Violation("wrong bound", name, stated=float(stated), expected=float(expected))
    if SEARCH in plan.record["bounds"]:
        yield from wrong_search(problem, plan, cut, prices, traffic)


def _table(plan: Plan, name: str, table: str, schema: pa.Schema) -> pa.Table:
    prefix = f"certificate/{name}-{table}/"
    number = sum(file.startswith(prefix) for file in plan.record["files"])
    blocks = [plan.certificate_block(name, table, block) for block in range(number)]
    for block in blocks:
        for violation in wrong_columns(f"certificate/{name}-{table}", block, schema):
            raise _WrongEvidence(violation)
    return pa.concat_tables(blocks)


def _refuse(fault: str | None, where: str) -> None:
    if fault is not None:
        raise _WrongEvidence(Violation(fault, where))


def _read(problem: Problem, plan: Plan, name: str, cut: Cut, prices: Prices) -> Evidence:
    """The evidence of a bound; raises ``_WrongEvidence`` with what is wrong with it."""
    scale = plan.certificate(name).evidence["scale"]
    if type(scale) is not int or scale not in [1 << bits for bits in range(MAX_SCALE_BITS + 1)]:
        raise _WrongEvidence(Violation("scale that is not a power of two", name, stated=str(scale)))
    rooms = _table(plan, name, PRICES, PRICES_SCHEMA)
    _refuse(_wrong_rooms(prices, rooms), f"certificate/{name}-{PRICES}")
    bits, room_prices = int(scale).bit_length() - 1, rooms["price"].to_numpy()
    if name == "access":
        none = np.empty(0, dtype=np.int64)
        return Evidence(bits, room_prices, (), none, none, none, none, none)
    sets, shares = _table(plan, name, CLUSTERS, CLUSTERS_SCHEMA), _table(plan, name, SHARES, SHARES_SCHEMA)
    clusters = tuple(np.array(row, dtype=np.int64) for row in sets["brokers"].to_pylist())
    lengths = sets["length"].to_numpy()
    _refuse(_wrong_clusters(prices, sets["cluster"].to_numpy(), clusters, lengths), f"certificate/{name}-{CLUSTERS}")
    columns = [shares[field].to_numpy().astype(np.int64) for field in ("client", "cluster", "channel", "share")]
    limits = (problem.workload.counts.clients, len(clusters), cut.number, LARGEST)
    _refuse(_wrong_shares(columns, limits), f"certificate/{name}-{SHARES}")
    return Evidence(bits, room_prices, clusters, lengths, *columns)


def _wrong_rooms(prices: Prices, table: pa.Table) -> str | None:
    room_prices = table["price"].to_numpy()
    if not np.array_equal(table["broker"].to_numpy(), np.arange(prices.num_brokers)) or (room_prices < 0).any():
        return "prices of room that are missing or negative"
    if (room_prices[prices.capacities == 0] > 0).any():
        return "price of room at a broker without a limit"
    return None


def _wrong_shares(columns: list[Int64Array], limits: tuple[int, ...]) -> str | None:
    if any(len(some) and not 0 <= some.min() <= some.max() < most for some, most in zip(columns, limits, strict=True)):
        return "shares of what does not exist, or out of range"
    return "shares out of order" if (np.diff(columns[0]) < 0).any() else None


def _wrong_clusters(
    prices: Prices, numbers: Int64Array, clusters: tuple[Int64Array, ...], lengths: Int64Array
) -> str | None:
    """Clusters are sets of brokers; along every link, those that it leads into are no longer than its price."""
    if not np.array_equal(numbers, np.arange(len(clusters))) or (lengths < 0).any():
        return "clusters out of order, or with a negative length"
    if any(len(some) and not 0 <= some.min() <= some.max() < prices.num_brokers for some in clusters):
        return "clusters of brokers that do not exist"
    if any((np.diff(some) <= 0).any() for some in clusters):
        return "clusters with brokers out of order or repeated"
    entered = np.zeros(prices.links.shape, dtype=object)  # Python integers do not wrap
    for some, length in zip(clusters, lengths.tolist(), strict=True):
        inside = np.zeros(prices.num_brokers, dtype=np.bool_)
        inside[some] = True
        entered[np.ix_(~inside, inside)] += length
    if (entered > prices.links).any():
        return "clusters that are longer than a link into them"
    return None


def _value(
    problem: Problem, cut: Cut, prices: Prices, traffic: Traffic, evidence: Evidence, spark: SparkSession | None
) -> int:
    """What the evidence proves, rounded up to a whole cost."""
    num_brokers, bits = prices.num_brokers, evidence.bits
    is_member = np.zeros((len(evidence.clusters), num_brokers), dtype=np.int64)
    for cluster, some in enumerate(evidence.clusters):
        is_member[cluster, some] = 1
    around = [sum(int(a) * int(b) for a, b in zip(evidence.lengths, row, strict=True)) for row in is_member.T]
    total = -sum(int(a) * int(b) for a, b in zip(evidence.room_prices, prices.capacities, strict=True))
    total -= max(around, default=0) * sum(traffic.messages.tolist()) << bits
    paid: dict[tuple[int, int], int] = {}
    if len(evidence.shares):
        keys, inverse = np.unique(evidence.kinds * cut.number + evidence.channels, return_inverse=True)
        for half, shift in ((evidence.shares & 0xFFFFFFFF, 0), (evidence.shares >> 32, 32)):
            sums = np.zeros(len(keys), dtype=np.int64)
            np.add.at(sums, inverse.reshape(-1), half)
            for key, value in zip(keys.tolist(), sums.tolist(), strict=True):
                slot = divmod(key, cut.number)
                paid[slot] = paid.get(slot, 0) + (value << shift)
    for (cluster, channel), amount in paid.items():
        budget = int(evidence.lengths[cluster]) * int(traffic.messages[channel]) << bits
        total += min(0, budget - amount)

    def least(block: int) -> int:
        block_total = 0
        for rows in read_rows(problem, cut, block):
            demand = demand_of(rows.wants, rows.published, traffic.wanting, traffic.messages)
            first, last = np.searchsorted(evidence.clients, [rows.first, rows.first + len(rows.sites)])
            of_rows = evidence.clients[first:last] - rows.first
            kinds, channels, shares = (
                some[first:last] for some in (evidence.kinds, evidence.channels, evidence.shares)
            )
            # Only who wants a channel pays for it: other shares prove nothing.
            is_valid = rows.wants[of_rows, channels]
            costs = _least_costs(
                demand,
                prices,
                rows.sites,
                rows.allowed,
                evidence.room_prices,
                bits,
                (of_rows[is_valid], kinds[is_valid], shares[is_valid]),
                is_member,
            )
            block_total += sum(costs)
        return block_total

    total += sum(map_blocks(least, problem.workload.num_blocks, spark))
    return int(-(-total >> bits))


def _least_costs(
    demand: Int64Array,
    prices: Prices,
    sites: Int64Array,
    allowed: list[frozenset[int]] | None,
    room_prices: Int64Array,
    bits: int,
    entries: tuple[Int64Array, Int64Array, Int64Array],
    is_member: Int64Array,
) -> list[int]:
    """For every client the least cost of any broker that it may use, with shares; in Python integers where 64 bits
    might not hold them.
    """
    most = int(demand.max(initial=0)) * ((int(prices.sites.max(initial=0)) << bits) + int(room_prices.max(initial=0)))
    shares_total = exact_sum(entries[2])
    kind = np.int64 if most + shares_total < LARGEST else object
    unit = (prices.sites[sites].astype(kind) << bits) + room_prices.astype(kind)
    costs = demand.astype(kind)[:, None] * unit
    if len(entries[0]):
        paid = np.zeros((len(demand), len(is_member)), dtype=kind)
        np.add.at(paid, (entries[0], entries[1]), entries[2].astype(kind))
        costs = costs + paid @ is_member.astype(kind)
    if allowed is None:
        return [int(value) for value in costs.min(axis=1)]
    return [min(int(row[broker]) for broker in some) for row, some in zip(costs, allowed, strict=True)]
