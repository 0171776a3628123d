"""The entries of a workload and the edges between them, for verification: NumPy and SciPy alone.

An *entry* is a topic of a node. All entries are the vertices of one graph, and a link connects those of its two nodes
in every topic that both have; so a topic is connected if its entries are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from pubplan.errors import InputError, Reason
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int64Array, topic_lists

_LINKS_AT_ONCE = 1 << 18


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
        return np.repeat(np.arange(self.num_nodes), np.diff(self.offsets))

    @property
    def members(self) -> Int64Array:
        return np.bincount(self.topics, minlength=self.num_topics)


@dataclass(frozen=True)
class Edges:
    """Entries of a topic that a link connects, by link."""

    mine: Int64Array
    its: Int64Array
    links: Int64Array


def read_entries(problem: Problem) -> Entries:
    workload = problem.workload
    lists = [topic_lists(workload.interests_block(block, "topics")) for block in range(len(workload.interests_blocks))]
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(offsets) for offsets, _ in lists)])
    topics = np.concatenate([np.empty(0, np.int64), *(values.astype(np.int64) for _, values in lists)])
    if len(topics) and (topics.min() < 0 or topics.max() >= problem.num_topics):
        raise InputError(f"{workload.path}/interests names topics that do not exist.")
    return Entries(np.concatenate([[0], np.cumsum(lengths)]), topics, problem.num_topics)


def edges_of(entries: Entries, node: Int64Array, other: Int64Array) -> Edges:
    """Which entries every link connects: the common topics of its nodes."""
    places = np.arange(1, len(entries.topics) + 1)
    shape = (entries.num_nodes, entries.num_topics)
    marked = sparse.csr_array((places, entries.topics, entries.offsets), shape=shape)
    ones = sparse.csr_array((np.ones_like(places), entries.topics, entries.offsets), shape=shape)
    parts = [Edges(*(np.empty(0, dtype=np.int64) for _ in range(3)))]
    for first in range(0, len(node), _LINKS_AT_ONCE):
        ends = [numbers[first : first + _LINKS_AT_ONCE] for numbers in (node, other)]
        mine = (marked[ends[0]].multiply(ones[ends[1]])).tocsr()
        its = (ones[ends[0]].multiply(marked[ends[1]])).tocsr()
        for matrix in (mine, its):
            matrix.sort_indices()
        owners = np.repeat(np.arange(first, first + len(ends[0])), np.diff(mine.indptr))
        parts.append(Edges(mine.data - 1, its.data - 1, owners))
    return Edges(
        np.concatenate([part.mine for part in parts]),
        np.concatenate([part.its for part in parts]),
        np.concatenate([part.links for part in parts]),
    )


def graph_of(num_entries: int, mine: Int64Array, its: Int64Array) -> sparse.csr_array:
    ones = np.ones(len(mine), dtype=np.int8)
    return sparse.csr_array((ones, (mine, its)), shape=(num_entries, num_entries))


def same(where: str, columns: Mapping[str, npt.NDArray[np.generic]], table: pa.Table) -> Iterator[Reason]:
    """Columns of a table hold what was recomputed."""
    for name, expected in columns.items():
        told = table[name].to_numpy()
        if len(told) != len(expected):
            yield Reason("rows", len(expected), len(told), where)
            return
        wrong = np.flatnonzero(told != expected)
        if len(wrong):
            place = wrong[0]
            yield Reason(f"{name} as recomputed", str(expected[place]), str(told[place]), f"{where}, row {place}")
