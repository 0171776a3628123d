"""RingPT: a ring for every topic, in a random order of its nodes; links that several rings have in common are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import draws, stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.greedy import by_topic_of
from pubplan.problems.overlay.links import RING, in_one_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, own: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    with stage("closing rings"):
        links = _links(problem, seed)
    return draft_of(problem, in_one_phase(links, RING, len(links)))


def _links(problem: Problem, seed: int) -> Int32Array:
    """The links of all rings, ascending, and how many rings each is in."""
    by_topic = by_topic_of(problem.rows, problem.num_topics)
    topics = np.repeat(np.arange(problem.num_topics), np.diff(by_topic.offsets))
    order = np.lexsort((draws(seed, "overlay/rings").random(len(topics)), topics))
    nodes = by_topic.nodes[order].astype(np.int64)
    places = np.arange(len(nodes)) + 1
    is_last = places == by_topic.offsets[topics + 1]
    following = nodes[np.where(is_last, by_topic.offsets[topics], places)] if len(nodes) else nodes
    is_link = (nodes != following) & ~(is_last & (problem.members[topics] == 2))
    keys = np.minimum(nodes, following)[is_link] * problem.num_nodes + np.maximum(nodes, following)[is_link]
    links, rings = np.unique(keys, return_counts=True)
    return np.column_stack([*np.divmod(links, max(1, problem.num_nodes)), rings]).astype(np.int32)


METHOD = Method(
    name="ring-per-topic",
    run=run,
    guarantee="at most two links per topic of a node",
    ratio=None,
    complexity="O(P log P)",
    paper="Chen, Vitenberg, Jacobsen 2011, section VI-G",
    applies="a baseline: the common practice of one overlay per topic",
)
