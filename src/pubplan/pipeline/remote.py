"""Sources that only Spark can reach: addresses of other file systems, and tables of connectors.

Spark delivers lines of text or rows of tables; they are parsed, cleaned and counted by the functions that read local
files.
"""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from pubplan.arguments import argument
from pubplan.errors import EngineError, InputError, PubplanError
from pubplan.pipeline import csv, jsonlines, tables
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.files import format_by_name
from pubplan.pipeline.source import FILE_FORMATS, TEXT_FORMATS, Source, TextFormat
from pubplan.pipeline.text import Chunk, drop_first, lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pubplan.engine import LazySpark
    from pubplan.pipeline.reader import Result, Work

_SCHEME = r"^[A-Za-z][A-Za-z0-9+.-]+:(//[^/]*)?"
ToBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[Batch]]


class SparkReader:
    """A source read through Spark."""

    is_small = False

    def __init__(self, spark: SparkSession, source: Source) -> None:
        self.format = source.format or format_by_name(PurePosixPath(source.path)) or ""
        if not self.format:
            named = argument("format", {source.kind: "…"})
            raise InputError(f"Cannot tell the format of {source.path}. Name it with {named}.")
        if os.path.exists(source.path):  # Spark's default file system, and its working directory, may be other ones
            source = replace(source, path=f"file:{os.path.abspath(source.path)}")
        self._source = source
        with readable_by_spark(source):
            if self.format in TEXT_FORMATS:
                self._frame, self._to_batches = _text(spark, source, self.format)
                self._num_rows: int | None = None
            else:
                self._frame, self._to_batches = _table(spark, source, self.format)
                self._num_rows = self._frame.count()

    def run(self, spark: SparkSession | LazySpark, work: Work[Result]) -> list[Result]:
        to_batches = self._to_batches

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            context = TaskContext.get()
            assert context is not None
            number = context.partitionId()
            counted = _Counted(to_batches(batches))
            try:
                done = work(iter(counted), number)
                result: object = (counted.num_rows, done)
            except PubplanError as error:
                result = error
            encoded = pickle.dumps(result, protocol=5)
            yield pa.RecordBatch.from_pydict({"task": [number], "result": pa.array([encoded], pa.binary())})

        with readable_by_spark(self._source):
            answers = self._frame.mapInArrow(task, "task long, result binary").toArrow().sort_by("task")
        results = [pickle.loads(answer.as_buffer()) for answer in answers["result"]]
        for result in results:
            if isinstance(result, PubplanError):
                raise result
        num_rows = sum(number for number, _ in results)
        if self._num_rows is not None and num_rows != self._num_rows:
            raise InputError(f"{self._source.path}: {self._num_rows:,} rows were counted, but {num_rows:,} were read.")
        return [result for _, result in results]

    def samples(self) -> Iterator[Batch]:
        return iter(())

    def finish(self) -> None:
        """Spark reads other file systems; what changes there is not seen here."""


