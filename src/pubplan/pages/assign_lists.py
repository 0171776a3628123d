"""Lists of ``assign``: the busiest leaves, and the brokers whose filters let most through."""

from __future__ import annotations

from typing import Any

from pubplan.pages.assign_tables import Tables
from pubplan.pages.frame import Sheet
from pubplan.pages.lists import MAX_ROWS, top


def busiest_leaves(tables: Tables) -> list[Sheet]:
    """The leaves that are fullest."""
    rows = [row for row, is_leaf in zip(tables.brokers.to_pylist(), tables.is_leaf, strict=True) if is_leaf]
    rows.sort(key=lambda row: (-row["clients"] / max(1, row["limit"]), row["broker"]))
    shown = [
        [
            row["broker_id"],
            f"{row['clients']:,}",
            f"{row['limit']:,}",
            f"{100 * row['clients'] / max(1, row['limit']):.1f} %",
            tables.lets_through(row["volume"]),
        ]
        for row in rows[:MAX_ROWS]
    ]
    caption = "'pubplan explain PLAN --broker ID' says what each box of a broker is for."
    return top("Busiest leaves", caption, ["leaf", "clients", "at most", "filled", "lets through"], shown, len(rows))


def largest_filters(tables: Tables) -> list[Sheet]:
    """The brokers into which most goes."""
    rows: list[dict[str, Any]] = sorted(tables.brokers.to_pylist(), key=lambda row: (-row["volume"], row["broker"]))
    shown = [
        [
            row["broker_id"],
            f"{row['level']:,}",
            f"{tables.num_boxes[row['broker']]:,}",
            tables.lets_through(row["volume"]),
            f"{row['clients']:,}" if tables.is_leaf[row["broker"]] else "",
        ]
        for row in rows[:MAX_ROWS]
        if row["volume"]
    ]
    used = sum(row["volume"] > 0 for row in rows)
    caption = "What goes into a broker counts for as much as the share of all events that its filter lets through."
    return top("Largest filters", caption, ["broker", "level", "boxes", "lets through", "clients"], shown, used)
