"""Raw tables for the pipeline, and a short way to ingest them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.pipeline import Ingest, Source, ingest
from pubplan.workload import Workload

EVENTS = [("a", 10), ("b", 20), ("a", 30), ("c", 40), ("a", 50)]
SUBSCRIPTIONS = [("x", "a"), ("x", "b"), ("y", "a"), ("z", "c")]


def rows(columns: Sequence[str], values: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=False)) for row in values]


def write_csv(path: Path, table: Sequence[Mapping[str, Any]], delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, fieldnames=list(table[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(table)
    return path


def write_json_lines(path: Path, table: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), encoding="utf-8")
    return path


def write_parquet_rows(path: Path, table: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in table]), path)
    return path


def no_spark(_: object) -> Any:
    raise AssertionError("Spark is not needed for this")


@pytest.fixture
def events(tmp_path: Path) -> Source:
    return Source("events", str(write_csv(tmp_path / "events.csv", rows(["topic", "timestamp"], EVENTS))))


@pytest.fixture
def subscriptions(tmp_path: Path) -> Source:
    table = rows(["subscriber", "topic"], SUBSCRIPTIONS)
    return Source("subscriptions", str(write_csv(tmp_path / "subscriptions.csv", table)))


@pytest.fixture
def run(spark, tmp_path: Path) -> Callable[..., Workload]:
    """Ingests two sources with options."""
    numbers = iter(range(1000))

    def call(traffic: Source, audience: Source, **options: Any) -> Workload:
        return ingest(spark, Ingest(traffic, audience, **options), tmp_path / f"workload-{next(numbers)}")

    return call


def interests_of(workload: Workload) -> dict[str, list[str]]:
    """What each subscriber wants, by id."""
    names = workload.topics("topic_id")["topic_id"].to_pylist()
    interests = {}
    for block in range(workload.num_blocks):
        for row in workload.interests_block(block).to_pylist():
            interests[row["subscriber_id"]] = [names[topic] for topic in row["topics"]]
    return interests


def rates_of(workload: Workload) -> dict[str, int]:
    table = workload.topics("topic_id", "rate")
    return dict(zip(table["topic_id"].to_pylist(), table["rate"].to_pylist(), strict=True))
