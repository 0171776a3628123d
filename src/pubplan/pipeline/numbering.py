"""From counts per topic to numbered topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.workload import Int64Array


@dataclass(frozen=True)
class Topics:
    """Topics in number order, as arrays; ``optional`` holds the ``cost`` where rates give one."""

    ids: pa.Array
    rates: Int64Array
    message_bytes: Int64Array
    optional: Mapping[str, Int64Array]


def number_topics(counted: pa.Table, unknown: pa.Array | None, message_bytes: int) -> Topics:
    """Sort the topics by the bytes of their ids; a topic's number is its position.

    Args:
        unknown: ids without traffic, which get the rate and the cost 0; those that are counted already are left out.
        message_bytes: the size of messages where a topic has none.
    """
    ids = _flat(counted["topic"])
    rates = np.asarray(counted["rate"], dtype=np.int64)
    sizes = _mean_sizes(counted, message_bytes)
    optional = {"cost": np.asarray(counted["cost"], dtype=np.int64)} if "cost" in counted.column_names else {}
    if unknown is not None:
        extra = unknown.filter(pc.invert(pc.is_in(unknown, value_set=ids)))
        ids = pa.concat_arrays([ids, extra])
        nothing = np.zeros(len(extra), dtype=np.int64)
        rates = np.concatenate([rates, nothing])
        optional = {name: np.concatenate([values, nothing]) for name, values in optional.items()}
        sizes = np.concatenate([sizes, np.full(len(extra), message_bytes, dtype=np.int64)])
    order = pc.sort_indices(ids.cast(pa.binary()))
    positions = order.to_numpy()
    ordered = {name: values[positions] for name, values in optional.items()}
    return Topics(ids.take(order), rates[positions], sizes[positions], ordered)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([pa.array([], pa.string()), *(chunk.cast(pa.string()) for chunk in column.chunks)])


def _mean_sizes(counted: pa.Table, message_bytes: int) -> Int64Array:
    """Bytes per message, rounded up; the given size where a topic has none."""
    total = np.asarray(counted["bytes"], dtype=np.int64)
    number = np.asarray(counted["sized"], dtype=np.int64)
    return np.where(number > 0, -(-total // np.maximum(number, 1)), message_bytes)
