"""The entries of a workload and the edges between them, for verification: NumPy and SciPy alone.

An *entry* is a topic of a node. All entries are the vertices of one graph, and a link connects those of its two nodes
in every topic that both have; so a topic is connected if its entries are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pubplan.errors import InputError
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int64Array, list_column

_GROUP_LINKS = 1 << 18
"""The entries of this many links are computed at once."""


@dataclass(frozen=True)
class Entries:
    """The topics of all nodes: ``topics[offsets[node] : offsets[node + 1]]``, ascending."""

    offsets: Int64Array
    topics: Int64Array
    num_topics: int

    @property
    def num_nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def nodes(self) -> Int64Array:
        """The node of every entry."""
        return np.repeat(np.arange(self.num_nodes), np.diff(self.offsets))

    @property
    def topic_sizes(self) -> Int64Array:
        """How many nodes every topic has."""
        return np.bincount(self.topics, minlength=self.num_topics)


@dataclass(frozen=True)
class Edges:
    """Pairs of entries of a topic that a link connects: that of its node, that of its other, and the link."""

    left: Int64Array
    right: Int64Array
    links: Int64Array


def read_entries(problem: Problem) -> Entries:
    """The entries as the workload's tables have them.

    Raises:
        InputError: interests name topics that do not exist.
    """
    workload = problem.workload
    lists = [list_column(workload.interests_block(block, "topics"), "topics") for block in range(workload.num_blocks)]
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(offsets) for offsets, _ in lists)])
    topics = np.concatenate([np.empty(0, np.int64), *(values.astype(np.int64) for _, values in lists)])
    if len(topics) and (topics.min() < 0 or topics.max() >= problem.num_topics):
        raise InputError(f"{workload.path}/interests names topics that do not exist.")
    return Entries(np.concatenate([[0], np.cumsum(lengths)]), topics, problem.num_topics)


def edges_of(entries: Entries, node: Int64Array, other: Int64Array) -> Edges:
    """Which entries every link connects: those of the common topics of its nodes.

    In a sparse matrix of nodes and topics that holds 1 + the number of each entry, the row of a node times that of
    another, with ones instead, keeps the entries of the topics that both have.
    """
    numbers = np.arange(1, len(entries.topics) + 1)
    shape = (entries.num_nodes, entries.num_topics)
    numbered = sparse.csr_array((numbers, entries.topics, entries.offsets), shape=shape)
    ones = sparse.csr_array((np.ones_like(numbers), entries.topics, entries.offsets), shape=shape)
    groups = [Edges(*(np.empty(0, dtype=np.int64) for _ in range(3)))]
    for first in range(0, len(node), _GROUP_LINKS):
        nodes, others = (ends[first : first + _GROUP_LINKS] for ends in (node, other))
        left = (numbered[nodes].multiply(ones[others])).tocsr()
        right = (ones[nodes].multiply(numbered[others])).tocsr()
        for matrix in (left, right):
            matrix.sort_indices()
        links = np.repeat(np.arange(first, first + len(nodes)), np.diff(left.indptr))
        groups.append(Edges(left.data - 1, right.data - 1, links))
    return Edges(
        np.concatenate([group.left for group in groups]),
        np.concatenate([group.right for group in groups]),
        np.concatenate([group.links for group in groups]),
    )


def graph_of(num_entries: int, left: Int64Array, right: Int64Array) -> sparse.csr_array:
    """The adjacency matrix of entries, from the left ones to the right ones."""
    ones = np.ones(len(left), dtype=np.int8)
    return sparse.csr_array((ones, (left, right)), shape=(num_entries, num_entries))
