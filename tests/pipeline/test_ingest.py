"""From raw tables to a workload: nothing is lost silently, and order does not matter."""

from __future__ import annotations

import bz2
import gzip
import json
import random
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.generate import generate, spotify, uniform, write_raw
from pubplan.pipeline import Ingest, Source, TimeWindow, ingest
from pubplan.pipeline.clean import REASONS
from pubplan.workload import Window, numbered_ids

from .conftest import (
    EVENTS,
    SUBSCRIPTIONS,
    interests_of,
    rates_of,
    rows,
    write_csv,
    write_json_lines,
    write_parquet_rows,
)

ODD_IDS = [
    'quo"te',
    "com,ma",
    "new\nline",
    "carriage\r\nreturn",
    "tab\there",
    "emoji 🎧",
    "שלום",
    "nul\0byte",
    "long" * 25_000,
    str(2**63 - 1),
    " padded ",
    "'; drop table topics; --",
]


def test_a_small_trace(run, events: Source, subscriptions: Source) -> None:
    """Events are counted per topic, interests grouped per subscriber, the window is the trace's span."""
    workload = run(events, subscriptions)
    assert rates_of(workload) == {"a": 3, "b": 1, "c": 1}
    assert interests_of(workload) == {"x": ["a", "b"], "y": ["a"], "z": ["c"]}
    window = workload.manifest.window
    assert (window.start, window.end, window.seconds) == ("1970-01-01T00:00:10Z", "1970-01-01T00:00:50Z", 40.0)
    assert workload.topic_array("subscribers").tolist() == [2, 1, 1]
    assert workload.topic_array("message_bytes").tolist() == [200] * 3
    assert (workload.counts.rows_in, workload.counts.kept) == (9, 9)
    workload.check()
    assert not (workload.path / "rejected").exists()
    assert not (workload.path / "scratch").exists()


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "csv.bz2", "tsv", "jsonl", "parquet", "directory", "glob"])
def test_every_format_gives_the_same_workload(run, tmp_path: Path, events, subscriptions, kind: str) -> None:
    """Parquet, CSV, TSV, JSON lines, compressed, in a directory or behind a glob."""
    table = rows(["topic", "timestamp"], EVENTS)
    plain = write_csv(tmp_path / "plain" / "e.csv", table)
    path: Path | str = tmp_path / f"e.{kind}"
    if kind == "csv":
        path = plain
    elif kind == "csv.gz":
        Path(path).write_bytes(gzip.compress(plain.read_bytes()))
    elif kind == "csv.bz2":
        Path(path).write_bytes(bz2.compress(plain.read_bytes()))
    elif kind == "tsv":
        write_csv(Path(path), table, "\t")
    elif kind == "jsonl":
        write_json_lines(Path(path), table)
    elif kind == "parquet":
        write_parquet_rows(Path(path), table)
    else:
        for number in range(3):
            write_csv(tmp_path / "many" / "deep" / f"part-{number}.csv", table[number::3])
        (tmp_path / "many" / "_SUCCESS").touch()
        path = tmp_path / "many" if kind == "directory" else f"{tmp_path}/many/deep/part-*.csv"
    assert run(Source("events", str(path)), subscriptions).digest == run(events, subscriptions).digest


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1000), ("us", 1_000_000)])
@pytest.mark.parametrize("stored", ["text", "number"])
def test_integer_timestamps(run, tmp_path: Path, events, subscriptions, unit, factor, stored) -> None:
    """Seconds, milliseconds and microseconds, as numbers or as text."""
    kind = str if stored == "text" else int
    table = [{"topic": topic, "timestamp": kind(time * factor)} for topic, time in EVENTS]
    source = Source("events", str(write_parquet_rows(tmp_path / "e.parquet", table)))
    assert run(source, subscriptions, timestamp_unit=unit).digest == run(events, subscriptions).digest


