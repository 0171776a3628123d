"""From one plan to another: who moved, which links carry more or less, and what the parts cost."""

from __future__ import annotations

from typing import Any

from pubplan.planning import Explanation, Plan
from pubplan.planning.moves import client_moves, move_sentences
from pubplan.problems.federate.measures import measures_of
from pubplan.problems.federate.money import split_money_changes
from pubplan.problems.federate.plan import (
    ATTACHMENTS,
    ATTACHMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
)
from pubplan.text import MICROS

MAX_NAMED_LINKS = 10
"""Sentences name at most this many links; facts name all."""

PARTS = ("between clients and brokers", "between brokers", "together")


def compare_federations(old: Plan, new: Plan) -> Explanation | None:
    """Moves of clients, messages by link and costs by part, by the names of brokers; None for the same plan.

    Raises:
        InputError: a table is damaged.
    """
    if old.digest == new.digest:
        return None
    bills = [measures_of(plan).bill for plan in (old, new)]
    costs = {
        part: {"old": float(was / MICROS), "new": float(now / MICROS)}
        for part, was, now in zip(("access", "core"), *bills, strict=True)
    }
    links = _changed_links(old, new)
    moves = client_moves(old, new, (ATTACHMENTS, ATTACHMENTS_SCHEMA), (BROKERS, BROKERS_SCHEMA))
    lines = [*move_sentences(moves), "cost per window:"]
    lines += [
        f"  {part}: {was} -> {now} ({change})"
        for part, (was, now, change) in zip(PARTS, split_money_changes(*bills), strict=True)
    ]
    lines.append(f"links whose traffic changes: {len(links):,}")
    lines += [
        f"  {row['from']} -> {row['to']}: {row['old']:,} -> {row['new']:,} messages per window"
        for row in links[:MAX_NAMED_LINKS]
    ]
    if len(links) > MAX_NAMED_LINKS:
        lines.append(f"  … {len(links) - MAX_NAMED_LINKS:,} more")
    return Explanation({"moves": moves, "costs": costs, "links": links}, tuple(lines))


def _changed_links(old: Plan, new: Plan) -> list[dict[str, Any]]:
    """Links, each direction apart, over which more or fewer messages go; the largest changes first."""
    traffic = []
    for plan in (old, new):
        table = plan.decisions(LINKS, LINKS_SCHEMA)
        ends = zip(table["broker_id"].to_pylist(), table["other_id"].to_pylist(), strict=True)
        traffic.append(dict(zip(ends, table["messages"].to_pylist(), strict=True)))
    before, after = traffic
    changed = [
        {"from": link[0], "to": link[1], "old": before.get(link, 0), "new": after.get(link, 0)}
        for link in sorted(before.keys() | after.keys())
        if before.get(link, 0) != after.get(link, 0)
    ]
    return sorted(changed, key=lambda row: -abs(row["new"] - row["old"]))
