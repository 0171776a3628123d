"""From typed events or rates to one row per topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pubplan.pipeline.clean import Checks, exclusive

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def count_events(events: DataFrame, checks: Checks) -> DataFrame:
    """Count events per topic in one pass; the columns of :func:`_per_topic`.

    ``rate`` is the number of good events, ``bytes`` and ``sized`` the sum and number of their sizes, ``first`` and
    ``last`` their earliest and latest moment.
    """
    good = _good(checks)
    return _per_topic(
        events,
        checks,
        F.count_if(good).alias("rate"),
        F.try_sum(F.when(good, F.col("size"))).alias("bytes"),
        F.count_if(good & F.col("size").isNotNull()).alias("sized"),
        F.min(F.when(good, F.col("micros"))).alias("first"),
        F.max(F.when(good, F.col("micros"))).alias("last"),
    )


def add_rates(rates: DataFrame, checks: Checks) -> DataFrame:
    """Add up the rates of each topic, which may come in several rows; the columns of :func:`count_events`.

    Sizes are weighted by rate. A sum that leaves 64 bits is null. Where rows of one topic give different costs, the
    largest counts; ``cost`` is a column only if the rates have it.
    """
    good = _good(checks)
    costs = [F.max(F.when(good, F.col("cost"))).alias("cost")] if "cost" in rates.columns else []
    rate = F.when(good, F.col("rate")).otherwise(0)
    return _per_topic(
        rates,
        checks,
        F.try_sum(rate).alias("rate"),
        F.try_sum(F.try_multiply("size", rate)).alias("bytes"),
        F.try_sum(F.when(F.col("size").isNotNull(), rate).otherwise(0)).alias("sized"),
        *costs,
        F.lit(None).cast("bigint").alias("first"),
        F.lit(None).cast("bigint").alias("last"),
    )


def drop_repeated_events(events: DataFrame) -> DataFrame:
    """One row per event id among the good rows; ``copies`` says how many rows it stands for.

    The smallest row is kept, so that the choice does not depend on their order. Rejected rows stay as they are.
    """
    columns = ["topic", "event", "micros", "size", "raw", "reason"]
    smallest = F.min(F.struct("topic", "micros", "size", "raw")).alias("kept")
    once = (
        events.where(F.col("reason").isNull())
        .groupBy("event")
        .agg(smallest, F.count(F.lit(1)).alias("copies"))
        .select("event", "kept.*", F.lit(None).cast("string").alias("reason"), "copies")
    )
    rejected = events.where(F.col("reason").isNotNull()).withColumn("copies", F.lit(1).cast("bigint"))
    return once.select(*columns, "copies").unionByName(rejected.select(*columns, "copies"))


def _good(checks: Checks) -> Column:
    good = F.lit(True)
    for _, failed in checks:
        good &= ~F.coalesce(failed, F.lit(False))
    return good


def _per_topic(frame: DataFrame, checks: Checks, *aggregates: Column) -> DataFrame:
    """Group by topic: ``rows`` read, ``used`` (good rows, copies included), ``kept`` (good rows), the aggregates, and
    for every reason how many rows it rejects.

    Ids are looked at once per topic, afterwards: see ``settle`` in ``numbering.py``.
    """
    copies = F.col("copies") if "copies" in frame.columns else F.lit(1)
    rejected: Sequence[Column] = [
        F.sum(F.when(failed, copies).otherwise(0)).alias(reason) for reason, failed in exclusive(checks)
    ]
    return frame.groupBy("topic").agg(
        F.sum(copies).alias("rows"),
        F.sum(F.when(_good(checks), copies).otherwise(0)).alias("used"),
        F.count_if(_good(checks)).alias("kept"),
        *aggregates,
        *rejected,
    )