def test_iso_timestamps(run, tmp_path: Path, events, subscriptions) -> None:
    """With Z, with an offset, with a fraction, and as Parquet timestamps."""
    forms = ["1970-01-01T00:00:10Z", "1970-01-01T02:00:20+02:00", "1970-01-01 00:00:30", "1970-01-01T00:00:40.000Z"]
    table = [
        {"topic": topic, "timestamp": text}
        for (topic, _), text in zip(EVENTS, [*forms, "1970-01-01T00:00:50"], strict=True)
    ]
    expected = run(events, subscriptions).digest
    assert run(Source("events", str(write_csv(tmp_path / "i.csv", table))), subscriptions).digest == expected
    typed = [{"topic": t, "timestamp": datetime.fromtimestamp(s, UTC)} for t, s in EVENTS]
    source = Source("events", str(write_parquet_rows(tmp_path / "i.parquet", typed)))
    assert run(source, subscriptions).digest == expected


def test_ready_rates(run, tmp_path: Path, subscriptions) -> None:
    """Rates instead of events; rows of one topic add up, sizes are weighted by rate and rounded up.

    a: 2 events of 100 bytes and 1 of 150: 350 / 3 = 116.7, so 117.
    """
    table = rows(["topic", "rate", "size"], [("a", 2, 100), ("a", 1, 150), ("b", 1, 7), ("c", 0, 9)])
    workload = run(Source("rates", str(write_csv(tmp_path / "r.csv", table))), subscriptions)
    assert rates_of(workload) == {"a": 3, "b": 1, "c": 0}
    assert workload.topic_array("message_bytes").tolist() == [117, 7, 200]
    assert workload.manifest.window.seconds is None
    assert (workload.counts.rows_in, workload.counts.kept, workload.counts.duplicates) == (8, 8, 0)


def test_a_follow_graph(run, tmp_path: Path, events, subscriptions) -> None:
    """An edge list without header, followers first."""
    (tmp_path / "edges.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in SUBSCRIPTIONS))
    source = Source("follows", str(tmp_path / "edges.tsv"), has_header=False)
    assert run(events, source).digest == run(events, subscriptions).digest


def test_columns_with_other_names(run, tmp_path: Path, events, subscriptions) -> None:
    """Columns are mapped; dots, spaces and further columns do not disturb."""
    table = [{"the artist": t, "when.exactly": s, "other": "x", "topic": "wrong"} for t, s in EVENTS]
    mapping = {"topic": "the artist", "timestamp": "when.exactly"}
    expected = run(events, subscriptions).digest
    for path in (write_csv(tmp_path / "m.csv", table), write_parquet_rows(tmp_path / "m.parquet", table)):
        assert run(Source("events", str(path), columns=mapping), subscriptions).digest == expected


def test_thresholds_and_weights(run, tmp_path: Path, events) -> None:
    """Optional columns of subscriptions reach the workload; the largest of several counts."""
    columns = ["subscriber", "topic", "threshold", "weight"]
    table = rows(columns, [("x", "a", 5, 1), ("x", "b", 7, 1), ("y", "a", 2, 3)])
    workload = run(events, Source("subscriptions", str(write_csv(tmp_path / "s.csv", table))))
    assert workload.optional_columns == {"threshold", "weight"}
    assert workload.subscriber_array("threshold").tolist() == [7, 2]
    assert workload.subscriber_array("weight").tolist() == [1, 3]


def test_costs(run, tmp_path: Path, subscriptions) -> None:
    """The optional cost of rates reaches the topics, by number; rates add up, and the largest of several costs counts.

    a comes in three rows with the costs 5, 9 and 0; the rows of the file are in no order.
    """
    columns = ["topic", "rate", "cost"]
    table = rows(columns, [("c", 4, 0), ("a", 2, 5), ("b", 1, 2**40), ("a", 1, 9), ("a", 0, 0)])
    expected = pubplan.build_workload(
        tmp_path / "expected",
        {"a": 3, "b": 1, "c": 4},
        {"x": ["a", "b"], "y": ["a"], "z": ["c"]},
        costs={"a": 9, "b": 2**40, "c": 0},
    )
    for extension, write in (("jsonl", write_json_lines), ("parquet", write_parquet_rows)):
        workload = run(Source("rates", str(write(tmp_path / f"r.{extension}", table))), subscriptions)
        assert workload.optional_topic_columns == {"cost"}
        assert workload.topic_array("cost").tolist() == [9, 2**40, 0]
        assert workload.digest == expected.digest
        assert (workload.counts.rows_in, workload.counts.kept, workload.counts.duplicates) == (9, 9, 0)
        workload.check()


def test_costs_may_have_another_name_none_or_a_place(run, tmp_path: Path, subscriptions) -> None:
    """Like other columns the cost is mapped, left out, or the fourth without a header; events have none."""
    table = rows(["topic", "rate", "size", "fee"], [("a", 2, 7, 5), ("b", 1, 7, 6), ("c", 4, 7, 8)])
    path = write_csv(tmp_path / "fees.csv", table)
    named = run(Source("rates", str(path), columns={"cost": "fee"}), subscriptions)
    assert named.topic_array("cost").tolist() == [5, 6, 8]
    assert run(Source("rates", str(path)), subscriptions).optional_topic_columns == frozenset()
    (tmp_path / "bare.csv").write_text(path.read_text().partition("\n")[2])
    headless = Source("rates", str(tmp_path / "bare.csv"), has_header=False)
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"{s},{t}\n" for s, t in SUBSCRIPTIONS))
    assert run(headless, Source("follows", str(edges), has_header=False)).digest == named.digest
    own = write_csv(tmp_path / "own.csv", [{**row, "cost": "dear"} for row in table])
    left_out = run(Source("rates", str(own), columns={"cost": ""}), subscriptions)
    assert left_out.optional_topic_columns == frozenset()
    with pytest.raises(InputError, match="column of events 'cost'"):
        Source("events", "e", columns={"cost": "fee"})


