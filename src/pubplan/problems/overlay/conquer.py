"""Divide and conquer: overlays of the parts, each a task, and the overlay that joins them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import map_blocks, stage
from pubplan.problems.overlay.division import Division, representatives
from pubplan.problems.overlay.entries import components_of, degrees_of, entries_by_topic, topics_of
from pubplan.problems.overlay.greedy import Greedy
from pubplan.problems.overlay.kernels.components import Links, join_groups
from pubplan.problems.overlay.overlay import COMBINE, PART, Overlay
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import COMBINING, CONQUERING
from pubplan.workload import Csr, Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class _Conquered:
    """The links of a part, its representatives, and the work that took."""

    links: Links
    representatives: Int32Array
    work: int


def greedy_links(topics_by_node: Csr, num_topics: int) -> tuple[Links, int]:
    """The links of GM-M for some nodes, in the order of choice, and the work that took."""
    degrees = np.zeros(topics_by_node.num_rows, dtype=np.int32)
    greedy = Greedy(components_of(topics_by_node), entries_by_topic(topics_by_node, num_topics), degrees)
    greedy.run()
    return greedy.links, greedy.work


def divide_and_conquer(
    problem: Problem, division: Division, coverage: int | None, spark: SparkSession | None
) -> Overlay:
    """Conquer the parts, and combine them by bulk nodes and representatives; by all nodes if ``coverage`` is None.

    The overlay is the same with and without Spark.
    """
    links, combining, work = [], [division.bulk], 0
    with stage(CONQUERING, division.num_parts) as advance:
        for conquered in map_blocks(_conqueror(problem, division, coverage), division.num_parts, spark):
            links.append(conquered.links)
            combining.append(conquered.representatives)
            work += conquered.work
            advance(1)
    inner = Links.concatenated(links)
    with stage(COMBINING):
        nodes = np.sort(np.concatenate(combining))
        outer, combining_work = _combine(problem, division, nodes, degrees_of(inner, problem.num_nodes))
    phases = np.repeat(np.array([PART, COMBINE], dtype=np.int8), [inner.num_links, outer.num_links])
    is_representative = np.zeros(problem.num_nodes, dtype=np.bool_)
    if coverage is not None:
        is_representative[np.concatenate(combining[1:])] = True
    both = Links.concatenated([inner, outer])
    return Overlay(both, phases, work + combining_work, division, is_representative, coverage)


def _renumbered(links: Links, nodes: Int32Array) -> Links:
    """Links between positions in a list of nodes as links between the nodes."""
    return Links(nodes[links.nodes], nodes[links.others], links.contributions)


def _conqueror(problem: Problem, division: Division, coverage: int | None) -> Callable[[int], _Conquered]:
    """A function that conquers one part, here or in a task."""
    instance, topic_sizes, num_topics = problem.instance, problem.instance.topic_sizes, problem.num_topics

    def conquer(part: int) -> _Conquered:
        nodes = division.nodes_of_part(part)
        topics_by_node = topics_of(instance.topics_by_node, nodes)
        links, work = greedy_links(topics_by_node, num_topics)
        combining = nodes
        if coverage is not None:
            combining = nodes[representatives(topics_by_node, num_topics, topic_sizes, coverage)]
        return _Conquered(_renumbered(links, nodes), combining, work)

    return conquer


def _combine(problem: Problem, division: Division, nodes: Int32Array, degrees: Int32Array) -> tuple[Links, int]:
    """Links between some nodes that connect all topics, given that each part is connected in itself."""
    topics_by_node = topics_of(problem.instance.topics_by_node, nodes)
    components, by_topic = components_of(topics_by_node), entries_by_topic(topics_by_node, problem.num_topics)
    join_groups(components, by_topic, division.parts[nodes])
    greedy = Greedy(components, by_topic, degrees[nodes])
    greedy.run()
    return _renumbered(greedy.links, nodes), greedy.work
