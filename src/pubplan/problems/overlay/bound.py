"""What no overlay can be below.

* ``joins``: every topic with m nodes takes m - 1 joins, and a link joins at most the topics that its nodes have in
  common. If no node has more than D links, links join at most half the sum, over all nodes, of the D largest overlaps
  with others. The least D for which that reaches all joins is a bound.
* ``node``: the neighbours of a node must share with it each topic that it shares with anybody. The least k whose k
  largest overlaps add up to that many topics is a bound, for every node.
* ``forced`` (ours): the two nodes of a topic that nobody else wants must be linked. So a node has at least as many
  links as there are others with whom it is alone in a topic, and one more if these do not share all that it shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import block_groups, map_blocks, stage
from pubplan.planning import Certificate, Draft, Exact
from pubplan.problems.overlay.greedy import by_topic_of, common_entries
from pubplan.problems.overlay.kernels import sum_overlaps
from pubplan.problems.overlay.problem import Problem, node_rows
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

NODES_AT_ONCE = 256
"""Nodes are compared with all others in groups of so many."""


def overlap_bounds(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """Both bounds, found in one pass over all pairs of nodes."""
    workload, num_topics = problem.workload, problem.num_topics
    num_ranks = draft.claimed.value
    groups = block_groups(-(-problem.num_nodes // NODES_AT_ONCE), spark)

    def look(group: int) -> tuple[int, Int64Array]:
        rows = node_rows(workload)
        gains: Int64Array = np.zeros(num_ranks, dtype=np.int64)
        first, last = (min(rows.num_rows, NODES_AT_ONCE * edge) for edge in (groups[group].start, groups[group].stop))
        needed = sum_overlaps(rows.offsets, rows.values, by_topic_of(rows, num_topics), first, last, gains)
        return needed, gains

    gains: Int64Array = np.zeros(num_ranks, dtype=np.int64)
    needed = 0
    with stage("comparing nodes", len(groups)) as advance:
        for most, some in map_blocks(look, len(groups), spark):
            needed = max(needed, most)
            gains += some
            advance(1)
    joins = num_joins(problem)
    reached = np.concatenate([[0], np.cumsum(gains)])
    degree = int(np.argmax(reached >= 2 * joins))
    evidence = {"joins": joins, "reached_with_one_less": int(reached[max(0, degree - 1)]) // 2}
    return Certificate("joins", Exact(degree), evidence), Certificate("node", Exact(needed))


def forced_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The most links that topics of two nodes force upon one."""
    rows = problem.rows
    by_topic = by_topic_of(rows, problem.num_topics)
    firsts = by_topic.offsets[:-1][problem.members == 2]
    pairs = np.unique(np.column_stack([by_topic.nodes[firsts], by_topic.nodes[firsts + 1]]), axis=0)
    mine, its, _ = common_entries(rows, pairs)
    is_open = problem.members[rows.values] > 1
    is_open[mine] = is_open[its] = False
    nodes = np.repeat(np.arange(rows.num_rows), np.diff(rows.offsets))
    links = np.bincount(pairs.ravel(), minlength=rows.num_rows)
    links += np.bincount(nodes[is_open], minlength=rows.num_rows) > 0
    return (Certificate("forced", Exact(int(links.max(initial=0))), {"links": len(pairs)}),)


def num_joins(problem: Problem) -> int:
    """How many joins connect all topics."""
    return int(np.maximum(problem.members - 1, 0).sum())
