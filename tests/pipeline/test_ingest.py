"""From raw tables to a workload: nothing is lost silently, and order does not matter."""

from __future__ import annotations

import bz2
import gzip
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
    with pytest.raises(InputError, match="replace=True"):
        ingest(spark, job, tmp_path / "w")
    assert ingest(spark, job, tmp_path / "w", replace=True).counts.pairs == 4


def test_the_input_is_left_alone(run, tmp_path: Path, events, subscriptions) -> None:
    """Nothing is written next to the sources."""
    before = shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-before")
    run(events, subscriptions)
    names = {path.name for path in tmp_path.iterdir()} - {path.name for path in Path(before).iterdir()}
    assert {name for name in names if not name.startswith("workload")} == set()
