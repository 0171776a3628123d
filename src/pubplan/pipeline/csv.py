"""Delimited text: from chunks of records to columns.

Arrow parses; whether it took every record for one is checked against the number of records that were counted before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch, as_text
from pubplan.pipeline.source import Source, TextFormat, missing_column
from pubplan.pipeline.text import OTHER_QUOTING, Chunk, drop_first, read_range, read_stream
from pubplan.workload import Int64Array

_ONLY_ASCII = bytes(letter if letter < 128 else ord("?") for letter in range(256))
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True)
class Layout:
    """The columns of one file: how many it has, at which of them ours are, and our columns that its path gives."""

    num_columns: int
    indices: dict[str, int]
    partitions: dict[str, str | None]
    has_extra: bool = False
    """Whether rows end with one more delimiter than the header."""


def layout_of(
    source: Source, path: object, head: Sequence[bytes], style: TextFormat, partitions: dict[str, str | None]
) -> Layout:
    """Find our columns in the first records of a file.

    Raises:
        InputError: a column is missing, or there are two of its name.
    """
    names = fields_of(path, head[0], style)
    given = {name: partitions[theirs] for name, theirs in source.wanted.items() if theirs in partitions}
    if not style.has_header:
        return Layout(len(names), _positions(source, path, len(names)), {})
    indices = {}
    for name, theirs in source.wanted.items():
        if names.count(theirs) > 1:
            raise InputError(f"{path} has {names.count(theirs)} columns '{theirs}'; expected one for the {name}.")
        if theirs in names:
            indices[name] = names.index(theirs)
        elif name in source.required and name not in given:
            raise missing_column(source, path, name, theirs, names)
    second = fields_of(path, head[1], style) if len(head) > 1 and _is_well_quoted(head[1], style) else []
    has_extra = len(second) == len(names) + 1 and second[-1] == ""
    return Layout(len(names) + has_extra, indices, {n: v for n, v in given.items() if n not in indices}, has_extra)


def fields_of(path: object, record: bytes, style: TextFormat) -> list[str]:
    """The fields of one record."""
    if not _is_well_quoted(record, style):
        raise InputError(f"{path}: the quotes of its first lines do not match: {as_text(record)[:100]}")
    count = 1 + as_text(record).count(style.delimiter)
    for num_columns in range(1, count + 1):
        try:
            row = _parse(record + b"\n", num_columns, range(num_columns), style)
        except pa.ArrowInvalid:
            continue
        return [as_text(column[0].as_buffer().to_pybytes()) for column in row.columns]
    raise InputError(f"{path}: its first line cannot be parsed: {as_text(record)[:100]}")


def _positions(source: Source, path: object, num_columns: int) -> dict[str, int]:
    """Columns of a file without header: where they are mapped to, or in our order."""
    for name, theirs in source.columns.items():
        if theirs and not re.fullmatch(r"_c[0-9]+", theirs):
            raise InputError(
                f"{path} is read without a header: its columns are _c0 to _c{num_columns - 1}, "
                f"so {argument('columns', {source.kind: {name: theirs}})} names none."
            )
    mapped = {name: int(theirs.removeprefix("_c")) for name, theirs in source.columns.items() if theirs}
    in_order = {
        name: position
        for position, name in enumerate(source.all_columns)
        if name in source.wanted and name not in source.columns and position not in mapped.values()
    }
    indices = mapped | in_order
    for name in source.all_columns:
        is_needed = name in source.required or name in mapped
        if is_needed and name not in indices:
            raise InputError(
                f"Say which column of {path} is the {name}: {argument('columns', {source.kind: {name: '_cN'}})}."
            )
        if is_needed and indices[name] >= num_columns:
            raise InputError(
                f"{path} has {num_columns} columns, _c0 to _c{num_columns - 1}; the {name} of {source.kind} is "
                f"expected in _c{indices[name]}. Pass {argument('delimiter')} if another character separates them."
            )
    return {name: position for name, position in indices.items() if position < num_columns}


def read_csv(path: Path, byte_range: tuple[int, int] | None, layout: Layout, style: TextFormat) -> Iterator[Batch]:
    """The records of a file, or of a part of it."""
    chunks = read_stream(path, style) if byte_range is None else read_range(path, *byte_range)
    begins_with_header = style.has_header and (byte_range is None or byte_range[0] == 0)
    for chunk in chunks:
        if chunk.num_records == 0:
            continue
        body = drop_first(chunk) if begins_with_header else chunk
        begins_with_header = False
        if body.num_records:
            yield parse_chunk(path, body, layout, style)


def parse_chunk(path: object, chunk: Chunk, layout: Layout, style: TextFormat) -> Batch:
    """The records of a chunk as columns.

    1. Records whose quotes are misplaced are malformed: Arrow would read on beyond them, or drop the quotes.
    2. Arrow parses the others; those with another number of fields are malformed too.
    3. Rows and malformed records must be as many as there are records.
    """
    names = list(layout.indices)
    used = [layout.indices[name] for name in names] + ([layout.num_columns - 1] if layout.has_extra else [])
    bad = _ill_quoted(path, chunk, style)
    table, bad = _parse_all(chunk, bad, layout.num_columns, used, style)
    if table.num_rows + len(bad) != chunk.num_records:
        raise InputError(
            f"{path}: {chunk.num_records:,} records were counted, but {table.num_rows + len(bad):,} were read. "
            f"Quotes may be misplaced: try {argument('quote', 'none')}."
        )
    good = np.delete(np.arange(chunk.num_records), bad)
    if layout.has_extra:
        is_filled = pc.greater(pc.binary_length(table.column(len(used) - 1)), 0)
        if pc.any(is_filled).as_py():
            chosen = np.flatnonzero(np.asarray(is_filled))
            bad = np.union1d(bad, good[chosen]).astype(np.int64)
            good = np.delete(good, chosen)
            table = table.filter(pc.invert(is_filled))
    columns = {name: _text_column(table.column(index), style) for index, name in enumerate(names)}
    for name, value in layout.partitions.items():
        columns[name] = pa.repeat(pa.scalar(value, pa.string()), table.num_rows)
    records = _lazy(chunk)

    def raw(rows: Int64Array) -> list[str]:
        return [as_text(records()[number]) for number in good[rows].tolist()]

    malformed = [as_text(records()[number]) for number in bad.tolist()] if len(bad) else []
    return Batch(columns, table.num_rows, chunk.num_records, raw, malformed)


def _lazy(chunk: Chunk) -> Callable[[], list[bytes]]:
    return lru_cache(maxsize=1)(chunk.records)


def _parse_all(
    chunk: Chunk, bad: Int64Array, num_columns: int, used: Sequence[int], style: TextFormat
) -> tuple[pa.Table, Int64Array]:
    """Parse the records that are not ``bad``; also returns which are bad now."""
    text = chunk.text if not len(bad) else _joined(chunk, np.delete(np.arange(chunk.num_records), bad))
    try:
        return _parse(text, num_columns, used, style), bad
    except pa.ArrowInvalid:
        numbers = np.delete(np.arange(chunk.num_records), bad)
        wrong = numbers[_with_other_field_counts(text, num_columns, style)]
        bad = np.union1d(bad, wrong).astype(np.int64)
        text = _joined(chunk, np.delete(np.arange(chunk.num_records), bad))
        return _parse(text, num_columns, used, style), bad


def _joined(chunk: Chunk, numbers: Int64Array) -> bytes:
    records = chunk.records()
    return b"".join(records[number] + b"\n" for number in numbers.tolist())


def _parse(text: bytes, num_columns: int, used: Sequence[int], style: TextFormat) -> pa.Table:
    """Columns as bytes that may not be UTF-8; every record has ``num_columns`` fields.

    A record of zeros behind the last one shows that no quote was left open: it must come back as it is.
    """
    names = [f"c{number}" for number in range(num_columns)]
    sentinel = style.delimiter.join("0" * num_columns).encode() + b"\n"
    data = text + sentinel
    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
        _parse_options(style),
        csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[names[number] for number in used],
            strings_can_be_null=False,
        ),
    ).combine_chunks()
    last = table.slice(table.num_rows - 1)
    if any(column[0].as_buffer().to_pybytes() != b"0" for column in last.columns):
        raise pa.ArrowInvalid("a quote is still open behind the last record")
    return table.slice(0, table.num_rows - 1)


def _parse_options(style: TextFormat, handler: object = None) -> csv.ParseOptions:
    return csv.ParseOptions(
        delimiter=style.delimiter,
        quote_char=style.quote or False,
        double_quote=style.quote is not None and style.escape is None,
        escape_char=style.escape or False,
        newlines_in_values=style.multiline,
        invalid_row_handler=handler,
    )


def _with_other_field_counts(text: bytes, num_columns: int, style: TextFormat) -> Int64Array:
    """Which records have another number of fields than ``num_columns``; quotes are known to match."""
    wrong = []

    def skip(row: csv.InvalidRow) -> str:
        wrong.append(row.number - 1)
        return "skip"

    data = text.translate(_ONLY_ASCII)  # the handler is handed text, which must be UTF-8
    csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(
            column_names=[f"c{number}" for number in range(num_columns)], use_threads=False, block_size=len(data) + 1
        ),
        _parse_options(style, skip),
        csv.ConvertOptions(include_columns=["c0"], column_types={"c0": pa.string()}),
    )
    return np.array(wrong, dtype=np.int64)


def _ill_quoted(path: object, chunk: Chunk, style: TextFormat) -> Int64Array:
    """Records whose quotes do not open and close whole fields."""
    if style.quote is None or style.quote.encode() not in chunk.text:
        return np.array([], dtype=np.int64)
    suspects = _suspects(chunk, style)
    if not len(suspects):
        return suspects
    records = chunk.records()
    bad = [number for number in suspects.tolist() if not _is_well_quoted(records[number], style)]
    if bad and chunk.ends is not None:
        raise InputError(
            f"{path}: a quoted field does not end where its quotes do: {as_text(records[bad[0]])[:100]} "
            f"Read the file with {OTHER_QUOTING}."
        )
    return np.array(bad, dtype=np.int64)


def _suspects(chunk: Chunk, style: TextFormat) -> Int64Array:
    """Records with a quote that neither begins nor ends a field nor is doubled; all with quotes where they are escaped.

    Quotes are numbered within their record: odd ones must open a field, even ones close it.
    """
    assert style.quote is not None
    letters = np.frombuffer(chunk.text, dtype=np.uint8)
    quote, delimiter, line_end = ord(style.quote), ord(style.delimiter), ord("\n")
    quotes = np.flatnonzero(letters == quote)
    ends = np.flatnonzero(letters == line_end) + 1 if chunk.ends is None else chunk.ends
    record = np.searchsorted(ends, quotes, side="right")
    if style.escape is not None:
        return np.unique(record)
    firsts = np.searchsorted(record, record, side="left")
    is_opening = (np.arange(len(quotes)) - firsts) % 2 == 0
    before = np.where(quotes > 0, letters[quotes - 1], line_end)
    after = letters[np.minimum(quotes + 1, len(letters) - 1)]
    starts_field = (before == delimiter) | (before == line_end) | (before == ord("\r")) | (before == quote)
    ends_field = (after == delimiter) | (after == line_end) | (after == ord("\r")) | (after == quote)
    is_odd = np.bincount(record, minlength=len(ends)) % 2 == 1
    misplaced = np.where(is_opening, ~starts_field, ~ends_field)
    return np.union1d(record[misplaced], np.flatnonzero(is_odd)).astype(np.int64)


def _is_well_quoted(record: bytes, style: TextFormat) -> bool:
    return style.quote is None or _record_pattern(style).fullmatch(record) is not None


@lru_cache(maxsize=16)
def _record_pattern(style: TextFormat) -> re.Pattern[bytes]:
    assert style.quote is not None
    quote, delimiter = re.escape(style.quote.encode()), re.escape(style.delimiter.encode())
    inside = rb"(?:[^%b]|%b%b)*+" % (quote, quote, quote)
    if style.escape is not None:
        escape = re.escape(style.escape.encode())
        inside = rb"(?:[^%b%b]|%b.)*+" % (quote, escape, escape)
    field = rb"(?:%b%b%b|[^%b%b]*+)" % (quote, inside, quote, quote, delimiter)
    return re.compile(rb"%b(?:%b%b)*+" % (field, delimiter, field), re.DOTALL)


def _text_column(column: pa.ChunkedArray, style: TextFormat) -> pa.Array:
    array = column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    if not style.has_backslashes:
        return array
    has_backslash = pc.match_substring(array, "\\")
    if not pc.any(has_backslash).as_py():
        return array
    values = [_unescaped(value) for value in array.cast(pa.binary()).to_pylist()]
    return pa.array(values, pa.binary()).cast(pa.string(), safe=False)


def _unescaped(value: bytes) -> bytes | None:
    if value == b"\\N":
        return None
    if b"\\" not in value:
        return value
    text = value.decode("utf-8", errors="surrogateescape")
    text = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)
    return text.encode("utf-8", errors="surrogateescape")
