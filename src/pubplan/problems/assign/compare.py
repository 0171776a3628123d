"""From one assignment to another: who moved, and which filters grew."""

from __future__ import annotations

from typing import Any

from pubplan.planning import Explanation, Plan
from pubplan.planning.moves import client_moves, move_sentences
from pubplan.problems.assign.plan import ASSIGNMENTS, ASSIGNMENTS_SCHEMA, BROKERS, BROKERS_SCHEMA

MAX_NAMED = 10
"""Sentences and facts name at most this many brokers."""


def compare_assignments(old: Plan, new: Plan) -> Explanation | None:
    """Moves of clients and filters that changed, by the names of brokers; None for the same plan.

    Clients of different workloads are matched by their ids, if the workloads are still where they were.

    Raises:
        InputError: a table is damaged.
    """
    if old.digest == new.digest:
        return None
    moves = client_moves(old, new, (ASSIGNMENTS, ASSIGNMENTS_SCHEMA), (BROKERS, BROKERS_SCHEMA))
    facts: dict[str, Any] = {"moves": moves, "filters": _filters(old, new)}
    return Explanation(facts, tuple(_sentences(facts)))


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
    filters = facts["filters"]
    lines = move_sentences(facts["moves"])
    lines.append(f"brokers whose filters change: {len(filters):,}")
    for row in filters[:MAX_NAMED]:
        lines.append(f"  {row['broker']}: {_volume_or_absent(row['old'])} -> {_volume_or_absent(row['new'])}")
    if len(filters) > MAX_NAMED:
        lines.append(f"  … {len(filters) - MAX_NAMED:,} more")
    return lines


def _volume_or_absent(volume: float | None) -> str:
    return "absent" if volume is None else f"{volume:,.0f}"
