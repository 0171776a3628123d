"""The decisions: which leaf serves every client, and which boxes every broker lets through."""

from __future__ import annotations

import pyarrow as pa

ASSIGNMENTS = "assignments"
ASSIGNMENTS_SCHEMA = pa.schema([("client", pa.int64()), ("broker", pa.int32())])
"""Every client and the leaf that serves it."""

FILTERS = "filters"
FILTERS_SCHEMA = pa.schema(
    [
        ("broker", pa.int32()),
        ("broker_id", pa.string()),
        ("box", pa.int32()),
        ("attribute", pa.string()),
        ("low", pa.int64()),
        ("high", pa.int64()),
    ]
)
"""The boxes of every broker, numbered from 0, with a row per attribute in the order of the space: an event passes if it
lies in a box, that is from ``low`` to before ``high`` in every attribute.
"""

BROKERS = "brokers"
BROKERS_SCHEMA = pa.schema(
    [
        ("broker", pa.int32()),
        ("broker_id", pa.string()),
        ("level", pa.int32()),
        ("clients", pa.int64()),
        ("limit", pa.int64()),
        ("volume", pa.int64()),
    ]
)
"""Every broker: its level in the tree (1 is fed by the publisher), the clients that it serves (by weight), how many it
may serve at most, and what its filter lets through, in parts of the plan's scale.
"""

LATENCY_BROKEN, LOAD_BROKEN = "latency broken", "load broken"
"""Limits of reasons by which a plan says that it serves clients too late, or more of them than a leaf may serve."""

WITNESSES = "witnesses"
WITNESSES_SCHEMA = pa.schema([("broker", pa.int32()), ("client", pa.int64())])
"""Evidence of the bound ``forced``: by broker, clients that only leaves below it can serve."""

FORCED = "brokers"
FORCED_SCHEMA = pa.schema([("broker", pa.int32()), ("measure", pa.int64())])
"""Evidence of the bound ``forced``: what the filter of each of these brokers measures at least, by its witnesses, in
parts of the plan's scale.
"""

SHARED = "shared"
SHARED_SCHEMA = pa.schema([("client", pa.int64())])
"""Evidence of the bound ``forced``: clients that one of a few leaves must serve, in the order in which the cases are
told apart in which one or the other does.
"""
