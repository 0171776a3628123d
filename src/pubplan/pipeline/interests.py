"""From clean subscriptions to numbered interests, one row per subscriber, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import functions as F

from pubplan.engine import block_range, map_blocks, num_blocks, stage, write_parquet
from pubplan.errors import InputError
from pubplan.workload import Block, Int32Array, Int64Array, topic_lists, write_interests_block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAIRS_PER_PART = 2_000_000
_PART_ROW_GROUP = 1 << 14


def group_by_subscriber(pairs: DataFrame, num_parts: int) -> DataFrame:
    """One row per subscriber with its topics ascending; subscribers ascending within and across partitions.

    ``rows`` counts the subscriptions behind it, duplicates included. Where rows of one subscriber give different
    weights or thresholds, the largest counts; a subscriber whose rows give no weight has the weight 1.
    """
    optional = [name for name in ("weight", "threshold") if name in pairs.columns]
    largest = {"weight": F.coalesce(F.max("weight"), F.lit(1).cast("bigint")), "threshold": F.max("threshold")}
    return (
        pairs.repartitionByRange(num_parts, "subscriber_id")
        .groupBy("subscriber_id")
        .agg(
            F.sort_array(F.collect_set("topic")).alias("topics"),
            F.count(F.lit(1)).alias("rows"),
            *(largest[name].alias(name) for name in optional),
        )
        .sortWithinPartitions("subscriber_id")
    )


@dataclass(frozen=True)
class Part:
    """A file of consecutive subscribers, and how many subscriptions they came from."""

    path: Path
    num_subscribers: int
    num_rows: int


def write_parts(grouped: DataFrame, directory: Path) -> list[Part]:
    """Write every partition as one file, in the task that made it; the files are in subscriber order."""
    directory.mkdir()

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        table = pa.Table.from_batches(held)
        without = table["threshold"].null_count if "threshold" in table.column_names else 0
        write_parquet(_part_path(directory, context.partitionId()), table, row_group_rows=_PART_ROW_GROUP)
        rows = int(np.asarray(table["rows"]).sum())
        yield pa.RecordBatch.from_pydict(
            {"part": [context.partitionId()], "subscribers": [table.num_rows], "rows": [rows], "without": [without]}
        )

    schema = "part bigint, subscribers bigint, rows bigint, without bigint"
    found = grouped.mapInArrow(write, schema).toArrow().sort_by("part")
    without = sum(found["without"].to_pylist())
    if without:
        raise InputError(
            f"{without:,} subscribers have no threshold, and others have. Give every subscriber one in at least one "
            "row, or leave thresholds out with --column subscriptions.threshold="
        )
    return [Part(_part_path(directory, row["part"]), row["subscribers"], row["rows"]) for row in found.to_pylist()]


def write_numbered(
    parts: list[Part], directory: Path, num_topics: int, spark: SparkSession | None
) -> tuple[list[Block], Int64Array]:
    """Number the subscribers in order, write the blocks of ``interests/``, and count the subscribers of each topic."""
    total = sum(part.num_subscribers for part in parts)
    write = _block_writer(parts, directory, total)
    blocks, subscribers = [], np.zeros(num_topics, dtype=np.int64)
    with stage("writing interests", num_blocks(total)) as advance:
        for block, topics, counts in map_blocks(write, num_blocks(total), spark):
            blocks.append(block)
            subscribers[topics] += counts
            advance(1)
    return blocks, subscribers


def _block_writer(
    parts: list[Part], directory: Path, total: int
) -> Callable[[int], tuple[Block, Int32Array, Int64Array]]:
    firsts = np.cumsum([0, *(part.num_subscribers for part in parts)])

    def write(block: int) -> tuple[Block, Int32Array, Int64Array]:
        first, last = block_range(block, total)
        table = pa.concat_tables(
            _read_rows(part.path, max(0, first - start), min(part.num_subscribers, last - start))
            for part, start in zip(parts, firsts.tolist(), strict=False)
            if start < last and start + part.num_subscribers > first
        ).combine_chunks()
        offsets, topics = topic_lists(table)
        optional = {name: np.asarray(table[name]) for name in ("threshold", "weight") if name in table.column_names}
        ids = table["subscriber_id"].combine_chunks()
        entry = write_interests_block(directory, block, ids, offsets, topics, optional)
        return entry, *np.unique(topics, return_counts=True)

    return write


def _read_rows(path: Path, first: int, last: int) -> pa.Table:
    """Rows ``first`` to before ``last`` of a file, reading only the row groups they are in."""
    with pq.ParquetFile(path) as file:
        groups = range(first // _PART_ROW_GROUP, -(-last // _PART_ROW_GROUP))
        table = file.read_row_groups(list(groups), use_threads=False)
        return table.slice(first - groups.start * _PART_ROW_GROUP, last - first)


def _part_path(directory: Path, part: int) -> Path:
    return directory / f"{part:05d}.parquet"
