"""Links one after the other: the rule of GM-M, which every method of the family builds on.

Of the pairs whose link would not raise the maximum degree, link the one that joins most components; if there is none,
the one that joins most of all. Ties go to the smaller of the two nodes' larger degrees, then to the smaller nodes.

When a phase ends, nodes below the maximum degree help each other no more. So in later phases all pairs that may be
linked have the same larger degree, and only the first phase, which may start with links, looks at degrees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pubplan.engine import require_memory
from pubplan.problems.overlay.kernels import (
    CHUNK,
    NOT_A_TOPIC,
    ByTopic,
    Components,
    OpenEntries,
    Pairs,
    add_links,
    add_listed,
    find_pairs,
    find_tops,
    list_common,
    list_open,
    list_pairs,
    serve_node,
    turn_around,
)
from pubplan.workload import Csr, Int32Array, Int64Array

WORK_PER_LOOK = 100
"""Looking at a pair again takes as long as so much of the work of finding pairs anew."""

PLACES_PER_WORK = 2
"""Passing over so many places of a row takes as long as one step."""

LARGEST_BYTE = 255

MOST_LISTED = 1 << 24
"""So many pairs of the same worth are sorted by degree at once."""

NO_LIMIT = 2**31 - 1


def by_topic_of(rows: Csr, num_topics: int) -> ByTopic:
    """The entries of every topic."""
    offsets: Int64Array = np.zeros(num_topics + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows.values, minlength=num_topics), out=offsets[1:])
    by_topic = ByTopic(offsets, np.empty(len(rows.values), np.int32), np.empty(len(rows.values), np.int32))
    turn_around(rows.offsets, rows.values, by_topic)
    return by_topic


def components_of(rows: Csr) -> Components:
    """Every entry a component of its own."""
    labels: Int32Array = np.arange(len(rows.values), dtype=np.int32)
    return Components(rows.offsets, rows.values, labels, labels.copy(), np.ones(len(labels), dtype=np.int32))


def common_entries(rows: Csr, links: Int32Array) -> tuple[Int32Array, Int32Array, Int64Array]:
    """For every link the entries of its nodes in common topics: those of the one, those of the other, and first and
    past-the-last place of each link's.
    """
    lengths = np.diff(rows.offsets)
    most = int(np.minimum(lengths[links[:, 0]], lengths[links[:, 1]]).sum())
    mine, its = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    starts: Int64Array = np.zeros(len(links) + 1, dtype=np.int64)
    size = list_common(rows.offsets, rows.values, links, starts, mine, its)
    return mine[:size], its[:size], np.column_stack([starts[:-1], starts[1:]])


class Greedy:
    """Nodes, components that are joined already, and the greedy choice of links.

    Args:
        components: the entries of the nodes; links that are added join them.
        degrees: the links that nodes have already; links that are added are counted.
    """

    def __init__(self, components: Components, by_topic: ByTopic, degrees: Int32Array) -> None:
        self.components, self.by_topic, self.degrees = components, by_topic, degrees
        self.work = 0
        num_nodes, num_topics, num_entries = len(degrees), len(by_topic.offsets) - 1, len(components.topics)
        num_pairs, num_joins = self._most()
        longest = int(np.diff(components.offsets).max(initial=0))
        kind: type[np.uint8 | np.int32] = np.uint8 if longest <= LARGEST_BYTE else np.int32
        require_memory(num_pairs * (4 + np.dtype(kind).itemsize), f"{num_pairs} pairs of {num_nodes} nodes")
        self.pairs = Pairs(
            np.zeros(num_nodes + 1, dtype=np.int64),
            np.empty(num_pairs + 1, dtype=np.int32),
            np.empty(num_pairs + 1, dtype=kind),
            np.zeros(num_nodes, dtype=np.int32),
            np.zeros(num_nodes + 1, dtype=np.int64),
            np.empty(num_pairs // CHUNK + num_nodes + 1, dtype=kind),
        )
        self._open = OpenEntries(
            np.empty(num_topics + 1, dtype=np.int64),
            np.empty(num_entries, dtype=np.int32),
            np.empty(num_entries, dtype=np.int32),
            np.empty(num_topics, dtype=np.int32),
            np.empty(num_topics + 1, dtype=np.int64),
            np.empty(num_entries, dtype=np.int32),
        )
        self._links: Int32Array = np.empty((min(num_pairs, num_joins) + 1, 3), dtype=np.int32)
        self._marks: Int32Array = np.full(num_topics, NOT_A_TOPIC, dtype=np.int32)
        most_listed = min(num_pairs, MOST_LISTED)
        self._listed = (np.empty(most_listed, dtype=np.int32), np.empty(most_listed, dtype=np.int64))
        self._num_links = 0
        self._looks_left = 0.0
        self._limit = 0
        self._top = 0

    @property
    def links(self) -> Int32Array:
        """Node, other and topics joined of every link, in the order of choice."""
        return self._links[: self._num_links]

    def run(
        self, limit: int | None = None, after_phase: Callable[[Greedy, int], None] = lambda greedy, limit: None
    ) -> None:
        """Link until every topic is connected; up to ``limit`` links per node, by default what one has already, come
        before any that raise the maximum degree.
        """
        limit = int(self.degrees.max(initial=0)) if limit is None else limit
        if limit > 0:
            self.phase(limit, looks_at_degrees=True)
        while self.find_pairs(NO_LIMIT) > 0:
            self._raise()
            limit += 1
            self.phase(limit)
            after_phase(self, limit)

    def phase(self, limit: int, *, looks_at_degrees: bool = False) -> None:
        """Link while there are pairs with fewer than ``limit`` links each that need it."""
        worth = self.find_pairs(limit)
        while worth > 0:
            if not looks_at_degrees:
                self._add(worth, limit)
            elif not self._add_listed(worth, limit):
                for at_degree in range(limit):
                    self._add(worth, limit, at_degree)
            worth = min(worth - 1, self._renewed(limit))

    def serve(self, nodes: Int32Array, limit: int) -> None:
        """Link some nodes, up to ``limit`` links, for what they miss themselves; then link others without them."""
        members = np.diff(self.by_topic.offsets)
        for node in nodes:
            self._num_links = serve_node(
                self.components, members, self.degrees, int(node), limit, self._marks, self._links, self._num_links
            )
            self.work += len(self.components.topics)
        room = np.maximum(limit - self.degrees[nodes], 0)
        self.degrees[nodes] += room
        self.phase(limit, looks_at_degrees=True)
        self.degrees[nodes] -= room
        self._limit = 0  # pairs of these nodes are not known

    def work_ahead(self, limit: int) -> int:
        """How much work finding the pairs of nodes with fewer than ``limit`` links is."""
        return list_open(self.components, self.by_topic, self.degrees, limit, self._open)

    def find_pairs(self, limit: int) -> int:
        """Find the pairs that may be linked, unless they are known; returns the most that a link is worth."""
        if self._limit >= limit and self._looks_left > 0:
            self._top = find_tops(self.pairs)
            return self._top
        work = self.work_ahead(limit) + len(self.components.topics)
        passed = find_pairs(self.components, self.degrees, limit, self._open, self.pairs, len(self._open.mains))
        work += passed // PLACES_PER_WORK
        self.work += work
        self._looks_left = work / WORK_PER_LOOK
        self._limit = limit
        self._top = find_tops(self.pairs)
        return self._top

    def _raise(self) -> None:
        """Link the pair that joins most, whatever its degrees."""
        before = self._num_links
        while self._top > 0 and self._num_links == before:
            self._add(self._top, NO_LIMIT, most=1)
            if self._num_links == before:
                self._top = min(self._top - 1, self._renewed(NO_LIMIT))

    def _add(self, worth: int, limit: int, at_degree: int = -1, most: int = NO_LIMIT) -> None:
        self._num_links, looked = add_links(
            self.components,
            self.pairs,
            self.degrees,
            worth,
            limit,
            at_degree,
            most,
            self._marks,
            self._links,
            self._num_links,
        )
        self._count(looked)

    def _add_listed(self, worth: int, limit: int) -> bool:
        """Add links by degree; False if the pairs are too many to be listed."""
        size = list_pairs(self.pairs, self.degrees, worth, limit, *self._listed)
        if size < 0:
            return False
        nodes, places = self._listed[0][:size], self._listed[1][:size]
        self._num_links, looked = add_listed(
            self.components,
            self.pairs,
            self.degrees,
            worth,
            limit,
            nodes,
            places,
            self._marks,
            self._links,
            self._num_links,
        )
        self._count(looked)
        return True

    def _count(self, looked: int) -> None:
        self._looks_left -= looked
        self.work += looked * WORK_PER_LOOK

    def _renewed(self, limit: int) -> int:
        """Find pairs anew if many of those known are no longer worth what they were; returns the top then."""
        return self.find_pairs(limit) if self._looks_left <= 0 else self._top

    def _most(self) -> tuple[int, int]:
        """At most so many pairs can need a link, and so many joins connect every topic."""
        sizes = np.diff(self.by_topic.offsets)
        is_label = self.components.labels == np.arange(len(self.components.labels))
        inside = self.components.sizes[is_label].astype(np.int64)
        together = int((sizes * (sizes - 1) // 2).sum()) - int((inside * (inside - 1) // 2).sum())
        num_nodes = len(self.degrees)
        joins = len(inside) - int(np.count_nonzero(sizes))
        return min(together, num_nodes * (num_nodes - 1) // 2), joins
