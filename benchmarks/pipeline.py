"""Ingesting: counting 100 million events beside DuckDB, and the full Spotify shape as rates and subscriptions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import command, growth, table

EVENTS_SCALE = 100e6 / 3.0393e9
SCALES = (1 / 4, 1 / 2, 1)


def run(directory: Path) -> None:
    _count_events(directory)
    _ingest(directory)


def _count_events(directory: Path) -> None:
    """The same aggregation, each run twice, the second time measured."""
    import duckdb

    from pubplan.engine import spark_session
    from pubplan.generate import spotify, write_raw
    from pubplan.pipeline import Source, TimeWindow
    from pubplan.pipeline.parquet_events import count_parquet_events

    write_raw(spotify(EVENTS_SCALE), directory / "events")
    path = directory / "events" / "events"
    query = (
        "select topic, count(*), sum(size), count(size), min(timestamp), max(timestamp) "
        f"from read_parquet('{path}/*.parquet') group by topic"
    )
    with duckdb.connect() as connection, spark_session() as spark:
        source = Source("events", str(path))

        def with_spark() -> int:
            counted = count_parquet_events(spark, source, TimeWindow(), "s")
            assert counted is not None
            return int(counted["rate"].to_numpy().sum())

        def with_duckdb() -> int:
            return sum(row[1] for row in connection.execute(query).fetchall())

        counted, seconds = {}, {}
        for name, work in (("DuckDB", with_duckdb), ("pubplan on Spark, cleaning included", with_spark)):
            work()
            seconds[name], counted[name] = _timed(work)
    assert len(set(counted.values())) == 1
    fastest = seconds["DuckDB"]
    rows = [[name, f"{taken:.1f}", f"{taken / fastest:.2f}"] for name, taken in seconds.items()]
    table(f"Counting {counted['DuckDB']:,} events per topic from Parquet, warm", ["who", "seconds", "ratio"], rows)


def _ingest(directory: Path) -> None:
    rows, seconds = [], []
    for scale in SCALES:
        raw = directory / f"raw-{scale}"
        command(
            "generate", "spotify", "--scale", scale, "--out", directory / f"made-{scale}", "--raw", raw, "--raw-rates"
        )
        wall, peak = command(
            *("ingest", "--parameters", raw / "ingest.toml", "--rates", raw / "rates"),
            *("--subscriptions", raw / "subscriptions", "--out", directory / f"ingested-{scale}"),
        )
        seconds.append(wall)
        rows.append([f"{scale:g}", f"{wall:.1f}", f"{peak / 1e9:.2f}"])
    table(
        "Ingesting rates and subscriptions, Spotify shape, Spark's start included",
        ["scale", "seconds", "peak GB"],
        rows,
    )
    print(f"  growth exponent: {growth(SCALES, seconds):.2f}")


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer
