"""The data pipeline: from raw tables to a workload, as a list of named steps."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pubplan.arguments import argument
from pubplan.engine import LazySpark, interruptible, read_parquet, stage, started
from pubplan.errors import InputError
from pubplan.files import atomic_directory
from pubplan.pipeline.accounts import RowCounts, RowTotals, describe_source, total_rows
from pubplan.pipeline.audience import AudiencePart, name_topics, wanted_topics, write_topics
from pubplan.pipeline.clean import TimeWindow, iso
from pubplan.pipeline.interests import (
    PAIRS_PER_PART,
    group_by_subscriber,
    group_here,
    write_numbered,
    write_subscribers,
)
from pubplan.pipeline.numbering import Topics, number_topics
from pubplan.pipeline.once import count_once
from pubplan.pipeline.parts import MAX_ROWS_OF_ONE_PART, Part, is_done_here, num_parts
from pubplan.pipeline.reader import Reader, open_source
from pubplan.pipeline.refusals import check_rejected, check_span, check_unit
from pubplan.pipeline.rejected import write_rejected
from pubplan.pipeline.scratch import scratch_frame
from pubplan.pipeline.source import Source
from pubplan.pipeline.traffic import add_rates, count_events, merge, per_topic
from pubplan.pipeline.values import TimestampUnit
from pubplan.pipeline.wildcards import Syntax
from pubplan.workload import (
    DEFAULT_MESSAGE_BYTES,
    MANIFEST,
    TOPIC,
    TopicWorkload,
    Window,
    finish_workload,
    read_workload,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        wildcards: whose wildcards subscriptions may have, nats or mqtt; each is expanded over the known topics.
    """

    traffic: Source
    audience: Source
    window: TimeWindow = field(default_factory=TimeWindow)
    timestamp_unit: TimestampUnit = "s"
    message_bytes: int = DEFAULT_MESSAGE_BYTES
    timeless: bool = False
    keep_unknown: bool = False
    max_rejected: float = 0.05
    wildcards: Syntax | None = None

    def __post_init__(self) -> None:
        if self.traffic.kind not in ("events", "rates") or self.audience.kind not in ("subscriptions", "follows"):
            raise InputError("Ingest takes events or rates, and subscriptions or follows.")
        if self.timestamp_unit not in ("s", "ms", "us", "ns"):
            raise InputError(f"{argument('timestamp_unit')} is s, ms, us or ns, not '{self.timestamp_unit}'.")
        if self.wildcards not in (None, "nats", "mqtt"):
            raise InputError(f"{argument('wildcards')} is nats or mqtt, not '{self.wildcards}'.")
        if not 0 <= self.max_rejected <= 1:
            raise InputError(f"{argument('max_rejected')} is a share between 0 and 1, not {self.max_rejected}.")
        if self.message_bytes < 0:
            raise InputError(f"{argument('message_bytes')} must not be negative, not {self.message_bytes}.")

    @property
    def sources(self) -> tuple[Source, ...]:
        return self.traffic, self.audience


def ingest(spark: SparkSession | LazySpark, job: Ingest, out: str | Path, *, replace: bool = False) -> TopicWorkload:
    """Read raw tables, clean, count, number and write them as a workload.

    1. Clean the traffic, and count it per topic.
    2. Number the topics by their ids.
    3. Clean the audience, and name its topics by number.
    4. Group by subscriber, number, write the interests block by block.
    5. Keep the rejected rows with their reasons; write topics and manifest.

    Raises:
        InputError: a source cannot be read, or changes meanwhile; other rows are read from it than its records are
            counted; or more of its rows are rejected than ``max_rejected`` allows.
    """
    target = Path(os.path.abspath(out))
    with atomic_directory(target, marker=MANIFEST, replace=replace) as staging, interruptible():
        scratch = _Scratch(staging / "scratch")
        with stage("looking at the sources"):  # what is wrong with the second is said before the first is read
            reader, audience = _open(spark, job)
        if not (reader.is_small and audience.is_small):
            started(spark)
        with stage(f"counting {job.traffic.kind}"):
            traffic = _count_traffic(spark, job, reader, scratch)
        with stage(f"cleaning {job.audience.kind}"):
            topics = number_topics(traffic.counted, _unknown(spark, job, audience), job.message_bytes)
            named, totals = _clean_audience(spark, job, audience, topics, scratch)
        with stage("grouping by subscriber"):
            parts = _group(spark, named, totals.kept, scratch)
        blocks, subscribers = write_numbered(parts, staging, len(topics.ids), spark)
        kept = sum(block.pairs or 0 for block in blocks)
        audience_rows = totals.counts(kept)
        with stage("keeping rejected rows"):
            total = total_rows((traffic.rows, audience_rows))
            rejected = write_rejected(
                scratch.rejected, (job.traffic.kind, job.audience.kind), total["rejected"], staging
            )
        shutil.rmtree(scratch.path)
        finish_workload(
            staging,
            topic_ids=topics.ids,
            rates=topics.rates,
            subscribers=subscribers,
            message_bytes=topics.message_bytes,
            interests=blocks,
            window=Window() if job.timeless else traffic.window,
            sources=[
                describe_source(job.traffic, reader, traffic.totals, traffic.rows),
                describe_source(job.audience, audience, totals, audience_rows) | _expansion(job, totals),
            ],
            rows=total,
            rejected=rejected,
            optional=topics.optional,
        )
    return read_workload(out, TOPIC)


