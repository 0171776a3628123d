"""Records of text: every one is counted, and becomes a row or a malformed record, however the file is cut."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.pipeline import csv, jsonlines
from pubplan.pipeline import text as text_module
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.source import Source, TextFormat
from pubplan.pipeline.text import lines, read_range, read_stream

LAYOUT = csv.Layout(2, {"topic": 0, "timestamp": 1}, {})


def rows_of(batch: Batch, *names: str) -> list[tuple[str | None, ...]]:
    columns = [batch.columns[name].to_pylist() for name in names or batch.columns]
    return list(zip(*columns, strict=True))


def plain_parse(line: str, style: TextFormat) -> list[str] | None:
    """The fields of a line, letter by letter; None where quotes do not open and close whole fields."""
    fields, index = [], 0
    while True:
        value = ""
        if style.quote and line[index : index + 1] == style.quote:
            index += 1
            while True:
                if index >= len(line):
                    return None
                if line[index] != style.quote:
                    value, index = value + line[index], index + 1
                elif line[index + 1 : index + 2] == style.quote:
                    value, index = value + style.quote, index + 2
                else:
                    index += 1
                    break
            if index < len(line) and line[index] != style.delimiter:
                return None
        else:
            end = line.find(style.delimiter, index)
            end = len(line) if end < 0 else end
            value, index = line[index:end], end
            if style.quote and style.quote in value:
                return None
        fields.append(value)
        if index >= len(line):
            return fields
        index += 1


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("quote", ['"', None])
def test_rows_are_those_of_a_letter_by_letter_parser(seed: int, quote: str | None) -> None:
    """Stray, doubled, unclosed and misplaced quotes, wrong numbers of fields, empty lines, and all line ends mixed."""
    rng = random.Random(seed)
    style = TextFormat(quote=quote)
    pieces = ['"', '""', ",", "a", "bc", "é", "1", "", " ", "\0", '",', ',"', '"a"', "\\"]
    records = ["".join(rng.choice(pieces) for _ in range(rng.randrange(6))) for _ in range(60)]
    records += [f"t{n},{n}" for n in range(60)]
    rng.shuffle(records)
    text = "".join(record + rng.choice(["\n", "\r\n", "\r"]) for record in records)
    expected = [(record, plain_parse(record, style)) for record in records if record]
    chunk = lines(text.encode())
    batch = csv.parse_chunk("file", chunk, LAYOUT, style)
    assert batch.num_records == len(expected)
    good = [(record, fields) for record, fields in expected if fields is not None and len(fields) == 2]
    assert rows_of(batch) == [tuple(fields) for _, fields in good]
    assert batch.raw(np.arange(batch.num_rows)) == [record for record, _ in good]
    assert sorted(batch.malformed) == sorted(r for r, fields in expected if fields is None or len(fields) != 2)


@pytest.mark.parametrize("seed", range(5))
def test_parts_of_a_file_hold_every_record_once(tmp_path: Path, seed: int) -> None:
    """Whatever the bytes at which a file is cut, its parts have the records of the whole, with any line ends."""
    rng = random.Random(seed)
    ends = [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r", "\n\n"]][seed]
    text = "".join(f"t{number},{number}{rng.choice(ends)}" for number in range(60)).encode()
    path = tmp_path / "e.csv"
    path.write_bytes(text)
    whole = [record for chunk in read_range(path, 0, len(text)) for record in chunk.records()]
    assert whole == [f"t{number},{number}".encode() for number in range(60)]
    for size in (1, 2, 3, 7, 50):
        cuts = [*range(0, len(text), size), len(text)]
        parts = [
            record
            for first, last in itertools.pairwise(cuts)
            for chunk in read_range(path, first, last)
            for record in chunk.records()
        ]
        assert parts == whole


@pytest.mark.parametrize("is_multiline", [False, True])
def test_streams_are_cut_between_records(tmp_path: Path, monkeypatch, is_multiline: bool) -> None:
    """A stream in chunks of a few bytes has the records of the whole; quoted line breaks stay inside their field."""
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 10)
    monkeypatch.setattr("pubplan.pipeline.files._READ_BYTES", 7)
    records = ['"a\nb",1', "c,2", '"d\r\n""e""",3', "f,4"] if is_multiline else ["a,1", "b,2", "c,3"]
    path = tmp_path / "e.csv"
    path.write_bytes("\r\n".join(records).encode())
    style = TextFormat(has_header=False, multiline=is_multiline)
    batches = list(csv.read_csv(path, None, LAYOUT, style))
    assert [row for batch in batches for row in rows_of(batch)] == (
        [("a\nb", "1"), ("c", "2"), ('d\r\n"e"', "3"), ("f", "4")]
        if is_multiline
        else [tuple(r.split(",")) for r in records]
    )
    assert sum(batch.num_records for batch in batches) == len(records)


