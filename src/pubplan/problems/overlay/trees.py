"""Spanning trees and diameters of all topics, given the links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.engine import block_groups, map_blocks, stage
from pubplan.problems.overlay.greedy import by_topic_of, common_entries
from pubplan.problems.overlay.kernels import EntryGraph, link_entries, span_topics
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int32Array, Int64Array

MOST_WORK = 1 << 31
"""Steps that may be spent on the diameter of one topic: some seconds."""


@dataclass(frozen=True)
class Trees:
    """A tree per topic.

    Attributes:
        parents: for every entry the node from which it gets the topic, or its own at the root.
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


def trees_of(problem: Problem, links: Int32Array) -> Trees:
    """Trees and diameters for links (node, other), which must connect every topic."""
    rows, num_topics = problem.rows, problem.num_topics
    num_entries = len(rows.values)
    mine, its, spans = common_entries(rows, links)
    graph = _graph(num_entries, mine, its, spans)
    by_topic = by_topic_of(rows, num_topics)
    distances, parents, by_link = (np.full(num_entries, -1, dtype=np.int32) for _ in range(3))
    roots, depths, diameters = (np.full(num_topics, -1, dtype=np.int32) for _ in range(3))

    groups = block_groups(num_topics)

    def span(group: int) -> None:
        topics = groups[group]
        span_topics(
            by_topic,
            graph,
            topics.start,
            topics.stop,
            MOST_WORK,
            distances,
            parents,
            by_link,
            roots,
            depths,
            diameters,
        )

    with stage("spanning topics", len(groups)) as advance:
        for _ in map_blocks(span, len(groups)):
            advance(1)
    nodes: Int32Array = np.repeat(np.arange(rows.num_rows, dtype=np.int32), np.diff(rows.offsets))
    return Trees(
        parents=nodes[np.where(parents >= 0, parents, np.arange(num_entries))] if num_entries else nodes,
        common=np.diff(spans, axis=1)[:, 0].astype(np.int32),
        used=np.bincount(by_link[by_link >= 0], minlength=len(links)).astype(np.int32),
        roots=np.where(roots >= 0, nodes[roots], -1) if num_entries else roots,
        depths=depths,
        diameters=diameters,
        edges=np.bincount(rows.values[mine], minlength=num_topics),
    )


def _graph(num_entries: int, mine: Int32Array, its: Int32Array, spans: Int64Array) -> EntryGraph:
    offsets: Int64Array = np.zeros(num_entries + 1, dtype=np.int64)
    degrees = np.bincount(mine, minlength=num_entries) + np.bincount(its, minlength=num_entries)
    np.cumsum(degrees, out=offsets[1:])
    graph = EntryGraph(offsets, np.empty(2 * len(mine), dtype=np.int32), np.empty(2 * len(mine), dtype=np.int32))
    link_entries(np.append(spans[:, 0], len(mine)), mine, its, graph)
    return graph
