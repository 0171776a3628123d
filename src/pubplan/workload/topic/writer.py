"""Writing a topic workload: interests block by block, by whatever makes them; then topics and the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range, exact_sum
from pubplan.errors import InputError
from pubplan.workload.manifest import Block, Manifest, Window
from pubplan.workload.tables import Int32Array, Int64Array
from pubplan.workload.topic.kind import TOPIC
from pubplan.workload.topic.tables import MAX_TOPICS, interests_table, topics_table
from pubplan.workload.topic.totals import add_totals
from pubplan.workload.writer import finish, write_table, write_table_block


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
    """Write the topics and the manifest next to interests that are written already.

    Args:
        subscribers: how many each topic has.
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
    for name, values in (optional or {}).items():
        _check_column(name, values)
    totals = add_totals(rates, subscribers, message_bytes)
    table = topics_table(0, topic_ids, rates, subscribers, message_bytes, optional)
    blocks = {"topics": write_table(directory, "topics", table), "interests": interests}
    num_pairs = sum(block.pairs or 0 for block in interests)
    return finish(
        directory,
        TOPIC,
        blocks=blocks | ({"rejected": rejected} if rejected else {}),
        totals=totals,
        window=window,
        sources=sources,
        rows={"rows_in": num_pairs, "kept": num_pairs} | dict(rows or {}),
    )


def _check_column(name: str, values: Int64Array) -> None:
    """Every value of an optional column of the topics is at least 0, and their total fits 64 bits."""
    if len(values) and values.min() < 0:
        topic = int(values.argmin())
        raise InputError(f"The {name} of topic {topic} is {values[topic]}; it must not be negative.")
    total = exact_sum(values)
    if total > MAX_INT64:
        raise InputError(f"The total {name} of the topics is {total}, which does not fit 64 bits. Use a larger unit.")
