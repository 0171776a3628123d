"""Recomputes the bounds of a plan, with NumPy and SciPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pubplan.engine import map_blocks
from pubplan.errors import Violation
from pubplan.files import digest_value
from pubplan.planning import Plan, sums_by_row
from pubplan.problems.overlay.verifier.entries import Entries, edges_of
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_GROUP_OVERLAPS = 1 << 22
"""About this many overlaps of a group of nodes with all others are held at once."""


def wrong_bounds(plan: Plan, entries: Entries, max_degree: int, spark: SparkSession | None) -> list[Violation]:
    """Bounds that a plan names and whose value or evidence is not as recomputed.

    Args:
        max_degree: that of the plan, as recomputed: no bound is larger.
    """
    named = set(plan.record["bounds"])
    expected: dict[str, tuple[int, dict[str, int]]] = {}
    if "forced" in named:
        expected["forced"] = _forced(entries)
    if named & {"joins", "node"}:
        joins, needed = _recomputed(entries, max_degree, spark)
        total = int(np.maximum(entries.topic_sizes - 1, 0).sum())
        expected |= {"joins": (joins[0], {"joins": total, "reached_with_one_less": joins[1]}), "node": (needed, {})}
    violations = []
    for name in sorted(named & expected.keys()):
        (degree, evidence), stated = expected[name], plan.certificate(name)
        if stated.bound.scale != 1 or stated.bound.value != degree:
            violations.append(Violation("wrong bound", name, stated=float(stated.bound), expected=degree))
        if digest_value(dict(stated.evidence)) != digest_value(evidence):  # == takes true for 1
            texts = str(dict(stated.evidence)), str(evidence)
            violations.append(Violation("wrong evidence", name, stated=texts[0], expected=texts[1]))
    return violations


def _forced(entries: Entries) -> tuple[int, dict[str, int]]:
    """The most links that topics of two nodes force upon one, and how many they force in all."""
    order = np.argsort(entries.topics, kind="stable")
    in_pairs = entries.nodes[order][entries.topic_sizes[entries.topics[order]] == 2].reshape(-1, 2)
    keys = np.unique(in_pairs[:, 0] * max(1, entries.num_nodes) + in_pairs[:, 1])
    node, other = np.divmod(keys, max(1, entries.num_nodes))
    edges = edges_of(entries, node, other)
    is_open = entries.topic_sizes[entries.topics] > 1
    is_open[np.concatenate([edges.left, edges.right])] = False
    links = np.bincount(np.concatenate([node, other]), minlength=entries.num_nodes)
    links += np.bincount(entries.nodes[is_open], minlength=entries.num_nodes) > 0
    return int(links.max(initial=0)), {"links": len(keys)}


def _recomputed(entries: Entries, num_ranks: int, spark: SparkSession | None) -> tuple[tuple[int, int], int]:
    """The least degree that allows for all joins, what one less allows for, and the links that some node needs."""
    num_nodes, max_topics = entries.num_nodes, int(np.diff(entries.offsets).max(initial=0))
    topic_sizes, offsets, topics = entries.topic_sizes, entries.offsets, entries.topics
    num_partners = min(num_nodes, int((topic_sizes**2).sum()) // max(1, num_nodes))  # of a node, at most, on average
    group_nodes = max(1, _GROUP_OVERLAPS // max(1, num_partners))
    is_shared = topic_sizes > 1
    ones = np.ones(len(topics), dtype=np.int32)
    wants = sparse.csr_array((ones, topics, offsets), shape=(num_nodes, entries.num_topics))
    wanted_by = wants.T.tocsr()

    def compare(group: int) -> tuple[Int64Array, int]:
        first, last = group * group_nodes, min(num_nodes, (group + 1) * group_nodes)
        # Per node of the group, how often it has each overlap with another node.
        overlaps = (wants[first:last] @ wanted_by).tocoo()
        is_other = overlaps.row + first != overlaps.col
        keys = overlaps.row[is_other].astype(np.int64) * (max_topics + 1) + overlaps.data[is_other]
        counts = np.bincount(keys, minlength=(last - first) * (max_topics + 1)).reshape(last - first, max_topics + 1)
        sums = _sums_of_best(counts, num_ranks)
        # How many of each node's topics other nodes have too: its neighbours must share them.
        group_offsets = offsets[first : last + 1]
        group_topics = topics[group_offsets[0] : group_offsets[-1]]
        num_shared = sums_by_row(is_shared[group_topics].astype(np.int64), group_offsets - group_offsets[0])
        return sums.sum(axis=0), int((sums < num_shared[:, None]).sum(axis=1).max(initial=0))

    reached: Int64Array = np.zeros(num_ranks + 1, dtype=np.int64)
    needed = 0
    for sums, group_needed in map_blocks(compare, -(-num_nodes // group_nodes), spark):
        reached += sums
        needed = max(needed, group_needed)
    total = int(np.maximum(entries.topic_sizes - 1, 0).sum())
    degree = int(np.argmax(reached >= 2 * total))
    return (degree, int(reached[max(0, degree - 1)]) // 2), needed


def _sums_of_best(counts: Int64Array, num_ranks: int) -> Int64Array:
    """For every node the sums of its 0, 1, 2 … largest overlaps, given how often each overlap occurs."""
    sums: Int64Array = np.zeros((len(counts), num_ranks + 1), dtype=np.int64)
    ranks = np.arange(num_ranks + 1)
    before = np.zeros(len(counts), dtype=np.int64)
    for overlap in range(counts.shape[1] - 1, 0, -1):
        taken = np.clip(ranks[None, :] - before[:, None], 0, counts[:, overlap, None])
        sums += overlap * taken
        before += counts[:, overlap]
    return sums
