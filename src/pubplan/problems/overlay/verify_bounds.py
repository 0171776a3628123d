"""Recomputes the bounds of a plan, with NumPy and SciPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pubplan.engine import digest_value, map_blocks
from pubplan.errors import Reason
from pubplan.planning import Plan, sums_by_row
from pubplan.problems.overlay.verify_entries import Entries, edges_of
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_OVERLAPS_AT_ONCE = 1 << 22
"""So many overlaps of a group of nodes with all others are held at once."""


def wrong_bounds(plan: Plan, entries: Entries, most: int, spark: SparkSession | None) -> list[Reason]:
    """Bounds that a plan names and that do not hold, or are not what they claim to be.

    Args:
        most: the maximum degree of the plan, as recomputed: bounds are looked for up to it.
    """
    named = set(plan.record["bounds"])
    expected: dict[str, tuple[int, dict[str, int]]] = {}
    if "forced" in named:
        expected["forced"] = _forced(entries)
    if named & {"joins", "node"}:
        joins, needed = _recomputed(entries, most, spark)
        total = int(np.maximum(entries.members - 1, 0).sum())
        expected |= {"joins": (joins[0], {"joins": total, "reached_with_one_less": joins[1]}), "node": (needed, {})}
    found = []
    for name in sorted(named & expected.keys()):
        (degree, evidence), stated = expected[name], plan.certificate(name)
        if stated.bound.scale != 1 or stated.bound.value != degree:
            found.append(Reason("bound as recomputed", degree, float(stated.bound), name))
        if digest_value(dict(stated.evidence)) != digest_value(evidence):  # == takes true for 1
            found.append(Reason("evidence as recomputed", str(evidence), str(dict(stated.evidence)), name))
    return found


def _forced(entries: Entries) -> tuple[int, dict[str, int]]:
    """The most links that topics of two nodes force upon one, and how many they force in all."""
    order = np.argsort(entries.topics, kind="stable")
    in_pairs = entries.nodes[order][entries.members[entries.topics[order]] == 2].reshape(-1, 2)
    keys = np.unique(in_pairs[:, 0] * max(1, entries.num_nodes) + in_pairs[:, 1])
    node, other = np.divmod(keys, max(1, entries.num_nodes))
    edges = edges_of(entries, node, other)
    is_open = entries.members[entries.topics] > 1
    is_open[np.concatenate([edges.mine, edges.its])] = False
    links = np.bincount(np.concatenate([node, other]), minlength=entries.num_nodes)
    links += np.bincount(entries.nodes[is_open], minlength=entries.num_nodes) > 0
    return int(links.max(initial=0)), {"links": len(keys)}


def _recomputed(entries: Entries, num_ranks: int, spark: SparkSession | None) -> tuple[tuple[int, int], int]:
    """The least degree that allows for all joins, what one less allows for, and the links that some node needs."""
    num_nodes, longest = entries.num_nodes, int(np.diff(entries.offsets).max(initial=0))
    members, offsets, topics = entries.members, entries.offsets, entries.topics
    partners = min(num_nodes, int((members**2).sum()) // max(1, num_nodes))  # of a node, at most, on average
    at_once = max(1, _OVERLAPS_AT_ONCE // max(1, partners))
    is_shared = members > 1
    ones = np.ones(len(topics), dtype=np.int32)
    wants = sparse.csr_array((ones, topics, offsets), shape=(num_nodes, entries.num_topics))
    wanted_by = wants.T.tocsr()

    def look(group: int) -> tuple[Int64Array, int]:
        first, last = group * at_once, min(num_nodes, (group + 1) * at_once)
        overlaps = (wants[first:last] @ wanted_by).tocoo()
        is_other = overlaps.row + first != overlaps.col
        keys = overlaps.row[is_other].astype(np.int64) * (longest + 1) + overlaps.data[is_other]
        counts = np.bincount(keys, minlength=(last - first) * (longest + 1)).reshape(last - first, longest + 1)
        sums = _sums_of_best(counts, num_ranks)
        own = offsets[first : last + 1]
        shared = sums_by_row(is_shared[topics[own[0] : own[-1]]].astype(np.int64), own - own[0])
        return sums.sum(axis=0), int((sums < shared[:, None]).sum(axis=1).max(initial=0))

    reached: Int64Array = np.zeros(num_ranks + 1, dtype=np.int64)
    needed = 0
    for sums, most in map_blocks(look, -(-num_nodes // at_once), spark):
        reached += sums
        needed = max(needed, most)
    total = int(np.maximum(entries.members - 1, 0).sum())
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
