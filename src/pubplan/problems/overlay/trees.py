"""Spanning trees and diameters of all topics, given the links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.engine import block_groups, map_blocks, stage
from pubplan.problems.overlay.entries import common_entries, entries_by_topic, node_of_entry
from pubplan.problems.overlay.kernels.components import CommonEntries, Links
from pubplan.problems.overlay.kernels.trees import EntryGraph, TopicTrees, link_entries, span_topics
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import SPANNING
from pubplan.workload import Int32Array, Int64Array

MAX_DIAMETER_WORK = 1 << 31
"""Steps that may be spent on the diameter of one topic: some seconds."""


@dataclass(frozen=True)
class Trees:
    """A tree per topic.

    Attributes:
        parents: for every entry the node from which it gets the topic, or its node itself at the root.
        common: for every link the topics that its nodes have in common.
        used: for every link the trees that use it.
        roots: for every topic the root of its tree, or -1 where it has no node.
        depths: for every topic the depth of its tree.
        diameters: for every topic the largest distance, or -1 where that was too much work.
        edges: for every topic the links between its nodes.
    """

    parents: Int32Array
    common: Int32Array
    used: Int32Array
    roots: Int32Array
    depths: Int32Array
    diameters: Int32Array
    edges: Int64Array


def trees_of(problem: Problem, links: Links) -> Trees:
    """Trees and diameters of all topics; the links must connect every topic."""
    topics_by_node, num_topics = problem.instance.topics_by_node, problem.num_topics
    num_entries = len(topics_by_node.values)
    common = common_entries(topics_by_node, links)
    graph = _graph(num_entries, common)
    by_topic = entries_by_topic(topics_by_node, num_topics)
    per_entry = (np.full(num_entries, -1, dtype=np.int32) for _ in range(3))
    per_topic = (np.full(num_topics, -1, dtype=np.int32) for _ in range(3))
    trees = TopicTrees(*per_entry, *per_topic)
    groups = block_groups(num_topics)

    def span(group: int) -> None:
        span_topics(by_topic, graph, groups[group].start, groups[group].stop, MAX_DIAMETER_WORK, trees)

    with stage(SPANNING, len(groups)) as advance:
        for _ in map_blocks(span, len(groups)):
            advance(1)
    nodes = node_of_entry(topics_by_node)
    is_root = trees.parents < 0
    return Trees(
        parents=nodes[np.where(is_root, np.arange(num_entries), trees.parents)] if num_entries else nodes,
        common=(common.stops - common.starts).astype(np.int32),
        used=np.bincount(trees.parent_links[~is_root], minlength=links.num_links).astype(np.int32),
        roots=np.where(trees.roots >= 0, nodes[trees.roots], -1) if num_entries else trees.roots,
        depths=trees.depths,
        diameters=trees.diameters,
        edges=np.bincount(topics_by_node.values[common.left], minlength=num_topics),
    )


def _graph(num_entries: int, common: CommonEntries) -> EntryGraph:
    offsets: Int64Array = np.zeros(num_entries + 1, dtype=np.int64)
    degrees = np.bincount(common.left, minlength=num_entries) + np.bincount(common.right, minlength=num_entries)
    np.cumsum(degrees, out=offsets[1:])
    num_edges = 2 * len(common.left)
    graph = EntryGraph(offsets, np.empty(num_edges, dtype=np.int32), np.empty(num_edges, dtype=np.int32))
    link_entries(common, graph)
    return graph
