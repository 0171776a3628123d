"""What a plan would cost if one client attached to another broker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pubplan.planning import Plan
from pubplan.problems.federate.instance import FORBIDDEN
from pubplan.problems.federate.kernels.attaching import attach, detach, empty_work, reweigh_all, total_cost
from pubplan.problems.federate.measures import attached_brokers
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.trees import read_trees
from pubplan.workload import Int32Array

MAX_ROUTED = 10
"""Where connecting brokers is a matter of heuristics, the traffic of this many moves is routed anew."""


@dataclass(frozen=True)
class Move:
    """A client at a broker that it may use.

    Attributes:
        price: what a message costs between them.
        cost: of the whole plan with the client there, prices times messages.
        is_exact: whether ``cost`` is what routing would give; otherwise routing gives at most that.
        room: messages that the broker could take more, without this client.
    """

    broker: int
    price: int
    cost: int
    is_exact: bool
    room: int


def moves_of(network: Network, plan: Plan, client: int) -> list[Move]:
    """The moves of a client to all brokers that it may use, the one that it is attached to among them; the cheapest
    first. A plan with one tree keeps it.
    """
    brokers = attached_brokers(plan, network.num_brokers)
    home, field = int(brokers[client]), network.field
    trees = network.trees
    if network.problem.routing == "acyclic":
        (tree,) = read_trees(plan, network.num_brokers)
        trees = network.fixed(tree.parents)
    state, work = network.state_of(brokers), empty_work(network.num_brokers)
    reweigh_all(field, state, trees, work)
    detach(field, state, trees, client, work)
    prices = field.group_prices[field.group[client]]
    is_exact = network.has_table or network.replicates or network.problem.routing != "steiner"
    moves = []
    for broker in np.flatnonzero(prices != FORBIDDEN).tolist():
        room = int(field.capacities[broker] - state.loads[broker])
        attach(field, state, trees, client, broker, work)
        moves.append(Move(broker, int(prices[broker]), int(total_cost(state)), is_exact, room))
        detach(field, state, trees, client, work)
    moves.sort(key=lambda move: (move.cost, move.broker))
    if is_exact:
        return moves
    near = [move for number, move in enumerate(moves) if number < MAX_ROUTED or move.broker == home]
    routed = list(_routed(network, brokers, client, near))
    others = [move for move in moves if move not in near]
    return sorted([*routed, *others], key=lambda move: (move.cost, move.broker))


def _routed(network: Network, brokers: Int32Array, client: int, moves: list[Move]) -> Iterator[Move]:
    """Moves with the cost of routing everything anew."""
    for move in moves:
        changed = brokers.copy()
        changed[client] = move.broker
        cost = network.access_cost(changed) + network.route(changed).cost
        yield Move(move.broker, move.price, cost, True, move.room)
