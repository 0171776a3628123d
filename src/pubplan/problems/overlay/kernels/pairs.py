"""Pairs of nodes that a link would help.

The *contribution* of a link is the number of common topics in which its nodes are in different components. It only
falls as links are added, and degrees only rise, so a pair only moves back in the order of choice: contributions are
kept as they were last computed, and computed again when it is a pair's turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import ByTopic, Components
from pubplan.workload import Int32Array, Int64Array

ContributionArray = npt.NDArray[np.uint8 | np.int32]

CHUNK_PAIRS = 64
"""Pairs of a node are skipped in chunks of this many."""

SPARSE_DIVISOR = 32
"""The partners of a node are collected by sorting them if there are fewer than nodes / SPARSE_DIVISOR."""


class Pairs(NamedTuple):
    """For every node the partners after it that a link would help, ascending, with the contribution of that link when
    it was last computed. There is space for one pair more than there can be.

    ``row_maxima`` and ``chunk_maxima`` are the largest contributions of each node's pairs and of each chunk of them;
    ``chunks`` is the first chunk of every node.
    """

    offsets: Int64Array
    partners: Int32Array
    contributions: ContributionArray
    row_maxima: Int32Array
    chunks: Int64Array
    chunk_maxima: ContributionArray


class OpenEntries(NamedTuple):
    """By topic, the entries of nodes that may have more links (their nodes and labels), the label of the largest
    component among them (the *main* one), and the nodes of the entries outside it (the *minor* ones).
    """

    offsets: Int64Array
    nodes: Int32Array
    labels: Int32Array
    main_labels: Int32Array
    minor_offsets: Int64Array
    minor_nodes: Int32Array


@kernel
def list_open(
    components: Components, by_topic: ByTopic, degrees: Int32Array, degree_limit: int, entries: OpenEntries
) -> int:
    """List the entries of every topic whose nodes have fewer than ``degree_limit`` links, and the nodes of those
    outside its main component; returns how many steps :func:`find_pairs` then takes.
    """
    labels, sizes = components.labels, components.sizes
    num_topics = len(by_topic.offsets) - 1
    size, num_minor, work = 0, 0, 0
    for topic in range(num_topics):
        first = size
        main_label = -1
        for slot in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            node = by_topic.nodes[slot]
            if degrees[node] < degree_limit:
                label = labels[by_topic.entries[slot]]
                entries.nodes[size] = node
                entries.labels[size] = label
                size += 1
                if main_label < 0 or sizes[label] > sizes[main_label]:
                    main_label = label
        entries.offsets[topic] = first
        entries.main_labels[topic] = main_label
        entries.minor_offsets[topic] = num_minor
        minor_before = num_minor
        for slot in range(first, size):
            if entries.labels[slot] != main_label:
                entries.minor_nodes[num_minor] = entries.nodes[slot]
                num_minor += 1
        # Minor entries meet main ones and each other; main ones do not meet each other.
        minor, total = num_minor - minor_before, size - first
        work += minor * (total - minor) + minor * (minor - 1) // 2
    entries.offsets[num_topics] = size
    entries.minor_offsets[num_topics] = num_minor
    return work


@kernel
def find_pairs(
    components: Components, degrees: Int32Array, degree_limit: int, entries: OpenEntries, pairs: Pairs, num_topics: int
) -> int:
    """Find all pairs of nodes with fewer than ``degree_limit`` links that a link would help, with its contribution;
    returns how many nodes were scanned for partners.

    Most entries of a topic soon are in its main component, and a node there is helped by minor ones only. Nodes are
    visited in ascending order, so that ``next_slots`` and ``next_minors`` move past nodes that are done.

    1. Count how much there is to add up for a node, and whether it is sparse: few partners in relation to all nodes.
    2. Add 1 to the contribution of every partner in every topic: with the minor entries if the node is in the main
       component, else with all entries of another label. There is a loop for each of main and minor, sparse and
       dense: a dense node only adds, a sparse one also lists the partners that it touches.
    3. Write the partners in ascending order: those touched after sorting them, or all nodes with a contribution.
    """
    offsets, topics, labels = components.offsets, components.topics, components.labels
    num_nodes = len(offsets) - 1
    next_slots = entries.offsets[:num_topics].copy()
    next_minors = entries.minor_offsets[:num_topics].copy()
    contributions = np.zeros(num_nodes, dtype=np.int32)
    touched = np.empty(num_nodes, dtype=np.int32)
    size, num_scanned = 0, 0
    for node in range(num_nodes):
        pairs.offsets[node] = size
        if degrees[node] >= degree_limit:
            continue
        # 1.
        work = 0
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            next_slots[topic] += 1
            if labels[entry] == entries.main_labels[topic]:
                work += entries.minor_offsets[topic + 1] - next_minors[topic]
            else:
                next_minors[topic] += 1
                work += entries.offsets[topic + 1] - next_slots[topic]
        if work == 0:
            continue
        num_touched = 0
        is_sparse = work < (num_nodes - node) // SPARSE_DIVISOR
        # 2.
        for entry in range(offsets[node], offsets[node + 1]):
            topic, label = topics[entry], labels[entry]
            if label == entries.main_labels[topic]:
                partners = entries.minor_nodes[next_minors[topic] : entries.minor_offsets[topic + 1]]
                if not is_sparse:
                    for slot in range(len(partners)):
                        contributions[np.uint32(partners[slot])] += 1  # unsigned: no test for a negative index
                    continue
                for partner in partners:
                    if contributions[partner] == 0:
                        touched[num_touched] = partner
                        num_touched += 1
                    contributions[partner] += 1
                continue
            partners = entries.nodes[next_slots[topic] : entries.offsets[topic + 1]]
            partner_labels = entries.labels[next_slots[topic] : entries.offsets[topic + 1]]
            if not is_sparse:
                for slot in range(len(partners)):
                    contributions[np.uint32(partners[slot])] += partner_labels[slot] != label
                continue
            for slot in range(len(partners)):
                if partner_labels[slot] != label:
                    partner = partners[slot]
                    if contributions[partner] == 0:
                        touched[num_touched] = partner
                        num_touched += 1
                    contributions[partner] += 1
        # 3.
        if is_sparse:
            for partner in np.sort(touched[:num_touched]):
                pairs.partners[size] = partner
                pairs.contributions[size] = contributions[partner]
                contributions[partner] = 0
                size += 1
        else:
            num_scanned += num_nodes - node
            # Every node is written, and overwritten by the next if it has no contribution: faster than a branch.
            for partner in range(node + 1, num_nodes):
                pairs.partners[size] = partner
                pairs.contributions[size] = contributions[partner]
                size += contributions[partner] > 0
                contributions[partner] = 0
    pairs.offsets[num_nodes] = size
    return num_scanned


@kernel
def find_maxima(pairs: Pairs) -> int:
    """Recompute the largest contribution of every node and chunk; returns that of all pairs."""
    chunk, largest = 0, 0
    for node in range(len(pairs.row_maxima)):
        pairs.chunks[node] = chunk
        row_maximum, stop = 0, pairs.offsets[node + 1]
        for start in range(pairs.offsets[node], stop, CHUNK_PAIRS):
            chunk_maximum = pairs.contributions[start]
            for pair in range(start + 1, min(start + CHUNK_PAIRS, stop)):
                chunk_maximum = max(chunk_maximum, pairs.contributions[pair])
            pairs.chunk_maxima[chunk] = chunk_maximum
            chunk += 1
            row_maximum = max(row_maximum, int(chunk_maximum))
        pairs.row_maxima[node] = row_maximum
        largest = max(largest, row_maximum)
    return largest
