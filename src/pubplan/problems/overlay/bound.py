"""What no overlay can be below.

* ``joins``: every topic with m nodes takes m - 1 joins, and a link joins at most the topics that its nodes have in
  common. If no node has more than D links, links join at most half the sum, over all nodes, of the D largest overlaps
  with others. The least D for which that reaches all joins is a bound.
* ``node``: the neighbours of a node must share with it each topic that it shares with other nodes. The least k whose k
  largest overlaps add up to that many topics is a bound, for every node.
* ``forced`` (pubplan): the two nodes of a topic that no other node wants must be linked. So a node has at least as many
  links as there are others with whom it is alone in a topic, and one more if these do not share all that it shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import block_groups, map_blocks, stage
from pubplan.planning import Certificate, Draft, Exact
from pubplan.problems.overlay.entries import common_entries, entries_by_topic, node_of_entry
from pubplan.problems.overlay.kernels.components import Links
from pubplan.problems.overlay.kernels.overlaps import sum_overlaps
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import COMPARING
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

GROUP_NODES = 256
"""Nodes are compared with all others in groups of this many."""


def overlap_bounds(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bounds ``joins`` and ``node``, in one pass over all pairs of nodes."""
    instance, num_nodes, num_topics = problem.instance, problem.num_nodes, problem.num_topics
    num_ranks = draft.claimed.value  # no bound is above the degree of a plan
    groups = block_groups(-(-num_nodes // GROUP_NODES), spark)

    def compare(group: int) -> tuple[int, Int64Array]:
        topics_by_node = instance.topics_by_node
        gains: Int64Array = np.zeros(num_ranks, dtype=np.int64)
        first, stop = (min(num_nodes, GROUP_NODES * edge) for edge in (groups[group].start, groups[group].stop))
        by_topic = entries_by_topic(topics_by_node, num_topics)
        needed = sum_overlaps(topics_by_node.offsets, topics_by_node.values, by_topic, first, stop, gains)
        return needed, gains

    gains: Int64Array = np.zeros(num_ranks, dtype=np.int64)
    needed = 0
    with stage(COMPARING, len(groups)) as advance:
        for group_needed, group_gains in map_blocks(compare, len(groups), spark):
            needed = max(needed, group_needed)
            gains += group_gains
            advance(1)
    joins = num_joins(problem)
    reached = np.concatenate([[0], np.cumsum(gains)])
    degree = int(np.argmax(reached >= 2 * joins))
    evidence = {"joins": joins, "reached_with_one_less": int(reached[max(0, degree - 1)]) // 2}
    return Certificate("joins", Exact(degree), evidence), Certificate("node", Exact(needed))


def forced_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``forced``: the most links that topics of two nodes force upon one."""
    topics_by_node, topic_sizes = problem.instance.topics_by_node, problem.instance.topic_sizes
    by_topic = entries_by_topic(topics_by_node, problem.num_topics)
    firsts = by_topic.offsets[:-1][topic_sizes == 2]
    pairs = np.unique(np.column_stack([by_topic.nodes[firsts], by_topic.nodes[firsts + 1]]), axis=0)
    nodes, others = np.ascontiguousarray(pairs.T)
    common = common_entries(topics_by_node, Links(nodes, others, np.zeros_like(nodes)))
    # Entries that forced links do not share, though other nodes have the topic, take one link more.
    is_open = topic_sizes[topics_by_node.values] > 1
    is_open[common.left] = is_open[common.right] = False
    links = np.bincount(pairs.ravel(), minlength=problem.num_nodes)
    links += np.bincount(node_of_entry(topics_by_node)[is_open], minlength=problem.num_nodes) > 0
    return (Certificate("forced", Exact(int(links.max(initial=0))), {"links": len(pairs)}),)


def num_joins(problem: Problem) -> int:
    """How many joins connect all topics."""
    return int(np.maximum(problem.instance.topic_sizes - 1, 0).sum())