def _open(spark: SparkSession | LazySpark, job: Ingest) -> tuple[Reader, Reader]:
    """Traffic and audience, local ones first: what is wrong with them is said before Spark starts."""
    sources = sorted((job.traffic, job.audience), key=lambda source: not source.is_local)
    readers = {source.kind: open_source(spark, source) for source in sources}
    if job.traffic.kind == "events" and job.max_rejected < 1:
        check_unit(job.traffic, readers["events"].samples(), job.timestamp_unit)
    return readers[job.traffic.kind], readers[job.audience.kind]


class _Scratch:
    """Directories inside the unfinished output for what tasks hand on; removed before the workload is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rejected, self.events, self.pairs = (path / name for name in ("rejected", "events", "pairs"))
        for directory in (path, self.rejected, self.events, self.pairs):
            directory.mkdir()


@dataclass(frozen=True)
class _Traffic:
    counted: pa.Table
    totals: RowTotals
    rows: RowCounts
    window: Window


def _count_traffic(spark: SparkSession | LazySpark, job: Ingest, reader: Reader, scratch: _Scratch) -> _Traffic:
    is_once = bool(job.traffic.columns.get("event"))
    if job.traffic.kind == "rates":
        work = add_rates(scratch.rejected)
    else:
        work = count_events(job.window, job.timestamp_unit, scratch.rejected, scratch.events if is_once else None)
    parts = reader.run(spark, work)
    reader.finish()
    totals = RowTotals.sum(part.totals for part in parts)
    totals.check(job.traffic)
    check_rejected(job.traffic, totals.rejected, totals.rows, job.max_rejected, scratch.rejected, job.timestamp_unit)
    firsts = [part.first for part in parts if part.first is not None]
    lasts = [part.last for part in parts if part.last is not None]
    first, last, kept = min(firsts, default=None), max(lasts, default=None), totals.kept
    if is_once:
        files = [file for part in parts for file in part.files]
        counts, kept, first, last = count_once(spark, files, totals.kept)
    else:
        counts = merge([part.counts for part in parts])
    rows = totals.counts(kept)
    return _Traffic(per_topic(counts), totals, rows, _window(job, first, last))


def _unknown(spark: SparkSession | LazySpark, job: Ingest, audience: Reader) -> pa.Array | None:
    """The topics that good subscriptions name, where those without traffic are kept."""
    if not job.keep_unknown:
        return None
    named = audience.run(spark, wanted_topics(job.wildcards))
    return pa.concat_arrays([pa.array([], pa.string()), *named]).unique()


def _clean_audience(
    spark: SparkSession | LazySpark, job: Ingest, audience: Reader, topics: Topics, scratch: _Scratch
) -> tuple[list[AudiencePart], RowTotals]:
    lookup = scratch.path / "topics.parquet"
    write_topics(lookup, topics.ids)
    work = name_topics(lookup, scratch.pairs, scratch.rejected, job.audience.kind, job.wildcards)
    parts = audience.run(spark, work)
    audience.finish()
    totals = RowTotals.sum(part.totals for part in parts)
    totals.check(job.audience)
    check_rejected(job.audience, totals.rejected, totals.rows, job.max_rejected, scratch.rejected, job.timestamp_unit)
    return parts, totals


def _group(spark: SparkSession | LazySpark, named: list[AudiencePart], num_pairs: int, scratch: _Scratch) -> list[Part]:
    given = frozenset[str]().union(*(part.given for part in named))
    files = [file for part in named for file in part.files]
    if not files:
        return []
    names = ["subscriber_id", "topic", *sorted(given)]
    if is_done_here(num_pairs, spark):
        few = pa.concat_tables([read_parquet(path, names) for path in files])
        return write_subscribers(group_here(few), scratch.path / "parts")
    schema = "subscriber_id string, topic int, weight bigint, threshold bigint"
    session = started(spark, is_for_little=num_pairs <= MAX_ROWS_OF_ONE_PART)
    pairs = scratch_frame(session, files, schema).select(*names)
    number = num_parts(num_pairs, PAIRS_PER_PART, session)
    return write_subscribers(group_by_subscriber(pairs, number), scratch.path / "parts")


def _window(job: Ingest, first: int | None, last: int | None) -> Window:
    """The window given; ends left open are the first and last event."""
    given = job.window
    if not job.timeless:
        check_span(job.traffic, given, first, last)
    start = given.start if given.start is not None else first
    end = given.end if given.end is not None else last
    seconds = None if start is None or end is None else (end - start) / 1e6
    return Window(None if start is None else iso(start), None if end is None else iso(end), seconds)


def _expansion(job: Ingest, totals: RowTotals) -> dict[str, Any]:
    if job.wildcards is None:
        return {}
    return {"wildcards": {"syntax": job.wildcards, "subscriptions": totals.wildcards, "expanded_to": totals.expanded}}
