"""The data pipeline: from raw tables to a workload, as a list of named steps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from pubplan.engine import digest_table, read_parquet, stage, whole_directory, write_parquet
from pubplan.errors import InputError, one_line
from pubplan.pipeline.clean import (
    REASONS,
    TimestampUnit,
    TimeWindow,
    clean_events,
    clean_rates,
    clean_subscriptions,
    iso,
    reason_checks,
)
from pubplan.pipeline.interests import PAIRS_PER_PART, group_by_subscriber, name_topics, write_numbered, write_parts
from pubplan.pipeline.numbering import RowCounts, Topics, number_topics, settle
from pubplan.pipeline.parquet_events import count_parquet_events
from pubplan.pipeline.rates import add_rates, count_events, drop_repeated_events
from pubplan.pipeline.source import Source, read_source, readable
from pubplan.workload import MANIFEST, Block, Window, Workload, finish_workload, read_workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAMPLES_PER_REASON = 3
_SAMPLE_LENGTH = 200


@dataclass(frozen=True)
class Ingest:
    """What to read and how.

    Args:
        traffic: events, or ready rates.
        audience: subscriptions, or a follow graph.
        window: the time that counts; open ends are those of the trace.
        timestamp_unit: of integer timestamps.
        message_bytes: the size of messages where no sizes are given.
        timeless: leave the window empty: the moments of the events mean nothing.
        keep_unknown: give topics that only subscriptions name the rate (and cost) 0 instead of rejecting the
            subscriptions.
        max_rejected: the largest share of rejected rows, per source, that is not an error.
    """

    traffic: Source
    audience: Source
    window: TimeWindow = field(default_factory=TimeWindow)
    timestamp_unit: TimestampUnit = "s"
    message_bytes: int = 200
    timeless: bool = False
    keep_unknown: bool = False
    max_rejected: float = 0.05

    def __post_init__(self) -> None:
        if self.traffic.kind not in ("events", "rates") or self.audience.kind not in ("subscriptions", "follows"):
            raise InputError("Ingest takes events or rates, and subscriptions or follows.")
        if self.timestamp_unit not in ("s", "ms", "us"):
            raise InputError(f"--timestamp-unit is s, ms or us, not '{self.timestamp_unit}'.")
        if not 0 <= self.max_rejected <= 1:
            raise InputError(f"--max-rejected is a share between 0 and 1, not {self.max_rejected}.")
        if self.message_bytes < 0:
            raise InputError(f"--message-bytes must not be negative, not {self.message_bytes}.")


def ingest(spark: SparkSession, job: Ingest, out: str | Path, *, replace: bool = False) -> Workload:
    """Read raw tables, clean, count, number and write them as a workload.

    1. Clean the traffic, and count it per topic.
    2. Number the topics by their ids.
    3. Clean the audience, and name its topics by number.
    4. Group by subscriber, number, write the interests block by block.
    5. Keep the rejected rows with their reasons; write topics and manifest.

    Raises:
        InputError: a source cannot be read, or more of its rows are rejected than ``max_rejected`` allows.
    """
    target = Path(os.path.abspath(out))
    with whole_directory(target, marker=MANIFEST, replace=replace) as staging, readable(job.traffic, job.audience):
        scratch = staging / "scratch"
        scratch.mkdir()
        with stage(f"counting {job.traffic.kind}"):
            traffic, counts = _clean_traffic(spark, job)
            counted, traffic_rows = settle(counts())
            _check_rejected(job, job.traffic, traffic, traffic_rows.rejected, traffic_rows.rows_in)
        with stage(f"cleaning {job.audience.kind}"):
            subscriptions = clean_subscriptions(read_source(spark, job.audience))
            unknown = _wanted_topics(subscriptions) if job.keep_unknown else None
            topics = number_topics(counted, unknown, job.message_bytes)
            named = _materialise(name_topics(subscriptions, _lookup(spark, topics, scratch)), scratch / "subscriptions")
            reasons = _reason_counts(named)
            rejected = {reason: count for reason, count in reasons.items() if reason is not None}
            _check_rejected(job, job.audience, named, rejected, sum(reasons.values()))
        with stage("grouping by subscriber"):
            num_parts = max(spark.sparkContext.defaultParallelism, -(-reasons.get(None, 0) // PAIRS_PER_PART))
            pairs = named.where(F.col("reason").isNull()).drop("raw", "reason")
            parts = write_parts(group_by_subscriber(pairs, num_parts), scratch / "parts")
        blocks, subscribers = write_numbered(parts, staging, len(topics.ids), spark)
        kept = sum(block.pairs or 0 for block in blocks)
        audience_rows = RowCounts(sum(reasons.values()), kept, rejected, sum(p.num_rows for p in parts) - kept)
        with stage("keeping rejected rows"):
            rejected_blocks = _write_rejected(
                {
                    job.traffic.kind: (traffic, traffic_rows.rejected),
                    job.audience.kind: (named, audience_rows.rejected),
                },
                staging,
            )
        shutil.rmtree(scratch)
        finish_workload(
            staging,
            topic_ids=topics.ids,
            rates=topics.rates,
            subscribers=subscribers,
            message_bytes=topics.message_bytes,
            interests=blocks,
            window=Window() if job.timeless else _window(job.window, counted),
            sources=[_describe(job.traffic, traffic_rows), _describe(job.audience, audience_rows)],
            rows=_total(traffic_rows, audience_rows),
            rejected=rejected_blocks,
            optional=topics.optional,
        )
    return read_workload(out)


def _clean_traffic(spark: SparkSession, job: Ingest) -> tuple[DataFrame, Callable[[], pa.Table]]:
    """The rows with their reasons, and a function that counts them per topic."""
    raw = read_source(spark, job.traffic)
    if job.traffic.kind == "rates":
        rates, checks = clean_rates(raw)
        return rates, lambda: add_rates(rates, checks).toArrow()
    events, checks = clean_events(raw, job.window, job.timestamp_unit)
    if "event" in events.columns:
        once = drop_repeated_events(events)
        return once, lambda: count_events(once, reason_checks()).toArrow()

    def count() -> pa.Table:
        fast = count_parquet_events(spark, job.traffic, job.window, job.timestamp_unit)
        return fast if fast is not None else count_events(events, checks).toArrow()

    return events, count


def _wanted_topics(subscriptions: DataFrame) -> pa.ChunkedArray:
    """The topics that good subscriptions name."""
    return subscriptions.where(F.col("reason").isNull()).select("topic_id").distinct().toArrow()["topic_id"]


def _lookup(spark: SparkSession, topics: Topics, scratch: Path) -> DataFrame:
    """From topic ids to numbers, as a table that every executor can read."""
    numbers = pa.array(np.arange(len(topics.ids), dtype=np.int32))
    write_parquet(scratch / "topics.parquet", pa.table({"topic_id": topics.ids, "topic": numbers}))
    return spark.read.schema("topic_id string, topic int").parquet(str(scratch / "topics.parquet"))


def _materialise(frame: DataFrame, path: Path) -> DataFrame:
    """Write a step's rows once, so that later steps do not read and clean the raw table again."""
    frame.write.parquet(str(path))
    return frame.sparkSession.read.schema(frame.schema).parquet(str(path))


def _reason_counts(frame: DataFrame) -> dict[str | None, int]:
    return {row["reason"]: row["count"] for row in frame.groupBy("reason").count().collect()}


def _check_rejected(job: Ingest, source: Source, frame: DataFrame, rejected: Mapping[str, int], rows_in: int) -> None:
    bad = sum(rejected.values())
    if bad <= job.max_rejected * rows_in:
        return
    lines = [
        f"{bad:,} of {rows_in:,} rows of {source.path} ({100 * bad / rows_in:.1f} %) were rejected, more than the "
        f"{100 * job.max_rejected:g} % that --max-rejected allows:"
    ]
    for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"  {reason}: {count:,} rows; {REASONS[reason]}")
        samples = frame.where(F.col("reason") == reason).select("raw").limit(SAMPLES_PER_REASON).collect()
        lines += [f"    {one_line(row['raw'] or '', _SAMPLE_LENGTH)}" for row in samples]
    raise InputError("\n".join(lines))


def _write_rejected(sources: Mapping[str, tuple[DataFrame, Mapping[str, int]]], staging: Path) -> list[Block]:
    """The rejected rows of all sources: ``source``, ``reason`` and the row as it was read."""
    frames = [
        frame.where(F.col("reason").isNotNull()).select(
            F.lit(kind).alias("source"), "reason", F.col("raw").alias("row")
        )
        for kind, (frame, rejected) in sources.items()
        if rejected
    ]
    if not frames:
        return []
    union = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    union.write.parquet(str(staging / "scratch" / "rejected"))
    (staging / "rejected").mkdir()
    blocks: list[Block] = []
    for path in sorted((staging / "scratch" / "rejected").glob("*.parquet")):
        table = read_parquet(path)
        if table.num_rows:
            place = staging / "rejected" / f"{len(blocks):05d}.parquet"
            blocks.append(Block(table.num_rows, write_parquet(place, table), digest_table(table)))
    return blocks


def _window(given: TimeWindow, counted: pa.Table) -> Window:
    """The window given; ends left open are the first and last event."""
    start = given.start if given.start is not None else pc.min(counted["first"]).as_py()
    end = given.end if given.end is not None else pc.max(counted["last"]).as_py()
    seconds = None if start is None or end is None else (end - start) / 1e6
    return Window(None if start is None else iso(start), None if end is None else iso(end), seconds)


def _describe(source: Source, rows: RowCounts) -> dict[str, Any]:
    return {
        "kind": source.kind,
        "path": source.path,
        "format": source.format,
        "columns": dict(source.columns),
        "rows_in": rows.rows_in,
        "kept": rows.kept,
        "rejected": dict(rows.rejected),
        "duplicates": rows.duplicates,
    }


def _total(*sources: RowCounts) -> dict[str, Any]:
    reasons = sorted({reason for rows in sources for reason in rows.rejected})
    return {
        "rows_in": sum(rows.rows_in for rows in sources),
        "kept": sum(rows.kept for rows in sources),
        "rejected": {reason: sum(rows.rejected.get(reason, 0) for rows in sources) for reason in reasons},
        "duplicates": sum(rows.duplicates for rows in sources),
    }
