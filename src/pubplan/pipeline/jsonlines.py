"""JSON: objects one per line, several on a line, spread over lines, or in one array; every object is a record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch, as_text
from pubplan.pipeline.files import text_blocks
from pubplan.pipeline.jsoncount import count_elements, count_lines
from pubplan.pipeline.source import Source, TextFormat, missing_column
from pubplan.pipeline.text import Chunk, read_range, read_stream
from pubplan.workload import Int64Array

SAMPLED_RECORDS = 100
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_SPACE = re.compile(r"[ \t\n\r]*")
_LETTERS_TOUCH = re.compile(r'(?<=[^}\]"])[^ \t\r\n{}[\]",:]')
_SCALARS = (str, bool, type(None))


@dataclass(frozen=True)
class JsonLayout:
    """Where our columns are in an object, which of them its path gives, and whether the file is one document."""

    keys: Mapping[str, str]
    partitions: Mapping[str, str | None]
    is_document: bool


def layout_of(source: Source, path: object, head: Sequence[bytes], partitions: dict[str, str | None]) -> JsonLayout:
    """Look for our columns in the first records of a file.

    Raises:
        InputError: none of the first records has a required column.
    """
    records = head[:SAMPLED_RECORDS]
    is_document = records[0].lstrip()[:1] == b"[" or records[0].strip() == b"{"
    keys = dict(source.wanted)
    given = {name: partitions[theirs] for name, theirs in keys.items() if theirs in partitions}
    if not is_document:
        objects = [value for record in records for value, _ in _values(_decoded(record)) if isinstance(value, dict)]
        for name in source.required if objects else ():
            if name not in given and all(_look_up(value, keys[name]) is None for value in objects):
                raise missing_column(
                    source, path, name, keys[name], sorted({key for v in objects for key in _paths(v)})
                )
    return JsonLayout(keys, given, is_document)


def _paths(value: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The keys of an object; those of objects inside it behind a dot."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _paths(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def read_json(path: Path, byte_range: tuple[int, int] | None, layout: JsonLayout, style: TextFormat) -> Iterator[Batch]:
    """The records of a file, or of a part of it."""
    if layout.is_document:
        yield _read_document(path, layout, style)
        return
    for chunk in read_stream(path, style) if byte_range is None else read_range(path, *byte_range):
        yield parse_chunk(path, chunk, layout)


def parse_chunk(path: object, chunk: Chunk, layout: JsonLayout) -> Batch:
    """The objects of all lines; other values, and the rest of a line that cannot be parsed, are malformed records.

    Raises:
        InputError: other records are read than the bytes hold.
    """
    objects: list[Mapping[str, Any]] = []
    raws: list[str] = []
    malformed: list[str] = []
    parsed: list[bytes] = []
    num_broken = 0
    for line in chunk.records():
        whole = line
        for value, raw in _values(_decoded(line)):
            if isinstance(value, dict):
                objects.append(value)
                raws.append(raw)
                continue
            malformed.append(_storable(raw))
            if value is _BROKEN:
                whole = line[: len(line) - len(_encoded(raw))]
                num_broken += 1
        parsed.append(whole)
    _check_count(path, count_lines(parsed) + num_broken, len(objects) + len(malformed))
    return _batch(objects, raws, malformed, layout)


def _read_document(path: Path, layout: JsonLayout, style: TextFormat) -> Batch:
    content = b"".join(text_blocks(path, style.encoding))
    text = _decoded(content)
    objects: list[Mapping[str, Any]] = []
    raws: list[str] = []
    malformed: list[str] = []
    for value, raw in _values(text):
        if value is _BROKEN:
            line = text[: len(text) - len(raw)].count("\n") + 1
            raise InputError(f"{path} is not JSON: it cannot be parsed from line {line:,} on: {_storable(raw)[:60]}")
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, dict):
                objects.append(element)
                raws.append(json.dumps(element, ensure_ascii=False))
            else:
                malformed.append(_storable(json.dumps(element, ensure_ascii=False)))
    _check_count(path, count_elements(content), len(objects) + len(malformed))
    return _batch(objects, raws, malformed, layout)


def _check_count(path: object, num_counted: int, num_read: int) -> None:
    if num_read != num_counted:
        raise InputError(
            f"{path}: {num_counted:,} records were counted, but {num_read:,} were read. "
            "Brackets or quotes may not match."
        )


_BROKEN = object()


def _values(text: str) -> Iterator[tuple[Any, str]]:
    """The JSON values of a text, end to end, with their text; what cannot be parsed is one broken value."""
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    while start < len(text):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _BROKEN, start
        # The decoder would take 01 for two numbers and nulltrue for two words.
        if value is _BROKEN or _LETTERS_TOUCH.match(text, end):
            yield _BROKEN, text[start:]
            return
        yield value, text[start:end]
        start = _SPACE.match(text, end).end()  # type: ignore[union-attr]


def _decoded(line: bytes) -> str:
    """Text in which bytes that are not UTF-8 stay recognisable."""
    return line.decode("utf-8", errors="surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _storable(text: str) -> str:
    return as_text(text.encode("utf-8", errors="surrogatepass"))


def _batch(objects: list[Mapping[str, Any]], raws: list[str], malformed: list[str], layout: JsonLayout) -> Batch:
    columns = {}
    for name, key in layout.keys.items():
        if name in layout.partitions:
            columns[name] = pa.repeat(pa.scalar(layout.partitions[name], pa.string()), len(objects))
            continue
        values = [_look_up(value, key) for value in objects]
        columns[name] = _column(values)

    def raw(rows: Int64Array) -> list[str]:
        return [_storable(raws[row]) for row in rows.tolist()]

    return Batch(columns, len(objects), len(objects) + len(malformed), raw, malformed)


def _look_up(value: Mapping[str, Any], key: str) -> Any:
    """The value of a key, or of a path of keys joined by dots."""
    if key in value:
        return value[key]
    first, dot, rest = key.partition(".")
    while dot:
        inner = value.get(first)
        if isinstance(inner, dict) and (value_inside := _look_up(inner, rest)) is not None:
            return value_inside
        more, dot, rest = rest.partition(".")
        first = f"{first}.{more}"
    return None


def _column(values: list[Any]) -> pa.Array:
    """Scalars as text, as the file has them; lists as lists of text."""
    if any(isinstance(value, list) for value in values):
        spread = [value if isinstance(value, (list, type(None))) else [value] for value in values]
        flat = pa.array([_bytes(inner) for value in spread if value is not None for inner in value], pa.binary())
        lengths = [0 if value is None else len(value) for value in spread]
        offsets = pa.array([0, *_sums(lengths)], pa.int32())
        return pa.ListArray.from_arrays(offsets, flat.cast(pa.string(), safe=False))
    return pa.array([_bytes(value) for value in values], pa.binary()).cast(pa.string(), safe=False)


def _sums(lengths: list[int]) -> Iterator[int]:
    total = 0
    for length in lengths:
        total += length
        yield total


def _bytes(value: Any) -> bytes | None:
    if not isinstance(value, _SCALARS):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        value = "true" if value else "false"
    if value is None:
        return None
    try:
        return str(value).encode("utf-8")
    except UnicodeEncodeError:
        # Bytes that were not UTF-8 stay so; a lone surrogate from an escape is not text either.
        return str(value).encode("utf-8", errors="surrogatepass")
