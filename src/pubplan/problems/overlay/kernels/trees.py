"""Spanning trees and exact diameters of topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import ByTopic, CommonEntries
from pubplan.workload import Int32Array, Int64Array

WORD_BITS = 64

MAX_SWEEPS = 6
"""The middle of a topic is searched for this many times at most."""


class EntryGraph(NamedTuple):
    """Which entries of a topic links connect, and which link does."""

    offsets: Int64Array
    neighbours: Int32Array
    links: Int32Array


class TopicTrees(NamedTuple):
    """A tree per topic.

    For every entry ``distances`` has its depth, ``parents`` the entry that it is reached from and ``parent_links`` the
    link that it is reached by, both -1 at a root; for every topic there are its root, depth and diameter.
    """

    distances: Int32Array
    parents: Int32Array
    parent_links: Int32Array
    roots: Int32Array
    depths: Int32Array
    diameters: Int32Array


@kernel
def link_entries(common: CommonEntries, graph: EntryGraph) -> None:
    """Fill in the neighbours of every entry from the entries of every link; ``graph.offsets`` must be right."""
    next_edges = graph.offsets[:-1].copy()
    for link in range(len(common.starts)):
        for pair in range(common.starts[link], common.stops[link]):
            left, right = common.left[pair], common.right[pair]
            graph.neighbours[next_edges[left]] = right
            graph.links[next_edges[left]] = link
            graph.neighbours[next_edges[right]] = left
            graph.links[next_edges[right]] = link
            next_edges[left] += 1
            next_edges[right] += 1


@kernel
def search_from(graph: EntryGraph, start: int, trees: TopicTrees, queue: Int32Array) -> int:
    """Breadth first from an entry: distances, parents and their links; returns how many entries are reached.

    Distances of the topic must be negative before. ``queue`` has the entries in the order in which they are reached.
    """
    distances = trees.distances
    queue[0] = start
    distances[start], trees.parents[start], trees.parent_links[start] = 0, -1, -1
    size, head = 1, 0
    while head < size:
        entry = queue[head]
        head += 1
        for edge in range(graph.offsets[entry], graph.offsets[entry + 1]):
            neighbour = graph.neighbours[edge]
            if distances[neighbour] < 0:
                distances[neighbour] = distances[entry] + 1
                trees.parents[neighbour] = entry
                trees.parent_links[neighbour] = graph.links[edge]
                queue[size] = neighbour
                size += 1
    return size


@kernel
def span_topics(
    by_topic: ByTopic, graph: EntryGraph, first_topic: int, stop_topic: int, max_work: int, trees: TopicTrees
) -> None:
    """A spanning tree of every topic, breadth first from an entry in its middle, and the topic's exact diameter.

    1. Search from any entry; the one reached last is an end.
    2. Search from the end; the middle of the path to the entry reached last is a candidate for the root.
    3. Search from the candidate. If its tree is lower than the best one, keep it and go on with 2 from the entry
       reached last, up to MAX_SWEEPS times.

    Diameters that would take more than ``max_work`` steps are -1.
    """
    distances = trees.distances
    queue = np.empty(np.diff(by_topic.offsets)[first_topic:stop_topic].max(), dtype=np.int32)
    for topic in range(first_topic, stop_topic):
        entries = by_topic.entries[by_topic.offsets[topic] : by_topic.offsets[topic + 1]]
        if len(entries) == 0:
            trees.roots[topic], trees.depths[topic], trees.diameters[topic] = -1, 0, 0
            continue
        end, longest, root, depth = entries[0], 0, -1, len(entries)
        for sweep in range(MAX_SWEEPS):
            distances[entries] = -1
            end = queue[search_from(graph, end, trees, queue) - 1]
            longest = max(longest, distances[end])
            if sweep == 0:
                continue
            middle = end
            for _ in range(distances[end] // 2):
                middle = trees.parents[middle]
            distances[entries] = -1
            end = queue[search_from(graph, middle, trees, queue) - 1]
            if distances[end] >= depth:
                break
            root, depth = middle, distances[end]
        distances[entries] = -1
        size = search_from(graph, root, trees, queue)
        trees.roots[topic], trees.depths[topic] = root, depth
        trees.diameters[topic] = diameter_of(graph, queue[:size], distances, longest, max_work)


@kernel
def diameter_of(graph: EntryGraph, order: Int32Array, distances: Int32Array, at_least: int, max_work: int) -> int:
    """The largest distance between entries listed breadth first from a root, or -1 if that takes too much work.

    Entries at most d away from the root are at most 2 d apart. So it is enough to search from the outermost entries
    inwards, until the largest distance is 2 d for those that are left. Up to 64 entries of one depth are searched from
    at a time: bit i of a word says whether the i-th of them has reached an entry.
    """
    size, longest, work = len(order), at_least, 0
    depths = distances[order]
    for position in range(size):  # distances hold the position of every entry until the end
        distances[order[position]] = position
    reached = np.empty(size, dtype=np.uint64)
    front, fresh = np.empty_like(reached), np.empty_like(reached)
    stop = size
    while stop > 0 and longest < 2 * depths[stop - 1] and work <= max_work:
        first = max(0, stop - WORD_BITS)
        while depths[first] < depths[stop - 1]:  # sources are of one depth
            first += 1
        reached[:] = 0
        for position in range(first, stop):
            reached[position] = np.uint64(1) << np.uint64(position - first)
        front[:] = reached
        num_steps, is_growing = 0, True
        while is_growing:
            is_growing = False
            for position in range(size):
                word = np.uint64(0)
                entry = order[position]
                work += graph.offsets[entry + 1] - graph.offsets[entry]
                for edge in range(graph.offsets[entry], graph.offsets[entry + 1]):
                    word |= front[distances[graph.neighbours[edge]]]
                fresh[position] = word & ~reached[position]
                is_growing |= fresh[position] != 0
            if is_growing:
                num_steps += 1
                for position in range(size):
                    reached[position] |= fresh[position]
                    front[position] = fresh[position]
        longest = max(longest, num_steps)
        stop = first
    for position in range(size):
        distances[order[position]] = depths[position]
    return longest if work <= max_work else -1
