"""Why a client is served by its broker, and why a broker's filter is as large as it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pubplan.engine import BLOCK_ROWS, map_blocks
from pubplan.planning import Explanation, Plan
from pubplan.problems.assign.kernels.filters import COVERED, Filters, Work, covers, path_cost
from pubplan.problems.assign.kernels.measures import box_measure
from pubplan.problems.assign.measures import copies
from pubplan.problems.assign.plan import (
    ASSIGNMENTS,
    ASSIGNMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    FILTERS,
    FILTERS_SCHEMA,
)
from pubplan.problems.assign.problem import Problem
from pubplan.text import counted, listed, percent
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_NAMED = 10
"""Sentences name at most this many brokers or clients; facts name all brokers."""


@dataclass(frozen=True)
class _PlanReader:
    """A plan and its workload, read as far as they are asked about."""

    problem: Problem
    plan: Plan

    @cached_property
    def brokers(self) -> pa.Table:
        return self.plan.decisions(BROKERS, BROKERS_SCHEMA)

    @cached_property
    def broker_ids(self) -> pa.Array:
        return self.problem.workload.brokers.ids

    @cached_property
    def filters(self) -> Filters:
        """The boxes of all brokers, as kernels take them."""
        table, dims = self.plan.decisions(FILTERS, FILTERS_SCHEMA), self.problem.instance.dims
        filters = Filters.empty(self.problem.instance.num_brokers, self.problem.boxes, dims)
        owners, slots = (table[name].to_numpy()[::dims] for name in ("broker", "box"))
        corners = [table[side].to_numpy().reshape(-1, dims) for side in ("low", "high")]
        filters.boxes[owners, slots] = np.hstack(corners)
        filters.sizes[:] = np.bincount(owners, minlength=len(filters.sizes))
        filters.measures[:] = self.brokers["volume"].to_numpy()
        return filters

    def added(self, broker: int, box: Int64Array) -> int:
        """What all filters on the way to a leaf would grow by to let a box through; 0 if they do."""
        instance, work = self.problem.instance, Work.empty(self.problem.instance.dims)
        size = int(self.filters.sizes[broker])
        if covers(instance.measure, self.filters.boxes[broker], size, box, work):
            return 0
        parents = instance.parents.astype(np.int64)
        growth: int = path_cost(instance.measure, parents, self.filters, broker, box, work)
        return max(growth, COVERED + 1)


def explain_client(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """The candidates of a client with latency, load and what the client would add to their filters.

    Raises:
        InputError: there is no such client.
    """
    reader, instance = _PlanReader(problem, plan), problem.instance
    block, row = problem.workload.find_client(name, spark)
    client = block * BLOCK_ROWS + row
    group = int(instance.group[client])
    rectangle = int(instance.rectangle[client])
    box = np.concatenate([instance.lows[rectangle], instance.highs[rectangle]])
    serving = int(plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)["broker"][row].as_py())
    first, last = instance.candidate_offsets[group : group + 2].tolist()
    nearest = int(instance.latencies[first:last].min())
    candidates = []
    for position in range(first, last):
        broker, latency = int(instance.candidates[position]), int(instance.latencies[position])
        entry = reader.brokers.slice(broker, 1).to_pylist()[0]
        candidates.append(
            {
                "broker": entry["broker_id"],
                "serves": broker == serving,
                "latency_us": latency,
                "delay": float(Fraction(latency - nearest, max(1, nearest))),
                "clients": entry["clients"],
                "limit": entry["limit"],
                "adds": reader.added(broker, box),
            }
        )
    candidates.sort(key=lambda facts: (not facts["serves"], facts["adds"], facts["latency_us"]))
    facts = {
        "client": name,
        "site": problem.workload.site_ids[int(instance.groups.sites[group])].as_py(),
        "box": _box(problem, box),
        "limit_us": int(instance.groups.limits[group]),
        "broker": reader.broker_ids[serving].as_py(),
        "candidates": candidates,
    }
    return Explanation(facts, tuple(_client_sentences(reader, facts)))


def _box(problem: Problem, box: Int64Array) -> dict[str, list[str]]:
    """A box in values of the attributes."""
    dims = problem.instance.dims
    return {
        attribute.name: [f"{attribute.value(int(box[axis])):f}", f"{attribute.value(int(box[dims + axis])):f}"]
        for axis, attribute in enumerate(problem.workload.space.attributes)
    }


def _client_sentences(reader: _PlanReader, facts: dict[str, Any]) -> list[str]:
    candidates = facts["candidates"]
    wanted = ", ".join(f"{name} {low} to {high}" for name, (low, high) in facts["box"].items())
    lines = [
        f"{facts['client']} at {facts['site']} wants {wanted}, and is served by {facts['broker']}.",
        f"{counted(len(candidates), 'leaf broker')} {'is' if len(candidates) == 1 else 'are'} near enough and allowed:",
    ]
    for candidate in candidates[:MAX_NAMED]:
        adds = (
            "lets it through already" if not candidate["adds"] else f"filters would grow by {_share(reader, candidate)}"
        )
        room = "" if candidate["clients"] < candidate["limit"] or candidate["serves"] else ", full"
        lines.append(
            f"  {candidate['broker']}: {candidate['latency_us']:,} us ({percent(candidate['delay'])} longer), "
            f"{candidate['clients']:,} of {candidate['limit']:,} clients{room}; {adds}"
            + (" (serves it)" if candidate["serves"] else "")
        )
    if len(candidates) > MAX_NAMED:
        lines.append(f"  … {len(candidates) - MAX_NAMED:,} more")
    if not any(candidate["serves"] for candidate in candidates):
        lines.append(f"{facts['broker']} is not one of them: the plan serves this client later than allowed.")
    elif len(candidates) == 1:
        lines.append("No other leaf broker can serve it.")
    elif not any(
        not other["adds"] and other["clients"] < other["limit"] for other in candidates if not other["serves"]
    ):
        lines.append("Every other leaf broker is full, or would have to let more events through.")
    return lines


def _share(reader: _PlanReader, candidate: dict[str, Any]) -> str:
    share = copies(reader.problem, candidate["adds"])
    return f"{100 * share:.3g} % of all {'messages' if reader.problem.workload.space.cells else 'events'}"


def explain_broker(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What a broker's boxes let through, what each is for, and the clients on their sides.

    Raises:
        InputError: there is no such broker.
    """
    reader, instance = _PlanReader(problem, plan), problem.instance
    broker = problem.workload.broker_number(name)
    row = reader.brokers.slice(broker, 1).to_pylist()[0]
    below = _leaves_below(instance.parents, broker)
    boxes = reader.filters.boxes[broker, : int(reader.filters.sizes[broker])]
    forcing = _forcing_clients(problem, plan, below, boxes, spark)
    facts = {
        "broker": name,
        "level": row["level"],
        "is_leaf": bool(problem.workload.brokers.is_leaf[broker]),
        "leaves_below": len(below),
        "clients": row["clients"],
        "limit": row["limit"],
        "lets_through": copies(problem, row["volume"]),
        "boxes": [
            {
                **_box(problem, box),
                "lets_through": copies(problem, box_measure(instance.measure, box)),
                "forced_by": clients,
            }
            for box, clients in zip(boxes, forcing, strict=True)
        ],
    }
    return Explanation(facts, tuple(_broker_sentences(facts, problem)))


