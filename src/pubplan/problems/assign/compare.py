"""From one assignment to another: who moved, and which filters grew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.planning import Explanation, Plan
from pubplan.problems.assign.plan import ASSIGNMENTS, ASSIGNMENTS_SCHEMA, BROKERS, BROKERS_SCHEMA
from pubplan.text import counted
from pubplan.workload import CONTENT, read_workload

MAX_NAMED = 10
"""Sentences and facts name at most this many moves and brokers."""


def compare_assignments(old: Plan, new: Plan) -> Explanation | None:
    """Moves of clients and filters that changed, by the names of brokers; None for the same plan.

    Clients of different workloads are matched by their ids, if the workloads are still where they were.

    Raises:
        InputError: a table is damaged.
    """
    if old.digest == new.digest:
        return None
    facts: dict[str, Any] = {"moves": _moves(old, new), "filters": _filters(old, new)}
    return Explanation(facts, tuple(_sentences(facts)))


def _brokers_of(plan: Plan) -> pa.Array:
    """The id of the broker of every client, by number."""
    brokers = [
        plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)["broker"].to_numpy()
        for block in range(plan.num_decision_blocks(ASSIGNMENTS))
    ]
    ids = plan.decisions(BROKERS, BROKERS_SCHEMA)["broker_id"].combine_chunks()
    numbers = np.concatenate([np.empty(0, np.int32), *brokers])
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(ids):
        raise InputError(
            f"{plan.path}: the decisions '{ASSIGNMENTS}' are damaged: they name brokers that do not exist."
        )
    return ids.take(pa.array(numbers))


def _moves(old: Plan, new: Plan) -> dict[str, Any] | None:
    """Who changed brokers; None where the clients of the plans cannot be matched."""
    before, after = _brokers_of(old), _brokers_of(new)
    if old.record["workload"]["digest"] != new.record["workload"]["digest"]:
        ids = [_client_ids(plan) for plan in (old, new)]
        if ids[0] is None or ids[1] is None:
            return None
        positions = pc.index_in(ids[1], value_set=ids[0])
        is_in_both = pc.is_valid(positions)
        before, after = before.take(positions.filter(is_in_both)), after.filter(is_in_both)
        kept = len(after)
        came, left = len(ids[1]) - kept, len(ids[0]) - kept
    else:
        came = left = 0
    is_moved = pc.not_equal(before, after)
    pairs = Counter(zip(before.filter(is_moved).to_pylist(), after.filter(is_moved).to_pylist(), strict=True))
    largest = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:MAX_NAMED]
    return {
        "moved": sum(pairs.values()),
        "stayed": len(after) - sum(pairs.values()),
        "came": came,
        "left": left,
        "largest": [{"from": source, "to": target, "clients": number} for (source, target), number in largest],
    }


def _client_ids(plan: Plan) -> pa.Array | None:
    path = plan.workload_path()
    try:
        workload = None if path is None else read_workload(path, CONTENT)
    except InputError:
        return None
    if workload is None or workload.digest != plan.record["workload"]["digest"]:
        return None
    return workload.ids("clients", "client_id")


def _filters(old: Plan, new: Plan) -> list[dict[str, Any]]:
    """Brokers whose filters let more or less through, the largest changes first; None where a plan lacks the broker."""
    volumes = []
    for plan in (old, new):
        table = plan.decisions(BROKERS, BROKERS_SCHEMA)
        scale = plan.exact.scale
        values = zip(table["broker_id"].to_pylist(), table["volume"].to_pylist(), strict=True)
        volumes.append({name: volume / scale for name, volume in values})
    names = sorted(volumes[0].keys() | volumes[1].keys())
    changed = [
        {"broker": name, "old": volumes[0].get(name), "new": volumes[1].get(name)}
        for name in names
        if volumes[0].get(name) != volumes[1].get(name)
    ]
    changed.sort(key=lambda row: (-abs((row["new"] or 0) - (row["old"] or 0)), row["broker"]))
    return changed


def _sentences(facts: dict[str, Any]) -> list[str]:
    moves, filters = facts["moves"], facts["filters"]
    if moves is None:
        lines = ["clients: the plans are for different workloads, which are no longer where they were"]
    else:
        lines = [f"clients: {moves['moved']:,} moved, {moves['stayed']:,} stayed"]
        if moves["came"] or moves["left"]:
            lines[0] += f", {moves['came']:,} came, {moves['left']:,} left"
        lines += [
            f"  {move['from']} -> {move['to']}: {counted(move['clients'], 'client')}" for move in moves["largest"]
        ]
    lines.append(f"brokers whose filters change: {len(filters):,}")
    for row in filters[:MAX_NAMED]:
        lines.append(f"  {row['broker']}: {_volume_or_absent(row['old'])} -> {_volume_or_absent(row['new'])}")
    if len(filters) > MAX_NAMED:
        lines.append(f"  … {len(filters) - MAX_NAMED:,} more")
    return lines


def _volume_or_absent(volume: float | None) -> str:
    return "absent" if volume is None else f"{volume:,.0f}"
