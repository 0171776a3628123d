"""Recomputes the trees of a plan, and the diameters of topics, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pubplan.errors import Violation
from pubplan.planning import Plan, wrong_columns, wrong_values
from pubplan.problems.overlay.plan import FORWARDING, FORWARDING_SCHEMA, LINKS, TOPICS
from pubplan.problems.overlay.verifier.entries import Edges, Entries, graph_of
from pubplan.workload import Int64Array, list_column

_WORD_BITS = 64

_MAX_DIAMETER_WORK = 1 << 31
"""A plan has the diameter of every topic where computing it takes no more steps."""


def wrong_trees(plan: Plan, entries: Entries, edges: Edges) -> Iterator[Violation]:
    """Each topic has one root, from which its nodes get it by links between them; depths and diameters are right."""
    parents = _read_parents(plan, entries)
    if isinstance(parents, Violation):
        yield parents
        return
    nodes, num_entries = entries.nodes, len(entries.topics)
    is_root = parents == nodes
    num_roots = np.bincount(entries.topics[is_root], minlength=entries.num_topics)
    wrong_roots = int(np.count_nonzero(num_roots != (entries.topic_sizes > 0)))
    if wrong_roots:
        yield Violation("topics without exactly one root", FORWARDING, cases=wrong_roots)
        return
    forwarders, uses = _forwarders(entries, edges, parents, is_root)
    unlinked = int(np.count_nonzero(forwarders < 0))
    if unlinked:
        yield Violation("topics forwarded by nodes that are not neighbours interested in them", FORWARDING, unlinked)
        return
    depths = _depths(forwarders, is_root)
    circling = int(np.count_nonzero(depths < 0))
    if circling:
        yield Violation("nodes not reached from the root of a topic", FORWARDING, cases=circling)
        return
    root_of = np.full(entries.num_topics, -1, dtype=np.int64)
    root_of[entries.topics[is_root]] = nodes[is_root]
    depth = np.zeros(entries.num_topics, dtype=np.int64)
    np.maximum.at(depth, entries.topics, depths)
    topics, links = plan.decisions(TOPICS), plan.decisions(LINKS)
    yield from wrong_values(TOPICS, {"root": root_of, "depth": depth}, topics)
    yield from wrong_values(LINKS, {"trees": np.bincount(uses, minlength=links.num_rows)}, links)
    stated = topics["diameter"].to_numpy()
    unknown = np.flatnonzero(
        (stated < -1) | ((stated == -1) & (_diameter_work(entries, edges, depth) <= _MAX_DIAMETER_WORK))
    )
    if len(unknown):
        topic = unknown[0]
        yield Violation("diameter not computed", f"topic {topic}", stated=int(stated[topic]), expected="0 or more")
        return
    if num_entries:
        diameters = _diameters(entries, edges, is_root, stated)
        wrong = np.flatnonzero((stated >= 0) & (diameters != stated))
        if len(wrong):
            topic = wrong[0]
            yield Violation(
                "wrong diameter", f"topic {topic}", stated=int(stated[topic]), expected=int(diameters[topic])
            )


def _diameter_work(entries: Entries, edges: Edges, depth: Int64Array) -> npt.NDArray[np.float64]:
    """For every topic, the most steps that computing its diameter can take.

    From a root with all nodes at most d away, searches start from 64 nodes of one depth at a time, each of at most
    2 d + 1 steps along all links.
    """
    links = np.bincount(entries.topics[edges.left], minlength=entries.num_topics)
    rounds = depth + entries.topic_sizes / _WORD_BITS + 1
    return rounds * (2 * depth + 1) * 2 * links


def _read_parents(plan: Plan, entries: Entries) -> Int64Array | Violation:
    """For every entry the node that forwards it."""
    blocks = [plan.decisions_block(FORWARDING, block) for block in range(plan.num_decision_blocks(FORWARDING))]
    for table in blocks:
        wrong = wrong_columns(FORWARDING, table, FORWARDING_SCHEMA)
        if wrong:
            return wrong[0]
    numbers = [table["node"].to_numpy() for table in blocks]
    listed = [list_column(table, "topics") for table in blocks]
    stated = [list_column(table, "parents") for table in blocks]
    empty = np.empty(0, np.int64)
    is_whole = (
        np.array_equal(np.concatenate([empty, *numbers]), np.arange(entries.num_nodes))
        and np.array_equal(np.concatenate([empty, *(values for _, values in listed)]), entries.topics)
        and all(np.array_equal(one, other) for (one, _), (other, _) in zip(listed, stated, strict=True))
        and np.array_equal(np.concatenate([empty, *(np.diff(one) for one, _ in listed)]), np.diff(entries.offsets))
    )
    if not is_whole:
        return Violation("topics of nodes other than the workload's", FORWARDING)
    parents: Int64Array = np.concatenate([empty, *(values for _, values in stated)])
    return parents


def _forwarders(
    entries: Entries, edges: Edges, parents: Int64Array, is_root: npt.NDArray[np.bool_]
) -> tuple[Int64Array, Int64Array]:
    """For every entry the entry that forwards to it (the entry itself at a root, -1 where no link leads there), and the
    links that are used, one for every entry that is not a root.
    """
    nodes, num_entries = entries.nodes, len(entries.topics)
    ends = np.concatenate([edges.left, edges.right])
    neighbours = np.concatenate([edges.right, edges.left])
    links = np.concatenate([edges.links, edges.links])
    is_used = ~is_root[ends] & (parents[ends] == nodes[neighbours])
    forwarders = np.where(is_root, np.arange(num_entries), -1)
    forwarders[ends[is_used]] = neighbours[is_used]
    return forwarders, links[is_used]


def _depths(forwarders: Int64Array, is_root: npt.NDArray[np.bool_]) -> Int64Array:
    """How far each entry is from its root along the trees, or -1 if it never gets there.

    In round i ``ahead`` is the entry 2^i steps ahead, or the root if that is nearer.
    """
    steps, ahead = (~is_root).astype(np.int64), forwarders.copy()
    for _ in range(max(1, len(forwarders)).bit_length()):
        steps = steps + steps[ahead]
        ahead = ahead[ahead]
    depths: Int64Array = np.where(is_root[ahead], steps, -1) if len(ahead) else steps
    return depths


def _diameters(entries: Entries, edges: Edges, is_root: npt.NDArray[np.bool_], stated: Int64Array) -> Int64Array:
    """The largest distance in every topic whose diameter is stated.

    If it is d, entries at distance d, or more, from each other are not both less than d / 2 from the root. So it is
    enough to search from those that are at least that far away. In each round 64 entries per topic are searched from
    at once: bit i of ``reached`` says whether the i-th of them has reached an entry.
    """
    num_entries = len(entries.topics)
    both = graph_of(num_entries, np.concatenate([edges.left, edges.right]), np.concatenate([edges.right, edges.left]))
    distances = _distances(both, is_root)
    is_source = (stated[entries.topics] >= 0) & (2 * distances >= stated[entries.topics])
    sources = np.flatnonzero(is_source)
    sources = sources[np.argsort(entries.topics[sources], kind="stable")]
    topics = entries.topics[sources]
    ranks = np.arange(len(sources)) - np.searchsorted(topics, topics)
    diameters = np.zeros(entries.num_topics, dtype=np.int64)
    inside, graph = np.arange(num_entries), both
    for turn in range(int(ranks.max(initial=-1)) // _WORD_BITS + 1):
        is_now = ranks // _WORD_BITS == turn
        now = sources[is_now]
        has_sources = np.zeros(entries.num_topics, dtype=np.bool_)
        has_sources[entries.topics[now]] = True
        remaining = np.flatnonzero(has_sources[entries.topics])
        if 2 * len(remaining) <= len(inside):  # few topics are left: search in these alone
            inside, graph = remaining, both[remaining][:, remaining]
        reached = np.zeros(len(inside), dtype=np.uint64)
        reached[np.searchsorted(inside, now)] = np.uint64(1) << (ranks[is_now] % _WORD_BITS).astype(np.uint64)
        front, step = reached.copy(), 0
        while True:
            front = _spread(graph, front) & ~reached
            fresh = np.flatnonzero(front)
            if not len(fresh):
                break
            step += 1
            reached |= front
            topics = entries.topics[inside[fresh]]
            diameters[topics] = np.maximum(diameters[topics], step)
    return diameters


def _spread(graph: sparse.csr_array, front: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """For every entry the bits that its neighbours have, together."""
    reached = np.zeros_like(front)
    linked = np.flatnonzero(np.diff(graph.indptr))
    if len(linked):
        reached[linked] = np.bitwise_or.reduceat(front[graph.indices], graph.indptr[linked])
    return reached


def _distances(graph: sparse.csr_array, is_root: npt.NDArray[np.bool_]) -> Int64Array:
    """How far every entry is from the root of its topic."""
    distances: Int64Array = np.where(is_root, 0, -1)
    front, step = is_root.astype(np.uint64), 0
    while front.any():
        step += 1
        front = np.where(distances < 0, _spread(graph, front), 0).astype(np.uint64)
        distances[front != 0] = step
    return distances
