"""From an attachment to the draft of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range
from pubplan.errors import Reason
from pubplan.planning import BlockTable, Draft, Exact
from pubplan.problems.federate.plan import (
    ATTACHMENTS,
    ATTACHMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    CHANNELS,
    CHANNELS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    TREES,
    TREES_SCHEMA,
)
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem
from pubplan.problems.federate.routing import Network, Routing
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def draft_of(
    network: Network,
    brokers: Int32Array,
    tree: Int32Array | None = None,
    *,
    reasons: tuple[Reason, ...] = (),
    deterministic: bool = True,
    spark: SparkSession | None = None,
) -> Draft:
    """The tables of a plan, what it costs, and what binds.

    Args:
        brokers: of every client.
        tree: for acyclic routing, the tree; found where it is not given.
        reasons: why the attachment is not what the method's rule gave.
    """
    problem = network.problem
    routing = network.route(brokers, tree, spark)
    loads: Int64Array = np.zeros(network.num_brokers, dtype=np.int64)
    np.add.at(loads, brokers, problem.instance.demand)
    return Draft(
        decisions={
            ATTACHMENTS: _attachments(brokers, problem.workload.num_blocks),
            LINKS: _links(problem, routing.flows),
            TREES: _trees(routing),
            CHANNELS: _channels(problem),
            BROKERS: _brokers(problem, brokers, loads, routing.flows),
        },
        claimed=dollars(problem, network.access_cost(brokers) + routing.cost),
        reasons=(*reasons, *_full(problem, brokers, loads)),
        deterministic=deterministic,
    )


def dollars(problem: Problem, cost: int) -> Exact:
    """Prices times messages as dollars."""
    return Exact(cost * problem.message_bytes, DOLLAR_SCALE)


def _attachments(brokers: Int32Array, num_blocks: int) -> BlockTable:
    def make(block: int) -> pa.Table:
        first, last = block_range(block, len(brokers))
        return pa.Table.from_arrays(
            [np.arange(first, last), brokers[first:last].astype(np.int32)], schema=ATTACHMENTS_SCHEMA
        )

    return BlockTable(num_blocks, make)


def _links(problem: Problem, flows: Int64Array) -> pa.Table:
    """A row per link and direction that carries anything."""
    ids = problem.workload.brokers.ids
    sources, targets = np.nonzero(flows)
    columns = [
        pa.array(sources, pa.int32()),
        ids.take(pa.array(sources)),
        pa.array(targets, pa.int32()),
        ids.take(pa.array(targets)),
        pa.array(flows[sources, targets]),
        pa.array(problem.instance.link_prices[sources, targets]),
    ]
    return pa.Table.from_arrays(columns, schema=LINKS_SCHEMA)


def _trees(routing: Routing) -> pa.Table:
    number, num_brokers = routing.parents.shape
    offsets = np.arange(number + 1, dtype=np.int32) * np.int32(num_brokers)
    kind = TREES_SCHEMA.field("parents").type
    parents = pa.ListArray.from_arrays(pa.array(offsets), pa.array(routing.parents.reshape(-1), pa.int32()), type=kind)
    return pa.Table.from_arrays([pa.array(routing.channels), pa.array(routing.origins), parents], schema=TREES_SCHEMA)


def _channels(problem: Problem) -> pa.Table:
    """A row per channel and attribute."""
    instance, space = problem.instance, problem.workload.space
    names = [attribute.name for attribute in space.attributes]
    lows, highs = instance.channels.boxes(space.cell_widths)
    numbers = np.repeat(np.arange(len(lows), dtype=np.int32), len(names))
    columns = [
        numbers,
        pa.array(names * len(lows), pa.string()),
        lows.reshape(-1),
        highs.reshape(-1),
        instance.messages[numbers],
        instance.subscribers[numbers],
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=CHANNELS_SCHEMA)


def _brokers(problem: Problem, brokers: Int32Array, loads: Int64Array, flows: Int64Array) -> pa.Table:
    table = problem.workload.brokers
    published: Int64Array = np.zeros(table.num_brokers, dtype=np.int64)
    np.add.at(published, brokers, problem.instance.sent)
    columns = [
        np.arange(table.num_brokers, dtype=np.int32),
        table.ids,
        np.bincount(brokers, minlength=table.num_brokers).astype(np.int64),
        loads,
        table.capacities,
        published,
        flows.sum(axis=1),
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=BROKERS_SCHEMA)


def _full(problem: Problem, brokers: Int32Array, loads: Int64Array) -> list[Reason]:
    """The broker without whose capacity most clients would be somewhere cheaper for them, if there is one."""
    instance = problem.instance
    prices = np.where(instance.group_prices < 0, np.iinfo(np.int64).max, instance.group_prices)
    cheapest = np.argmin(prices, axis=1)[instance.group]
    room = instance.capacities - loads
    is_kept_out = (cheapest != brokers) & (instance.demand > room[cheapest])
    if not is_kept_out.any():
        return []
    counts = np.bincount(cheapest[is_kept_out], minlength=len(loads))
    broker = int(np.argmax(counts))
    name = problem.workload.brokers.ids[broker].as_py()
    need = int(instance.demand[is_kept_out & (cheapest == broker)].min())
    number = int(counts[broker])
    which = "the one client" if number == 1 else f"the smallest of {number:,} clients"
    attach = "attaches" if number == 1 else "attach"
    sentence = (
        f"capacity of {name}: {need:,} messages per window needed, {room[broker]:,} left, for {which} whose cheapest "
        f"broker it is and that {attach} elsewhere"
    )
    return [Reason("capacity", need, int(room[broker]), name, sentence)]
