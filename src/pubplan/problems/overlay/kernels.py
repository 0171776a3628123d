"""The loops of ``overlay``: pairs of nodes that a link would help, links by greedy choice, representatives.

An *entry* is one topic of one node: ``topics[offsets[node] : offsets[node + 1]]``. The entries of a topic fall into
components, those of nodes that links join; ``labels`` names the component of each entry by one of its entries,
``following`` chains the entries of a component in a ring, ``sizes`` counts them at the entry that is the label.

What a link is *worth* is the number of common topics in which its nodes are in different components. That only falls
as links are added, and degrees only rise, so a pair's place in the order of choice only gets worse: worths are kept
from when they were last looked at, and looked at again when a pair's turn comes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

WorthArray = npt.NDArray[np.uint8 | np.int32]
BoolArray = npt.NDArray[np.bool_]
WordArray = npt.NDArray[np.uint64]

CHUNK = 64
"""Pairs of a row are skipped by so many at a time."""

SPARSE = 32
"""A row with fewer partners than nodes / SPARSE is collected by sorting them."""

NOT_A_TOPIC = -1

WORD_BITS = 64

MOST_SWEEPS = 6
"""The middle of a topic is looked for so many times at most."""


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


class Pairs(NamedTuple):
    """For every node the partners after it that a link would help, ascending, and what the link was worth when it was
    last looked at; with room for one more than there can be.

    ``tops`` and ``chunk_tops`` are the most that any in the row, and in each chunk of it, is worth.
    """

    offsets: Int64Array
    partners: Int32Array
    worths: WorthArray
    tops: Int32Array
    chunks: Int64Array
    chunk_tops: WorthArray


class OpenEntries(NamedTuple):
    """By topic, entries of nodes that may have more links, and the nodes of those outside its main component."""

    offsets: Int64Array
    nodes: Int32Array
    labels: Int32Array
    mains: Int32Array
    minor_offsets: Int64Array
    minor_nodes: Int32Array


class EntryGraph(NamedTuple):
    """Which entries of a topic links connect, and which link does."""

    offsets: Int64Array
    neighbours: Int32Array
    links: Int32Array


@kernel
def turn_around(offsets: Int64Array, topics: Int32Array, by_topic: ByTopic) -> None:
    """Fill in the entries of every topic; ``by_topic.offsets`` must be right."""
    place = by_topic.offsets[:-1].copy()
    for node in range(len(offsets) - 1):
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            by_topic.entries[place[topic]] = entry
            by_topic.nodes[place[topic]] = node
            place[topic] += 1


@kernel
def join_groups(components: Components, by_topic: ByTopic, groups: Int32Array) -> None:
    """Make one component of the entries of a topic whose nodes are in the same group; group -1 joins nothing."""
    labels, following, sizes = components.labels, components.following, components.sizes
    first = np.full(groups.max() + 1 if len(groups) else 0, -1, dtype=np.int64)
    for topic in range(len(by_topic.offsets) - 1):
        for place in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            entry, group = by_topic.entries[place], groups[by_topic.nodes[place]]
            if group < 0:
                continue
            if first[group] < 0:
                first[group] = entry
                continue
            label = first[group]
            labels[entry] = label
            sizes[label] += 1
            following[entry], following[label] = following[label], entry
        for place in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            if groups[by_topic.nodes[place]] >= 0:
                first[groups[by_topic.nodes[place]]] = -1


@kernel
def join(components: Components, mine: int, its: int) -> bool:
    """Merge the components of two entries of a topic; says whether they were different."""
    labels, following, sizes = components.labels, components.following, components.sizes
    kept, lost, entry = labels[mine], labels[its], its
    if kept == lost:
        return False
    if sizes[kept] < sizes[lost]:
        kept, lost, entry = lost, kept, mine
    sizes[kept] += sizes[lost]
    while labels[entry] != kept:
        labels[entry] = kept
        entry = following[entry]
    following[mine], following[its] = following[its], following[mine]
    return True


@kernel
def join_nodes(components: Components, node: int, other: int) -> int:
    """Merge components that a link between two nodes joins; returns in how many topics."""
    offsets, topics = components.offsets, components.topics
    mine, its, joined = offsets[node], offsets[other], 0
    while mine < offsets[node + 1] and its < offsets[other + 1]:
        if topics[mine] < topics[its]:
            mine += 1
        elif topics[mine] > topics[its]:
            its += 1
        else:
            joined += join(components, mine, its)
            mine += 1
            its += 1
    return joined


@kernel
def list_common(
    offsets: Int64Array, topics: Int32Array, links: Int32Array, starts: Int64Array, mine: Int32Array, its: Int32Array
) -> int:
    """List the entries of common topics of the nodes of each link, those of link i from ``starts[i]`` on; returns how
    many they are.
    """
    size = 0
    for link in range(len(links)):
        starts[link] = size
        left, right = offsets[links[link, 0]], offsets[links[link, 1]]
        last_left, last_right = offsets[links[link, 0] + 1], offsets[links[link, 1] + 1]
        while left < last_left and right < last_right:
            if topics[left] < topics[right]:
                left += 1
            elif topics[left] > topics[right]:
                right += 1
            else:
                mine[size] = left
                its[size] = right
                size += 1
                left += 1
                right += 1
    starts[len(links)] = size
    return size


@kernel
def join_links(
    components: Components,
    links: Int32Array,
    spans: Int64Array,
    mine: Int32Array,
    its: Int32Array,
    degrees: Int32Array,
    caps: Int32Array,
) -> BoolArray:
    """Take links in their order while both nodes have fewer than their cap, and those that join something; says which
    were taken. The third column of ``links`` becomes what they join.

    Entries must each be a component of their own. Until all links are seen, labels lead to labels: union by size.

    Args:
        spans: first and past-the-last place of each link's entries in ``mine`` and ``its``.
    """
    labels, following, sizes = components.labels, components.following, components.sizes
    taken = np.zeros(len(links), dtype=np.bool_)
    for link in range(len(links)):
        node, other = links[link, 0], links[link, 1]
        if degrees[node] >= caps[node] or degrees[other] >= caps[other]:
            continue
        joined = 0
        for place in range(spans[link, 0], spans[link, 1]):
            kept, lost = label_of(labels, mine[place]), label_of(labels, its[place])
            if kept != lost:
                if sizes[kept] < sizes[lost]:
                    kept, lost = lost, kept
                labels[lost] = kept
                sizes[kept] += sizes[lost]
                joined += 1
        links[link, 2] = joined
        if joined > 0:
            taken[link] = True
            degrees[node] += 1
            degrees[other] += 1
    for entry in range(len(labels)):
        label = label_of(labels, entry)
        labels[entry] = label
        if label != entry:
            following[entry], following[label] = following[label], entry
    return taken


@kernel
def label_of(labels: Int32Array, entry: int) -> int:
    """Where labels that lead to labels lead to; shortens the way."""
    while labels[entry] != entry:
        labels[entry] = labels[labels[entry]]
        entry = labels[entry]
    return entry


@kernel
def list_open(components: Components, by_topic: ByTopic, degrees: Int32Array, limit: int, entries: OpenEntries) -> int:
    """List the entries of every topic whose nodes have fewer than ``limit`` links, and the nodes of those outside its
    largest component; returns how much work :func:`find_pairs` then is.
    """
    labels, sizes = components.labels, components.sizes
    num_topics = len(by_topic.offsets) - 1
    size, num_minor, work = 0, 0, 0
    for topic in range(num_topics):
        first = size
        main = -1
        for place in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
            node = by_topic.nodes[place]
            if degrees[node] < limit:
                label = labels[by_topic.entries[place]]
                entries.nodes[size] = node
                entries.labels[size] = label
                size += 1
                if main < 0 or sizes[label] > sizes[main]:
                    main = label
        entries.offsets[topic] = first
        entries.mains[topic] = main
        entries.minor_offsets[topic] = num_minor
        before = num_minor
        for place in range(first, size):
            if entries.labels[place] != main:
                entries.minor_nodes[num_minor] = entries.nodes[place]
                num_minor += 1
        few, many = num_minor - before, size - first
        work += few * (many - few) + few * (few - 1) // 2
    entries.offsets[num_topics] = size
    entries.minor_offsets[num_topics] = num_minor
    return work


@kernel
def find_pairs(
    components: Components, degrees: Int32Array, limit: int, entries: OpenEntries, pairs: Pairs, num_topics: int
) -> int:
    """Find all pairs that a link would help, with what it is worth, of nodes with fewer than ``limit`` links; returns
    how many places were passed over.

    Most entries of a topic soon are in one component, its main one. A node there is helped by the few others only.
    """
    offsets, topics, labels = components.offsets, components.topics, components.labels
    num_nodes = len(offsets) - 1
    next_place = entries.offsets[:num_topics].copy()
    next_minor = entries.minor_offsets[:num_topics].copy()
    worth = np.zeros(num_nodes, dtype=np.int32)
    touched = np.empty(num_nodes, dtype=np.int32)
    size, passed = 0, 0
    for node in range(num_nodes):
        pairs.offsets[node] = size
        if degrees[node] >= limit:
            continue
        work = 0
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            next_place[topic] += 1
            if labels[entry] == entries.mains[topic]:
                work += entries.minor_offsets[topic + 1] - next_minor[topic]
            else:
                next_minor[topic] += 1
                work += entries.offsets[topic + 1] - next_place[topic]
        if work == 0:
            continue
        num_touched = 0
        is_sparse = work < (num_nodes - node) // SPARSE
        for entry in range(offsets[node], offsets[node + 1]):
            topic, label = topics[entry], labels[entry]
            if label == entries.mains[topic]:
                others = entries.minor_nodes[next_minor[topic] : entries.minor_offsets[topic + 1]]
                if not is_sparse:
                    for place in range(len(others)):
                        worth[np.uint32(others[place])] += 1
                    continue
                for other in others:
                    if worth[other] == 0:
                        touched[num_touched] = other
                        num_touched += 1
                    worth[other] += 1
                continue
            others = entries.nodes[next_place[topic] : entries.offsets[topic + 1]]
            its = entries.labels[next_place[topic] : entries.offsets[topic + 1]]
            if not is_sparse:
                for place in range(len(others)):
                    worth[np.uint32(others[place])] += its[place] != label
                continue
            for place in range(len(others)):
                if its[place] != label:
                    other = others[place]
                    if worth[other] == 0:
                        touched[num_touched] = other
                        num_touched += 1
                    worth[other] += 1
        if is_sparse:
            for other in np.sort(touched[:num_touched]):
                pairs.partners[size] = other
                pairs.worths[size] = worth[other]
                worth[other] = 0
                size += 1
        else:
            passed += num_nodes - node
            for other in range(node + 1, num_nodes):  # writes more than it keeps: faster than to ask first
                pairs.partners[size] = other
                pairs.worths[size] = worth[other]
                size += worth[other] > 0
                worth[other] = 0
    pairs.offsets[num_nodes] = size
    return passed


@kernel
def find_tops(pairs: Pairs) -> int:
    """Recompute the tops of rows and chunks; returns the most that any pair is worth."""
    chunk, best = 0, 0
    for node in range(len(pairs.tops)):
        pairs.chunks[node] = chunk
        top, last = 0, pairs.offsets[node + 1]
        for start in range(pairs.offsets[node], last, CHUNK):
            most = pairs.worths[start]
            for place in range(start + 1, min(start + CHUNK, last)):
                most = max(most, pairs.worths[place])
            pairs.chunk_tops[chunk] = most
            chunk += 1
            top = max(top, int(most))
        pairs.tops[node] = top
        best = max(best, top)
    return best


@kernel
def worth_of(components: Components, other: int, marks: Int32Array) -> int:
    """What a link to ``other`` is worth to the node whose labels ``marks`` holds by topic."""
    first, last = components.offsets[other], components.offsets[other + 1]
    topics, labels = components.topics[first:last], components.labels[first:last]
    worth = np.int32(0)
    for place in range(len(topics)):
        mark = marks[np.uint32(topics[place])]  # unsigned: no look at the other end
        worth += np.int32((mark >= 0) & (mark != labels[place]))
    return int(worth)


@kernel
def mark_topics(components: Components, node: int, marks: Int32Array, is_on: bool) -> None:
    """Put the labels of a node into ``marks``, or take them out."""
    first, last = components.offsets[node], components.offsets[node + 1]
    topics, labels = components.topics[first:last], components.labels[first:last]
    for place in range(len(topics)):
        marks[np.uint32(topics[place])] = labels[place] if is_on else NOT_A_TOPIC


@kernel
def link_pair(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    node: int,
    place: int,
    worth: int,
    marks: Int32Array,
    link: Int32Array,
) -> bool:
    """Look at a pair again, and link it if it still is worth that much; says whether it was linked.

    Args:
        place: where the pair is listed.
        marks: the labels of ``node`` by topic.
        link: where the link is told: its node, the other, and the topics joined.
    """
    other = pairs.partners[place]
    pairs.worths[place] = worth_of(components, other, marks)
    if pairs.worths[place] != worth:
        return False
    pairs.worths[place] = 0
    link[0], link[1], link[2] = node, other, join_nodes(components, node, other)
    degrees[node] += 1
    degrees[other] += 1
    return True


@kernel
def add_links(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    worth: int,
    limit: int,
    at_degree: int,
    most: int,
    marks: Int32Array,
    links: Int32Array,
    num_links: int,
) -> tuple[int, int]:
    """Link pairs that are worth exactly ``worth``, nodes ascending, while both have fewer than ``limit`` links.

    Args:
        at_degree: only pairs whose larger degree is this; any if negative.
        most: how many links to add at most.
        marks: scratch, by topic, all negative.
        links: rows of node, other and topics joined, appended to.

    Returns:
        The number of links then, and how many pairs were looked at again.
    """
    looked = 0
    last_link = num_links + most
    for node in range(len(degrees)):
        if pairs.tops[node] < worth or degrees[node] >= limit or 0 <= at_degree < degrees[node]:
            continue
        is_marked = False
        chunk, last = pairs.chunks[node], pairs.offsets[node + 1]
        start = pairs.offsets[node]
        while start < last:
            if pairs.chunk_tops[chunk] >= worth:
                for place in range(start, min(start + CHUNK, last)):
                    if pairs.worths[place] != worth:
                        continue
                    other = pairs.partners[place]
                    if degrees[other] >= limit or 0 <= at_degree != max(degrees[node], degrees[other]):
                        continue
                    if not is_marked:
                        mark_topics(components, node, marks, True)
                        is_marked = True
                    looked += 1
                    if not link_pair(components, pairs, degrees, node, place, worth, marks, links[num_links]):
                        continue
                    num_links += 1
                    if num_links == last_link:
                        mark_topics(components, node, marks, False)
                        return num_links, looked
                    if degrees[node] >= limit or 0 <= at_degree < degrees[node]:
                        start = last
                        break
                    mark_topics(components, node, marks, True)
            start += CHUNK
            chunk += 1
        if is_marked:
            mark_topics(components, node, marks, False)
    return num_links, looked


@kernel
def list_pairs(pairs: Pairs, degrees: Int32Array, worth: int, limit: int, nodes: Int32Array, places: Int64Array) -> int:
    """List the pairs that are worth exactly ``worth`` while both have fewer than ``limit`` links; returns how many they
    are, or -1 if there is no room for all.
    """
    size = 0
    for node in range(len(degrees)):
        if pairs.tops[node] < worth or degrees[node] >= limit:
            continue
        chunk, last = pairs.chunks[node], pairs.offsets[node + 1]
        for start in range(pairs.offsets[node], last, CHUNK):
            if pairs.chunk_tops[chunk] >= worth:
                for place in range(start, min(start + CHUNK, last)):
                    if pairs.worths[place] == worth and degrees[pairs.partners[place]] < limit:
                        if size == len(nodes):
                            return -1
                        nodes[size] = node
                        places[size] = place
                        size += 1
            chunk += 1
    return size


@kernel
def add_listed(
    components: Components,
    pairs: Pairs,
    degrees: Int32Array,
    worth: int,
    limit: int,
    nodes: Int32Array,
    places: Int64Array,
    marks: Int32Array,
    links: Int32Array,
    num_links: int,
) -> tuple[int, int]:
    """As :func:`add_links` for listed pairs, those of smaller degree first."""
    looked, size = 0, len(nodes)
    for at_degree in range(limit):
        if size == 0:
            break
        left, marked = 0, -1
        for listed in range(size):
            node, place = nodes[listed], places[listed]
            other = pairs.partners[place]
            larger = max(degrees[node], degrees[other])
            if larger > at_degree:
                if larger < limit:
                    nodes[left] = node
                    places[left] = place
                    left += 1
                continue
            if marked != node:
                if marked >= 0:
                    mark_topics(components, marked, marks, False)
                mark_topics(components, node, marks, True)
                marked = node
            looked += 1
            if not link_pair(components, pairs, degrees, node, place, worth, marks, links[num_links]):
                continue
            num_links += 1
            mark_topics(components, node, marks, True)
        if marked >= 0:
            mark_topics(components, marked, marks, False)
        size = left
    return num_links, looked


@kernel
def add_neighbours(links: Int32Array, degrees: Int32Array, neighbours: Int32Array) -> None:
    """Enter links into the lists of their nodes."""
    for link in range(len(links)):
        node, other = links[link, 0], links[link, 1]
        neighbours[node, degrees[node]] = other
        neighbours[other, degrees[other]] = node
        degrees[node] += 1
        degrees[other] += 1


@kernel
def complete_matching(degrees: Int32Array, limit: int, neighbours: Int32Array) -> None:
    """Link all pairs with fewer than ``limit`` links each that are not linked, nodes ascending: ``neighbours`` has the
    links of every node, as many as its degree, and room for ``limit``.
    """
    open_nodes = np.flatnonzero(degrees < limit)
    for place in range(len(open_nodes)):
        node = open_nodes[place]
        for other in open_nodes[place + 1 :]:
            if degrees[node] >= limit:
                break
            if degrees[other] < limit and not np.any(neighbours[node, : degrees[node]] == other):
                neighbours[node, degrees[node]] = other
                neighbours[other, degrees[other]] = node
                degrees[node] += 1
                degrees[other] += 1


@kernel
def serve_node(
    components: Components,
    members: Int64Array,
    degrees: Int32Array,
    node: int,
    limit: int,
    marks: Int32Array,
    links: Int32Array,
    num_links: int,
) -> int:
    """Link a node until it is with most of the ``members`` of each of its topics, or has ``limit`` links; returns the
    number of links then.

    Each link goes to the node below the limit that helps in most topics; ties go to the smaller degree, then to the
    smaller node.
    """
    offsets, topics, labels, sizes = components.offsets, components.topics, components.labels, components.sizes
    while degrees[node] < limit:
        for entry in range(offsets[node], offsets[node + 1]):
            is_apart = 2 * sizes[labels[entry]] < members[topics[entry]]
            marks[topics[entry]] = labels[entry] if is_apart else NOT_A_TOPIC
        best, most = -1, 0
        for other in range(len(degrees)):
            if other != node and degrees[other] < limit:
                worth = worth_of(components, other, marks)
                if worth > most or (worth == most > 0 and degrees[other] < degrees[best]):
                    best, most = other, worth
        mark_topics(components, node, marks, False)
        if best < 0:
            break
        links[num_links, 0] = min(node, best)
        links[num_links, 1] = max(node, best)
        links[num_links, 2] = join_nodes(components, node, best)
        num_links += 1
        degrees[node] += 1
        degrees[best] += 1
    return num_links


@kernel
def find_representatives(
    offsets: Int64Array, topics: Int32Array, by_topic: ByTopic, needed: Int32Array, chosen: BoolArray
) -> int:
    """Choose nodes until every topic has as many as it ``needed``, each time one with most topics that still need some;
    returns how many were chosen. Ties go to the first node. ``needed`` counts down.
    """
    num_nodes, num_chosen = len(offsets) - 1, 0
    wanted = np.zeros(num_nodes, dtype=np.int32)
    for node in range(num_nodes):
        for entry in range(offsets[node], offsets[node + 1]):
            wanted[node] += needed[topics[entry]] > 0
    while num_nodes > 0:
        best = int(np.argmax(wanted))
        if wanted[best] <= 0:
            break
        chosen[best] = True
        num_chosen += 1
        wanted[best] = 0
        for entry in range(offsets[best], offsets[best + 1]):
            topic = topics[entry]
            if needed[topic] <= 0:
                continue
            needed[topic] -= 1
            if needed[topic] == 0:
                for place in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
                    node = by_topic.nodes[place]
                    if not chosen[node]:
                        wanted[node] -= 1
    return num_chosen


@kernel
def link_entries(starts: Int64Array, mine: Int32Array, its: Int32Array, graph: EntryGraph) -> None:
    """Fill in the neighbours of every entry from the entries of every link; ``graph.offsets`` must be right."""
    place = graph.offsets[:-1].copy()
    for link in range(len(starts) - 1):
        for common in range(starts[link], starts[link + 1]):
            left, right = mine[common], its[common]
            graph.neighbours[place[left]] = right
            graph.links[place[left]] = link
            graph.neighbours[place[right]] = left
            graph.links[place[right]] = link
            place[left] += 1
            place[right] += 1


@kernel
def search_from(
    graph: EntryGraph, start: int, distances: Int32Array, parents: Int32Array, by_link: Int32Array, queue: Int32Array
) -> int:
    """Breadth first from an entry: distances, and from where and by which link each entry is reached; returns how many
    are reached. Distances of the topic must be negative before.
    """
    queue[0] = start
    distances[start], parents[start], by_link[start] = 0, -1, -1
    size, place = 1, 0
    while place < size:
        entry = queue[place]
        place += 1
        for edge in range(graph.offsets[entry], graph.offsets[entry + 1]):
            neighbour = graph.neighbours[edge]
            if distances[neighbour] < 0:
                distances[neighbour] = distances[entry] + 1
                parents[neighbour] = entry
                by_link[neighbour] = graph.links[edge]
                queue[size] = neighbour
                size += 1
    return size


@kernel
def span_topics(
    by_topic: ByTopic,
    graph: EntryGraph,
    first_topic: int,
    last_topic: int,
    most_work: int,
    distances: Int32Array,
    parents: Int32Array,
    by_link: Int32Array,
    roots: Int32Array,
    depths: Int32Array,
    diameters: Int32Array,
) -> None:
    """A spanning tree of every topic, breadth first from an entry in its middle, and the topic's exact diameter.

    The middle is that of a longest way from an end: looked for from the entry farthest from the last middle, as long as
    that brings a lower tree. From a middle, entries at most d away are at most 2 d apart; so it is enough to look from
    the outermost entries inwards, 64 at a time, until the largest distance found is 2 d. Diameters that would take more
    than ``most_work`` steps are -1.
    """
    queue = np.empty(np.diff(by_topic.offsets)[first_topic:last_topic].max(), dtype=np.int32)
    for topic in range(first_topic, last_topic):
        entries = by_topic.entries[by_topic.offsets[topic] : by_topic.offsets[topic + 1]]
        if len(entries) == 0:
            roots[topic], depths[topic], diameters[topic] = -1, 0, 0
            continue
        end, longest, root, depth = entries[0], 0, -1, len(entries)
        for sweep in range(MOST_SWEEPS):
            distances[entries] = -1
            end = queue[search_from(graph, end, distances, parents, by_link, queue) - 1]
            longest = max(longest, distances[end])
            if sweep == 0:
                continue
            middle = end
            for _ in range(distances[end] // 2):
                middle = parents[middle]
            distances[entries] = -1
            end = queue[search_from(graph, middle, distances, parents, by_link, queue) - 1]
            if distances[end] >= depth:
                break
            root, depth = middle, distances[end]
        distances[entries] = -1
        size = search_from(graph, root, distances, parents, by_link, queue)
        roots[topic], depths[topic] = root, depth
        diameters[topic] = diameter_of(graph, queue[:size], distances, longest, most_work)


@kernel
def diameter_of(graph: EntryGraph, order: Int32Array, distances: Int32Array, at_least: int, most_work: int) -> int:
    """The largest distance between entries listed breadth first, or -1 if that takes too much work to find.

    Uses ``distances`` for its own numbering, and restores them.
    """
    size, longest, work = len(order), at_least, 0
    depth_of = distances[order]
    for place in range(size):
        distances[order[place]] = place
    seen = np.empty(size, dtype=np.uint64)
    front, fresh = np.empty_like(seen), np.empty_like(seen)
    last = size
    while last > 0 and longest < 2 * depth_of[last - 1] and work <= most_work:
        first = max(0, last - WORD_BITS)
        while depth_of[first] < depth_of[last - 1]:  # one depth at a time
            first += 1
        seen[:] = 0
        for place in range(first, last):
            seen[place] = np.uint64(1) << np.uint64(place - first)
        front[:] = seen
        steps, is_growing = 0, True
        while is_growing:
            is_growing = False
            for place in range(size):
                reached = np.uint64(0)
                entry = order[place]
                work += graph.offsets[entry + 1] - graph.offsets[entry]
                for edge in range(graph.offsets[entry], graph.offsets[entry + 1]):
                    reached |= front[distances[graph.neighbours[edge]]]
                fresh[place] = reached & ~seen[place]
                is_growing |= fresh[place] != 0
            if is_growing:
                steps += 1
                for place in range(size):
                    seen[place] |= fresh[place]
                    front[place] = fresh[place]
        longest = max(longest, steps)
        last = first
    for place in range(size):
        distances[order[place]] = depth_of[place]
    return longest if work <= most_work else -1


@kernel
def sum_overlaps(
    offsets: Int64Array,
    topics: Int32Array,
    by_topic: ByTopic,
    first_node: int,
    last_node: int,
    gains: Int64Array,
) -> int:
    """For some nodes, add to ``gains[d]`` what their d-th best neighbours share with them; returns the most neighbours
    that any of them needs at least to share all topics that it shares with anybody.
    """
    num_nodes = len(offsets) - 1
    overlaps = np.zeros(num_nodes, dtype=np.int32)
    most_needed = 0
    for node in range(first_node, last_node):
        size = offsets[node + 1] - offsets[node]
        shared = 0
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            others = by_topic.nodes[by_topic.offsets[topic] : by_topic.offsets[topic + 1]]
            shared += len(others) > 1
            for place in range(len(others)):
                overlaps[np.uint32(others[place])] += 1
        overlaps[node] = 0
        counts = np.zeros(size + 1, dtype=np.int64)
        for other in range(num_nodes):
            counts[overlaps[other]] += 1
            overlaps[other] = 0
        neighbour, reached, needed = 0, 0, 0
        overlap = size
        while overlap > 0 and neighbour < len(gains):
            if counts[overlap] == 0:
                overlap -= 1
                continue
            counts[overlap] -= 1
            gains[neighbour] += overlap
            neighbour += 1
            if reached < shared:
                reached += overlap
                needed = neighbour
        most_needed = max(most_needed, needed)
    return most_needed
