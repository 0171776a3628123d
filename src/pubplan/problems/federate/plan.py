"""The tables of a plan of ``federate``."""

from __future__ import annotations

import pyarrow as pa

ATTACHMENTS = "attachments"
ATTACHMENTS_SCHEMA = pa.schema([("client", pa.int64()), ("broker", pa.int32())])
"""Every client and the broker that it attaches to."""

LINKS = "links"
LINKS_SCHEMA = pa.schema(
    [
        ("broker", pa.int32()),
        ("broker_id", pa.string()),
        ("other", pa.int32()),
        ("other_id", pa.string()),
        ("messages", pa.int64()),
        ("price", pa.int64()),
    ]
)
"""Links that carry anything, in each direction: messages per window from ``broker`` to ``other``, and the price of the
link in micro-dollars per GB.
"""

TREES = "trees"
TREES_SCHEMA = pa.schema(
    [
        ("channel", pa.int32()),
        ("origin", pa.int32()),
        ("parents", pa.list_(pa.field("element", pa.int32(), nullable=False))),
    ]
)
"""Along which links the messages of a channel are forwarded: those that are published at the broker ``origin``, or for
-1 at any broker with subscribers of the channel. ``parents`` has an entry per broker: its neighbour on the way to the
root, -1 for the root, -2 for brokers that are not in the tree. The channel -1 is all channels, in a plan with one tree.
"""

CHANNELS = "channels"
CHANNELS_SCHEMA = pa.schema(
    [
        ("channel", pa.int32()),
        ("attribute", pa.string()),
        ("low", pa.int64()),
        ("high", pa.int64()),
        ("messages", pa.int64()),
        ("subscribers", pa.int64()),
    ]
)
"""Every channel, a row per attribute: its range of grid lines without ``high``, messages per window that somebody
wants, and clients that want it.
"""

BROKERS = "brokers"
BROKERS_SCHEMA = pa.schema(
    [
        ("broker", pa.int32()),
        ("broker_id", pa.string()),
        ("clients", pa.int64()),
        ("load", pa.int64()),
        ("capacity", pa.int64()),
        ("published", pa.int64()),
        ("forwarded", pa.int64()),
    ]
)
"""Every broker: its clients, the messages that they send and receive, how many it takes at most (0: no limit), how many
its clients send, and how many it sends to other brokers.
"""

ALL = -1
"""As a channel or an origin of a tree: all of them."""

OUTSIDE = -2
"""As a parent: the broker is not in the tree."""

SEARCH = "search"

PRICES = "brokers"
PRICES_SCHEMA = pa.schema([("broker", pa.int32()), ("price", pa.int64())])
"""Evidence of bounds: what a message of a broker's load costs beyond its price, in parts of ``scale``."""

CLUSTERS = "clusters"
CLUSTERS_SCHEMA = pa.schema(
    [
        ("cluster", pa.int32()),
        ("brokers", pa.list_(pa.field("element", pa.int32(), nullable=False))),
        ("length", pa.int64()),
    ]
)
"""Evidence of the bound ``laminar``: sets of brokers, and what a message pays at least to get into each."""

SHARES = "shares"
SHARES_SCHEMA = pa.schema(
    [("client", pa.int64()), ("cluster", pa.int32()), ("channel", pa.int32()), ("share", pa.int64())]
)
"""Evidence of the bound ``laminar``: what a client pays for the messages of a channel getting into a cluster if it is
attached there, in parts of ``scale``.
"""