def test_open_quotes_in_multiline_text_are_refused(tmp_path: Path) -> None:
    """A quote that is never closed, or that closes in the middle of a field, is an error with the way out."""
    path = tmp_path / "e.csv"
    style = TextFormat(has_header=False, multiline=True)
    path.write_text('a,1\n"b,2\nc,3\n')
    with pytest.raises(InputError, match=r"e.csv: the quote that opens in record 2 is never closed.*quote='none'"):
        list(read_stream(path, style))
    path.write_text('a,1\n"b"x,2\nc,3\n')
    with pytest.raises(InputError, match=r"e.csv: a quoted field does not end where its quotes do: \"b\"x,2"):
        list(csv.read_csv(path, None, LAYOUT, style))


def test_escaped_quotes(tmp_path: Path) -> None:
    """With an escape character, as Spark writes CSV, quotes inside fields are escaped instead of doubled."""
    text = b'"a\\"b, c",1\n"d",2\n"e\\",3\n'  # the last one escapes its closing quote
    batch = csv.parse_chunk("file", lines(text), LAYOUT, TextFormat(escape="\\"))
    assert rows_of(batch) == [('a"b, c', "1"), ("d", "2")]
    assert batch.malformed == ['"e\\",3']


def test_backslashes_of_copy() -> None:
    """PostgreSQL's text format: a backslash before a letter is a control character, \\N is null."""
    style = Source("events", "e").text_format("copy")
    batch = csv.parse_chunk("file", lines(b"a\\tb\\\\\\n\t1\n\\N\t2\nc\t\\N\n"), LAYOUT, style)
    assert rows_of(batch) == [("a\tb\\\n", "1"), (None, "2"), ("c", None)]


def test_a_delimiter_behind_every_row() -> None:
    """Rows may end with one more delimiter than the header; something behind it is malformed."""
    source = Source("events", "e.csv")
    layout = csv.layout_of(source, "e.csv", [b"topic,timestamp", b"a,1,"], TextFormat(), {})
    batch = csv.parse_chunk("e.csv", lines(b"a,1,\nb,2,x\nc,3\nd,4,\n"), layout, TextFormat())
    assert rows_of(batch, "topic", "timestamp") == [("a", "1"), ("d", "4")]
    assert sorted(batch.malformed) == ["b,2,x", "c,3"]


@pytest.mark.parametrize("seed", range(10))
def test_json_objects_are_counted_one_by_one(seed: int) -> None:
    """Objects on separate lines or glued together, broken lines, and values that are no objects."""
    rng = random.Random(seed)
    expected, malformed, text = [], [], ""
    for number in range(50):
        kind = rng.randrange(8)
        if kind == 0:
            text += "{broken\n"
            malformed.append("{broken")
        elif kind == 1:
            text += "[1, 2]\n"
            malformed.append("[1, 2]")
        else:
            name = rng.choice(["a", "}{", '"', "é"])
            text += json.dumps({"topic": name, "timestamp": number}) + rng.choice(["", " ", "\n", "\n\n", "\r\n"])
            text += "" if text.endswith(("\n", " ", "}")) else "\n"
            expected.append((name, str(number)))
            if not text.endswith("\n") and rng.random() < 0.5:
                text += "\n"
    # A broken line right behind an object without a line end is still one record.
    layout = jsonlines.JsonLayout({"topic": "topic", "timestamp": "timestamp"}, {}, is_document=False)
    batch = jsonlines.parse_chunk("file", lines(text.encode()), layout)
    assert rows_of(batch) == expected
    assert batch.malformed == malformed
    assert batch.num_records == len(expected) + len(malformed)


@pytest.mark.parametrize(
    "text",
    [
        '[{"m": {"t": "a"}, "timestamp": 1}, {"m": {"t": "b"}, "timestamp": 2.5}]',
        '{\n  "m": {"t": "a"},\n  "timestamp": 1\n}\n{\n  "m.t": "b",\n  "timestamp": 2.5\n}\n',
        '{"m": {"t": "a"}, "timestamp": 1}\n{"m": {"t": "b"}, "timestamp": 2.5}',
    ],
    ids=["array", "indented", "lines"],
)
def test_json_in_other_shapes(tmp_path: Path, text: str) -> None:
    """An array, objects over several lines, and keys inside objects, which are joined by dots."""
    path = tmp_path / "e.json"
    path.write_text(text)
    source = Source("events", str(path), columns={"topic": "m.t"})
    head = next(iter(read_stream(path, TextFormat()))).records()
    layout = jsonlines.layout_of(source, path, head, {})
    batches = list(jsonlines.read_json(path, None, layout, TextFormat()))
    assert [row for batch in batches for row in rows_of(batch, "topic", "timestamp")] == [("a", "1"), ("b", "2.5")]


def test_broken_documents_are_refused(tmp_path: Path) -> None:
    """A JSON array that ends early names the line."""
    path = tmp_path / "e.json"
    path.write_text('[{"topic": "a",\n "timestamp": 1},\n')
    layout = jsonlines.JsonLayout({"topic": "topic"}, {}, is_document=True)
    with pytest.raises(InputError, match=r"e.json is not JSON: it cannot be parsed from line 1"):
        list(jsonlines.read_json(path, None, layout, TextFormat()))
