"""RingPT: a ring for every topic, in a random order of its nodes; links that several rings have in common are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import random_stream, stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.entries import common_entries, components_of, entries_by_topic
from pubplan.problems.overlay.greedy import NO_LIMIT
from pubplan.problems.overlay.kernels.components import Links, join_links
from pubplan.problems.overlay.overlay import RING, overlay_of_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import CLOSING_RINGS

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An overlay of one ring per topic: a node has at most two links for each of its topics.

    The seed decides the order of nodes in each ring. Spark is not used.
    """
    _ = problem.instance.topics_by_node  # read before the stage: reading is not linking
    with stage(CLOSING_RINGS):
        links = ring_links(problem, seed)
    return draft_of(problem, overlay_of_phase(links, RING, links.num_links))


def ring_links(problem: Problem, seed: int) -> Links:
    """The links of all rings, ring by ring, each link once, with their contributions in this order."""
    topics_by_node = problem.instance.topics_by_node
    links = _links(problem, seed)
    common = common_entries(topics_by_node, links)
    no_caps = np.full(problem.num_nodes, NO_LIMIT, dtype=np.int32)
    join_links(components_of(topics_by_node), links, common, np.zeros_like(no_caps), no_caps)
    return links


def _links(problem: Problem, seed: int) -> Links:
    """The links of all rings, without contributions."""
    by_topic = entries_by_topic(problem.instance.topics_by_node, problem.num_topics)
    topics = np.repeat(np.arange(problem.num_topics), np.diff(by_topic.offsets))
    order = np.lexsort((random_stream(seed, "overlay/rings").random(len(topics)), topics))
    nodes = by_topic.nodes[order].astype(np.int64)
    # The successor of a node in its ring is the next in the order, that of a topic's last node its first.
    next_positions = np.arange(len(nodes)) + 1
    is_last = next_positions == by_topic.offsets[topics + 1]
    following = nodes[np.where(is_last, by_topic.offsets[topics], next_positions)] if len(nodes) else nodes
    is_link = nodes != following
    keys = np.minimum(nodes, following)[is_link] * problem.num_nodes + np.maximum(nodes, following)[is_link]
    keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    smaller, larger = np.divmod(keys, max(1, problem.num_nodes))
    return Links(smaller.astype(np.int32), larger.astype(np.int32), np.zeros(len(keys), dtype=np.int32))


METHOD = Method(
    name="ring-per-topic",
    run=run,
    guarantee="at most two links per topic of a node",
    ratio=None,
    complexity="O(P log P)",
    paper="Chen, Vitenberg, Jacobsen 2011, section VI-G",
    applies="a baseline: the common practice of one overlay per topic",
)
