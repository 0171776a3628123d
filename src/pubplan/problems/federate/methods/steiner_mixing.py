"""Steiner-tree mixing: a tree per channel over clients and brokers, then one of the brokers of each client by lot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import map_blocks, random_stream, stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.federate.draft import draft_of
from pubplan.problems.federate.kernels.mixing import span_channel
from pubplan.problems.federate.kernels.packing import pack_weighted
from pubplan.problems.federate.packing import Packed, pack
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.stages import ATTACHING
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Trees per channel weigh the brokers of each client by the traffic that would go there; one is drawn by weight.

    One tree per channel serves all its publishers. Of the brokers that a client entered trees by, one with room is
    drawn; where none has room, the cheapest broker with room is taken. The seed decides; trees are Spark tasks where
    there is a session.

    Raises:
        NotApplicable: not everybody found room, not even with the largest clients first.
    """
    problem.instance.load(spark)
    network = Network(problem)
    with stage(ATTACHING):
        packed = mixed_brokers(network, seed, spark)
    return draft_of(network, packed.brokers, reasons=packed.reasons, spark=spark)


def mixed_brokers(network: Network, seed: int, spark: SparkSession | None = None) -> Packed:
    """The attachment by lot among the brokers of the channels' trees."""
    offsets, candidates, weights = _candidates(network, spark)
    draws = random_stream(seed, "federate/steiner-mixing").random(len(network.field.demand))

    def attach(order: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
        return pack_weighted(network.field, order, offsets, candidates, weights, draws[order], brokers, loads)

    return pack(network, METHOD.name, attach)


def _candidates(network: Network, spark: SparkSession | None) -> tuple[Int64Array, Int32Array, Int64Array]:
    """The brokers by which each client enters the trees of its channels, and its traffic in those: offsets by client,
    brokers in ascending order, and weights.
    """
    instance, num_brokers = network.problem.instance, network.num_brokers
    prices, group_prices = network.prices, network.field.group_prices
    client, channel, traffic = _traffic(network)
    order = np.argsort(channel, kind="stable")
    bounds = np.searchsorted(channel[order], np.arange(instance.num_channels + 1))
    groups_of = [
        np.unique(instance.group[client[order[bounds[number] : bounds[number + 1]]]])
        for number in range(instance.num_channels)
    ]

    def span(number: int) -> Int32Array:
        groups = groups_of[number].astype(np.int32)
        entries = np.zeros(len(groups), dtype=np.int32)
        if len(groups):
            span_channel(prices, group_prices, groups, entries)
        return entries

    entered = np.empty(len(client), dtype=np.int64)
    for number, entries in enumerate(map_blocks(span, instance.num_channels, spark)):
        rows = order[bounds[number] : bounds[number + 1]]
        entered[rows] = entries[np.searchsorted(groups_of[number], instance.group[client[rows]])]
    keys, inverse = np.unique(client * num_brokers + entered, return_inverse=True)
    weights = np.zeros(len(keys), dtype=np.int64)
    np.add.at(weights, inverse.reshape(-1), traffic)
    offsets = np.searchsorted(keys, np.arange(instance.num_clients + 1) * num_brokers).astype(np.int64)
    return offsets, (keys % num_brokers).astype(np.int32), weights


def _traffic(network: Network) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Clients and channels with the traffic between the client and its broker there: what it publishes, and what others
    publish if it wants the channel.
    """
    instance = network.problem.instance
    clients = np.arange(instance.num_clients, dtype=np.int64)
    publishing = np.repeat(clients, np.diff(instance.published_offsets)) * instance.num_channels + instance.published
    wanting = np.repeat(clients, np.diff(instance.wanted_offsets)) * instance.num_channels + instance.wanted
    keys = np.union1d(publishing, wanting)
    traffic = np.zeros(len(keys), dtype=np.int64)
    positions = np.searchsorted(keys, wanting)
    traffic[positions] = instance.messages[instance.wanted]
    # What a client publishes is sent once; where it wants the channel, that is in its messages already.
    sending = np.searchsorted(keys, publishing)
    is_wanted = np.zeros(len(keys), dtype=np.bool_)
    is_wanted[positions] = True
    traffic[sending] += np.where(is_wanted[sending], 0, instance.counts)
    client, channel = np.divmod(keys, instance.num_channels)
    return client, channel, traffic


METHOD = Method(
    name="steiner-mixing",
    run=run,
    guarantee="none",
    ratio=None,
    complexity="O(N S B) for N channels, S sites and B brokers, and a little more the more brokers a tree has",
    paper="Zhao, Wu 2011, section IV-B, Algorithm 3",
    applies="few brokers per channel, and links between brokers that cost as much as those to clients",
)
