"""The bound ``laminar``: clients choose brokers, and somebody pays for messages getting into clusters of brokers.

Let x(i, b) say whether client i is at broker b, and z(C, c) whether anybody in the cluster C wants the channel c.
Messages of a channel that are published outside a cluster with subscribers pay its length to get in (see
``clusters.py``), so between brokers at least the sum over clusters and channels of length x (messages x z - messages
published inside) is paid. As clusters around any broker have the same height together, what is published inside adds up
to height x all messages. That leaves a linear program with the rows z(C, c) >= sum of x(i, b) over b in C, for every
client i that wants c. A multiplier of such a row is what the client pays for the cluster and channel if it is there; a
multiplier of a capacity is a price of room. Any multipliers that are not negative prove a bound:

    sum over clients of the least over brokers of demand x (price + price of room) + shares for the clusters around it
    - sum of prices of room x capacities - height x all messages
    + sum over clusters and channels of the least of 0 and length x messages - all shares
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.engine import is_time_over, stage
from pubplan.problems.federate.clusters import Clusters, clusters_of
from pubplan.problems.federate.kernels.duals import Dual, ascend, charge_nearest
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.relaxation import solve_relaxation
from pubplan.workload import Int32Array, Int64Array

MAX_LP_ENTRIES = 60_000
"""Up to this many rows of clients, clusters and channels, a linear program finds the multipliers."""

MAX_ENTRIES = 6_000_000
"""Above this many, clients pay only for clusters around the brokers that are cheapest for them."""

NEAREST_BROKERS = 3
ENTRY_STEPS = 400_000_000
"""Subgradient steps times entries, at most."""

MAX_STEPS = 3_000

MULTIPLIER_BITS = 10
"""Multipliers are whole numbers of 2^-10, or coarser where costs are so large that 64 bits would not hold them."""


@dataclass(frozen=True)
class Multipliers:
    """What proves a bound.

    Attributes:
        bits: numbers are in parts of 2^bits.
        room_prices: of brokers.
        clients: beside ``entry_clusters``, ``channels`` and ``shares``: who pays how much for what.
    """

    clusters: Clusters
    bits: int
    room_prices: Int64Array
    clients: Int64Array
    entry_clusters: Int32Array
    channels: Int32Array
    shares: Int64Array


def find_multipliers(problem: Problem, target: int, *, with_clusters: bool) -> Multipliers:
    """Good multipliers.

    Args:
        target: the cost of some plan, which no bound exceeds.
        with_clusters: or with prices of room alone.
    """
    instance = problem.instance
    clusters = clusters_of(instance.link_prices) if with_clusters else Clusters((), np.empty(0, np.int64), 0)
    clients, entry_clusters, channels = _entries(problem, clusters)
    num_channels = instance.num_channels
    offsets = np.searchsorted(clients, np.arange(instance.num_clients + 1)).astype(np.int64)
    member_offsets, members = clusters.member_lists()
    budgets = (clusters.lengths[:, None] * instance.messages[None, :]).reshape(-1)
    slots = (entry_clusters.astype(np.int64) * num_channels + channels).astype(np.int32)
    dual = Dual(
        instance.demand,
        instance.group,
        instance.group_prices,
        instance.capacities,
        member_offsets,
        members,
        offsets,
        entry_clusters,
        slots,
        budgets,
    )
    constant = -float(clusters.height) * float(instance.messages.sum())
    room_prices, shares = np.zeros(instance.num_brokers), np.zeros(len(clients))
    if with_clusters and len(clients) <= MAX_LP_ENTRIES:
        solved = solve_relaxation(dual)
        if solved is not None:
            room_prices, shares = solved
    with stage("bounding"):
        if not shares.any():
            _climb(dual._replace(offsets=np.zeros_like(offsets)), room_prices, np.zeros(0), float(target), 0.0, 400)
            charge_nearest(dual, room_prices, budgets.astype(np.float64), shares)
        num_steps = min(MAX_STEPS, ENTRY_STEPS // max(1, len(clients) + instance.num_clients * instance.num_brokers))
        if with_clusters:
            _climb(dual, room_prices, shares, float(target), constant, num_steps)
    bits = max(0, min(MULTIPLIER_BITS, 61 - instance.largest_cost(problem.cost).bit_length()))
    # No price of room above all prices, and no share above what there is to pay, is of any use.
    room_prices = np.minimum(room_prices, float(instance.group_prices.max(initial=0)))
    whole = np.floor(np.minimum(shares, budgets[slots]) * 2**bits).astype(np.int64)
    is_kept = whole > 0
    return Multipliers(
        clusters,
        bits,
        np.floor(room_prices * 2**bits).astype(np.int64),
        clients[is_kept],
        entry_clusters[is_kept],
        channels[is_kept],
        whole[is_kept],
    )


def _climb(
    dual: Dual,
    room_prices: np.ndarray[tuple[int], np.dtype[np.float64]],
    shares: np.ndarray[tuple[int], np.dtype[np.float64]],
    target: float,
    constant: float,
    num_steps: int,
) -> None:
    """Improve multipliers in place."""
    if not is_time_over():
        ascend(dual, room_prices, shares, target, constant, max(1, num_steps))


def _entries(problem: Problem, clusters: Clusters) -> tuple[Int64Array, Int32Array, Int32Array]:
    """Who may pay for what: clients, clusters and channels that they want, in ascending order."""
    instance = problem.instance
    sizes = np.diff(instance.wanted_offsets)
    if not clusters.number or not len(instance.wanted):
        return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
    if int(sizes.sum()) * clusters.number <= MAX_ENTRIES:
        pairs = np.repeat(np.arange(instance.num_clients, dtype=np.int64), clusters.number)
        entry_clusters = np.tile(np.arange(clusters.number, dtype=np.int32), instance.num_clients)
    else:
        pairs, entry_clusters = _near_clusters(problem, clusters)
    lengths = sizes[pairs]
    positions = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    channels = instance.wanted[np.repeat(instance.wanted_offsets[:-1][pairs], lengths) + positions]
    has_messages = instance.messages[channels] > 0
    clients, kinds = np.repeat(pairs, lengths), np.repeat(entry_clusters, lengths)
    return clients[has_messages], kinds[has_messages], channels[has_messages]


def _near_clusters(problem: Problem, clusters: Clusters) -> tuple[Int64Array, Int32Array]:
    """Clients and the clusters around their cheapest brokers."""
    instance = problem.instance
    prices = np.where(instance.group_prices < 0, np.iinfo(np.int64).max, instance.group_prices)
    nearest = np.argsort(prices, axis=1, kind="stable")[:, :NEAREST_BROKERS]
    is_member = np.zeros((clusters.number, instance.num_brokers), dtype=np.bool_)
    for cluster, members in enumerate(clusters.members):
        is_member[cluster, members] = True
    is_near = np.asarray(is_member[:, nearest].any(axis=2)).T  # groups x clusters
    clients, kinds = np.nonzero(is_near[instance.group])
    return clients.astype(np.int64), kinds.astype(np.int32)