def _leaves_below(parents: Int32Array, broker: int) -> list[int]:
    """The leaves that a broker feeds, itself if it is one."""
    is_below = np.arange(len(parents)) == broker
    while True:
        wider = is_below | ((parents >= 0) & is_below[parents])
        if (wider == is_below).all():
            inner = set(parents.tolist())
            return [leaf for leaf in np.flatnonzero(is_below).tolist() if leaf not in inner]
        is_below = wider


def _forcing_clients(
    problem: Problem, plan: Plan, leaves: list[int], boxes: Int64Array, spark: SparkSession | None
) -> list[list[str]]:
    """Per box a client on each of its sides: without them the box could be smaller."""
    workload, dims = problem.workload, problem.instance.dims

    def find(block: int) -> list[list[int]]:
        brokers = plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)["broker"].to_numpy()
        clients = workload.read_clients(block)
        is_served = np.isin(brokers, leaves)
        rows = []
        for box in boxes:
            is_inside = is_served & (clients.lows >= box[:dims]).all(axis=1) & (clients.highs <= box[dims:]).all(axis=1)
            sides = [*(clients.lows == box[:dims]).T, *(clients.highs == box[dims:]).T]
            rows.append([_first(is_inside & side, block) for side in sides])
        return rows

    sides = np.full((len(boxes), 2 * dims), -1, dtype=np.int64)
    for rows in map_blocks(find, workload.num_blocks, spark):
        candidates = np.array(rows, dtype=np.int64).reshape(sides.shape)
        sides = np.where((sides < 0) & (candidates >= 0), candidates, sides)
    names = []
    for row in sides.tolist():
        clients = sorted({client for client in row if client >= 0})
        names.append([problem.workload.client_id(client) for client in clients])
    return names


def _first(is_wanted: np.ndarray[Any, np.dtype[np.bool_]], block: int) -> int:
    return block * BLOCK_ROWS + int(np.argmax(is_wanted)) if is_wanted.any() else -1


def _broker_sentences(facts: dict[str, Any], problem: Problem) -> list[str]:
    events = "messages" if problem.workload.space.cells else "events"
    if facts["is_leaf"]:
        role = f"{facts['broker']} serves {facts['clients']:,} of at most {counted(facts['limit'], 'client')}"
    else:
        role = f"{facts['broker']} feeds {counted(facts['leaves_below'], 'leaf broker')}"
    lines = [f"{role}; {100 * facts['lets_through']:.3g} % of all {events} go into it."]
    if not facts["boxes"]:
        return [*lines, "It has no boxes: nobody below it needs any."]
    for number, box in enumerate(facts["boxes"]):
        ranges = ", ".join(f"{name} {box[name][0]} to {box[name][1]}" for name in _names(problem))
        forced = f"because of {listed(box['forced_by'], 4)}" if box["forced_by"] else "for filters below it"
        lines.append(f"  box {number}: {ranges} ({100 * box['lets_through']:.3g} %), {forced}")
    return lines


def _names(problem: Problem) -> list[str]:
    return [attribute.name for attribute in problem.workload.space.attributes]
