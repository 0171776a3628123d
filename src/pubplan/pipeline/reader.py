"""One view of a source: the pieces of its files, read by tasks that count and reject in the same pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from pubplan.engine import LazySpark, block_groups, map_blocks, started
from pubplan.pipeline import csv, jsonlines, tables
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.files import File, check_unchanged, format_of, is_plain, list_files, partitions
from pubplan.pipeline.source import TABLE_FORMATS, Source, TextFormat, missing_column
from pubplan.pipeline.text import CHUNK_BYTES, read_head

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Result = TypeVar("Result")
Work = Callable[[Iterator[Batch], int], Result]
"""What a task does with its batches; the number tells tasks apart."""

ROWS_PER_PIECE = 1 << 20
SAMPLE_BYTES = 1 << 16

Layout = csv.Layout | jsonlines.JsonLayout | tables.TableLayout


class Reader(Protocol):
    """A source that is open for reading; a small one is read without Spark."""

    format: str
    is_small: bool

    def run(self, spark: SparkSession | LazySpark, work: Work[Result]) -> list[Result]:
        """Hand all batches to tasks; what they return, in order."""

    def samples(self) -> Iterator[Batch]:
        """A few rows from several positions of a large source; nothing where looking at them would cost much."""

    def finish(self) -> None:
        """Refuse a source that changed while it was read."""


@dataclass(frozen=True)
class Piece:
    """Some records of one file.

    ``span`` are bytes of plain text, or row groups; None is the whole file, read from its beginning to its end.
    """

    path: Path
    layout: Layout
    span: tuple[int, int] | None
    num_rows: int = 0


class LocalReader:
    """Files on a file system that all nodes see at the same path."""

    def __init__(self, source: Source) -> None:
        source.check_local_options()
        self._files = list_files(source)
        self.is_small = sum(file.size for file in self._files) <= CHUNK_BYTES
        self.format = format_of(source, self._files)
        self._style = source.text_format(self.format)
        self._pieces = [piece for file in self._files for piece in _pieces(source, file, self.format, self._style)]
        self._check_columns(source)

    def _check_columns(self, source: Source) -> None:
        """An optional column that was named must be in one of the files."""
        if self.format == "json":
            return
        present = {name for piece in self._pieces for name in _columns(piece.layout)}
        for name, theirs in source.columns.items():
            if theirs and self._pieces and name not in present and name not in source.required:
                raise missing_column(
                    source, source.path, name, theirs, _listed(self._files[0], self.format, self._style)
                )

    def run(self, spark: SparkSession | LazySpark, work: Work[Result]) -> list[Result]:
        if not self._pieces:
            return []
        # Small files are read here: handing them to tasks would take longer than reading them.
        session = None if self.is_small else started(spark)
        groups = block_groups(len(self._pieces), session)
        pieces, file_format, style = self._pieces, self.format, self._style

        def task(number: int) -> Result:
            batches = (batch for index in groups[number] for batch in _read(pieces[index], file_format, style))
            return work(batches, number)

        return list(map_blocks(task, len(groups), session))

    def samples(self) -> Iterator[Batch]:
        if self.is_small or self.format in TABLE_FORMATS:
            return
        last = len(self._pieces) - 1
        for index in sorted({0, last // 2, last}):
            piece = self._pieces[index]
            if piece.span is not None:
                first = piece.span[0]
                piece = replace(piece, span=(first, min(piece.span[1], first + SAMPLE_BYTES)))
            yield from islice(_read(piece, self.format, self._style), 1)

    def finish(self) -> None:
        check_unchanged(self._files)


def open_source(spark: SparkSession | LazySpark, source: Source) -> Reader:
    """Find the files of a source, their format and their columns.

    Raises:
        InputError: nothing is there, its format is unknown, a column is missing or of a type that cannot be used.
    """
    if source.is_local:
        return LocalReader(source)
    from pubplan.pipeline.remote import SparkReader

    return SparkReader(started(spark), source)


def _pieces(source: Source, file: File, file_format: str, style: TextFormat) -> list[Piece]:
    given = partitions(source.path, file.path)
    if file_format in TABLE_FORMATS:
        schema, num_rows = tables.schema_and_groups(file.path, file_format)
        layout = tables.layout_of(source, file.path, schema, given)
        return [Piece(file.path, layout, span, rows) for span, rows in _spans(num_rows)]
    head = read_head(file.path, style)
    if not head:
        return []
    text: Layout
    if file_format == "json":
        text = jsonlines.layout_of(source, file.path, head, given)
        is_divisible = not text.is_document
    else:
        text = csv.layout_of(source, file.path, head, style, given)
        is_divisible = not (style.multiline and style.quote is not None)
    if not is_divisible or not is_plain(file.path, style.encoding):
        return [Piece(file.path, text, None)]
    bounds = [*range(0, file.size, CHUNK_BYTES), file.size]
    return [Piece(file.path, text, span) for span in pairwise(bounds)]


def _spans(num_rows: list[int]) -> Iterator[tuple[tuple[int, int], int]]:
    """Consecutive row groups of about a million rows, with their rows."""
    first, rows = 0, 0
    for group, number in enumerate(num_rows):
        rows += number
        if rows >= ROWS_PER_PIECE or group == len(num_rows) - 1:
            yield (first, group + 1), rows
            first, rows = group + 1, 0


def _read(piece: Piece, file_format: str, style: TextFormat) -> Iterator[Batch]:
    layout = piece.layout
    if isinstance(layout, tables.TableLayout):
        assert piece.span is not None
        return tables.read_table(piece.path, file_format, piece.span, piece.num_rows, layout)
    if isinstance(layout, jsonlines.JsonLayout):
        return jsonlines.read_json(piece.path, piece.span, layout, style)
    return csv.read_csv(piece.path, piece.span, layout, style)


def _columns(layout: Layout) -> set[str]:
    if isinstance(layout, tables.TableLayout):
        return {*layout.names, *layout.partitions}
    return {*layout.indices, *layout.partitions} if isinstance(layout, csv.Layout) else set()


def _listed(file: File, file_format: str, style: TextFormat) -> list[str]:
    """The columns of a file, for a sentence about one that it does not have."""
    if file_format in TABLE_FORMATS:
        return list(tables.schema_and_groups(file.path, file_format)[0].names)
    return csv.fields_of(file.path, read_head(file.path, style)[0], style)
