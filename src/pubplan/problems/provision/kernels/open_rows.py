"""Rows whose cheapest cover is not known yet, for the bound by prices."""

from __future__ import annotations

from typing import NamedTuple

from pubplan.kernels import kernel
from pubplan.problems.provision.kernels.covers import Chosen, Rows
from pubplan.workload import Int32Array, Int64Array


class OpenRows(NamedTuple):
    """Room for rows as CSR, with the cost of each entry and the events that each row needs."""

    offsets: Int64Array
    topics: Int32Array
    costs: Int64Array
    thresholds: Int64Array


@kernel
def list_open_rows(
    rows: Rows,
    chosen: Chosen,
    chosen_costs: Int64Array,
    other_costs: Int64Array,
    cost_per_event: int,
    open_rows: OpenRows,
) -> tuple[int, int]:
    """List the rows whose chosen topics are not just enough at the least cost per event; of others none is cheaper.

    A topic costs ``chosen_costs`` if it is among a row's chosen ones, else ``other_costs``; a row and its chosen topics
    are in the same order. Returns what the covers of rows that are not listed cost, and the number of listed rows.
    """
    known_cost, num_open, size = 0, 0, 0
    next_chosen = 0  # of all chosen topics, the first that no row has claimed
    open_rows.offsets[0] = 0
    for row in range(len(rows.thresholds)):
        last = next_chosen + chosen.lengths[row]
        cost = 0
        for taken in range(next_chosen, last):
            cost += chosen_costs[chosen.topics[taken]]
        if cost == cost_per_event * rows.thresholds[row]:
            known_cost += cost
            next_chosen = last
            continue
        for entry in range(rows.offsets[row], rows.offsets[row + 1]):
            topic = rows.topics[entry]
            open_rows.topics[size] = topic
            if next_chosen < last and chosen.topics[next_chosen] == topic:
                open_rows.costs[size] = chosen_costs[topic]
                next_chosen += 1
            else:
                open_rows.costs[size] = other_costs[topic]
            size += 1
        open_rows.thresholds[num_open] = rows.thresholds[row]
        num_open += 1
        open_rows.offsets[num_open] = size
        next_chosen = last
    return known_cost, num_open
