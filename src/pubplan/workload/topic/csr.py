"""Interests in memory: both directions as compressed sparse rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubplan.engine import READING, map_blocks, read_block, require_memory, stage
from pubplan.errors import InputError
from pubplan.workload.manifest import Block
from pubplan.workload.tables import Int32Array, Int64Array, list_column
from pubplan.workload.topic.totals import TopicCounts


@dataclass(frozen=True)
class Csr:
    """Row r holds ``values[offsets[r]:offsets[r + 1]]``, ascending."""

    offsets: Int64Array
    values: Int32Array

    @property
    def num_rows(self) -> int:
        return len(self.offsets) - 1

    def row(self, row: int) -> Int32Array:
        return self.values[self.offsets[row] : self.offsets[row + 1]]


@dataclass(frozen=True)
class Interests:
    """The topics of every subscriber and the subscribers of every topic."""

    by_subscriber: Csr
    by_topic: Csr


def csr_bytes(counts: TopicCounts) -> int:
    """The size of the arrays that :func:`read_csr` gives."""
    return 8 * counts.pairs + 8 * (counts.subscribers + 1) + 8 * (counts.topics + 1)


def read_csr(
    directory: Path, counts: TopicCounts, entries: Sequence[Block], subscribers_per_topic: Int64Array
) -> Interests:
    """Read the interests of the workload in ``directory`` into arrays allocated once.

    Args:
        entries: the blocks of the interests, as the manifest lists them.

    Raises:
        EngineError: the arrays would not fit into memory.
        InputError: the tables contradict the manifest or each other.
    """
    if counts.subscribers >= 2**31:
        raise InputError(f"{directory} has {counts.subscribers} subscribers; one process holds fewer than 2^31.")
    # Next to the result: a counter per topic, and blocks that are decompressed while they are copied.
    working = 8 * counts.topics + 3 * max((block.bytes for block in entries), default=0)
    require_memory(csr_bytes(counts) + working, f"the {counts.pairs} interests of {directory}")
    by_subscriber = _read_rows(directory, counts, entries)
    with stage("transposing interests", key=READING):
        by_topic = _transposed(directory, by_subscriber, counts.topics, subscribers_per_topic)
    return Interests(by_subscriber, by_topic)


def _read_rows(directory: Path, counts: TopicCounts, entries: Sequence[Block]) -> Csr:
    first_row = np.concatenate([[0], np.cumsum([entry.rows for entry in entries])]).astype(np.int64)
    first_pair = np.concatenate([[0], np.cumsum([entry.pairs for entry in entries])]).astype(np.int64)
    offsets = np.zeros(counts.subscribers + 1, dtype=np.int64)
    values = np.empty(counts.pairs, dtype=np.int32)

    def read(block: int) -> None:
        ends, topics = list_column(read_block(directory / "interests", block, ["topics"]), "topics")
        if len(ends) - 1 != entries[block].rows or len(topics) != entries[block].pairs:
            raise InputError(f"Block {block} of {directory}/interests does not have the size its manifest says.")
        offsets[first_row[block] + 1 : first_row[block + 1] + 1] = ends[1:] + first_pair[block]
        values[first_pair[block] : first_pair[block + 1]] = topics

    with stage("reading interests", len(entries), key=READING) as advance:
        for _ in map_blocks(read, len(entries)):
            advance(1)
    return Csr(offsets, values)


def _transposed(directory: Path, rows: Csr, num_topics: int, subscribers_per_topic: Int64Array) -> Csr:
    if len(rows.values) and (rows.values.min() < 0 or rows.values.max() >= num_topics):
        raise InputError(f"{directory}/interests names topics outside 0 … {num_topics - 1}.")
    from pubplan.kernels import count_columns, transpose  # imports Numba

    recounted = np.zeros(num_topics, dtype=np.int64)
    count_columns(rows.values, recounted)
    if not np.array_equal(recounted, subscribers_per_topic):
        raise InputError(f"{directory}/topics counts other subscribers than {directory}/interests holds.")
    offsets = np.zeros(num_topics + 1, dtype=np.int64)
    np.cumsum(recounted, out=offsets[1:])
    values = np.empty(len(rows.values), dtype=np.int32)
    transpose(rows.values, rows.offsets, offsets, values)
    return Csr(offsets, values)
