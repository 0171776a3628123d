"""Files as they are met: every physical record of a source is kept, rejected or a duplicate, and none changes."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pubplan.errors import InputError
from pubplan.pipeline import Source, TimeWindow, reader
from pubplan.pipeline.files import list_files
from pubplan.workload import Workload

from .conftest import EVENTS, interests_of, rates_of, rows, write_csv, write_json_lines, write_parquet_rows


def events_of(workload: Workload) -> dict[str, object]:
    return dict(workload.manifest.sources[0])


def rejected_rows(workload: Workload) -> list[str]:
    return pq.read_table(workload.path / "rejected")["row"].to_pylist()


def test_a_stray_quote_costs_its_own_row_at_most(run, tmp_path: Path, subscriptions) -> None:
    """In TSV quotes are letters; in CSV an unclosed one rejects its line and no other; both count all lines.

    Of 2 999 TSV events one topic is called "Heroes; of 1 000 CSV rows one has an unclosed quote.
    """
    lines = [f"a\t{n}" for n in range(2998)]
    (tmp_path / "e.tsv").write_text("\n".join(["topic\ttimestamp", *lines[:1475], '"Heroes\t5', *lines[1475:]]) + "\n")
    workload = run(Source("events", str(tmp_path / "e.tsv")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {'"Heroes': 1, "a": 2998, "b": 0, "c": 0}
    lines = [f"a,{n}" for n in range(999)]
    (tmp_path / "e.csv").write_text("\n".join(["topic,timestamp", *lines[:598], '"b,598', *lines[598:]]) + "\n")
    workload = run(Source("events", str(tmp_path / "e.csv")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 999, "b": 0, "c": 0}
    source = events_of(workload)
    assert (source["records"], source["rows_in"], source["kept"], source["rejected"]) == (
        1000,
        1000,
        999,
        {"malformed": 1},
    )
    assert rejected_rows(workload) == ['"b,598']
    unquoted = run(Source("events", str(tmp_path / "e.csv"), quote="none"), subscriptions, keep_unknown=True)
    assert rates_of(unquoted) == {'"b': 1, "a": 999, "b": 0, "c": 0}


def test_line_breaks_in_fields_have_to_be_asked_for(run, tmp_path: Path, subscriptions) -> None:
    """Without multiline, both halves of such a record are malformed, and the refusal says which option helps."""
    (tmp_path / "e.csv").write_text('topic,timestamp\na,1\nb,2\nc,3\n"two\nlines",4\n')
    source = Source("events", str(tmp_path / "e.csv"))
    with pytest.raises(InputError, match=r"2 of 5 rows (.|\n)*malformed: 2 rows(.|\n)*multiline=True"):
        run(source, subscriptions)
    asked = Source("events", str(tmp_path / "e.csv"), multiline=True)
    assert rates_of(run(asked, subscriptions)) == {"a": 1, "b": 1, "c": 1, "two\nlines": 1}


@pytest.mark.parametrize("first", ["\r\n", "\n"])
def test_mixed_line_ends(run, tmp_path: Path, subscriptions, first: str) -> None:
    """A header and 100 rows that end one way, then 9 900 that end the other way: 10 000 rows, and no topic changes."""
    second = "\n" if first == "\r\n" else "\r\n"
    text = f"timestamp,topic{first}" + f"1,a{first}" * 100 + f"1,b{second}" * 9900
    (tmp_path / "e.csv").write_bytes(text.encode())
    workload = run(Source("events", str(tmp_path / "e.csv")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 100, "b": 9900, "c": 0}


def test_glued_json_objects(run, tmp_path: Path, subscriptions) -> None:
    """Two objects on a line, as `cat` makes of a file without a final line end, are two rows."""
    first = "\n".join(f'{{"topic": "a", "timestamp": {n}}}' for n in range(50))
    second = "\n".join(f'{{"topic": "b", "timestamp": {n}}}' for n in range(50))
    (tmp_path / "e.jsonl").write_text(first + second + "\n")
    workload = run(Source("events", str(tmp_path / "e.jsonl")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 50, "b": 50, "c": 0}
    assert (events_of(workload)["records"], events_of(workload)["rows_in"]) == (100, 100)


def test_hidden_directories_are_no_part_of_a_source(run, tmp_path: Path, subscriptions) -> None:
    """Unfinished output below _temporary is neither read nor rejected; partitions and links to directories are read."""
    table = [{"topic": topic, "timestamp": second} for topic, second in EVENTS]
    write_parquet_rows(tmp_path / "e" / "part-0.parquet", table)
    write_parquet_rows(tmp_path / "e" / "_temporary" / "0" / "part-1.parquet", [{"topic": "", "timestamp": 1}])
    write_parquet_rows(tmp_path / "e" / ".staging" / "part-2.parquet", table)
    write_parquet_rows(tmp_path / "e" / "_day=1" / "part-3.parquet", [{"topic": "b", "timestamp": 1}])
    write_parquet_rows(tmp_path / "elsewhere" / "part-4.parquet", [{"topic": "c", "timestamp": 1}])
    (tmp_path / "e" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "e" / "loop").symlink_to(tmp_path / "e")
    workload = run(Source("events", str(tmp_path / "e")), subscriptions)
    assert rates_of(workload) == {"a": 3, "b": 2, "c": 2}
    assert workload.counts.rejected == {}


def test_columns_without_header_are_mapped_by_position(run, tmp_path: Path, events) -> None:
    """Followee first: with the mapping ann follows a; a column mapped to nothing or to a name is an error."""
    (tmp_path / "f.csv").write_text("a,ann\nb,bob\nc,ann\n")
    columns = {"follower": "_c1", "followee": "_c0"}
    workload = run(events, Source("follows", str(tmp_path / "f.csv"), columns=columns, has_header=False))
    assert interests_of(workload) == {"ann": ["a", "c"], "bob": ["b"]}
    for columns, said in (
        ({"follower": "_c1"}, "Say which column of .*f.csv is the followee: columns={'follows': {'followee': '_cN'}}"),
        (
            {"follower": "who"},
            "read without a header: its columns are _c0 to _c1, so columns={'follows': {'follower': 'who'}}",
        ),
        ({"follower": "_c7"}, "has 2 columns, _c0 to _c1; the follower of follows is expected in _c7"),
    ):
        with pytest.raises(InputError, match=said):
            run(events, Source("follows", str(tmp_path / "f.csv"), columns=columns, has_header=False))


def test_text_that_is_not_utf_8(run, tmp_path: Path, subscriptions) -> None:
    """In Parquet, CSV and JSON such ids are rejected as bad_encoding; a valid replacement character is an id."""
    names = [b"a", b"b", b"c", b"caf\xe9", "\ufffd".encode()]
    column = pa.array(names, pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"topic": column, "timestamp": [1] * 5}), tmp_path / "e.parquet")
    (tmp_path / "e.csv").write_bytes(b"topic,timestamp\n" + b"".join(name + b",1\n" for name in names))
    lines = [b'{"topic": "' + name + b'", "timestamp": 1}\n' for name in [*names, b"\\ud800"]]
    (tmp_path / "e.jsonl").write_bytes(b"".join(lines))
    for name, number in (("e.parquet", 1), ("e.csv", 1), ("e.jsonl", 2)):
        workload = run(Source("events", str(tmp_path / name)), subscriptions, max_rejected=0.5)
        assert rates_of(workload) == {"a": 1, "b": 1, "c": 1, "\ufffd": 1}
        assert events_of(workload)["rejected"] == {"bad_encoding": number}
        assert len(rejected_rows(workload)) == number


def test_missing_optional_values_are_missing(run, tmp_path: Path, subscriptions) -> None:
    """A size in some files, some rows, or none: rows without one count, and means are taken over those with one.

    a has the sizes 10 and 20, so 15; b has none, so 200; c has one of 7.
    """
    write_csv(tmp_path / "csv" / "1.csv", rows(["topic", "timestamp"], [("a", 1), ("b", 2)]))
    write_csv(
        tmp_path / "csv" / "2.csv", rows(["topic", "size", "timestamp"], [("a", 10, 3), ("a", "", 4), ("c", 7, 4)])
    )
    write_csv(tmp_path / "csv" / "3.csv", rows(["timestamp", "topic", "size"], [(5, "a", 20)]))
    later = [{"topic": "a", "timestamp": 1}] * 150 + [{"topic": "b", "timestamp": 2}]
    later += [{"topic": t, "timestamp": 3, "size": s} for t, s in (("a", 10), ("a", 20), ("c", 7))]
    write_json_lines(tmp_path / "later.jsonl", later)
    sizes = pa.array(["10", None, "20", "7"]).dictionary_encode()
    pq.write_table(
        pa.table({"topic": ["a", "b", "a", "c"], "timestamp": [1] * 4, "size": sizes}), tmp_path / "1.parquet"
    )
    for path in ("csv", "later.jsonl", "1.parquet"):
        workload = run(Source("events", str(tmp_path / path)), subscriptions)
        assert workload.topic_array("message_bytes").tolist() == [15, 200, 7]
        assert workload.counts.rejected == {}
    pq.write_table(
        pa.table({"topic": ["a", "b", "c"], "timestamp": [1] * 3, "size": pa.nulls(3)}), tmp_path / "n.parquet"
    )
    workload = run(Source("events", str(tmp_path / "n.parquet")), subscriptions)
    assert workload.topic_array("message_bytes").tolist() == [200] * 3


def test_missing_weights_thresholds_and_costs(run, tmp_path: Path, events, subscriptions) -> None:
    """A subscriber without a weight weighs 1; a threshold or cost that only some have is refused, with the way out."""
    columns = ["subscriber", "topic", "weight", "threshold"]
    table = rows(columns, [("x", "a", 5, 3), ("x", "b", "", ""), ("y", "a", "", 2)])
    workload = run(events, Source("subscriptions", str(write_csv(tmp_path / "s1.csv", table))))
    assert workload.subscriber_array("weight").tolist() == [5, 1]
    assert workload.subscriber_array("threshold").tolist() == [3, 2]
    table = rows(columns, [("x", "a", 5, 3), ("y", "a", 1, "")])
    with pytest.raises(
        InputError, match=r"1 subscribers have no threshold.*columns={'subscriptions': {'threshold': ''}}\."
    ):
        run(events, Source("subscriptions", str(write_csv(tmp_path / "s2.csv", table))))
    table = rows(["topic", "rate", "cost"], [("a", 1, 5), ("b", 1, ""), ("c", 1, 2)])
    with pytest.raises(InputError, match=r"1 topics have no cost, 'b' for one.*columns={'rates': {'cost': ''}}"):
        run(Source("rates", str(write_csv(tmp_path / "r.csv", table))), subscriptions)


def test_partition_values_are_text(run, tmp_path: Path, subscriptions) -> None:
    """Directories such as topic=007 give columns as they are written; the null partition is a missing id."""
    for value in ("007", "a%3Db", "__HIVE_DEFAULT_PARTITION__"):
        write_parquet_rows(tmp_path / "e" / f"topic={value}" / "0.parquet", [{"timestamp": 1}])
        write_csv(tmp_path / "c" / f"topic={value}" / "0.csv", [{"timestamp": 1}])
    for name in ("e", "c"):
        source = Source("events", str(tmp_path / name))
        workload = run(source, subscriptions, keep_unknown=True, max_rejected=0.5)
        assert rates_of(workload) == {"007": 1, "a": 0, "a=b": 1, "b": 0, "c": 0}
        assert events_of(workload)["rejected"] == {"missing_id": 1}


@pytest.mark.parametrize("change", ["grows", "goes away"])
def test_a_file_that_changes_is_refused(run, tmp_path: Path, subscriptions, monkeypatch, change: str) -> None:
    """A log that is written to while it is read gives no workload."""
    path = write_csv(tmp_path / "e.csv", rows(["topic", "timestamp"], EVENTS))
    listed = list_files

    def list_then_change(source: Source):
        files = listed(source)
        if source.kind == "events":
            with path.open("a") as handle:
                handle.write("a,60\n")
        return files

    monkeypatch.setattr(reader, "list_files", list_then_change)
    if change == "goes away":
        monkeypatch.setattr(reader, "check_unchanged", lambda files: (os.remove(path), original(files)))
        original = __import__("pubplan.pipeline.files", fromlist=["check_unchanged"]).check_unchanged
    said = r"e.csv changed while it was read: it had 47 bytes, now 52" if change == "grows" else "went away"
    with pytest.raises(InputError, match=said):
        run(Source("events", str(path)), subscriptions)
    assert list(tmp_path.glob("workload*")) == []


def test_odd_names_of_files_and_directories(spark, run, tmp_path: Path) -> None:
    """Colons, brackets, braces, spaces and percent signs in the paths of sources and of the output."""
    from pubplan.pipeline import Ingest, ingest

    base = tmp_path / "a [b] {c} %20:d"
    traffic = write_csv(base / "2026-03-01T10:00.csv", rows(["topic", "timestamp"], EVENTS))
    audience = write_csv(base / "subs [1].csv", rows(["subscriber", "topic"], [("x", "a"), ("y", "zz")]))
    job = Ingest(Source("events", str(traffic)), Source("subscriptions", str(audience)), max_rejected=0.6)
    workload = ingest(spark, job, base / "out [x]:{y}")
    assert interests_of(workload) == {"x": ["a"]}
    assert rejected_rows(workload) == ["y,zz"]


def test_parts_may_differ(run, tmp_path: Path, events, subscriptions) -> None:
    """Part files with columns in another order or one more, empty ones, and Parquet without row groups."""
    table = rows(["topic", "timestamp"], EVENTS)
    write_csv(tmp_path / "c" / "0.csv", table[:2])
    write_csv(tmp_path / "c" / "1.csv", [{"timestamp": r["timestamp"], "x": 1, "topic": r["topic"]} for r in table[2:]])
    (tmp_path / "c" / "2.csv").touch()
    (tmp_path / "c" / "3.csv.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "c" / "4.csv").write_text("topic,timestamp\n")
    write_parquet_rows(tmp_path / "p" / "0.parquet", table)
    schema = pa.schema([("topic", pa.string()), ("timestamp", pa.int64())])
    with pq.ParquetWriter(tmp_path / "p" / "1.parquet", schema):
        pass
    assert pq.read_metadata(tmp_path / "p" / "1.parquet").num_row_groups == 0
    expected = run(events, subscriptions).digest
    for name in ("c", "p"):
        assert run(Source("events", str(tmp_path / name)), subscriptions).digest == expected
    only = tmp_path / "only"
    only.mkdir()
    (only / "0.csv").touch()
    with pytest.raises(InputError, match=r"0.csv is empty; expected events with topic, timestamp"):
        run(Source("events", str(only)), subscriptions)
    workload = run(Source("events", str(tmp_path / "p" / "1.parquet")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 0, "b": 0, "c": 0}


def test_how_text_is_packed(run, tmp_path: Path, events, subscriptions) -> None:
    """Compressed by any name, UTF-16 by its mark, ORC: the same workload."""
    text = "topic,timestamp\r\n" + "".join(f"{topic},{second}\r\n" for topic, second in EVENTS)
    files = {
        "deflate.csv.deflate": zlib.compress(text.encode()),
        "UPPER.CSV.GZ": gzip.compress(text.encode()),
        "gzip.csv": gzip.compress(text.encode()),
        "zstd.csv.zst": pa.compress(text.encode(), codec="zstd", asbytes=True),
        "utf16.csv": text.encode("utf-16"),
        "bom.csv": text.encode("utf-8-sig"),
    }
    for name, content in files.items():
        (tmp_path / "e" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "e" / name).write_bytes(content)
    orc.write_table(
        pa.table({"topic": [t for t, _ in EVENTS], "timestamp": [s for _, s in EVENTS]}), str(tmp_path / "e.orc")
    )
    expected = rates_of(run(events, subscriptions))
    workload = run(Source("events", str(tmp_path / "e")), subscriptions)
    assert rates_of(workload) == {topic: len(files) * rate for topic, rate in expected.items()}
    assert rates_of(run(Source("events", str(tmp_path / "e.orc")), subscriptions)) == expected
    (tmp_path / "l.csv").write_bytes("topic,timestamp\né,1\n".encode("latin-1"))
    latin = run(Source("events", str(tmp_path / "l.csv"), encoding="latin-1"), subscriptions, keep_unknown=True)
    assert rates_of(latin)["é"] == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"topic;timestamp\na;1\n", r"no column 'topic'.*It has: topic;timestamp. Pass delimiter=';'"),
        (b"topic|timestamp\na|1\n", r"Pass delimiter='\|'"),
        (b"Topic,timestamp\na,1\n", r"Pass columns={'events': {'topic': 'Topic'}}"),
        (b"topic, timestamp\na,1\n", r"Pass columns={'events': {'timestamp': ' timestamp'}}"),
        ("topic,timestamp\na,1\n".encode("utf-16le"), r"looks like UTF-16: pass encoding='utf-16le'"),
        (b"a,1700000000\nb,1700000001\n", r"begins with data, pass header=False"),
        (b"topic,topic,timestamp\na,b,1\n", r"has 2 columns 'topic'"),
        (b"PAR1....PAR1", r"e.csv is Parquet by its content, not csv. Pass format={'events': 'parquet'}"),
        (b"Obj\x01....", r"e.csv is Avro by its content"),
        (b"topic,timestamp\na,1700000000000\nb,1700000000001\n", r"times in ms: pass timestamp_unit='ms'"),
        (b'topic,timestamp\n"a\\"b",1\n', r"escaped by backslashes, as Spark writes them: pass escape='\\\\'"),
        (b"topic,timestamp\ncaf\xe9,1\n", r"pass encoding, such as latin-1"),
        (b"topic,timestamp\na,0001-01-01\nb,2026-03-01\n", r"span 2,025 years, from 0001-01-01T.*window_start"),
    ],
)
def test_refusals_name_the_option_that_helps(run, tmp_path: Path, subscriptions, content: bytes, said: str) -> None:
    """What ordinary exports do differently is refused with what to pass instead."""
    (tmp_path / "e.csv").write_bytes(content)
    with pytest.raises(InputError, match=said):
        run(Source("events", str(tmp_path / "e.csv")), subscriptions)


def test_other_refusals(run, tmp_path: Path, events, subscriptions) -> None:
    """Avro names the package that reads it; wildcards the option that expands them; nested keys are listed by path."""
    (tmp_path / "e.avro").write_bytes(b"Obj\x01")
    with pytest.raises(InputError, match=r"is Avro.*format={'events': 'avro'} and conf={'spark.jars.packages': "):
        run(Source("events", str(tmp_path / "e.avro")), subscriptions)
    (tmp_path / "e.json").write_text('{"meta": {"topic": "a"}, "timestamp": 1}\n')
    with pytest.raises(
        InputError, match=r"It has: meta.topic, timestamp. Name another one with columns={'events': {'topic': "
    ):
        run(Source("events", str(tmp_path / "e.json")), subscriptions)
    wild = write_csv(tmp_path / "s.csv", rows(["subscriber", "topic"], [("x", "a.*")]))
    with pytest.raises(InputError, match=r"wildcards='nats' or mqtt"):
        run(events, Source("subscriptions", str(wild)))
    with pytest.raises(InputError, match=r"without Spark's reader: There is no reader option 'mode'"):
        run(Source("events", events.path, options={"mode": "DROPMALFORMED"}), subscriptions)


def test_a_span_is_checked_only_where_the_trace_decides(run, tmp_path: Path, subscriptions) -> None:
    """With a window given, an odd event is outside it and nothing is refused."""
    table = rows(
        ["topic", "timestamp"], [("a", "0001-01-01"), *[("a", "2026-03-01"), ("b", "2026-03-02"), ("c", "2026-03-02")]]
    )
    source = Source("events", str(write_csv(tmp_path / "e.csv", table)))
    window = TimeWindow.parse("2026-03-01", "2026-03-03")
    workload = run(source, subscriptions, window=window, max_rejected=0.5)
    assert events_of(workload)["rejected"] == {"outside_window": 1}


def test_lists_of_topics(run, tmp_path: Path, events) -> None:
    """JSON and Parquet may list a subscriber's topics; every entry is a row, an empty list a row without a topic."""
    table = [
        {"subscriber": "x", "topics": ["a", "b", "a"]},
        {"subscriber": "y", "topics": ["c", None]},
        {"subscriber": "z", "topics": []},
    ]
    write_json_lines(tmp_path / "s.jsonl", table)
    write_parquet_rows(tmp_path / "s.parquet", table)
    for name in ("s.jsonl", "s.parquet"):
        source = Source("subscriptions", str(tmp_path / name), columns={"topic": "topics"})
        workload = run(events, source, max_rejected=0.5)
        assert interests_of(workload) == {"x": ["a", "b"], "y": ["c"]}
        entry = workload.manifest.sources[1]
        assert (entry["records"], entry["rows_in"], entry["kept"], entry["duplicates"]) == (3, 6, 3, 1)
        assert entry["rejected"] == {"missing_id": 2}


