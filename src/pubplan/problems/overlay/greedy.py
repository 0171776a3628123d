"""Links one after the other: the rule of GM-M, which every method of the family builds on.

Of the pairs whose link would not raise the maximum degree, link the one with the largest contribution; if there is
none, the one with the largest of all. Ties go to the smaller of the two nodes' larger degrees, then to the smaller
nodes.

When a phase ends, nodes below the maximum degree help each other no more. So in later phases all pairs that may be
linked have the same larger degree, and only the first phase, which may start with links, looks at degrees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pubplan.engine import require_memory
from pubplan.problems.overlay.kernels.choice import NO_LABEL, add_links, add_listed, list_pairs, serve_node
from pubplan.problems.overlay.kernels.components import ByTopic, Components, Links
from pubplan.problems.overlay.kernels.pairs import CHUNK_PAIRS, OpenEntries, Pairs, find_maxima, find_pairs, list_open
from pubplan.workload import Int32Array

STEPS_PER_RECOMPUTATION = 100
"""To compute the contribution of one pair again takes as long as this many steps of finding pairs anew."""

SCANNED_NODES_PER_STEP = 2
"""To scan this many nodes for partners takes as long as one step."""

MAX_BYTE = 255

MAX_LISTED_PAIRS = 1 << 24
"""At most this many pairs of the same contribution are sorted by degree at once."""

NO_LIMIT = 2**31 - 1


class Greedy:
    """Nodes, components that are joined already, and the greedy choice of links.

    Args:
        components: the entries of the nodes; links that are added join them.
        degrees: the links that nodes have already; links that are added are counted.

    Attributes:
        work: the steps taken so far; the same for the same nodes on any machine.

    Raises:
        EngineError: the pairs do not fit into memory.
    """

    def __init__(self, components: Components, by_topic: ByTopic, degrees: Int32Array) -> None:
        self.components, self.by_topic, self.degrees = components, by_topic, degrees
        self.work = 0
        num_nodes, num_topics, num_entries = len(degrees), len(by_topic.offsets) - 1, len(components.topics)
        max_pairs, num_joins = self._max_pairs(), self._num_joins()
        max_topics = int(np.diff(components.offsets).max(initial=0))
        kind: type[np.uint8 | np.int32] = np.uint8 if max_topics <= MAX_BYTE else np.int32
        require_memory(max_pairs * (4 + np.dtype(kind).itemsize), f"{max_pairs} pairs of {num_nodes} nodes")
        self.pairs = Pairs(
            np.zeros(num_nodes + 1, dtype=np.int64),
            np.empty(max_pairs + 1, dtype=np.int32),
            np.empty(max_pairs + 1, dtype=kind),
            np.zeros(num_nodes, dtype=np.int32),
            np.zeros(num_nodes + 1, dtype=np.int64),
            np.empty(max_pairs // CHUNK_PAIRS + num_nodes + 1, dtype=kind),
        )
        self._open = OpenEntries(
            np.empty(num_topics + 1, dtype=np.int64),
            np.empty(num_entries, dtype=np.int32),
            np.empty(num_entries, dtype=np.int32),
            np.empty(num_topics, dtype=np.int32),
            np.empty(num_topics + 1, dtype=np.int64),
            np.empty(num_entries, dtype=np.int32),
        )
        self._links = Links.empty(min(max_pairs, num_joins) + 1)
        self._marks: Int32Array = np.full(num_topics, NO_LABEL, dtype=np.int32)
        max_listed = min(max_pairs, MAX_LISTED_PAIRS)
        self._listed = (np.empty(max_listed, dtype=np.int32), np.empty(max_listed, dtype=np.int64))
        self._num_links = 0
        # Pairs are known for nodes below this limit, and are found anew once this many contributions were recomputed.
        self._known_limit = 0
        self._recomputations_left = 0.0
        self._largest = 0

    @property
    def links(self) -> Links:
        """The links that were added, in the order of choice."""
        return self._links.take(slice(self._num_links))

    def run(
        self, degree_limit: int | None = None, after_phase: Callable[[Greedy, int], None] = lambda greedy, limit: None
    ) -> None:
        """Link until every topic is connected; up to ``degree_limit`` links per node, by default what one has already,
        come before any that raise the maximum degree.
        """
        limit = int(self.degrees.max(initial=0)) if degree_limit is None else degree_limit
        if limit > 0:
            self.phase(limit, looks_at_degrees=True)
        while self.find_pairs(NO_LIMIT) > 0:
            self._raise_degree()
            limit += 1
            self.phase(limit)
            after_phase(self, limit)

    def phase(self, degree_limit: int, *, looks_at_degrees: bool = False) -> None:
        """Link while there are pairs with fewer than ``degree_limit`` links each that need it."""
        contribution = self.find_pairs(degree_limit)
        while contribution > 0:
            if not looks_at_degrees:
                self._add(contribution, degree_limit)
            elif not self._add_listed(contribution, degree_limit):
                for at_degree in range(degree_limit):
                    self._add(contribution, degree_limit, at_degree)
            contribution = min(contribution - 1, self._renewed(degree_limit))

    def serve(self, nodes: Int32Array, degree_limit: int) -> None:
        """Link some nodes, up to ``degree_limit`` links, for what they miss themselves; then link others without
        them.
        """
        topic_sizes = np.diff(self.by_topic.offsets)
        for node in nodes:
            self._num_links = serve_node(
                self.components,
                topic_sizes,
                self.degrees,
                int(node),
                degree_limit,
                self._marks,
                self._links,
                self._num_links,
            )
            self.work += len(self.components.topics)
        # While the others are linked these nodes count as full.
        spare = np.maximum(degree_limit - self.degrees[nodes], 0)
        self.degrees[nodes] += spare
        self.phase(degree_limit, looks_at_degrees=True)
        self.degrees[nodes] -= spare
        self._known_limit = 0  # pairs of these nodes are not known

    def work_ahead(self, degree_limit: int) -> int:
        """How many steps it takes to find the pairs of nodes with fewer than ``degree_limit`` links."""
        return list_open(self.components, self.by_topic, self.degrees, degree_limit, self._open)

    def find_pairs(self, degree_limit: int) -> int:
        """Find the pairs that may be linked, unless they are known; returns the largest contribution."""
        if self._known_limit < degree_limit or self._recomputations_left <= 0:
            work = self.work_ahead(degree_limit) + len(self.components.topics)
            num_topics = len(self._open.main_labels)
            num_scanned = find_pairs(self.components, self.degrees, degree_limit, self._open, self.pairs, num_topics)
            work += num_scanned // SCANNED_NODES_PER_STEP
            self.work += work
            self._recomputations_left = work / STEPS_PER_RECOMPUTATION
            self._known_limit = degree_limit
        self._largest = find_maxima(self.pairs)
        return self._largest

    def _raise_degree(self) -> None:
        """Link the pair with the largest contribution, whatever its degrees."""
        before = self._num_links
        while self._largest > 0 and self._num_links == before:
            self._add(self._largest, NO_LIMIT, max_links=1)
            if self._num_links == before:
                self._largest = min(self._largest - 1, self._renewed(NO_LIMIT))

    def _add(self, contribution: int, degree_limit: int, at_degree: int = -1, max_links: int = NO_LIMIT) -> None:
        self._num_links, num_recomputed = add_links(
            self.components,
            self.pairs,
            self.degrees,
            contribution,
            degree_limit,
            at_degree,
            max_links,
            self._marks,
            self._links,
            self._num_links,
        )
        self._count(num_recomputed)

    def _add_listed(self, contribution: int, degree_limit: int) -> bool:
        """Add links by degree; False if the pairs are too many to be listed."""
        size = list_pairs(self.pairs, self.degrees, contribution, degree_limit, *self._listed)
        if size < 0:
            return False
        nodes, indices = self._listed[0][:size], self._listed[1][:size]
        self._num_links, num_recomputed = add_listed(
            self.components,
            self.pairs,
            self.degrees,
            contribution,
            degree_limit,
            nodes,
            indices,
            self._marks,
            self._links,
            self._num_links,
        )
        self._count(num_recomputed)
        return True

    def _count(self, num_recomputed: int) -> None:
        self._recomputations_left -= num_recomputed
        self.work += num_recomputed * STEPS_PER_RECOMPUTATION

    def _renewed(self, degree_limit: int) -> int:
        """Find pairs anew if many contributions were out of date; returns the largest then."""
        return self.find_pairs(degree_limit) if self._recomputations_left <= 0 else self._largest

    def _component_sizes(self) -> Int32Array:
        is_label = self.components.labels == np.arange(len(self.components.labels))
        sizes: Int32Array = self.components.sizes[is_label]
        return sizes

    def _max_pairs(self) -> int:
        """The most pairs of nodes that can need a link."""
        topic_sizes = np.diff(self.by_topic.offsets)
        inside = self._component_sizes().astype(np.int64)
        apart = int((topic_sizes * (topic_sizes - 1) // 2).sum()) - int((inside * (inside - 1) // 2).sum())
        num_nodes = len(self.degrees)
        return min(apart, num_nodes * (num_nodes - 1) // 2)

    def _num_joins(self) -> int:
        """How many joins connect every topic."""
        return len(self._component_sizes()) - int(np.count_nonzero(np.diff(self.by_topic.offsets)))
