"""The greedy choice: links for the pairs with the largest contribution."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import Components, Links, join_nodes
from pubplan.problems.overlay.kernels.pairs import CHUNK_PAIRS, Pairs
from pubplan.workload import Int32Array, Int64Array

NO_LABEL = -1
"""The mark of a topic that the marked node does not have."""


@kernel
def contribution_to_marked(components: Components, other: int, marks: Int32Array) -> int:
    """The contribution of a link from ``other`` to the node whose labels ``marks`` holds by topic."""
    first, stop = components.offsets[other], components.offsets[other + 1]
    topics, labels = components.topics[first:stop], components.labels[first:stop]
    contribution = np.int32(0)
    for slot in range(len(topics)):
        mark = marks[np.uint32(topics[slot])]  # unsigned: no test for a negative index
        contribution += np.int32((mark >= 0) & (mark != labels[slot]))
    return int(contribution)


@kernel
def mark_topics(components: Components, node: int, marks: Int32Array, is_on: bool) -> None:
    """Put the labels of a node into ``marks``, or take them out."""
    first, stop = components.offsets[node], components.offsets[node + 1]
    topics, labels = components.topics[first:stop], components.labels[first:stop]
    for slot in range(len(topics)):
        marks[np.uint32(topics[slot])] = labels[slot] if is_on else NO_LABEL


@kernel
def link_pair(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    node: int,
    pair: int,
    contribution: int,
    marks: Int32Array,
    links: Links,
    num_links: int,
) -> bool:
    """Compute the contribution of a pair again, and link it if it still is that; returns whether it was linked.

    Args:
        pair: the index of the pair in ``pairs``.
        marks: the labels of ``node`` by topic.
        num_links: where in ``links`` the link is written.
    """
    other = pairs.partners[pair]
    pairs.contributions[pair] = contribution_to_marked(components, other, marks)
    if pairs.contributions[pair] != contribution:
        return False
    pairs.contributions[pair] = 0
    links.nodes[num_links] = node
    links.others[num_links] = other
    links.contributions[num_links] = join_nodes(components, node, other)
    degrees[node] += 1
    degrees[other] += 1
    return True


@kernel
def add_links(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    contribution: int,
    degree_limit: int,
    at_degree: int,
    max_links: int,
    marks: Int32Array,
    links: Links,
    num_links: int,
) -> tuple[int, int]:
    """Link pairs of exactly this contribution, nodes ascending, while both have fewer than ``degree_limit`` links.

    Args:
        at_degree: only pairs whose larger degree is this; any if negative.
        max_links: how many links to add at most.
        marks: scratch, by topic, all negative.
        links: appended to.

    Returns:
        The number of links then, and how many contributions were computed again.
    """
    num_recomputed = 0
    stop_links = num_links + max_links
    for node in range(len(degrees)):
        if pairs.row_maxima[node] < contribution or degrees[node] >= degree_limit or 0 <= at_degree < degrees[node]:
            continue
        is_marked = False
        chunk, stop = pairs.chunks[node], pairs.offsets[node + 1]
        start = pairs.offsets[node]
        while start < stop:
            if pairs.chunk_maxima[chunk] >= contribution:
                for pair in range(start, min(start + CHUNK_PAIRS, stop)):
                    if pairs.contributions[pair] != contribution:
                        continue
                    other = pairs.partners[pair]
                    if degrees[other] >= degree_limit or 0 <= at_degree != max(degrees[node], degrees[other]):
                        continue
                    if not is_marked:
                        mark_topics(components, node, marks, True)
                        is_marked = True
                    num_recomputed += 1
                    if not link_pair(components, pairs, degrees, node, pair, contribution, marks, links, num_links):
                        continue
                    num_links += 1
                    if num_links == stop_links:
                        mark_topics(components, node, marks, False)
                        return num_links, num_recomputed
                    if degrees[node] >= degree_limit or 0 <= at_degree < degrees[node]:
                        start = stop  # the node is done: leave both loops
                        break
                    mark_topics(components, node, marks, True)  # the link changed labels
            start += CHUNK_PAIRS
            chunk += 1
        if is_marked:
            mark_topics(components, node, marks, False)
    return num_links, num_recomputed


@kernel
def list_pairs(
    pairs: Pairs, degrees: Int32Array, contribution: int, degree_limit: int, nodes: Int32Array, indices: Int64Array
) -> int:
    """List the pairs of exactly this contribution whose nodes both have fewer than ``degree_limit`` links; returns how
    many they are, or -1 if ``nodes`` and ``indices`` are too short for all.
    """
    size = 0
    for node in range(len(degrees)):
        if pairs.row_maxima[node] < contribution or degrees[node] >= degree_limit:
            continue
        chunk, stop = pairs.chunks[node], pairs.offsets[node + 1]
        for start in range(pairs.offsets[node], stop, CHUNK_PAIRS):
            if pairs.chunk_maxima[chunk] >= contribution:
                for pair in range(start, min(start + CHUNK_PAIRS, stop)):
                    if pairs.contributions[pair] == contribution and degrees[pairs.partners[pair]] < degree_limit:
                        if size == len(nodes):
                            return -1
                        nodes[size] = node
                        indices[size] = pair
                        size += 1
            chunk += 1
    return size


@kernel
def add_listed(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    contribution: int,
    degree_limit: int,
    nodes: Int32Array,
    indices: Int64Array,
    marks: Int32Array,
    links: Links,
    num_links: int,
) -> tuple[int, int]:
    """As :func:`add_links` for listed pairs, those of smaller degree first; overwrites the list."""
    num_recomputed, size = 0, len(nodes)
    for at_degree in range(degree_limit):
        if size == 0:
            break
        # Pairs whose degree is larger are kept for later, at the front of the list.
        num_kept, marked = 0, -1
        for slot in range(size):
            node, pair = nodes[slot], indices[slot]
            other = pairs.partners[pair]
            larger = max(degrees[node], degrees[other])
            if larger > at_degree:
                if larger < degree_limit:
                    nodes[num_kept] = node
                    indices[num_kept] = pair
                    num_kept += 1
                continue
            if marked != node:
                if marked >= 0:
                    mark_topics(components, marked, marks, False)
                mark_topics(components, node, marks, True)
                marked = node
            num_recomputed += 1
            if not link_pair(components, pairs, degrees, node, pair, contribution, marks, links, num_links):
                continue
            num_links += 1
            mark_topics(components, node, marks, True)
        if marked >= 0:
            mark_topics(components, marked, marks, False)
        size = num_kept
    return num_links, num_recomputed


@kernel
def serve_node(
    components: Components,
    topic_sizes: Int64Array,
    degrees: Int32Array,
    node: int,
    degree_limit: int,
    marks: Int32Array,
    links: Links,
    num_links: int,
) -> int:
    """Link a node until it is connected with half of the nodes of each of its topics, or has ``degree_limit`` links;
    returns the number of links then.

    Each link goes to the node below the limit that helps in most topics; ties go to the smaller degree, then to the
    smaller node.
    """
    offsets, topics, labels, sizes = components.offsets, components.topics, components.labels, components.sizes
    while degrees[node] < degree_limit:
        for entry in range(offsets[node], offsets[node + 1]):
            is_apart = 2 * sizes[labels[entry]] < topic_sizes[topics[entry]]
            marks[topics[entry]] = labels[entry] if is_apart else NO_LABEL
        best, largest = -1, 0
        for other in range(len(degrees)):
            if other != node and degrees[other] < degree_limit:
                contribution = contribution_to_marked(components, other, marks)
                if contribution > largest or (contribution == largest > 0 and degrees[other] < degrees[best]):
                    best, largest = other, contribution
        mark_topics(components, node, marks, False)
        if best < 0:
            break
        links.nodes[num_links] = min(node, best)
        links.others[num_links] = max(node, best)
        links.contributions[num_links] = join_nodes(components, node, best)
        num_links += 1
        degrees[node] += 1
        degrees[best] += 1
    return num_links
