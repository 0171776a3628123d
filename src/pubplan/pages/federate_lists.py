"""Lists of ``federate``: links by traffic, channels by messages, and brokers by load."""

from __future__ import annotations

from pubplan.pages.federate_tables import Tables
from pubplan.pages.frame import Sheet
from pubplan.pages.lists import MAX_ROWS, top


def busiest_links(tables: Tables) -> list[Sheet]:
    """The links that most messages cross."""
    ids = tables.broker_ids
    shown = [
        [f"{ids[link.one]} – {ids[link.other]}", f"{link.there:,}", f"{link.back:,}", tables.paid(link)]
        for link in tables.links[:MAX_ROWS]
    ]
    caption = "Messages per window. 'pubplan explain PLAN --link A,B' says which channels take a link."
    return top("Traffic by link", caption, ["link", "there", "back", "cost"], shown, len(tables.links))


def busiest_channels(tables: Tables) -> list[Sheet]:
    """The channels with most messages."""
    channels = sorted(tables.channels, key=lambda row: (-row["messages"], row["channel"]))
    shown = [
        [f"{row['channel']}: {', '.join(row['ranges'])}", f"{row['messages']:,}", f"{row['subscribers']:,}"]
        for row in channels[:MAX_ROWS]
    ]
    caption = (
        "Messages per window that somebody wants, and clients that want them. 'pubplan explain PLAN --channel N' says "
        "who forwards a channel to whom."
    )
    return top("Channels", caption, ["channel", "messages", "subscribers"], shown, len(channels))


def busiest_brokers(tables: Tables) -> list[Sheet]:
    """The brokers whose clients send and receive most."""
    rows = sorted(tables.brokers.to_pylist(), key=lambda row: (-row["load"], row["broker"]))
    shown = [
        [
            row["broker_id"],
            f"{row['clients']:,}",
            f"{row['load']:,}",
            f"{row['capacity']:,}" if row["capacity"] else "no limit",
            f"{row['published']:,}",
            f"{row['forwarded']:,}",
        ]
        for row in rows[:MAX_ROWS]
    ]
    caption = "Messages per window. 'pubplan explain PLAN --broker ID' says what a broker exchanges with which others."
    header = ["broker", "clients", "load", "capacity", "published", "forwarded"]
    return top("Brokers", caption, header, shown, len(rows))
