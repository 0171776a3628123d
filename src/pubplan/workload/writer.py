"""Writing a workload: interests block by block, by whoever makes them; then topics and the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubplan.engine import (
    MAX_INT64,
    block_range,
    digest_table,
    exact_sum,
    map_blocks,
    num_blocks,
    write_block,
    write_json,
)
from pubplan.errors import InputError
from pubplan.workload.manifest import MANIFEST, Block, Counts, Manifest, Window
from pubplan.workload.tables import MAX_TOPICS, Int32Array, Int64Array, interests_table, topics_table
from pubplan.workload.totals import add_totals


def write_table_block(directory: Path, block: int, table: pa.Table, num_pairs: int | None = None) -> Block:
    """Write one block of a table; the entry goes into the manifest."""
    size = write_block(directory, block, table)
    return Block(rows=table.num_rows, bytes=size, digest=digest_table(table), pairs=num_pairs)


def write_interests_block(
    directory: Path,
    block: int,
    subscriber_ids: pa.Array,
    offsets: Int64Array,
    topics: Int32Array,
    optional: Mapping[str, Int64Array] | None = None,
) -> Block:
    """Write the interests of one block of subscribers, given as CSR."""
    first, _ = block_range(block, MAX_INT64)
    table = interests_table(first, subscriber_ids, offsets, topics, optional)
    return write_table_block(directory / "interests", block, table, len(topics))


def finish_workload(
    directory: Path,
    *,
    topic_ids: pa.Array,
    rates: Int64Array,
    subscribers: Int64Array,
    message_bytes: Int64Array,
    interests: Sequence[Block],
    window: Window,
    sources: Iterable[Mapping[str, Any]],
    rows: Mapping[str, Any] | None = None,
    rejected: Sequence[Block] = (),
    optional: Mapping[str, Int64Array] | None = None,
) -> Manifest:
    """Write the topics and the manifest beside interests that are there already.

    Args:
        rows: ``rows_in``, ``kept``, ``rejected`` and ``duplicates`` where rows were read.
        rejected: the blocks of the ``rejected/`` table, if there are any.
        optional: further columns of the topics, such as ``cost``.

    Raises:
        InputError: there are too many topics, a number is negative, or a total leaves 64 bits.
    """
    if len(rates) > MAX_TOPICS:
        raise InputError(f"{len(rates)} topics are more than the {MAX_TOPICS} that pubplan can number.")
    if len(rates) and (rates.min() < 0 or message_bytes.min() < 0):
        raise InputError("Rates and message sizes must not be negative.")
    further = optional or {}
    for name, values in further.items():
        _check_column(name, values)

    def write(block: int) -> Block:
        first, last = block_range(block, len(rates))
        part = slice(first, last)
        ids = topic_ids[first:last]
        chosen = {name: values[part] for name, values in further.items()}
        table = topics_table(first, ids, rates[part], subscribers[part], message_bytes[part], chosen)
        return write_table_block(directory / "topics", block, table)

    topics = tuple(map_blocks(write, num_blocks(len(rates))))
    num_pairs = sum(block.pairs or 0 for block in interests)
    kept = {"rows_in": num_pairs, "kept": num_pairs} | dict(rows or {})
    manifest = Manifest(
        kind="topic",
        counts=Counts(topics=len(rates), subscribers=sum(b.rows for b in interests), pairs=num_pairs, **kept),
        totals=add_totals(rates, subscribers, message_bytes),
        window=window,
        sources=tuple(sources),
        blocks={"topics": topics, "interests": tuple(interests), **({"rejected": tuple(rejected)} if rejected else {})},
    )
    write_json(directory / MANIFEST, manifest.to_dict())
    return manifest


def _check_column(name: str, values: Int64Array) -> None:
    """Every value of an optional column of the topics is at least 0, and their total fits 64 bits."""
    if len(values) and values.min() < 0:
        topic = int(values.argmin())
        raise InputError(f"The {name} of topic {topic} is {values[topic]}; it must not be negative.")
    total = exact_sum(values)
    if total > MAX_INT64:
        raise InputError(f"The total {name} of the topics is {total}, which does not fit 64 bits. Use a larger unit.")
