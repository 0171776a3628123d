"""Counting events once per event id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import LazySpark, read_parquet, started
from pubplan.pipeline.parts import is_done_here
from pubplan.pipeline.scratch import scratch_frame
from pubplan.pipeline.traffic import LOW_BITS, merge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOW = (1 << LOW_BITS) - 1
_COUNTS = {
    "rate_low": ("micros", "count"),
    "bytes_low": ("low", "sum"),
    "bytes_high": ("high", "sum"),
    "sized_low": ("size", "count"),
    "first": ("micros", "min"),
    "last": ("micros", "max"),
}


def count_once(
    spark: SparkSession | LazySpark, files: list[Path], num_events: int
) -> tuple[pa.Table, int, int | None, int | None]:
    """Count events once per id: counts per topic, how many there are, and the first and last moment.

    Of several events with one id the smallest is kept, so that the choice does not depend on their order.

    Args:
        files: good events row by row, which tasks wrote.
        num_events: how many rows the files have.
    """
    if not files:
        return merge([]), 0, None, None
    if is_done_here(num_events, spark):
        counted = _count_here(pa.concat_tables([read_parquet(path) for path in files]))
    else:
        counted = _count_on_spark(started(spark), files)
    first, last = pc.min(counted["first"]).as_py(), pc.max(counted["last"]).as_py()
    return counted.drop_columns(["first", "last"]), int(pc.sum(counted["rate_low"]).as_py() or 0), first, last


def _count_here(events: pa.Table) -> pa.Table:
    keys = {
        "event": events["event"].dictionary_encode().combine_chunks().indices,
        "topic": events["topic"].cast(pa.binary()),  # text is ordered by its bytes, as in Spark
        "micros": events["micros"],
        "size": events["size"].fill_null(-1),  # nulls are the smallest
    }
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    ids = np.asarray(keys["event"])[np.asarray(order)]
    is_first = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
    kept = events.take(order.filter(pa.array(is_first)))
    sizes = kept["size"].fill_null(0)
    columns = {
        "topic": kept["topic"],
        "low": pc.bit_wise_and(sizes, _LOW),
        "high": pc.shift_right(sizes, LOW_BITS),
        "size": kept["size"],
        "micros": kept["micros"],
    }
    counted = pa.table(columns).group_by("topic", use_threads=False).aggregate(list(_COUNTS.values()))
    return counted.rename_columns(["topic", *_COUNTS])


def _count_on_spark(spark: SparkSession, files: list[Path]) -> pa.Table:
    from pyspark.sql import functions as F

    rows = scratch_frame(spark, files, "event string, topic string, micros bigint, size bigint")
    once = rows.groupBy("event").agg(F.min(F.struct("topic", "micros", "size")).alias("kept")).select("kept.*")
    return (
        once.groupBy("topic")
        .agg(
            F.count(F.lit(1)).alias("rate_low"),
            F.coalesce(F.sum(F.col("size").bitwiseAND(F.lit(_LOW))), F.lit(0)).alias("bytes_low"),
            F.coalesce(F.sum(F.shiftright("size", LOW_BITS)), F.lit(0)).alias("bytes_high"),
            F.count("size").alias("sized_low"),
            F.min("micros").alias("first"),
            F.max("micros").alias("last"),
        )
        .toArrow()
    )
