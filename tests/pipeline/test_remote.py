"""What is read through Spark, by address, is what is read from local paths: the same rows, reasons and digests."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pubplan.errors import InputError
from pubplan.pipeline import Source, TimeWindow
from pubplan.workload import Workload

from .conftest import rates_of


def dirty_rows(rng: random.Random, number: int) -> list[tuple[str | None, str | None, str | None]]:
    """Events with every fault that all formats can hold."""
    ids = ["a", "b", "c", "", None, "é", 'quo"te', "com,ma", "\ufffd"]
    times = [None, "", "-5", "9", "10", "30", "60", "9" * 20, "1970-01-01T00:00:20Z", "yesterday", "30.5"]
    return [(rng.choice(ids), rng.choice(times), rng.choice([None, "", "0", "7", "-1", "x"])) for _ in range(number)]


def write(directory: Path, stored: str, rows: list[tuple[str | None, str | None, str | None]]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    columns = ["topic", "timestamp", "size"]
    path = directory / f"{len(list(directory.iterdir()))}.{stored}"
    table = pa.table(
        {name: pa.array(values, pa.string()) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}
    )
    if stored == "parquet":
        pq.write_table(table, path, row_group_size=64)
    elif stored == "orc":
        orc.write_table(table, str(path))
    elif stored == "jsonl":
        lines = [json.dumps({k: v for k, v in row.items() if v is not None}) for row in table.to_pylist()]
        path.write_text("\n".join([*lines[:20], lines[20] + lines[21], *lines[22:], "{broken"]) + "\n")
    elif stored == "tsv":
        body = ["\t".join(value or "" for value in row) for row in rows]
        path.write_text("\n".join(["\t".join(columns), *body, "a\t1", '"a\t1\t1']) + "\r\n")
    else:
        body = [",".join('"' + (value or "").replace('"', '""') + '"' for value in row) for row in rows]
        path.write_bytes("\r\n".join([",".join(columns), *body[:50]]).encode() + b"\n" + "\n".join(body[50:]).encode())
        with path.open("ab") as handle:
            handle.write(b'\n"open,1,1\na,1\nb,2,3,4\ncaf\xe9,1,1\nx"y,1,1\n"c"d,1,1\n')


def outcome(workload: Workload) -> tuple[object, ...]:
    table = pq.read_table(workload.path / "rejected")
    entry = workload.manifest.sources[0]
    counts = tuple(entry[name] for name in ("records", "rows_in", "kept", "duplicates"))
    return workload.digest, counts, entry["rejected"], sorted(table["reason"].to_pylist())


@pytest.mark.parametrize("stored", ["csv", "tsv", "jsonl", "parquet", "orc"])
def test_both_ways_agree(run, tmp_path: Path, subscriptions, stored: str) -> None:
    """Dirty rows over three files and hidden directories: the same counts by path and by address.

    Every file has 200 rows; CSV six further lines, TSV two, JSON one.
    """
    rng = random.Random(7)
    for _ in range(3):
        write(tmp_path / "e", stored, dirty_rows(rng, 200))
    write(tmp_path / "e" / "_temporary", stored, dirty_rows(rng, 30))
    options = {"window": TimeWindow.parse("1970-01-01T00:00:10Z", "1970-01-01T00:01:00Z"), "keep_unknown": True}
    outcomes = []
    for path in (tmp_path / "e", (tmp_path / "e").as_uri()):
        source = Source("events", str(path), format={"jsonl": "json"}.get(stored, stored))
        outcomes.append(outcome(run(source, subscriptions, max_rejected=1.0, **options)))
    assert outcomes[0] == outcomes[1]
    extra = {"csv": 6, "tsv": 2, "jsonl": 1}.get(stored, 0)
    assert outcomes[0][1][0] == 3 * (200 + extra)


def test_what_cannot_be_read_by_address_is_said(run, tmp_path: Path, subscriptions) -> None:
    """No format, another header, nothing there, a document instead of lines: sentences."""
    base = tmp_path / "e"
    base.mkdir()
    (base / "a.csv").write_text("topic,timestamp\na,1\n")
    (base / "b.csv").write_text("timestamp,topic\n1,a\n")
    (tmp_path / "d.json").write_text('[{"topic": "a", "timestamp": 1}]')
    for path, options, said in (
        (base.as_uri(), {}, "Cannot tell the format of file:.*format=.'events'"),
        (base.as_uri(), {"format": "csv"}, "begins with another header"),
        ((base / "a.csv").as_uri(), {"multiline": True}, "multiline and encoding need files on a file system"),
        ((base / "gone.csv").as_uri(), {}, "Cannot read file:.*gone.csv"),
        ((tmp_path / "d.json").as_uri(), {}, "is one JSON document; expected one object per line"),
    ):
        with pytest.raises(InputError, match=said):
            run(Source("events", path, **options), subscriptions)


def test_hidden_directories_are_those_below_the_address(run, tmp_path: Path, subscriptions) -> None:
    """A source in a hidden directory with spaces is read; hidden directories inside it are not."""
    base = tmp_path / "_a b" / ".c d"
    for name, topic in (("x=1/e.csv", "a"), ("_old/e.csv", "b"), (".old/e.csv", "b"), ("_day=2/e.csv", "c")):
        (base / name).parent.mkdir(parents=True)
        (base / name).write_text(f"topic,timestamp\n{topic},1\n")
    workload = run(Source("events", f"file:{base}", format="csv"), subscriptions, keep_unknown=True)
    assert rates_of(workload) == {"a": 1, "b": 0, "c": 1}
