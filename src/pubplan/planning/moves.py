"""Which clients a broker serves in one plan and another in the next: for families that give every client one broker."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.planning.plan import Plan
from pubplan.text import counted
from pubplan.workload import CONTENT, read_workload

MAX_NAMED_MOVES = 10
"""Sentences and facts name at most this many pairs of brokers."""

Layout = tuple[str, pa.Schema]
"""The name of a table of decisions, and its columns."""


def client_moves(old: Plan, new: Plan, served: Layout, brokers: Layout) -> dict[str, Any] | None:
    """Who changed brokers; None where the clients of the plans cannot be matched.

    Clients of different workloads are matched by their ids, if the workloads are still where they were.

    Args:
        served: the table, in blocks, with the number of the ``broker`` of every client.
        brokers: the table with the ``broker_id`` of every broker.

    Raises:
        InputError: a table is damaged.
    """
    before, after = (_brokers_of(plan, served, brokers) for plan in (old, new))
    came = left = 0
    if old.record["workload"]["digest"] != new.record["workload"]["digest"]:
        ids = [_client_ids(plan) for plan in (old, new)]
        if ids[0] is None or ids[1] is None:
            return None
        positions = pc.index_in(ids[1], value_set=ids[0])
        is_in_both = pc.is_valid(positions)
        before, after = before.take(positions.filter(is_in_both)), after.filter(is_in_both)
        came, left = len(ids[1]) - len(after), len(ids[0]) - len(after)
    is_moved = pc.not_equal(before, after)
    pairs = Counter(zip(before.filter(is_moved).to_pylist(), after.filter(is_moved).to_pylist(), strict=True))
    largest = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:MAX_NAMED_MOVES]
    return {
        "moved": sum(pairs.values()),
        "stayed": len(after) - sum(pairs.values()),
        "came": came,
        "left": left,
        "largest": [{"from": source, "to": target, "clients": number} for (source, target), number in largest],
    }


def move_sentences(moves: dict[str, Any] | None) -> list[str]:
    """The same for people."""
    if moves is None:
        return ["clients: the plans are for different workloads, which are no longer where they were"]
    line = f"clients: {moves['moved']:,} moved, {moves['stayed']:,} stayed"
    if moves["came"] or moves["left"]:
        line += f", {moves['came']:,} came, {moves['left']:,} left"
    named = [f"  {move['from']} -> {move['to']}: {counted(move['clients'], 'client')}" for move in moves["largest"]]
    return [line, *named]


def _brokers_of(plan: Plan, served: Layout, brokers: Layout) -> pa.Array:
    """The id of the broker of every client, by number."""
    table, schema = served
    blocks = [
        plan.decisions_block(table, block, schema)["broker"].to_numpy()
        for block in range(plan.num_decision_blocks(table))
    ]
    ids = plan.decisions(*brokers)["broker_id"].combine_chunks()
    numbers = np.concatenate([np.empty(0, np.int32), *blocks])
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(ids):
        raise InputError(f"{plan.path}: the decisions '{table}' are damaged: they name brokers that do not exist.")
    return ids.take(pa.array(numbers))


def _client_ids(plan: Plan) -> pa.Array | None:
    path = plan.workload_path()
    try:
        workload = None if path is None else read_workload(path, CONTENT)
    except InputError:
        return None
    if workload is None or workload.digest != plan.record["workload"]["digest"]:
        return None
    return workload.ids("clients", "client_id")
