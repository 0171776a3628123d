"""From clean subscriptions to numbered interests, one row per subscriber, in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.arguments import argument
from pubplan.engine import LazySpark
from pubplan.errors import InputError
from pubplan.pipeline.parts import Part, write_blocks, write_part, write_parts
from pubplan.workload import Block, Int32Array, Int64Array, list_column, write_interests_block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAIRS_PER_PART = 2_000_000

_TOPIC_BITS = 31
_NO_VALUE = np.iinfo(np.int64).min


def group_by_subscriber(pairs: DataFrame, num_parts: int) -> DataFrame:
    """One row per subscriber with its topics ascending; subscribers ascending within and across partitions.

    Where rows of one subscriber give different weights or thresholds, the largest counts; a subscriber whose rows give
    no weight has the weight 1.
    """
    from pyspark.sql import functions as F

    optional = [name for name in ("weight", "threshold") if name in pairs.columns]
    largest = {"weight": F.coalesce(F.max("weight"), F.lit(1).cast("bigint")), "threshold": F.max("threshold")}
    return (
        pairs.repartitionByRange(num_parts, "subscriber_id")
        .groupBy("subscriber_id")
        .agg(
            F.sort_array(F.collect_set("topic")).alias("topics"),
            *(largest[name].alias(name) for name in optional),
        )
        .sortWithinPartitions("subscriber_id")
    )


def group_here(pairs: pa.Table) -> pa.Table:
    """What :func:`group_by_subscriber` gives of the same pairs, in one part and in this process."""
    encoded = pairs["subscriber_id"].dictionary_encode().combine_chunks()
    order = pc.sort_indices(encoded.dictionary.cast(pa.binary()))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[np.asarray(order)] = np.arange(len(order))
    subscribers = ranks[np.asarray(encoded.indices)]
    once = np.unique((subscribers << _TOPIC_BITS) + np.asarray(pairs["topic"]))  # by subscriber, then by topic
    offsets = np.searchsorted(once >> _TOPIC_BITS, np.arange(len(order) + 1))
    topics = (once & ((1 << _TOPIC_BITS) - 1)).astype(np.int32)
    columns = {
        "subscriber_id": encoded.dictionary.take(order),
        "topics": pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(topics)),
    }
    for name in (name for name in ("weight", "threshold") if name in pairs.column_names):
        largest = np.full(len(order), _NO_VALUE)
        np.maximum.at(largest, subscribers, np.asarray(pairs[name].fill_null(_NO_VALUE)))
        columns[name] = pa.array(largest, mask=largest == _NO_VALUE)
    if "weight" in columns:
        columns["weight"] = columns["weight"].fill_null(1)
    return pa.table(columns)


def write_subscribers(grouped: DataFrame | pa.Table, directory: Path) -> list[Part]:
    """Write the sorted subscribers in parts.

    Raises:
        InputError: some have a threshold and others have none.
    """
    if isinstance(grouped, pa.Table):
        directory.mkdir()
        parts = [write_part(directory, 0, grouped, _without_threshold)]
    else:
        parts = write_parts(grouped, directory, _without_threshold)
    without = sum(part.counts["without"] for part in parts)
    if without:
        raise InputError(
            f"{without:,} subscribers have no threshold, but others have one. Give every subscriber one in at "
            "least one row, or leave thresholds out with "
            f"{argument('columns', {'subscriptions': {'threshold': ''}})}."
        )
    return parts


def _without_threshold(table: pa.Table) -> tuple[pa.Table, Mapping[str, int]]:
    return table, {"without": table["threshold"].null_count if "threshold" in table.column_names else 0}


def write_numbered(
    parts: list[Part], directory: Path, num_topics: int, spark: SparkSession | LazySpark
) -> tuple[list[Block], Int64Array]:
    """Number the subscribers in order, write the blocks of ``interests/``, and count the subscribers of each topic."""

    def write(block: int, table: pa.Table) -> tuple[Block, Int32Array, Int64Array]:
        offsets, topics = list_column(table, "topics")
        optional = {name: np.asarray(table[name]) for name in ("threshold", "weight") if name in table.column_names}
        ids = table["subscriber_id"].combine_chunks()
        entry = write_interests_block(directory, block, ids, offsets, topics, optional)
        return entry, *np.unique(topics, return_counts=True)

    blocks, subscribers = [], np.zeros(num_topics, dtype=np.int64)
    for block, topics, counts in write_blocks(parts, "interests", write, spark):
        blocks.append(block)
        subscribers[topics] += counts
    return blocks, subscribers
