"""RingPT: a ring for every topic, in a random order of its nodes; links that several rings have in common are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import draws, stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.greedy import NO_LIMIT, by_topic_of, common_entries, components_of
from pubplan.problems.overlay.kernels import join_links
from pubplan.problems.overlay.links import RING, in_one_phase
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Csr, Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, own: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    _ = problem.rows  # read before the clock runs
    with stage("closing rings"):
        links = ring_links(problem, seed)
    return draft_of(problem, in_one_phase(links, RING, len(links)))


def ring_links(problem: Problem, seed: int) -> Int32Array:
    """The links of all rings, ring by ring, each link once, and what it joins then."""
    rows = problem.rows
    links = _links(problem, rows, seed)
    mine, its, spans = common_entries(rows, links)
    no_caps = np.full(problem.num_nodes, NO_LIMIT, dtype=np.int32)
    join_links(components_of(rows), links, spans, mine, its, np.zeros_like(no_caps), no_caps)
    return links


def _links(problem: Problem, rows: Csr, seed: int) -> Int32Array:
    by_topic = by_topic_of(rows, problem.num_topics)
    topics = np.repeat(np.arange(problem.num_topics), np.diff(by_topic.offsets))
    order = np.lexsort((draws(seed, "overlay/rings").random(len(topics)), topics))
    nodes = by_topic.nodes[order].astype(np.int64)
    places = np.arange(len(nodes)) + 1
    is_last = places == by_topic.offsets[topics + 1]
    following = nodes[np.where(is_last, by_topic.offsets[topics], places)] if len(nodes) else nodes
    is_link = nodes != following
    keys = np.minimum(nodes, following)[is_link] * problem.num_nodes + np.maximum(nodes, following)[is_link]
    keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    ends = np.divmod(keys, max(1, problem.num_nodes))
    return np.column_stack([*ends, np.zeros_like(keys)]).astype(np.int32)


METHOD = Method(
    name="ring-per-topic",
    run=run,
    guarantee="at most two links per topic of a node",
    ratio=None,
    complexity="O(P log P)",
    paper="Chen, Vitenberg, Jacobsen 2011, section VI-G",
    applies="a baseline: the common practice of one overlay per topic",
)
