"""From clean events or rates to one row per topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def count_events(events: DataFrame) -> DataFrame:
    """Count events per topic, and rejected rows per reason (with a null topic), in one pass.

    ``rows`` is the number of rows read, ``rate`` that of events, ``bytes`` and ``sized`` the sum and number of their
    sizes, ``first`` and ``last`` their earliest and latest moment.
    """
    copies = F.sum("copies") if "copies" in events.columns else F.count(F.lit(1))
    return events.groupBy(_good_topic(), "reason").agg(
        copies.alias("rows"),
        F.count(F.lit(1)).alias("rate"),
        F.try_sum("size").alias("bytes"),
        F.count("size").alias("sized"),
        F.min("micros").alias("first"),
        F.max("micros").alias("last"),
    )


def add_rates(rates: DataFrame) -> DataFrame:
    """Add up the rates of each topic, which may come in several rows; the columns of :func:`count_events`.

    Sizes are weighted by rate. A sum that leaves 64 bits is null.
    """
    sized_rate = F.when(F.col("size").isNotNull(), F.col("rate")).otherwise(0)
    return rates.groupBy(_good_topic(), "reason").agg(
        F.count(F.lit(1)).alias("rows"),
        F.try_sum(F.coalesce("rate", F.lit(0))).alias("rate"),
        F.try_sum(F.try_multiply("size", "rate")).alias("bytes"),
        F.try_sum(sized_rate).alias("sized"),
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


def _good_topic() -> Column:
    return F.when(F.col("reason").isNull(), F.col("topic")).alias("topic")
