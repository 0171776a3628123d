"""The columns of a topic workload's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.workload.tables import INT32_LIST, Int32Array, Int64Array

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

INTERESTS = pa.schema(
    [
        pa.field("subscriber", pa.int64(), nullable=False),
        pa.field("subscriber_id", pa.string(), nullable=False),
        pa.field("topics", INT32_LIST, nullable=False),
    ]
)

OPTIONAL_INTERESTS = {
    "threshold": pa.field("threshold", pa.int64(), nullable=False),
    "weight": pa.field("weight", pa.int64(), nullable=False),
}

MAX_TOPICS = 2**31 - 1

DEFAULT_MESSAGE_BYTES = 200
"""The message size of Setty et al., *Cost-Effective Resource Allocation* (2014), for all their traces."""


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
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(topics, pa.int32()), type=INT32_LIST)
    return _table(INTERESTS, [numbers, subscriber_ids, lists], OPTIONAL_INTERESTS, optional)


def _table(
    schema: pa.Schema,
    columns: Sequence[Any],
    optional_fields: Mapping[str, pa.Field],
    optional: Mapping[str, Int64Array] | None,
) -> pa.Table:
    """A table whose last columns are the optional ones that are given."""
    given = optional or {}
    complete = pa.schema([*schema, *(optional_fields[name] for name in given)])
    return pa.Table.from_arrays([*columns, *given.values()], schema=complete)