@pytest.mark.parametrize("stored", ["csv", "parquet"])
def test_bad_costs_are_counted_and_kept(run, tmp_path: Path, subscriptions, stored: str) -> None:
    """Negative and broken costs reject their row, whose rate does not count; of two faults the first is named.

    Of eight rows a keeps two, one of them without a cost, b and c one each; the ghost has no usable row.
    """
    values: list[tuple[object, object, object]] = [("a", 1, 3), ("b", 2, 4), ("c", 3, 5), ("a", 100, None)]
    values += [("a", 100, -1), ("ghost", 1, 0.5), ("b", -1, -1), (None, 1, -1)]
    write = write_csv if stored == "csv" else write_parquet_rows
    source = Source("rates", str(write(tmp_path / f"r.{stored}", rows(["topic", "rate", "cost"], values))))
    workload = run(source, subscriptions, max_rejected=0.9)
    assert rates_of(workload) == {"a": 101, "b": 2, "c": 3}
    assert workload.topic_array("cost").tolist() == [3, 4, 5]
    first = workload.manifest.sources[0]
    assert first["rejected"] == {"bad_cost": 2, "bad_rate": 1, "missing_id": 1}
    assert (first["rows_in"], first["kept"], first["duplicates"]) == (8, 4, 0)
    table = pq.read_table(workload.path / "rejected")
    assert Counter(table["reason"].to_pylist()) == first["rejected"]
    with pytest.raises(InputError, match=r"bad_cost: 2 rows; the cost is negative or not a whole number"):
        run(source, subscriptions)


def test_unknown_topics_cost_nothing(run, tmp_path: Path) -> None:
    """With keep_unknown a topic that only subscriptions name gets rate and cost 0, between the others."""
    traffic = write_csv(tmp_path / "r.csv", rows(["topic", "rate", "cost"], [("c", 1, 8), ("a", 3, 5)]))
    wanted = rows(["subscriber", "topic"], [*SUBSCRIPTIONS, ("x", "ghost")])
    audience = Source("subscriptions", str(write_csv(tmp_path / "s.csv", wanted)))
    workload = run(Source("rates", str(traffic)), audience, keep_unknown=True)
    assert rates_of(workload) == {"a": 3, "b": 0, "c": 1, "ghost": 0}
    assert workload.topic_array("cost").tolist() == [5, 0, 8, 0]


