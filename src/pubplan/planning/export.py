"""Plans for other programs: tables with ids instead of numbers, made and written piece by piece."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.files import temporary_name
from pubplan.planning.plan import Plan
from pubplan.planning.values import Problem

P = TypeVar("P", bound=Problem)

EXPORT_FORMATS = ("csv", "json", "parquet")
"""Text with a header, a JSON object per line, Parquet."""

_FORMATS_BY_ENDING = {".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}


@dataclass(frozen=True)
class Export(Generic[P]):
    """A table that ``export`` writes.

    Attributes:
        schema: its columns.
        pieces: the table in pieces, each small enough for memory, from the problem and the plan that answers it.
    """

    schema: pa.Schema
    pieces: Callable[[P, Plan], Iterator[pa.Table]]


def export_of_decisions(table: str, schema: pa.Schema, without: Iterable[str] = ()) -> Export[Any]:
    """A table of decisions as it is, without the columns of numbers that ids stand next to."""
    dropped = set(without)
    kept = pa.schema([field for field in schema if field.name not in dropped])

    def pieces(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
        yield plan.decisions(table, schema).select(kept.names)

    return Export(kept, pieces)


def export_format(given: str | None, out: Path | None) -> str:
    """The format that was named, or the one that a file's name ends with; CSV where there is no file.

    Raises:
        InputError: there is no such format, or the name says none.
    """
    if given is not None and given not in EXPORT_FORMATS:
        raise InputError(unknown_name("format", given, EXPORT_FORMATS))
    form = given or ("csv" if out is None else _FORMATS_BY_ENDING.get(out.suffix.lower(), ""))
    if not form:
        known = ", ".join(EXPORT_FORMATS)
        raise InputError(f"No format is known by the name {out}: pass {argument('format')}, one of {known}.")
    return form


def write_export(pieces: Iterable[pa.Table], schema: pa.Schema, form: str, output: BinaryIO) -> int:
    """Write a table in one of ``EXPORT_FORMATS``, piece by piece; how many rows it has."""
    num_rows = 0
    if form == "parquet":
        with pq.ParquetWriter(output, schema) as writer:
            for piece in pieces:
                writer.write_table(piece.cast(schema))
                num_rows += piece.num_rows
        return num_rows
    if form == "csv":
        output.write(_csv_lines([schema.names]))
    for piece in pieces:
        columns = [piece[name].to_pylist() for name in schema.names]
        rows = zip(*columns, strict=True)
        output.write(_csv_lines(rows) if form == "csv" else _json_lines(schema.names, rows))
        num_rows += piece.num_rows
    return num_rows


def _csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _json_lines(names: list[str], rows: Iterable[Iterable[object]]) -> bytes:
    lines = (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
    return "".join(lines).encode("utf-8")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which is at ``path`` only when all of it is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        with open(temporary, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
