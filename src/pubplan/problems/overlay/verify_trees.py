"""Recomputes the trees of a plan, and the diameters of topics, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pubplan.errors import Reason
from pubplan.planning import Plan, wrong_columns
from pubplan.problems.overlay.plan import FORWARDING, FORWARDING_SCHEMA, LINKS, TOPICS
from pubplan.problems.overlay.verify_entries import Edges, Entries, graph_of, same
from pubplan.workload import Int64Array, topic_lists

_WORD = 64

_MOST_WORK = 1 << 31
"""Where finding a diameter takes no more steps, a plan has it."""


def wrong_trees(plan: Plan, entries: Entries, edges: Edges) -> Iterator[Reason]:
    """Each topic has one root, from which everybody gets it by links of its nodes; depths and diameters are right."""
    parents = _read_parents(plan, entries)
    if isinstance(parents, Reason):
        yield parents
        return
    nodes, num_entries = entries.nodes, len(entries.topics)
    is_root = parents == nodes
    roots = np.bincount(entries.topics[is_root], minlength=entries.num_topics)
    if np.any(roots != (entries.members > 0)):
        yield Reason("one root per topic", 1, int(roots.max(initial=0)), FORWARDING)
        return
    forwarders, uses = _forwarders(entries, edges, parents, is_root)
    lost = int(np.count_nonzero(forwarders < 0))
    if lost:
        yield Reason("topics forwarded by neighbours interested in them", 0, lost, FORWARDING)
        return
    depths = _depths(forwarders, is_root)
    circling = int(np.count_nonzero(depths < 0))
    if circling:
        yield Reason("nodes reached from the root", 0, circling, FORWARDING)
        return
    root_of = np.full(entries.num_topics, -1, dtype=np.int64)
    root_of[entries.topics[is_root]] = nodes[is_root]
    depth = np.zeros(entries.num_topics, dtype=np.int64)
    np.maximum.at(depth, entries.topics, depths)
    topics, links = plan.decisions(TOPICS), plan.decisions(LINKS)
    yield from same(TOPICS, {"root": root_of, "depth": depth}, topics)
    yield from same(LINKS, {"trees": np.bincount(uses, minlength=links.num_rows)}, links)
    stated = topics["diameter"].to_numpy()
    unknown = np.flatnonzero((stated < -1) | ((stated == -1) & (_diameter_work(entries, edges, depth) <= _MOST_WORK)))
    if len(unknown):
        yield Reason("diameter computed", "0 or more", int(stated[unknown[0]]), f"topic {unknown[0]}")
        return
    if num_entries:
        found = _diameters(entries, edges, is_root, stated)
        wrong = np.flatnonzero((stated >= 0) & (found != stated))
        if len(wrong):
            yield Reason("diameter as recomputed", int(found[wrong[0]]), int(stated[wrong[0]]), f"topic {wrong[0]}")


def _diameter_work(entries: Entries, edges: Edges, depth: Int64Array) -> npt.NDArray[np.float64]:
    """For every topic, the most steps that finding its diameter can take.

    From a root with all nodes at most d away, 64 nodes of one depth are looked from at a time, at most 2 d + 1 steps
    along all links.
    """
    links = np.bincount(entries.topics[edges.mine], minlength=entries.num_topics)
    rounds = depth + entries.members / _WORD + 1
    return rounds * (2 * depth + 1) * 2 * links


def _read_parents(plan: Plan, entries: Entries) -> Int64Array | Reason:
    """For every entry the node that forwards it."""
    blocks = [plan.decisions_block(FORWARDING, block) for block in range(plan.num_decision_blocks(FORWARDING))]
    for table in blocks:
        wrong = wrong_columns(FORWARDING, table, FORWARDING_SCHEMA)
        if wrong:
            return wrong[0]
    numbers = [table["node"].to_numpy() for table in blocks]
    listed = [topic_lists(table) for table in blocks]
    stated = [topic_lists(table.select(["parents"]).rename_columns(["topics"])) for table in blocks]
    empty = np.empty(0, np.int64)
    is_whole = (
        np.array_equal(np.concatenate([empty, *numbers]), np.arange(entries.num_nodes))
        and np.array_equal(np.concatenate([empty, *(values for _, values in listed)]), entries.topics)
        and all(np.array_equal(one, other) for (one, _), (other, _) in zip(listed, stated, strict=True))
        and np.array_equal(np.concatenate([empty, *(np.diff(one) for one, _ in listed)]), np.diff(entries.offsets))
    )
    if not is_whole:
        return Reason("forwarding lists the topics of every node", "as the workload", "others", FORWARDING)
    parents: Int64Array = np.concatenate([empty, *(values for _, values in stated)])
    return parents


def _forwarders(
    entries: Entries, edges: Edges, parents: Int64Array, is_root: npt.NDArray[np.bool_]
) -> tuple[Int64Array, Int64Array]:
    """For every entry the entry that forwards to it (its own at a root, -1 where no link leads there), and the links
    that are used, one for every entry that is no root.
    """
    nodes, num_entries = entries.nodes, len(entries.topics)
    ends = np.concatenate([edges.mine, edges.its])
    neighbours = np.concatenate([edges.its, edges.mine])
    links = np.concatenate([edges.links, edges.links])
    is_used = ~is_root[ends] & (parents[ends] == nodes[neighbours])
    forwarders = np.where(is_root, np.arange(num_entries), -1)
    forwarders[ends[is_used]] = neighbours[is_used]
    return forwarders, links[is_used]


def _depths(forwarders: Int64Array, is_root: npt.NDArray[np.bool_]) -> Int64Array:
    """How far each entry is from its root along the trees, or -1 if it never gets there: ways are doubled."""
    steps, ahead = (~is_root).astype(np.int64), forwarders.copy()
    for _ in range(max(1, len(forwarders)).bit_length()):
        steps = steps + steps[ahead]
        ahead = ahead[ahead]
    depths: Int64Array = np.where(is_root[ahead], steps, -1) if len(ahead) else steps
    return depths


def _diameters(entries: Entries, edges: Edges, is_root: npt.NDArray[np.bool_], stated: Int64Array) -> Int64Array:
    """The largest distance in every topic whose diameter is stated.

    If it is d, entries at distance d, or more, from each other are not both less than d / 2 from the root. So it is
    enough to look from those that are at least that far away, in rounds of 64 per topic, bit by bit.
    """
    num_entries = len(entries.topics)
    both = graph_of(num_entries, np.concatenate([edges.mine, edges.its]), np.concatenate([edges.its, edges.mine]))
    distances = _distances(both, is_root)
    is_source = (stated[entries.topics] >= 0) & (2 * distances >= stated[entries.topics])
    sources = np.flatnonzero(is_source)
    sources = sources[np.argsort(entries.topics[sources], kind="stable")]
    topics = entries.topics[sources]
    ranks = np.arange(len(sources)) - np.searchsorted(topics, topics)
    found = np.zeros(entries.num_topics, dtype=np.int64)
    inside, graph = np.arange(num_entries), both
    for turn in range(int(ranks.max(initial=-1)) // _WORD + 1):
        now = sources[ranks // _WORD == turn]
        is_looked_at = np.zeros(entries.num_topics, dtype=np.bool_)
        is_looked_at[entries.topics[now]] = True
        wanted = np.flatnonzero(is_looked_at[entries.topics])
        if 2 * len(wanted) <= len(inside):  # few topics are left: look at them alone
            inside, graph = wanted, both[wanted][:, wanted]
        place = np.searchsorted(inside, now)
        seen = np.zeros(len(inside), dtype=np.uint64)
        seen[place] = np.uint64(1) << (ranks[ranks // _WORD == turn] % _WORD).astype(np.uint64)
        front, step = seen.copy(), 0
        while True:
            front = _spread(graph, front) & ~seen
            fresh = np.flatnonzero(front)
            if not len(fresh):
                break
            step += 1
            seen |= front
            found[entries.topics[inside[fresh]]] = np.maximum(found[entries.topics[inside[fresh]]], step)
    return found


def _spread(graph: sparse.csr_array, front: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """What the neighbours of every entry have, together."""
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