def test_costs_do_not_depend_on_files_and_their_order(run, tmp_path: Path) -> None:
    """Rates in 7 files, several rows per topic in any order: the digest of the workload made by hand."""
    rng = random.Random(5)
    table = [{"topic": f"t{n}", "rate": 1 + n, "cost": rng.randrange(1000)} for n in range(40) for _ in range(5)]
    wanted = {f"s{n}": [f"t{n}", f"t{(3 * n) % 40}"] for n in range(40)}
    shuffled = rng.sample(table, len(table))
    for part in range(7):
        write_csv(tmp_path / "rates" / f"{part}.csv", shuffled[part::7])
    pairs = [{"subscriber": s, "topic": t, "weight": len(s)} for s, topics in wanted.items() for t in topics]
    reference = pubplan.build_workload(
        tmp_path / "reference",
        {f"t{n}": 5 * (1 + n) for n in range(40)},
        wanted,
        weights={subscriber: len(subscriber) for subscriber in wanted},
        costs={f"t{n}": max(row["cost"] for row in table if row["topic"] == f"t{n}") for n in range(40)},
    )
    audience = Source("subscriptions", str(write_csv(tmp_path / "pairs.csv", pairs)))
    assert run(Source("rates", str(tmp_path / "rates")), audience).digest == reference.digest


def test_odd_ids_survive(run, tmp_path: Path) -> None:
    """Quotes, commas, line breaks, emoji, right-to-left text, NUL, 100 000 letters and 64-bit integers, as they are."""
    table = [{"topic": name, "timestamp": number} for number, name in enumerate(ODD_IDS)]
    wanted = [{"subscriber": name, "topic": name} for name in ODD_IDS]
    for extension, write in (("csv", write_csv), ("jsonl", write_json_lines), ("parquet", write_parquet_rows)):
        traffic = Source("events", str(write(tmp_path / f"e.{extension}", table)), multiline=True)
        audience = Source("subscriptions", str(write(tmp_path / f"s.{extension}", wanted)), multiline=True)
        workload = run(traffic, audience)
        assert interests_of(workload) == {name: [name] for name in ODD_IDS}
        ids = workload.topics("topic_id")["topic_id"].to_pylist()
        assert ids == sorted(ODD_IDS, key=lambda name: name.encode())


def test_integer_ids_become_text(run, tmp_path: Path) -> None:
    """Numbers in Parquet, also unsigned 64-bit ones, are the same ids as in text."""
    values = pa.array([1, 2, 2**64 - 1], pa.uint64())
    pq.write_table(pa.table({"topic": values, "timestamp": [1, 2, 3]}), tmp_path / "e.parquet")
    table = rows(["subscriber", "topic"], [(7, str(2**64 - 1)), (7, "1")])
    audience = Source("subscriptions", str(write_csv(tmp_path / "s.csv", table)))
    workload = run(Source("events", str(tmp_path / "e.parquet")), audience)
    assert interests_of(workload) == {"7": ["1", str(2**64 - 1)]}


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
    found = Counter(zip(table["source"].to_pylist(), table["reason"].to_pylist(), strict=True))
    expected = {("events", reason): n for reason, n in first["rejected"].items()}
    expected |= {("subscriptions", reason): n for reason, n in second["rejected"].items()}
    assert found == expected
    assert "{not json" in table["row"].to_pylist()
    assert any("yesterday" in row for row in table["row"].to_pylist())
    workload.check()
    assert {reason for _, reason in found} <= set(REASONS)


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


def test_events_are_counted_once_per_id_only_when_asked(run, tmp_path: Path, subscriptions) -> None:
    """Repeated events count, unless an event id is named; then copies are duplicates."""
    table = rows(["topic", "timestamp", "event"], [("a", 1, "e1"), ("a", 1, "e1"), ("b", 2, "e2"), ("c", 3, "e3")])
    path = str(write_csv(tmp_path / "e2.csv", table))
    assert rates_of(run(Source("events", path), subscriptions)) == {"a": 2, "b": 1, "c": 1}
    once = run(Source("events", path, columns={"event": "event"}), subscriptions)
    assert rates_of(once) == {"a": 1, "b": 1, "c": 1}
    source = once.manifest.sources[0]
    assert (source["rows_in"], source["kept"], source["duplicates"]) == (4, 3, 1)


