"""Rows and sources that cannot be used are counted, kept and named."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.errors import InputError
from pubplan.pipeline import Ingest, Source, TimeWindow
from pubplan.pipeline.clean import REASONS

from .conftest import (
    EVENTS,
    SUBSCRIPTIONS,
    interests_of,
    rates_of,
    rows,
    write_csv,
    write_json_lines,
)


def dirty_trace(tmp_path: Path) -> tuple[Source, Source]:
    """Ten good events and eleven bad ones; four good subscriptions, two of them twice, and five bad ones."""
    good = "".join(f"a,{second},10\r\n" for second in range(1, 11))
    bad = (
        ",1,10\r\n"  # missing_id
        '"",1,10\r\n'  # missing_id
        "a,,10\r\n"  # bad_timestamp
        "a,yesterday,10\r\n"  # bad_timestamp
        "a,99999999999999999999,10\r\n"  # bad_timestamp
        "a,500,10\r\n"  # outside_window
        "a,1,-1\r\n"  # bad_size
        "a,1,big\r\n"  # bad_size
        "a,1\r\n"  # malformed: too few fields
        "a,1,10,11\r\n"  # malformed: too many
    )
    path = tmp_path / "dirty.csv"
    path.write_bytes(b"topic,timestamp,size\r\n" + (good + bad).encode() + b"caf\xe9,1,10\r\n")  # bad_encoding
    lines = [
        {"subscriber": "x", "topic": "a", "threshold": 1},
        {"subscriber": "x", "topic": "a", "threshold": 1},
        {"subscriber": "y", "topic": "a", "threshold": 2},
        {"subscriber": "y", "topic": "a", "threshold": 2},
        {"subscriber": "x", "topic": "ghost", "threshold": 1},
        {"subscriber": None, "topic": "a", "threshold": 1},
        {"subscriber": "x", "threshold": 1},
        {"subscriber": "x", "topic": "a", "threshold": -1},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines) + "{not json\n"
    (tmp_path / "dirty.jsonl").write_text(text)
    return Source("events", str(path)), Source("subscriptions", str(tmp_path / "dirty.jsonl"))


def test_every_fault_is_counted_and_kept(run, tmp_path: Path) -> None:
    """Per source, rows in = kept + rejected + duplicates, with a reason code each, and the rows themselves."""
    traffic, audience = dirty_trace(tmp_path)
    workload = run(traffic, audience, window=TimeWindow.parse("1970-01-01", "1970-01-01T00:01"), max_rejected=0.9)
    first, second = workload.manifest.sources
    assert first["rejected"] == {
        "bad_encoding": 1,
        "bad_size": 2,
        "bad_timestamp": 3,
        "malformed": 2,
        "missing_id": 2,
        "outside_window": 1,
    }
    assert (first["rows_in"], first["kept"], first["duplicates"]) == (21, 10, 0)
    assert second["rejected"] == {"bad_threshold": 1, "malformed": 1, "missing_id": 2, "unknown_topic": 1}
    assert (second["rows_in"], second["kept"], second["duplicates"]) == (9, 2, 2)
    counts = workload.counts
    assert counts.rows_in == counts.kept + sum(counts.rejected.values()) + counts.duplicates == 30
    table = pq.read_table(workload.path / "rejected")
    rejected = Counter(zip(table["source"].to_pylist(), table["reason"].to_pylist(), strict=True))
    expected = {("events", reason): n for reason, n in first["rejected"].items()}
    expected |= {("subscriptions", reason): n for reason, n in second["rejected"].items()}
    assert rejected == expected
    assert "{not json" in table["row"].to_pylist()
    assert any("yesterday" in row for row in table["row"].to_pylist())
    workload.check()
    assert {reason for _, reason in rejected} <= set(REASONS)


def test_too_many_rejected_rows_fail(run, tmp_path: Path) -> None:
    """More than 5 % is an error that names the leading reasons with sample rows, and nothing is written."""
    traffic, audience = dirty_trace(tmp_path)
    with pytest.raises(InputError) as refusal:
        run(traffic, audience)
    said = str(refusal.value)
    assert "10 of 21 rows" in said or "11 of 21 rows" in said
    assert "bad_timestamp: 3 rows" in said
    assert "yesterday" in said
    assert list(tmp_path.glob("*workload*")) == []
    assert list(tmp_path.glob(".workload*")) == []


def test_the_limit_is_per_source(run, tmp_path: Path, events) -> None:
    """One bad subscription among many passes at 5 %, and fails at 0."""
    table = [*SUBSCRIPTIONS * 10, ("x", "ghost")]
    audience = Source("subscriptions", str(write_csv(tmp_path / "s2.csv", rows(["subscriber", "topic"], table))))
    workload = run(events, audience)
    assert workload.counts.rejected == {"unknown_topic": 1}
    assert workload.counts.duplicates == 36
    with pytest.raises(InputError, match="unknown_topic"):
        run(events, audience, max_rejected=0.0)


def test_unknown_topics_may_be_kept(run, tmp_path: Path, events) -> None:
    """With keep_unknown a topic that only subscriptions name gets rate 0."""
    table = rows(["subscriber", "topic"], [*SUBSCRIPTIONS, ("x", "ghost"), ("y", "aa")])
    audience = Source("subscriptions", str(write_csv(tmp_path / "s2.csv", table)))
    workload = run(events, audience, keep_unknown=True)
    assert rates_of(workload) == {"a": 3, "aa": 0, "b": 1, "c": 1, "ghost": 0}
    assert interests_of(workload)["x"] == ["a", "b", "ghost"]
    assert workload.counts.rejected == {}


@pytest.mark.parametrize(
    "fault",
    [
        "truncated",
        "no files",
        "nowhere",
        "column",
        "type",
        "mixed types",
        "formats",
        "unknown",
        "not parquet",
    ],
)
def test_unreadable_inputs_are_named(run, tmp_path: Path, subscriptions, fault: str) -> None:
    """Each is an error with the file or directory and what was expected."""
    path, said = make_fault(tmp_path, fault)
    with pytest.raises(InputError) as refusal:
        run(Source("events", str(path)), subscriptions)
    for part in said:
        assert part in str(refusal.value)
    assert "Traceback" not in str(refusal.value)
    assert list(tmp_path.glob("*workload*")) == []


def make_fault(tmp_path: Path, fault: str) -> tuple[Path, list[str]]:
    table = rows(["topic", "timestamp"], EVENTS)
    many = tmp_path / "many"
    many.mkdir()
    if fault == "truncated":
        whole = gzip.compress(b"topic,timestamp\n" + b"".join(b"t%d,%d\n" % (n, n) for n in range(50_000)))
        (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
        return tmp_path / "cut.csv.gz", ["cut.csv.gz", "nexpected end"]
    if fault == "no files":
        (many / "_SUCCESS").touch()
        return many, ["many has no files", "Parquet, CSV, TSV or JSON"]
    if fault == "nowhere":
        return tmp_path / "gone*.csv", ["gone*.csv"]
    if fault == "column":
        return write_csv(tmp_path / "c.csv", rows(["title", "timestamp"], EVENTS)), [
            "'topic'",
            "title, timestamp",
            "columns",
        ]
    if fault == "type":
        pq.write_table(pa.table({"topic": [1.5], "timestamp": [1]}), tmp_path / "t.parquet")
        return tmp_path / "t.parquet", ["t.parquet", "'topic' is double", "text or a whole number"]
    if fault == "mixed types":
        pq.write_table(pa.table({"topic": ["a"] * 3, "timestamp": [1] * 3}), many / "a.parquet")
        pq.write_table(pa.table({"topic": [[1]], "timestamp": [1]}), many / "b.parquet")
        return many, [".parquet"]
    if fault == "formats":
        write_csv(many / "a.csv", table)
        write_json_lines(many / "b.jsonl", table)
        return many, ["csv, json", "format="]
    if fault == "unknown":
        return write_csv(tmp_path / "events.dat", table), ["events.dat", "format="]
    (tmp_path / "p.parquet").write_text("this is not Parquet")
    return tmp_path / "p.parquet", ["p.parquet"]


def test_a_named_format_wins(run, tmp_path: Path, events, subscriptions) -> None:
    """--format reads files whatever they are called, also by the names of Spark's other sources."""
    path = write_csv(tmp_path / "events.dat", rows(["topic", "timestamp"], EVENTS))
    expected = run(events, subscriptions).digest
    assert run(Source("events", str(path), format="csv"), subscriptions).digest == expected
    pq.write_table(pa.table({"topic": [t for t, _ in EVENTS], "timestamp": [s for _, s in EVENTS]}), tmp_path / "x.bin")
    named = Source("events", str(tmp_path / "x.bin"), format="org.apache.spark.sql.parquet")
    assert run(named, subscriptions).digest == expected
    with pytest.raises(InputError, match="delta"):
        run(Source("events", str(tmp_path), format="delta"), subscriptions)


