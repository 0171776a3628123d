"""Attaching everybody within capacities: by a method's own order first, the largest clients first where that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pubplan.errors import NotApplicable, Reason
from pubplan.planning.packing import packed_by_search
from pubplan.problems.federate.kernels.packing import pack_cheapest
from pubplan.problems.federate.routing import Network
from pubplan.workload import Int32Array, Int64Array

Pack = Callable[[Int64Array, Int32Array, Int64Array], int]
"""Attaches clients in the order given: fills their brokers and loads, and returns how many found none."""


class Packed(NamedTuple):
    """The broker of every client, and why that is not what the method's rule gave."""

    brokers: Int32Array
    reasons: tuple[Reason, ...] = ()


def pack(network: Network, method: str, attach: Pack) -> Packed:
    """The broker of every client.

    Clients come in their own order; where some are left over, all are packed again with the largest first, and where
    that leaves some too, any packing is looked for. Reasons say which of these it took.

    Raises:
        NotApplicable: some clients are left over, though nothing proves that they do not fit.
    """
    demand = network.field.demand
    in_order = np.arange(len(demand), dtype=np.int64)
    largest_first = np.lexsort((in_order, -demand)).astype(np.int64)
    num_left = 0
    for order, reasons in ((in_order, ()), (largest_first, (_largest_first(method),))):
        brokers = np.full(len(demand), -1, dtype=np.int32)
        num_left = attach(order, brokers, np.zeros(network.num_brokers, dtype=np.int64))
        if not num_left:
            return Packed(brokers, reasons)
    packing = network.problem.instance.search_packing()
    if packing.brokers is not None:
        return Packed(packing.brokers, (packed_by_search(method, num_left),))
    raise NotApplicable(
        f"{method} found no room for {num_left:,} of {len(demand):,} clients, although nothing proves that there is "
        "none. Raise capacities a little."
    )


def _largest_first(method: str) -> Reason:
    return Reason("room", "in order", "largest first", "", f"{method} found room only with the largest clients first")


def cheapest_brokers(network: Network, method: str) -> Packed:
    """Every client at the cheapest broker with room."""

    def attach(order: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
        return pack_cheapest(network.field, order, brokers, loads)

    return pack(network, method, attach)
