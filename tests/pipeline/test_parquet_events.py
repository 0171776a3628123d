"""Counting on Parquet's dictionaries gives what counting row by row gives."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.pipeline import Source, TimeWindow
from pubplan.pipeline.clean import clean_events
from pubplan.pipeline.numbering import settle
from pubplan.pipeline.parquet_events import count_parquet_events
from pubplan.pipeline.rates import count_events
from pubplan.pipeline.source import read_source

WINDOW = TimeWindow.parse("1970-01-01T00:00:10Z", "1970-01-01T00:01:00Z")


def dirty(rng: random.Random, kind: str, num_rows: int) -> pa.Table:
    """Events with every fault that a Parquet file can hold."""
    ids = [rng.choice(["a", "b", "c", "", None, "bad\ufffd", "é"]) for _ in range(num_rows)]
    seconds = [
        rng.choice([None, -5, 0, 9, 10, 30, 59, 60, 2**62 if kind == "integer" else 61]) for _ in range(num_rows)
    ]
    moments = pa.array(seconds, pa.int64())
    if kind != "integer":
        times = [None if s is None else datetime.fromtimestamp(s, UTC) for s in seconds]
        moments = pa.array(times, pa.timestamp(kind, "UTC"))
    columns = {"topic": pa.array(ids, pa.string()), "timestamp": moments}
    if rng.random() < 0.8:
        columns["size"] = pa.array([rng.choice([None, -1, 0, 7, 2**20]) for _ in range(num_rows)], pa.int32())
    return pa.table(columns)


@pytest.mark.parametrize("kind", ["us", "ms", "integer"])
@pytest.mark.parametrize("seed", range(3))
def test_both_ways_agree(spark, tmp_path: Path, kind: str, seed: int) -> None:
    """The same topics, rates, sizes, spans and reasons, over several files and row groups."""
    rng = random.Random(seed)
    whole = dirty(rng, kind, 500)
    for number in range(3):
        part = whole.slice(number * 150, 150 if number < 2 else 200)
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=64)
    source = Source("events", str(tmp_path))
    for window in (TimeWindow(), WINDOW):
        fast = count_parquet_events(spark, source, window, "s")
        events, checks = clean_events(read_source(spark, source), window, "s")
        topics, rows = settle(fast)
        expected_topics, expected_rows = settle(count_events(events, checks).toArrow())
        assert rows == expected_rows
        names = ["topic", "rows", "used", "kept", "rate", "sized", "first", "last"]
        assert (
            topics.select(names).sort_by("topic").to_pylist()
            == expected_topics.select(names).sort_by("topic").to_pylist()
        )
        sizes = [table.sort_by("topic")["bytes"].to_pylist() for table in (topics, expected_topics)]
        assert sizes[0] == [size or 0 for size in sizes[1]]


@pytest.mark.parametrize("fault", ["text times", "integer ids", "large sizes", "other schemas", "csv", "event ids"])
def test_what_is_not_plain_is_left_to_spark(spark, tmp_path: Path, fault: str) -> None:
    """Where dictionaries cannot be counted exactly, the other way is taken."""
    columns = {"topic": pa.array(["a"]), "timestamp": pa.array([1]), "size": pa.array([1])}
    if fault == "text times":
        columns["timestamp"] = pa.array(["1970-01-01"])
    elif fault == "integer ids":
        columns["topic"] = pa.array([7])
    elif fault == "large sizes":
        columns["size"] = pa.array([2**40])
    elif fault == "other schemas":
        pq.write_table(pa.table({"topic": ["b"], "timestamp": [2]}), tmp_path / "b.parquet")
    if fault == "csv":
        (tmp_path / "a.csv").write_text("topic,timestamp\na,1\n")
    else:
        pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    named = {"event": "topic"} if fault == "event ids" else {}
    assert count_parquet_events(spark, Source("events", str(tmp_path), columns=named), TimeWindow(), "s") is None
