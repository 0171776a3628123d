"""Ingesting: counting events against DuckDB as several tools write them, the Spotify shape as rates, and clients."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import command, growth, table

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

EVENTS = int(os.environ.get("PUBPLAN_BENCH_EVENTS", "50000000"))
FILES = 16
TOPICS = 100_000
TURNS = 3
SCALES = (1 / 4, 1 / 2, 1)
CLIENTS = (250_000, 500_000, 1_000_000)


def run(directory: Path) -> None:
    _count_events(directory)
    _ingest(directory)
    _ingest_clients(directory)


def _count_events(directory: Path) -> None:
    """The same aggregation of the same files, in turns; the best of three after one that warms up."""
    import duckdb

    from pubplan.engine import spark_session

    rows = []
    with duckdb.connect() as connection, spark_session() as spark:
        for writer, write in _WRITERS.items():
            for has_sizes in (True, False):
                path = directory / f"{writer.replace(' ', '-')}-{has_sizes}"
                write(connection, spark, path, has_sizes)
                seconds = _compare(connection, spark, path, has_sizes)
                ratio = seconds["pubplan"] / seconds["DuckDB"]
                rows.append(
                    [
                        writer,
                        "with sizes" if has_sizes else "without",
                        f"{seconds['DuckDB']:.1f}",
                        f"{seconds['pubplan']:.1f}",
                        f"{ratio:.2f}",
                    ]
                )
    table(
        f"Counting {EVENTS:,} events of {TOPICS:,} topics in {FILES} files, warm, cleaning included",
        ["written by", "", "DuckDB s", "pubplan s", "ratio"],
        rows,
    )


def _events(part: int, has_sizes: bool) -> str:
    """A query for the events of one file: topics with a heavy tail, a second apart."""
    first, last = EVENTS * part // FILES, EVENTS * (part + 1) // FILES
    size = ", (i * 7919 % 1000)::integer as size" if has_sizes else ""
    topic = f"'topic-' || ({TOPICS} * pow(hash(i) / 18446744073709551616.0, 3))::integer"
    return (
        f"select {topic} as topic, to_timestamp(1700000000 + i // 100) at time zone 'UTC' as timestamp{size} "
        f"from range({first}, {last}) t(i)"
    )


def _write_duckdb(connection: Any, spark: SparkSession, path: Path, has_sizes: bool) -> None:
    path.mkdir()
    for part in range(FILES):
        connection.execute(f"copy ({_events(part, has_sizes)}) to '{path}/{part:02d}.parquet'")


def _write_pandas(connection: Any, spark: SparkSession, path: Path, has_sizes: bool) -> None:
    path.mkdir()
    for part in range(FILES):
        connection.execute(_events(part, has_sizes)).df().to_parquet(path / f"{part:02d}.parquet")


def _write_spark(connection: Any, spark: SparkSession, path: Path, has_sizes: bool) -> None:
    plain = path.with_name(f"{path.name}-plain")
    _write_duckdb(connection, spark, plain, has_sizes)
    spark.read.parquet(str(plain)).repartition(FILES).write.parquet(str(path))


def _write_csv(connection: Any, spark: SparkSession, path: Path, has_sizes: bool) -> None:
    path.mkdir()
    for part in range(FILES):
        connection.execute(f"copy ({_events(part, has_sizes)}) to '{path}/{part:02d}.csv' (header)")


_WRITERS: dict[str, Callable[..., None]] = {
    "DuckDB, Parquet": _write_duckdb,
    "pandas, Parquet": _write_pandas,
    "Spark, Parquet": _write_spark,
    "DuckDB, CSV": _write_csv,
}


def _compare(connection: Any, spark: SparkSession, path: Path, has_sizes: bool) -> dict[str, float]:
    from pubplan.pipeline import Source, TimeWindow
    from pubplan.pipeline.reader import open_source
    from pubplan.pipeline.traffic import count_events, merge, per_topic

    files = f"read_csv('{path}/*.csv')" if next(path.glob("*.csv"), None) else f"read_parquet('{path}/*.parquet')"
    sizes = "sum(size), count(size), " if has_sizes else ""
    query = f"select topic, count(*), {sizes}min(timestamp), max(timestamp) from {files} group by topic"
    rejected = path.with_name("rejected")
    rejected.mkdir(exist_ok=True)

    def with_pubplan() -> int:
        reader = open_source(spark, Source("events", str(path)))
        parts = reader.run(spark, count_events(TimeWindow(), "s", rejected, None))
        reader.finish()
        return int(per_topic(merge([part.counts for part in parts]))["rate"].to_numpy().sum())

    def with_duckdb() -> int:
        return sum(row[1] for row in connection.execute(query).fetchall())

    seconds: dict[str, list[float]] = {"DuckDB": [], "pubplan": []}
    for _ in range(1 + TURNS):
        for name, work in (("DuckDB", with_duckdb), ("pubplan", with_pubplan)):
            taken, counted = _timed(work)
            seconds[name].append(taken)
            assert counted == EVENTS
    return {name: min(taken[1:]) for name, taken in seconds.items()}


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


def _ingest_clients(directory: Path) -> None:
    from pyarrow import csv, parquet

    rows, seconds = [], []
    for number in CLIENTS:
        raw = directory / f"clients-{number}"
        made = ("--out", directory / f"content-{number}", "--raw", raw)
        command("generate", "content-newsgroups", "--clients", number, "--brokers", 100, *made)
        csv.write_csv(parquet.read_table(raw / "clients"), raw / "clients.csv")
        wall, peak = command(
            *("ingest", "--parameters", raw / "ingest.toml", "--clients", raw / "clients.csv"),
            *("--brokers", raw / "brokers", "--sites", raw / "sites", "--out", directory / f"back-{number}"),
        )
        seconds.append(wall)
        rows.append([f"{number:,}", f"{wall:.1f}", f"{peak / 1e9:.2f}"])
    table("Ingesting clients from CSV, Spark's start included", ["clients", "seconds", "peak GB"], rows)
    print(f"  growth exponent: {growth(CLIENTS, seconds):.2f}")


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer
