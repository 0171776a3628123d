"""The columns of a workload's tables, and arrays in and out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import InputError

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

TOPICS = pa.schema(
    [
        pa.field("topic", pa.int32(), nullable=False),
        pa.field("topic_id", pa.string(), nullable=False),
        pa.field("rate", pa.int64(), nullable=False),
        pa.field("subscribers", pa.int64(), nullable=False),
        pa.field("message_bytes", pa.int64(), nullable=False),
    ]
)

OPTIONAL_TOPICS = {"cost": pa.field("cost", pa.int64(), nullable=False)}

_TOPIC_LIST = pa.list_(pa.field("element", pa.int32(), nullable=False))

INTERESTS = pa.schema(
    [
        pa.field("subscriber", pa.int64(), nullable=False),
        pa.field("subscriber_id", pa.string(), nullable=False),
        pa.field("topics", _TOPIC_LIST, nullable=False),
    ]
)

OPTIONAL_INTERESTS = {
    "threshold": pa.field("threshold", pa.int64(), nullable=False),
    "weight": pa.field("weight", pa.int64(), nullable=False),
}

MAX_TOPICS = 2**31 - 1


def topics_table(
    first_topic: int,
    topic_ids: pa.Array,
    rates: Int64Array,
    subscribers: Int64Array,
    message_bytes: Int64Array,
    optional: Mapping[str, Int64Array] | None = None,
) -> pa.Table:
    """Topics ``first_topic`` … as a table."""
    numbers = np.arange(first_topic, first_topic + len(rates), dtype=np.int32)
    return _table(TOPICS, [numbers, topic_ids, rates, subscribers, message_bytes], OPTIONAL_TOPICS, optional)


def interests_table(
    first_subscriber: int,
    subscriber_ids: pa.Array,
    offsets: Int64Array,
    topics: Int32Array,
    optional: Mapping[str, Int64Array] | None = None,
) -> pa.Table:
    """Subscribers ``first_subscriber`` … with their topics, given as CSR, as a table."""
    numbers = np.arange(first_subscriber, first_subscriber + len(offsets) - 1, dtype=np.int64)
    if offsets[-1] >= 2**31:
        raise InputError("One block of subscribers has 2^31 interests or more, more than an Arrow list can hold.")
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(topics, pa.int32()), type=_TOPIC_LIST)
    return _table(INTERESTS, [numbers, subscriber_ids, lists], OPTIONAL_INTERESTS, optional)


def _table(
    schema: pa.Schema,
    columns: Sequence[Any],
    fields: Mapping[str, pa.Field],
    optional: Mapping[str, Int64Array] | None,
) -> pa.Table:
    """A table with the optional columns that are given behind the others."""
    given = optional or {}
    whole = pa.schema([*schema, *(fields[name] for name in given)])
    return pa.Table.from_arrays([*columns, *given.values()], schema=whole)


def topic_lists(table: pa.Table) -> tuple[Int64Array, Int32Array]:
    """The ``topics`` column of one block as CSR: offsets from 0, and the topics end to end, without copying them."""
    column = table.column("topics").combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=_TOPIC_LIST)
    if not pa.types.is_list(column.type) or column.type.value_type != pa.int32() or column.null_count:
        raise InputError(f"The column topics is {column.type}; expected a list of int32 in every row.")
    offsets = column.offsets.to_numpy().astype(np.int64)
    values = column.values.to_numpy()[offsets[0] : offsets[-1]] if len(offsets) else np.empty(0, np.int32)
    return offsets - offsets[:1], values


def numbered_ids(prefix: str, first: int, last: int) -> pa.Array:
    """The names ``prefix000000017`` of the numbers from ``first`` to before ``last``: text order is number order."""
    width = 9
    numbers = np.arange(first, last, dtype=np.int64)
    letters = np.empty((len(numbers), len(prefix) + width), dtype=np.uint8)
    letters[:, : len(prefix)] = np.frombuffer(prefix.encode(), dtype=np.uint8)
    for place in range(width):
        letters[:, -1 - place] = ord("0") + numbers // 10**place % 10
    offsets = np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(letters.shape[1])
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(letters.tobytes()))
