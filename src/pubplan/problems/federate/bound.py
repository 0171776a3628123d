"""What no plan can be below.

* ``access``: clients at brokers within capacities, divided if need be, and nothing paid between brokers.
* ``laminar`` (pubplan): that, and what messages pay to get into clusters of brokers with subscribers (see
  ``laminar.py``). It holds for every routing and cost: copies never cost less than one tree over the same brokers.
* ``search``: all attachments compared, for few clients and brokers; the method ``exact`` proves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import exact_dot, exact_sum
from pubplan.planning import BlockTable, Certificate, Draft
from pubplan.problems.federate.draft import dollars
from pubplan.problems.federate.laminar import Multipliers, find_multipliers
from pubplan.problems.federate.plan import (
    CLUSTERS,
    CLUSTERS_SCHEMA,
    PRICES,
    PRICES_SCHEMA,
    SHARES,
    SHARES_SCHEMA,
)
from pubplan.problems.federate.problem import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

ROWS_AT_ONCE = 1 << 13


def access_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``access``, from prices of room at brokers."""
    multipliers = find_multipliers(problem, _cost_of(problem, draft), with_clusters=False)
    return (_certificate(problem, "access", multipliers),)


def laminar_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``laminar``, from prices of room and shares for clusters."""
    multipliers = find_multipliers(problem, _cost_of(problem, draft), with_clusters=True)
    return (_certificate(problem, "laminar", multipliers),)


def _cost_of(problem: Problem, draft: Draft) -> int:
    return draft.claimed.value // problem.message_bytes


def bound_of(problem: Problem, multipliers: Multipliers) -> int:
    """What multipliers prove, rounded up to a whole cost."""
    instance, clusters, bits = problem.instance, multipliers.clusters, multipliers.bits
    total = -exact_dot(multipliers.room_prices, instance.capacities)
    total -= clusters.height * exact_sum(instance.messages) << bits
    if clusters.number:
        budgets = (clusters.lengths[:, None] * instance.messages[None, :]) << bits
        paid = np.zeros_like(budgets)
        np.add.at(paid, (multipliers.entry_clusters, multipliers.channels), multipliers.shares)
        total += exact_sum(np.minimum(0, budgets - paid))
    is_member = np.zeros((clusters.number, instance.num_brokers), dtype=np.int64)
    for cluster, members in enumerate(clusters.members):
        is_member[cluster, members] = 1
    for first in range(0, instance.num_clients, ROWS_AT_ONCE):
        last = min(instance.num_clients, first + ROWS_AT_ONCE)
        prices = instance.group_prices[instance.group[first:last]]
        costs = instance.demand[first:last, None] * ((prices << bits) + multipliers.room_prices)
        entries = slice(*np.searchsorted(multipliers.clients, [first, last]))
        if clusters.number:
            shares = np.zeros((last - first, clusters.number), dtype=np.int64)
            rows = multipliers.clients[entries] - first
            np.add.at(shares, (rows, multipliers.entry_clusters[entries]), multipliers.shares[entries])
            costs += shares @ is_member
        costs[prices < 0] = np.iinfo(np.int64).max
        total += exact_sum(costs.min(axis=1))
    return -(-total >> bits)


def _certificate(problem: Problem, name: str, multipliers: Multipliers) -> Certificate:
    """A bound below 0 says nothing: costs are not negative."""
    value = max(0, bound_of(problem, multipliers))
    brokers = np.arange(problem.instance.num_brokers, dtype=np.int32)
    tables = {PRICES: BlockTable.of(pa.table([brokers, multipliers.room_prices], schema=PRICES_SCHEMA))}
    if name == "laminar":
        clusters = multipliers.clusters
        offsets, members = clusters.member_lists()
        lists = pa.ListArray.from_arrays(
            pa.array(offsets, pa.int32()), pa.array(members, pa.int32()), type=CLUSTERS_SCHEMA.field("brokers").type
        )
        numbers = np.arange(clusters.number, dtype=np.int32)
        shares = [multipliers.clients, multipliers.entry_clusters, multipliers.channels, multipliers.shares]
        tables |= {
            CLUSTERS: BlockTable.of(pa.table([numbers, lists, clusters.lengths], schema=CLUSTERS_SCHEMA)),
            SHARES: BlockTable.of(pa.table(shares, schema=SHARES_SCHEMA)),
        }
    evidence = {"scale": 1 << multipliers.bits}
    return Certificate(name, dollars(problem, value), evidence, tables)