def test_rates_beyond_reason(run, tmp_path: Path, subscriptions) -> None:
    """Floating-point rates that are infinite, huge or negative, and unsigned ones beyond 2^63, are bad rates."""
    floats = pa.array([1.0, float("inf"), 1e300, -1e300, float("nan"), 2.0])
    pq.write_table(pa.table({"topic": ["a", "b", "b", "b", "b", "c"], "rate": floats}), tmp_path / "f.parquet")
    unsigned = pa.array([1, 2**64 - 1, 2], pa.uint64())
    pq.write_table(pa.table({"topic": ["a", "b", "c"], "rate": unsigned}), tmp_path / "u.parquet")
    for name, number in (("f.parquet", 4), ("u.parquet", 1)):
        workload = run(Source("rates", str(tmp_path / name)), subscriptions, keep_unknown=True, max_rejected=0.9)
        assert rates_of(workload) == {"a": 1, "b": 0, "c": 2}
        assert events_of(workload)["rejected"] == {"bad_rate": number}
        assert Counter(pq.read_table(workload.path / "rejected")["reason"].to_pylist()) == {"bad_rate": number}


def test_what_spark_compresses(spark, run, tmp_path: Path, subscriptions) -> None:
    """CSV in each of Spark's codecs, Hadoop's framing of lz4 and snappy included, is read as it was written."""
    frame = spark.range(0, 60_000, 1, 1).selectExpr("concat('t', id % 3) as topic", "id as timestamp")
    codecs = ["lz4", "snappy", "deflate", "bzip2", "gzip"]
    for codec in codecs:
        frame.write.csv(str(tmp_path / "e" / codec), header=True, compression=codec)
    workload = run(Source("events", str(tmp_path / "e")), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 0, "b": 0, "c": 0, **{f"t{n}": 20_000 * len(codecs) for n in range(3)}}
