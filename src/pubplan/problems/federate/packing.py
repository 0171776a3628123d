"""Attaching everybody within capacities: by a method's own order first, the largest clients first where that fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pubplan.errors import NotApplicable
from pubplan.problems.federate.instance import search_packing
from pubplan.problems.federate.kernels.packing import pack_cheapest
from pubplan.problems.federate.routing import Network
from pubplan.workload import Int32Array, Int64Array

Pack = Callable[[Int64Array, Int32Array, Int64Array], int]
"""Attaches clients in the order given: fills their brokers and loads, and returns how many found none."""


def pack(network: Network, method: str, attach: Pack) -> Int32Array:
    """The broker of every client.

    Clients come in their own order; where some are left over, all are packed again with the largest first, and where
    that leaves some too, any packing is looked for.

    Raises:
        NotApplicable: some clients are left over, though nothing proves that they do not fit.
    """
    demand = network.field.demand
    in_order = np.arange(len(demand), dtype=np.int64)
    largest_first = np.lexsort((in_order, -demand)).astype(np.int64)
    num_left = 0
    for order in (in_order, largest_first):
        brokers = np.full(len(demand), -1, dtype=np.int32)
        num_left = attach(order, brokers, np.zeros(network.num_brokers, dtype=np.int64))
        if not num_left:
            return brokers
    if search_packing(network.problem.instance, brokers) == 1:
        return brokers
    raise NotApplicable(
        f"{method} found no room for {num_left:,} of {len(demand):,} clients, although nothing proves that there is "
        "none. Raise capacities a little."
    )


def cheapest_brokers(network: Network, method: str) -> Int32Array:
    """Every client at the cheapest broker with room."""

    def attach(order: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
        return pack_cheapest(network.field, order, brokers, loads)

    return pack(network, method, attach)
