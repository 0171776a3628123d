"""Entries of nodes as kernels take them: by topic, as components, and in common between the nodes of links."""

from __future__ import annotations

import numpy as np

from pubplan.problems.overlay.kernels.components import (
    ByTopic,
    CommonEntries,
    Components,
    Links,
    list_common,
    transpose_entries,
)
from pubplan.workload import Csr, Int32Array, Int64Array


def entries_by_topic(topics_by_node: Csr, num_topics: int) -> ByTopic:
    """The entries of every topic."""
    num_entries = len(topics_by_node.values)
    offsets: Int64Array = np.zeros(num_topics + 1, dtype=np.int64)
    np.cumsum(np.bincount(topics_by_node.values, minlength=num_topics), out=offsets[1:])
    by_topic = ByTopic(offsets, np.empty(num_entries, np.int32), np.empty(num_entries, np.int32))
    transpose_entries(topics_by_node.offsets, topics_by_node.values, by_topic)
    return by_topic


def components_of(topics_by_node: Csr) -> Components:
    """Every entry as a component of its own."""
    labels: Int32Array = np.arange(len(topics_by_node.values), dtype=np.int32)
    sizes: Int32Array = np.ones(len(labels), dtype=np.int32)
    return Components(topics_by_node.offsets, topics_by_node.values, labels, labels.copy(), sizes)


def common_entries(topics_by_node: Csr, links: Links) -> CommonEntries:
    """The entries of common topics of the nodes of every link."""
    num_topics = np.diff(topics_by_node.offsets)
    max_size = int(np.minimum(num_topics[links.nodes], num_topics[links.others]).sum())
    common = CommonEntries(
        np.empty(max_size, dtype=np.int32),
        np.empty(max_size, dtype=np.int32),
        np.empty(links.num_links, dtype=np.int64),
        np.empty(links.num_links, dtype=np.int64),
    )
    size = list_common(topics_by_node.offsets, topics_by_node.values, links, common)
    return common._replace(left=common.left[:size], right=common.right[:size])


def topics_of(topics_by_node: Csr, nodes: Int32Array) -> Csr:
    """The topics of some nodes, in their order."""
    lengths = np.diff(topics_by_node.offsets)[nodes]
    offsets: Int64Array = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    entries = np.repeat(topics_by_node.offsets[nodes] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Csr(offsets, topics_by_node.values[entries])


def node_of_entry(topics_by_node: Csr) -> Int32Array:
    """The node of every entry."""
    return np.repeat(np.arange(topics_by_node.num_rows, dtype=np.int32), np.diff(topics_by_node.offsets))


def degrees_of(links: Links, num_nodes: int) -> Int32Array:
    """How many links every node has."""
    return np.bincount(np.concatenate([links.nodes, links.others]), minlength=num_nodes).astype(np.int32)
