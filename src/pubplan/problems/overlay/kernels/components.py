"""Entries, the components that links join them to, and the links themselves.

An *entry* is one topic of one node: ``topics[offsets[node] : offsets[node + 1]]``. The entries of a topic fall into
components, those of nodes that links join; ``labels`` names the component of each entry by one of its entries,
``following`` chains the entries of a component in a ring, ``sizes`` counts them at the entry that is the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]


class Components(NamedTuple):
    """Entries of nodes and their components."""

    offsets: Int64Array
    topics: Int32Array
    labels: Int32Array
    following: Int32Array
    sizes: Int32Array


class ByTopic(NamedTuple):
    """Entries of topics, nodes ascending."""

    offsets: Int64Array
    entries: Int32Array
    nodes: Int32Array


class Links(NamedTuple):
    """Links in the order of choice: their two nodes, the smaller first, and their contribution when chosen."""

    nodes: Int32Array
    others: Int32Array
    contributions: Int32Array

    @classmethod
    def empty(cls, num_links: int) -> Links:
        """Space for links."""
        return cls(*(np.empty(num_links, dtype=np.int32) for _ in cls._fields))

    @classmethod
    def concatenated(cls, parts: Sequence[Links]) -> Links:
        """The links of all parts, one part after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    @property
    def num_links(self) -> int:
        return len(self.nodes)

    def take(self, rows: slice | npt.NDArray[np.generic]) -> Links:
        """Some links: those of a slice, of a mask, or at given positions."""
        return Links(self.nodes[rows], self.others[rows], self.contributions[rows])

    def to_list(self) -> list[tuple[int, int, int]]:
        """Node, other and contribution of every link."""
        return list(zip(*(column.tolist() for column in self), strict=True))


class CommonEntries(NamedTuple):
    """Entries of the common topics of two nodes, for every link.

    Those of link i are ``left[starts[i] : stops[i]]``, entries of its node, and ``right`` likewise, of its other.
    """

    left: Int32Array
    right: Int32Array
    starts: Int64Array
    stops: Int64Array


@kernel
def transpose_entries(offsets: Int64Array, topics: Int32Array, by_topic: ByTopic) -> None:
    """Fill in the entries of every topic; ``by_topic.offsets`` must be right."""
    next_slots = by_topic.offsets[:-1].copy()
    for node in range(len(offsets) - 1):
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            by_topic.entries[next_slots[topic]] = entry
            by_topic.nodes[next_slots[topic]] = node
            next_slots[topic] += 1


@kernel
def join_groups(components: Components, by_topic: ByTopic, groups: Int32Array) -> None:
    """Make one component of the entries of a topic whose nodes are in the same group; group -1 joins nothing."""
    labels, following, sizes = components.labels, components.following, components.sizes
    group_labels = np.full(groups.max() + 1 if len(groups) else 0, -1, dtype=np.int64)
    for topic in range(len(by_topic.offsets) - 1):
        for slot in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            entry, group = by_topic.entries[slot], groups[by_topic.nodes[slot]]
            if group < 0:
                continue
            if group_labels[group] < 0:
                group_labels[group] = entry
                continue
            label = group_labels[group]
            labels[entry] = label
            sizes[label] += 1
            following[entry], following[label] = following[label], entry
        # Only what this topic wrote is reset: groups may be many more than a topic's nodes.
        for slot in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            if groups[by_topic.nodes[slot]] >= 0:
                group_labels[groups[by_topic.nodes[slot]]] = -1


@kernel
def join(components: Components, left_entry: int, right_entry: int) -> bool:
    """Merge the components of two entries of a topic; returns whether they were different."""
    labels, following, sizes = components.labels, components.following, components.sizes
    kept, lost, entry = labels[left_entry], labels[right_entry], right_entry
    if kept == lost:
        return False
    if sizes[kept] < sizes[lost]:
        kept, lost, entry = lost, kept, left_entry
    sizes[kept] += sizes[lost]
    # The ring of the smaller component is walked once around, from the linked entry back to it.
    while labels[entry] != kept:
        labels[entry] = kept
        entry = following[entry]
    # To swap the successors of one entry each makes one ring of two.
    following[left_entry], following[right_entry] = following[right_entry], following[left_entry]
    return True


@kernel
def join_nodes(components: Components, node: int, other: int) -> int:
    """Merge the components that a link between two nodes joins; returns in how many topics."""
    offsets, topics = components.offsets, components.topics
    left_entry, right_entry, contribution = offsets[node], offsets[other], 0
    while left_entry < offsets[node + 1] and right_entry < offsets[other + 1]:
        if topics[left_entry] < topics[right_entry]:
            left_entry += 1
        elif topics[left_entry] > topics[right_entry]:
            right_entry += 1
        else:
            contribution += join(components, left_entry, right_entry)
            left_entry += 1
            right_entry += 1
    return contribution


@kernel
def list_common(offsets: Int64Array, topics: Int32Array, links: Links, common: CommonEntries) -> int:
    """List the entries of common topics of the nodes of each link; returns how many they are."""
    size = 0
    for link in range(len(links.nodes)):
        common.starts[link] = size
        node, other = links.nodes[link], links.others[link]
        left_entry, right_entry = offsets[node], offsets[other]
        while left_entry < offsets[node + 1] and right_entry < offsets[other + 1]:
            if topics[left_entry] < topics[right_entry]:
                left_entry += 1
            elif topics[left_entry] > topics[right_entry]:
                right_entry += 1
            else:
                common.left[size] = left_entry
                common.right[size] = right_entry
                size += 1
                left_entry += 1
                right_entry += 1
        common.stops[link] = size
    return size


@kernel
def join_links(
    components: Components, links: Links, common: CommonEntries, degrees: Int32Array, caps: Int32Array
) -> BoolArray:
    """Take links in their order if both nodes have fewer than their cap and the link joins something; returns which
    were taken. Their contributions are written into ``links``; those of links at a node with its cap stay.

    Every entry must be a component of its own.
    """
    labels, following, sizes = components.labels, components.following, components.sizes
    taken = np.zeros(len(links.nodes), dtype=np.bool_)
    # Until all links are seen, labels point to labels (union by size, paths halved), and there are no rings.
    for link in range(len(links.nodes)):
        node, other = links.nodes[link], links.others[link]
        if degrees[node] >= caps[node] or degrees[other] >= caps[other]:
            continue
        contribution = 0
        for pair in range(common.starts[link], common.stops[link]):
            kept, lost = root_label(labels, common.left[pair]), root_label(labels, common.right[pair])
            if kept != lost:
                if sizes[kept] < sizes[lost]:
                    kept, lost = lost, kept
                labels[lost] = kept
                sizes[kept] += sizes[lost]
                contribution += 1
        links.contributions[link] = contribution
        if contribution > 0:
            taken[link] = True
            degrees[node] += 1
            degrees[other] += 1
    for entry in range(len(labels)):
        label = root_label(labels, entry)
        labels[entry] = label
        if label != entry:
            following[entry], following[label] = following[label], entry
    return taken


@kernel
def root_label(labels: Int32Array, entry: int) -> int:
    """The entry at the end of a chain of labels; halves the chain on the way."""
    while labels[entry] != entry:
        labels[entry] = labels[labels[entry]]
        entry = labels[entry]
    return entry
