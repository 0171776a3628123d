"""The state of a search: who is attached where, and what that costs; clients taken out and put in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.trees import INFINITE, TABLE, Trees, weigh
from pubplan.workload import Int32Array, Int64Array

UNATTACHED = -1


class Field(NamedTuple):
    """What does not change: clients, what they want and publish by channel, prices, capacities.

    Attributes:
        group: of every client.
        group_prices: of a group (row) to a broker (column); below 0 where it may not be used.
        replicates: whether every subscriber gets a copy of its own.
    """

    wanted_offsets: Int64Array
    wanted: Int32Array
    published_offsets: Int64Array
    published: Int32Array
    counts: Int64Array
    demand: Int64Array
    group: Int32Array
    group_prices: Int64Array
    capacities: Int64Array
    replicates: bool


class State(NamedTuple):
    """Who is attached where, and what follows for the traffic between brokers.

    Attributes:
        brokers: of every client, ``UNATTACHED`` for those that wait.
        loads: messages between every broker and its clients.
        subscribers: by channel (row) and broker, clients that want the channel.
        num_members: by channel, brokers with subscribers.
        traffic: by channel and broker, messages that clients publish.
        weights: by channel and broker. Shared: what connecting the brokers with subscribers and this one weighs.
            Replicating: what a message from this broker costs to all subscribers.
        pulls: by channel and broker, replicating: what all messages of the channel cost to one subscriber there.
        costs: of every channel, between brokers.
        access: what all traffic between clients and brokers costs, in one entry.
    """

    brokers: Int32Array
    loads: Int64Array
    subscribers: Int32Array
    num_members: Int32Array
    traffic: Int64Array
    weights: Int64Array
    pulls: Int64Array
    costs: Int64Array
    access: Int64Array


class Work(NamedTuple):
    """Scratch of the searches, and in one entry how often trees of a channel were weighed anew."""

    rows: Int64Array
    members: Int32Array
    estimates: Int64Array
    num_weighed: Int64Array


def empty_work(num_brokers: int) -> Work:
    return Work(
        np.empty((7, num_brokers), dtype=np.int64),
        np.empty(num_brokers, dtype=np.int32),
        np.empty(num_brokers, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def empty_state(num_clients: int, num_brokers: int, num_channels: int) -> State:
    """Nobody is attached."""
    matrix = (num_channels, num_brokers)
    return State(
        np.full(num_clients, UNATTACHED, dtype=np.int32),
        np.zeros(num_brokers, dtype=np.int64),
        np.zeros(matrix, dtype=np.int32),
        np.zeros(num_channels, dtype=np.int32),
        np.zeros(matrix, dtype=np.int64),
        np.zeros(matrix, dtype=np.int64),
        np.zeros(matrix, dtype=np.int64),
        np.zeros(num_channels, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def attach_all(field: Field, state: State, brokers: Int32Array) -> None:
    """Attach clients to given brokers, nobody being attached before; weights and costs are to be computed after it."""
    for client in range(len(brokers)):
        broker = brokers[client]
        state.brokers[client] = broker
        if broker < 0:
            continue
        state.loads[broker] += field.demand[client]
        state.access[0] += field.demand[client] * field.group_prices[field.group[client], broker]
        for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
            channel = field.wanted[entry]
            state.num_members[channel] += state.subscribers[channel, broker] == 0
            state.subscribers[channel, broker] += 1
        for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
            state.traffic[field.published[entry], broker] += field.counts[entry]


@kernel
def cost_of_channel(state: State, channel: int) -> int:
    """What the messages of a channel cost between brokers, with the weights as they are."""
    total = 0
    for broker in range(len(state.loads)):
        if state.traffic[channel, broker]:
            total += state.traffic[channel, broker] * state.weights[channel, broker]
    return total


@kernel
def reweigh(field: Field, state: State, trees: Trees, channel: int, work: Work) -> None:
    """Compute weights and cost of a channel."""
    num_brokers = len(state.loads)
    if field.replicates:
        for broker in range(num_brokers):
            push, pull = 0, 0
            for other in range(num_brokers):
                push += state.subscribers[channel, other] * trees.pairs[broker, other]
                pull += state.traffic[channel, other] * trees.pairs[broker, other]
            state.weights[channel, broker] = push
            state.pulls[channel, broker] = pull
    else:
        work.num_weighed[0] += trees.kind != TABLE  # which is looked up
        weigh(trees, state.subscribers[channel], state.weights[channel], work.rows, work.members)
    state.costs[channel] = cost_of_channel(state, channel)


@kernel
def reweigh_all(field: Field, state: State, trees: Trees, work: Work) -> None:
    for channel in range(len(state.costs)):
        reweigh(field, state, trees, channel, work)


@kernel
def total_cost(state: State) -> int:
    return int(state.access[0] + state.costs.sum())


@kernel
def detach(field: Field, state: State, trees: Trees, client: int, work: Work) -> None:
    """Take a client out, with everything that follows for costs."""
    _shift(field, state, trees, client, -1, work)


@kernel
def attach(field: Field, state: State, trees: Trees, client: int, broker: int, work: Work) -> None:
    """Attach a client that is attached nowhere, with everything that follows for costs."""
    state.brokers[client] = broker
    _shift(field, state, trees, client, 1, work)


@kernel
def _shift(field: Field, state: State, trees: Trees, client: int, sign: int, work: Work) -> None:
    """Add (1) or take away (-1) a client at its broker.

    What it wants is changed first: its publications then pay the weights that hold afterwards.
    """
    broker = state.brokers[client]
    state.loads[broker] += sign * field.demand[client]
    state.access[0] += sign * field.demand[client] * field.group_prices[field.group[client], broker]
    for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
        channel = field.wanted[entry]
        before = state.subscribers[channel, broker]
        is_change = before == 0 or before + sign == 0
        state.subscribers[channel, broker] = before + sign
        if is_change:
            state.num_members[channel] += sign
        if field.replicates:
            state.costs[channel] += sign * state.pulls[channel, broker]
            for other in range(len(state.loads)):
                state.weights[channel, other] += sign * trees.pairs[other, broker]
        elif is_change:
            reweigh(field, state, trees, channel, work)
    for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
        channel, count = field.published[entry], sign * field.counts[entry]
        state.traffic[channel, broker] += count
        state.costs[channel] += count * state.weights[channel, broker]
        if field.replicates:
            for other in range(len(state.loads)):
                state.pulls[channel, other] += count * trees.pairs[other, broker]
    if sign < 0:
        state.brokers[client] = UNATTACHED


@kernel
def _add_joining_costs(state: State, trees: Trees, channel: int, estimates: Int64Array) -> None:
    """Add what the messages of a channel cost more once a broker without subscribers has one.

    Exact with a table of all sets, where nobody subscribes, and where only brokers with subscribers publish. Otherwise
    an estimate: brokers without subscribers pay the same extra way as the others.
    """
    num_brokers = len(estimates)
    counts, traffic, weights = state.subscribers[channel], state.traffic[channel], state.weights[channel]
    mask, base, total = 0, 0, 0
    for other in range(num_brokers):
        total += traffic[other]
        if counts[other] > 0:
            base = weights[other]
            if trees.kind == TABLE:
                mask |= 1 << other
    for broker in range(num_brokers):
        if counts[broker] > 0:
            continue
        if state.num_members[channel] == 0:
            for other in range(num_brokers):
                estimates[broker] += traffic[other] * trees.pairs[other, broker]
        elif trees.kind == TABLE:
            for other in range(num_brokers):
                if traffic[other]:
                    joint = trees.table[mask | (1 << broker) | (1 << other)]
                    estimates[broker] += traffic[other] * (joint - trees.table[mask | (1 << other)])
        else:
            estimates[broker] += (total - traffic[broker]) * (weights[broker] - base)


@kernel
def estimate(
    field: Field, state: State, trees: Trees, client: int, estimates: Int64Array, has_room: bool = False
) -> None:
    """What attaching a client that is attached nowhere would add to the cost, by broker; ``INFINITE`` where it may not
    go or does not fit. Exact where :func:`_add_joining_costs` is.

    Args:
        has_room: as if every broker had room.
    """
    prices, demand = field.group_prices[field.group[client]], field.demand[client]
    num_brokers = len(state.loads)
    for broker in range(num_brokers):
        estimates[broker] = demand * prices[broker]
    same = 0  # of channels that all brokers have subscribers of, wherever the client goes
    for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
        channel, count = field.published[entry], field.counts[entry]
        weights = state.weights[channel]
        if state.num_members[channel] == num_brokers and not field.replicates:
            same += count * weights[0]
            continue
        for broker in range(num_brokers):
            estimates[broker] += count * weights[broker]
    for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
        channel = field.wanted[entry]
        if field.replicates:
            pulls = state.pulls[channel]
            for broker in range(num_brokers):
                estimates[broker] += pulls[broker]
        elif state.num_members[channel] < num_brokers:
            _add_joining_costs(state, trees, channel, estimates)
    for broker in range(num_brokers):
        fits = prices[broker] >= 0 and (has_room or demand <= field.capacities[broker] - state.loads[broker])
        estimates[broker] = estimates[broker] + same if fits else INFINITE