@pytest.mark.parametrize("files", [1, 7, 64])
def test_files_and_their_order_do_not_matter(run, tmp_path: Path, files: int) -> None:
    """The same trace in 1, 7 or 64 files, rows in any order, gives the same digest."""
    rng = random.Random(5)
    table = [{"topic": f"t{rng.randrange(40)}", "timestamp": rng.randrange(10_000), "size": 3} for _ in range(3000)]
    wanted = [{"subscriber": f"s{rng.randrange(300)}", "topic": f"t{rng.randrange(40)}"} for _ in range(2000)]
    known = {row["topic"] for row in table}
    wanted = [row for row in wanted if row["topic"] in known]
    fixed = TimeWindow.parse("1970-01-01", "1970-01-02")

    def split(name: str, whole: list[dict[str, object]], number: int, seed: int) -> str:
        shuffled = random.Random(seed).sample(whole, len(whole))
        names = random.Random(seed).sample(range(1000), number)
        for part in range(number):
            write_csv(tmp_path / f"{name}-{number}" / f"{names[part]}.csv", shuffled[part::number])
        return str(tmp_path / f"{name}-{number}")

    def digest(number: int, seed: int) -> str:
        traffic = Source("events", split("e", table, number, seed))
        audience = Source("subscriptions", split("s", wanted, number, seed))
        return run(traffic, audience, window=fixed).digest

    reference = pubplan.build_workload(
        tmp_path / "reference",
        Counter(row["topic"] for row in table),
        {s: [w["topic"] for w in wanted if w["subscriber"] == s] for s in {w["subscriber"] for w in wanted}},
        message_bytes=3,
        window=Window("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", 86_400.0),
    )
    assert digest(files, seed=files) == reference.digest


@pytest.mark.parametrize("name", ["spotify", "uniform"])
def test_a_raw_trace_gives_its_workload_back(spark, tmp_path: Path, name: str) -> None:
    """generate --raw, then ingest: the same digest."""
    shape = spotify(0.001, seed=4) if name == "spotify" else uniform(300, 50, seed=4)
    workload = generate(shape, tmp_path / "workload")
    write_raw(shape, tmp_path / "raw")
    job = Ingest(
        Source("events", str(tmp_path / "raw" / "events")),
        Source("subscriptions", str(tmp_path / "raw" / "subscriptions")),
        TimeWindow.parse(shape.window.start, shape.window.end),
        timeless=shape.window.start is None,
    )
    assert ingest(spark, job, tmp_path / "back").digest == workload.digest


def test_many_blocks_and_parts(spark, tmp_path: Path, monkeypatch, spotify) -> None:
    """Blocks are cut across the files of the sorted parts, whatever their sizes."""
    monkeypatch.setattr(sys.modules["pubplan.pipeline.ingest"], "PAIRS_PER_PART", 30_000)
    names = spotify.topics("topic_id", "rate", "message_bytes")
    pq.write_table(names.rename_columns(["topic", "rate", "size"]), tmp_path / "rates.parquet")
    interests, ids = spotify.csr().by_subscriber, names["topic_id"].combine_chunks()
    subscribers = np.repeat(np.arange(interests.num_rows), np.diff(interests.offsets))
    order = np.random.default_rng(3).permutation(len(subscribers))
    pairs = {
        "subscriber": numbered_ids("s", 0, interests.num_rows).take(pa.array(subscribers[order])),
        "topic": ids.take(pa.array(interests.values[order])),
    }
    pq.write_table(pa.table(pairs), tmp_path / "pairs.parquet")
    job = Ingest(
        Source("rates", str(tmp_path / "rates.parquet")),
        Source("subscriptions", str(tmp_path / "pairs.parquet")),
        TimeWindow.parse(spotify.manifest.window.start, spotify.manifest.window.end),
    )
    assert ingest(spark, job, tmp_path / "back").digest == spotify.digest


def test_replacing(spark, tmp_path: Path, events, subscriptions) -> None:
    """An existing workload is refused before any work, or replaced when asked."""
    job = Ingest(events, subscriptions)
    ingest(spark, job, tmp_path / "w")
    with pytest.raises(InputError, match="--replace"):
        ingest(spark, job, tmp_path / "w")
    assert ingest(spark, job, tmp_path / "w", replace=True).counts.pairs == 4


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
            "--column",
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
        return many, ["csv, json", "--format"]
    if fault == "unknown":
        return write_csv(tmp_path / "events.dat", table), ["events.dat", "--format"]
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


def test_the_input_is_left_alone(run, tmp_path: Path, events, subscriptions) -> None:
    """Nothing is written beside the sources."""
    before = shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-before")
    run(events, subscriptions)
    names = {path.name for path in tmp_path.iterdir()} - {path.name for path in Path(before).iterdir()}
    assert {name for name in names if not name.startswith("workload")} == set()