def test_wrong_jobs_are_refused() -> None:
    """Options are checked when they are given."""
    good = Source("events", "e"), Source("follows", "f")
    for wrong in ({"timestamp_unit": "h"}, {"max_rejected": 5}, {"message_bytes": -1}):
        with pytest.raises(InputError):
            Ingest(*good, **wrong)
    with pytest.raises(InputError, match="Did you mean 'topic'"):
        Source("events", "e", columns={"topics": "x"})
    with pytest.raises(InputError, match="cannot be left out"):
        Source("events", "e", columns={"topic": ""})
    with pytest.raises(InputError, match="before it starts"):
        TimeWindow.parse("2013-01-02", "2013-01-01")
    with pytest.raises(InputError, match="ISO 8601"):
        TimeWindow.parse("yesterday", None)
    with pytest.raises(InputError, match="events or rates"):
        Ingest(Source("follows", "f"), Source("events", "e"))


def test_sums_beyond_64_bits_are_refused(run, tmp_path: Path, subscriptions) -> None:
    """Rates and costs that add up to more than fits are an error, not a wrapped number."""
    table = rows(["topic", "rate"], [("a", 2**62), ("a", 2**62), ("b", 1), ("c", 1)])
    with pytest.raises(InputError, match="64 bits"):
        run(Source("rates", str(write_csv(tmp_path / "r.csv", table))), subscriptions)
    table = rows(["topic", "rate", "cost"], [("a", 1, 2**62), ("b", 1, 2**62), ("c", 1, 1)])
    with pytest.raises(InputError, match=f"total cost .* is {2**63 + 1}"):
        run(Source("rates", str(write_csv(tmp_path / "r.csv", table))), subscriptions)
    assert list(tmp_path.glob("*workload*")) == []
