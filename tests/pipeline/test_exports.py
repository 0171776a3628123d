"""What pandas, DuckDB, Spark, PostgreSQL, Kafka and NATS tools write is read; see samples/README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pubplan.errors import InputError
from pubplan.pipeline import Source

from .conftest import interests_of, rates_of, rows, write_csv

SAMPLES = Path(__file__).parent / "samples"
MS = {"timestamp_unit": "ms"}
BARE: dict[str, Any] = {"has_header": False}


@pytest.fixture
def fans(tmp_path: Path) -> Source:
    return Source("subscriptions", str(write_csv(tmp_path / "f.csv", rows(["subscriber", "topic"], [("x", "Abba")]))))


@pytest.mark.parametrize(
    ("path", "source", "options"),
    [
        ("pandas/events.csv", {}, {}),
        ("pandas/loose.csv", {}, {}),
        ("pandas/events.parquet", {}, {}),
        ("pandas/loose.parquet", {}, {}),
        ("pandas/lines.json", {}, MS),
        ("pandas/records.json", {}, MS),
        ("duckdb/events.csv", {}, {}),
        ("duckdb/events.parquet", {}, {}),
        ("duckdb/events.json", {}, {}),
        ("spark/events.csv", {**BARE, "escape": "\\"}, {}),
        ("spark/events.parquet", {}, {}),
        ("spark/events.json", {}, {}),
        ("spark/events.orc", {}, {}),
        ("postgres/events.tsv", {**BARE, "format": "copy"}, {}),
        ("postgres/events.csv", {}, {}),
        (
            "kafka/console.jsonl",
            {"columns": {"topic": "artist.name", "timestamp": "played_at", "size": "bytes"}},
            {},
        ),
    ],
    ids=lambda value: value.replace("/", "-") if isinstance(value, str) else "",
)
def test_events_are_read(run, fans: Source, path: str, source: dict[str, Any], options: dict[str, Any]) -> None:
    """Three plays of Abba with the sizes 100, 201 and 0 (mean 100.3, so 101), one of the others; four seconds."""
    workload = run(Source("events", str(SAMPLES / path), **source), fans, **options)
    assert rates_of(workload) == {'12" mix': 1, "Abba": 3, "Earth, Wind & Fire": 1}
    assert workload.topic_array("message_bytes").tolist() == [50, 101, 200]
    assert (workload.manifest.window.start, workload.manifest.window.seconds) == ("2026-03-01T10:00:00Z", 4.0)
    assert workload.counts.rejected == {}


@pytest.mark.parametrize("path", ["pandas/lines.json", "kafka/kcat.jsonl"])
def test_milliseconds_are_recognised(run, fans: Source, path: str) -> None:
    """Without the unit all rows are refused, and the refusal names the option."""
    columns = {"timestamp": "ts"} if "kcat" in path else {}
    with pytest.raises(InputError, match="pass timestamp_unit='ms'"):
        run(Source("events", str(SAMPLES / path), columns=columns), fans)


def test_kafka_and_nats(run) -> None:
    """kcat's envelopes and lines as events, NATS subjects as rates, connections with wildcards as subscribers.

    billing takes plays.> (abba, ewf) and chat.*.pop; search takes plays.abba, plays.* (abba again, ewf) and an inbox
    that has no topic: 2 connections are 5 subscriptions, of which 3 wildcards match 2 + 1 + 2 topics, so 7 rows.
    """
    audience = Source(
        "subscriptions",
        str(SAMPLES / "nats" / "connections.jsonl"),
        columns={"subscriber": "name", "topic": "subscriptions_list"},
    )
    options = {"wildcards": "nats", "max_rejected": 0.2}
    envelopes = Source("events", str(SAMPLES / "kafka" / "kcat.jsonl"), columns={"timestamp": "ts"})
    lines = Source("events", str(SAMPLES / "kafka" / "kcat.tsv"), has_header=False)
    for traffic in (envelopes, lines):
        workload = run(traffic, audience, **options, **MS)
        assert rates_of(workload) == {"chat.de.pop": 1, "plays.abba": 3, "plays.ewf": 1}
        assert workload.manifest.window.seconds == 4.0
    subjects = run(Source("rates", str(SAMPLES / "nats" / "subjects.jsonl")), audience, **options)
    wanted = {"billing": ["chat.de.pop", "plays.abba", "plays.ewf"], "search": ["plays.abba", "plays.ewf"]}
    assert interests_of(subjects) == wanted
    entry = subjects.manifest.sources[1]
    assert (entry["records"], entry["rows_in"], entry["kept"], entry["duplicates"]) == (2, 7, 5, 1)
    assert entry["rejected"] == {"unknown_topic": 1}
    assert entry["wildcards"] == {"syntax": "nats", "subscriptions": 3, "expanded_to": 5}