class _Counted:
    """Batches, and how many rows went by."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self.num_rows = 0
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._batches:
            self.num_rows += batch.num_rows
            yield batch


def _visible(frame: DataFrame, source: Source) -> DataFrame:
    """Without the files of hidden directories, which Spark reads when it looks into directories of directories."""
    base = re.sub(_SCHEME, "", source.path).rstrip("/")
    if not base.startswith("/"):
        return frame
    # Names are compared by their depth: Spark encodes letters of the path that the address may have as they are.
    names = F.split(F.regexp_replace("_metadata.file_path", _SCHEME, ""), "/")
    inside = F.slice(names, base.count("/") + 2, F.size(names))
    return frame.where(~F.exists(inside, lambda name: name.rlike(r"^(\.|_[^=]*$)")))


def _text(spark: SparkSession, source: Source, file_format: str) -> tuple[DataFrame, ToBatches]:
    style = source.text_format(file_format)
    if style.multiline or style.encoding not in (None, "utf-8", "UTF-8"):
        needing = f"{argument('multiline')} and {argument('encoding')}"
        raise InputError(f"{source.path}: {needing} need files on a file system that all nodes mount.")
    reader = spark.read.options(**{"recursiveFileLookup": "true", **source.spark_options()})
    frame = _visible(reader.text(source.path), source).select(
        "value", F.col("_metadata.file_path").alias("path"), F.col("_metadata.file_block_start").alias("start")
    )
    head = [_bytes(row["value"]) for row in frame.where("length(value) > 0").limit(jsonlines.SAMPLED_RECORDS).collect()]
    if not head:
        raise InputError(f"{source.path} is empty.")
    if file_format == "json":
        layout = jsonlines.layout_of(source, source.path, head, {})
        if layout.is_document:
            raise InputError(f"{source.path} is one JSON document; expected one object per line.")
        return frame, lambda batches: (
            jsonlines.parse_chunk(source.path, chunk, layout) for _, _, chunk in _chunks(batches)
        )
    header = head[0].removeprefix(b"\xef\xbb\xbf")
    columns = csv.layout_of(source, source.path, [header, *head[1:2]], style, {})
    return frame, lambda batches: _parse_csv(_chunks(batches), columns, style, header)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, bool, Chunk]]:
    """Lines of one file at a time, and whether they begin it."""
    before: tuple[str, int] | None = None
    for batch in batches:
        paths, starts = (np.asarray(batch.column(name).to_pylist(), dtype=object) for name in ("path", "start"))
        values = batch.column("value").cast(pa.binary()).to_pylist()
        changes = np.flatnonzero((paths[1:] != paths[:-1]) | (starts[1:] != starts[:-1])) + 1
        bounds = [0, *changes.tolist(), batch.num_rows]
        for first, last in pairwise(bounds):
            if first == last:
                continue
            here = (paths[first], starts[first])
            chunk = lines(b"\n".join(values[first:last]) + b"\n")
            if chunk.num_records:
                yield here[0], here != before and here[1] == 0, chunk
                before = here


def _parse_csv(
    chunks: Iterator[tuple[str, bool, Chunk]], layout: csv.Layout, style: TextFormat, header: bytes
) -> Iterator[Batch]:
    for path, is_first, chunk in chunks:
        body = chunk
        if is_first and style.has_header:
            seen = chunk.records()[0].removeprefix(b"\xef\xbb\xbf")
            if seen != header:
                raise InputError(f"{path} begins with another header than other files of the source.")
            body = drop_first(chunk)
        if body.num_records:
            yield csv.parse_chunk(path, body, layout, style)


def _table(spark: SparkSession, source: Source, file_format: str) -> tuple[DataFrame, ToBatches]:
    from pyspark.sql.pandas.types import to_arrow_schema

    reader = spark.read.options(**{"recursiveFileLookup": "true", **source.options}).format(file_format)
    frame = reader.load(source.path)
    if file_format in FILE_FORMATS:
        frame = _visible(frame, source)
    layout = tables.layout_of(source, source.path, to_arrow_schema(frame.schema), {})
    names = dict(layout.names)
    # The conversion to Arrow takes timestamps of the session's time zone, which is UTC, and no unsigned numbers.
    columns = [F.col(f"`{theirs}`") for theirs in dict.fromkeys(names.values())]

    def to_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[Batch]:
        return (tables.table_batch(pa.Table.from_batches([batch]), layout) for batch in batches if batch.num_rows)

    return frame.select(*columns), to_batches


@contextmanager
def readable_by_spark(source: Source) -> Iterator[None]:
    """Turn Spark's trouble with an input into a sentence that names the file."""
    try:
        yield
    except (InputError, EngineError, KeyboardInterrupt):
        raise
    except AnalysisException as error:
        raise InputError(f"Cannot read {source.path}: {_first_line(str(error))}") from error
    except Exception as error:
        raise _sentence(source, str(error)) or error from error


def _sentence(source: Source, text: str) -> Any:
    known = re.search(r"\[(?:DATA_SOURCE_NOT_FOUND|PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA)[^\]]*\] ([^\n]*)", text)
    if known is not None:
        return InputError(f"Cannot read {source.path}: {known[1]}")
    file = re.search(r"reading file (\S+?)\.?\s", text)
    if file is None:
        return None
    causes = re.findall(r"Caused by: (.*)", text)
    cause = re.sub(r"^[\w.$]+(?:Exception|Error): ?", "", causes[-1]) if causes else ""
    kinds = re.findall(r"Caused by: [\w.$]*?(\w+(?:Exception|Error))", text)
    detail = cause.strip() or (kinds[-1] if kinds else _first_line(text))
    return InputError(f"Cannot read {file[1].removeprefix('file://')}: {detail}")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no message"
