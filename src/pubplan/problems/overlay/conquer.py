"""Divide and conquer: overlays of the parts, each a task, and the overlay that joins them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import map_blocks, stage
from pubplan.problems.overlay.division import Division, representatives
from pubplan.problems.overlay.greedy import Greedy, by_topic_of, components_of
from pubplan.problems.overlay.kernels import join_groups
from pubplan.problems.overlay.links import COMBINE, PART, Overlay
from pubplan.problems.overlay.problem import Problem, node_rows, rows_of
from pubplan.workload import Csr, Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class _Conquered:
    """The links of a part, its representatives, and what work that took."""

    links: Int32Array
    representatives: Int32Array
    work: int


def greedy_links(rows: Csr, num_topics: int) -> tuple[Int32Array, int]:
    """The links of GM-M for some nodes, and the work that took."""
    greedy = Greedy(components_of(rows), by_topic_of(rows, num_topics), np.zeros(rows.num_rows, dtype=np.int32))
    greedy.run()
    return greedy.links, greedy.work


def divide_and_conquer(
    problem: Problem, division: Division, coverage: int | None, spark: SparkSession | None
) -> Overlay:
    """Conquer the parts, and combine them by bulk nodes and representatives; by all nodes if ``coverage`` is None."""
    links, chosen, work = [], [division.bulk], 0
    with stage("conquering parts", division.num_parts) as advance:
        for found in map_blocks(_conqueror(problem, division, coverage), division.num_parts, spark):
            links.append(found.links)
            chosen.append(found.representatives)
            work += found.work
            advance(1)
    inner = np.concatenate(links)
    with stage("combining parts"):
        members = np.sort(np.concatenate(chosen))
        outer, more = _combine(problem, division, members, degrees_of(inner, problem.num_nodes))
    phases = np.repeat(np.array([PART, COMBINE], dtype=np.int8), [len(inner), len(outer)])
    is_representative = np.zeros(problem.num_nodes, dtype=np.bool_)
    if coverage is not None:
        is_representative[np.concatenate(chosen[1:])] = True
    return Overlay(np.concatenate([inner, outer]), phases, work + more, division, is_representative, coverage)


def degrees_of(links: Int32Array, num_nodes: int) -> Int32Array:
    """How many links every node has."""
    return np.bincount(links[:, :2].ravel(), minlength=num_nodes).astype(np.int32)


def renumbered(links: Int32Array, nodes: Int32Array) -> Int32Array:
    """Links between places of a list of nodes as links between the nodes."""
    return np.column_stack([nodes[links[:, 0]], nodes[links[:, 1]], links[:, 2]])


def _conqueror(problem: Problem, division: Division, coverage: int | None) -> Callable[[int], _Conquered]:
    """Conquers one part, here or in a task."""
    workload, totals, num_topics = problem.workload, problem.members, problem.num_topics

    def conquer(part: int) -> _Conquered:
        nodes = division.members(part)
        rows = rows_of(node_rows(workload), nodes)
        links, work = greedy_links(rows, num_topics)
        chosen = nodes if coverage is None else nodes[representatives(rows, num_topics, totals, coverage)]
        return _Conquered(renumbered(links, nodes), chosen, work)

    return conquer


def _combine(problem: Problem, division: Division, members: Int32Array, degrees: Int32Array) -> tuple[Int32Array, int]:
    """Links between some nodes that connect all topics, given that each part is connected in itself."""
    rows = rows_of(problem.rows, members)
    components, by_topic = components_of(rows), by_topic_of(rows, problem.num_topics)
    join_groups(components, by_topic, division.parts[members])
    greedy = Greedy(components, by_topic, degrees[members])
    greedy.run()
    return renumbered(greedy.links, members), greedy.work
