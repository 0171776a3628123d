"""Workloads from tables in memory: Arrow, pandas, Polars, or anything that speaks Arrow's stream protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import block_range, num_blocks
from pubplan.errors import InputError
from pubplan.files import atomic_directory
from pubplan.text import listed
from pubplan.workload.manifest import MANIFEST, Window
from pubplan.workload.tables import Int32Array, Int64Array
from pubplan.workload.topic.kind import TOPIC
from pubplan.workload.topic.tables import DEFAULT_MESSAGE_BYTES
from pubplan.workload.topic.workload import TopicWorkload
from pubplan.workload.topic.writer import finish_workload, write_interests_block
from pubplan.workload.workload import read_workload


def workload_from_tables(
    out: str | Path,
    topics: Any,
    interests: Any,
    subscribers: Any = None,
    *,
    message_bytes: int = DEFAULT_MESSAGE_BYTES,
    window: Window | None = None,
    replace: bool = False,
) -> TopicWorkload:
    """Write a workload given as tables in memory and open it; what does not fit in memory goes through ``ingest``.

    Tables are those of Arrow, pandas or Polars, mappings from names to columns, or anything that speaks Arrow's stream
    protocol.

    Args:
        out: the workload directory.
        topics: ``topic_id`` and ``rate`` (events per window); optional ``message_bytes`` and ``cost``.
        interests: ``subscriber_id`` and ``topic_id``, a row for each; repeated rows count once.
        subscribers: ``subscriber_id`` with ``threshold``, ``weight`` or both; also those without interests. Without
            this table the subscribers are those of the interests.
        message_bytes: of all messages, where the topics have no such column.
        window: the time that the rates are counted over, if that is known.
        replace: overwrite the workload at ``out``.

    Raises:
        InputError: a column is missing, has nulls or another type, an id is repeated, or a name has no row in the
            table that it refers to.

    >>> topics = {"topic_id": ["news", "sport"], "rate": [3, 5]}
    >>> interests = {"subscriber_id": ["ann", "bob"], "topic_id": ["news", "sport"]}
    >>> pubplan.workload_from_tables("from-tables", topics, interests).counts.pairs
    2
    """
    topic_rows = _Columns("topics", topics)
    topic_ids, order = topic_rows.sorted_ids("topic_id")
    pairs = _Columns("interests", interests)
    names = pairs.text("subscriber_id")
    if subscribers is None:
        subscriber_ids, optional = _sorted(pc.unique(names)), {}
    else:
        given = _Columns("subscribers", subscribers)
        subscriber_ids, by_id = given.sorted_ids("subscriber_id")
        optional = {name: given.whole(name)[by_id] for name in ("threshold", "weight") if given.has(name)}
    rows = _numbers(names, subscriber_ids, "interests", "subscribers")
    columns = _numbers(pairs.text("topic_id"), topic_ids, "interests", "topics")
    offsets, values = _compressed(rows, columns, len(subscriber_ids), len(topic_ids))
    sizes = topic_rows.whole("message_bytes")[order] if topic_rows.has("message_bytes") else None
    with atomic_directory(Path(out), marker=MANIFEST, replace=replace) as staging:
        entries = []
        for block in range(num_blocks(len(subscriber_ids))):
            first, last = block_range(block, len(subscriber_ids))
            some = values[offsets[first] : offsets[last]]
            kept = {name: numbers[first:last] for name, numbers in optional.items()}
            ids = subscriber_ids.slice(first, last - first)
            entries.append(
                write_interests_block(staging, block, ids, offsets[first : last + 1] - offsets[first], some, kept)
            )
        finish_workload(
            staging,
            topic_ids=topic_ids,
            rates=topic_rows.whole("rate")[order],
            subscribers=np.bincount(values, minlength=len(topic_ids)).astype(np.int64),
            message_bytes=np.full(len(topic_ids), message_bytes, np.int64) if sizes is None else sizes,
            interests=entries,
            window=window or Window(),
            sources=[{"made": "from tables"}],
            rows={"rows_in": len(rows), "kept": len(values), "rejected": {}, "duplicates": len(rows) - len(values)},
            optional={"cost": topic_rows.whole("cost")[order]} if topic_rows.has("cost") else None,
        )
    return read_workload(out, TOPIC)


class _Columns:
    """The columns of a table that somebody gave, checked as they are asked for."""

    def __init__(self, name: str, given: Any) -> None:
        self._name = name
        try:
            is_pandas = type(given).__module__.split(".")[0] == "pandas"
            self._table = pa.Table.from_pandas(given, preserve_index=False) if is_pandas else pa.table(given)
        except (TypeError, ValueError, pa.ArrowInvalid) as error:
            raise InputError(f"The {name} are not a table: {error}") from error

    def has(self, column: str) -> bool:
        return column in self._table.column_names

    def text(self, column: str) -> pa.Array:
        """A column of ids."""
        values = self._column(column)
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            raise InputError(f"{self._name}.{column} must be text, not {kind}: make ids text first.")
        return pc.cast(values, pa.string())

    def whole(self, column: str) -> Int64Array:
        """A column of whole numbers."""
        values = self._column(column)
        if not pa.types.is_integer(values.type):
            raise InputError(f"{self._name}.{column} must be whole numbers, not {values.type}.")
        try:
            numbers: Int64Array = pc.cast(values, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as error:
            raise InputError(f"{self._name}.{column} does not fit 64 bits: {error}") from error
        return numbers

    def sorted_ids(self, column: str) -> tuple[pa.Array, Int64Array]:
        """The ids by their UTF-8 bytes, and the rows that they are in."""
        ids = self.text(column)
        order: Int64Array = pc.sort_indices(ids).to_numpy().astype(np.int64)
        sorted_ids = ids.take(pa.array(order))
        repeated = pc.equal(sorted_ids.slice(1), sorted_ids.slice(0, max(0, len(ids) - 1)))
        if pc.any(repeated).as_py():
            name = sorted_ids.slice(1).filter(repeated)[0].as_py()
            raise InputError(f"{self._name}.{column} has {name!r} twice.")
        return sorted_ids, order

    def _column(self, column: str) -> pa.Array:
        if not self.has(column):
            raise InputError(f"The {self._name} have no column {column}; they have {listed(self._table.column_names)}.")
        values = self._table[column].combine_chunks()
        if values.null_count:
            raise InputError(f"{self._name}.{column} has {values.null_count:,} nulls.")
        return values


def _sorted(ids: pa.Array) -> pa.Array:
    return ids.take(pc.sort_indices(ids))


def _numbers(names: pa.Array, known: pa.Array, table: str, other: str) -> Int64Array:
    """The positions of names among ``known``, the ids of another table."""
    numbers = pc.index_in(names, value_set=known)
    if numbers.null_count:
        missing = pc.unique(names.filter(pc.is_null(numbers))).to_pylist()
        raise InputError(f"The {table} name {listed(list(map(repr, missing)), 3)}, which the {other} do not have.")
    positions: Int64Array = numbers.to_numpy().astype(np.int64)
    return positions


def _compressed(
    rows: Int64Array, columns: Int64Array, num_rows: int, num_columns: int
) -> tuple[Int64Array, Int32Array]:
    """Pairs as compressed rows, each ascending and without repetition."""
    keys = np.unique(rows * max(1, num_columns) + columns)
    offsets: Int64Array = np.zeros(num_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys // max(1, num_columns), minlength=num_rows), out=offsets[1:])
    return offsets, (keys % max(1, num_columns)).astype(np.int32)
