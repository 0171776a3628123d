"""The decisions: links, and for every node from which neighbour it gets each of its topics."""

from __future__ import annotations

import pyarrow as pa

LINKS = "links"
LINKS_SCHEMA = pa.schema(
    [
        ("node", pa.int64()),
        ("node_id", pa.string()),
        ("other", pa.int64()),
        ("other_id", pa.string()),
        ("topics", pa.int32()),
        ("trees", pa.int32()),
    ]
)
"""Every link once, ascending, the smaller node first; how many topics its nodes have in common, and how many trees use
it.
"""

_LIST = pa.list_(pa.field("element", pa.int32(), nullable=False))

FORWARDING = "forwarding"
FORWARDING_SCHEMA = pa.schema([("node", pa.int64()), ("topics", _LIST), ("parents", _LIST)])
"""For every node its topics, and for each the neighbour that forwards it, or the node itself at the root of a tree."""

NODES = "nodes"
NODES_SCHEMA = pa.schema(
    [
        ("node", pa.int64()),
        ("node_id", pa.string()),
        ("topics", pa.int32()),
        ("degree", pa.int32()),
        ("part", pa.int32()),
        ("representative", pa.bool_()),
    ]
)
"""Every node: its topics and links, its part or -1, and whether it represented the part when parts were combined."""

TOPICS = "topics"
TOPICS_SCHEMA = pa.schema(
    [
        ("topic", pa.int32()),
        ("topic_id", pa.string()),
        ("nodes", pa.int64()),
        ("links", pa.int64()),
        ("root", pa.int64()),
        ("depth", pa.int32()),
        ("diameter", pa.int32()),
    ]
)
"""Every topic: its nodes, the links between them, the root (or -1) and depth of its tree, and the largest distance
between two of its nodes by links between them, or -1 where that was too much work to compute.
"""

DIVISION = "division"
DIVISION_SCHEMA = pa.schema(
    [
        ("eta", pa.int64()),
        ("coverage", pa.int64()),
        ("parts", pa.int32()),
        ("bulk", pa.int64()),
        ("light", pa.int64()),
        ("representatives", pa.int64()),
        ("known", pa.int64()),
    ]
)
"""How nodes were divided: one row, or none where they were not. ``known`` is the most nodes that one has to know about,
itself included: over all nodes, that is the potential neighbour ratio.
"""

TRAJECTORY_SCHEMA = pa.schema(
    [("node", pa.int64()), ("other", pa.int64()), ("joined", pa.int32()), ("phase", pa.string())]
)
"""Links in the order in which they were chosen, how many topics each then joined (its contribution), and in which phase
that was.
"""
