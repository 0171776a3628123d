"""Reading raw tables: whatever Spark can read, as text columns with known names."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from glob import glob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubplan.errors import EngineError, InputError, unknown_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

Kind = Literal["events", "rates", "subscriptions", "follows"]
Role = Literal["id", "time", "count"]

ROLES: dict[str, Role] = {
    "topic": "id",
    "subscriber": "id",
    "follower": "id",
    "followee": "id",
    "event": "id",
    "timestamp": "time",
    "size": "count",
    "rate": "count",
    "cost": "count",
    "weight": "count",
    "threshold": "count",
}
"""What each column is: a name, a moment, or a whole number."""

REQUIRED: dict[Kind, tuple[str, ...]] = {
    "events": ("topic", "timestamp"),
    "rates": ("topic", "rate"),
    "subscriptions": ("subscriber", "topic"),
    "follows": ("follower", "followee"),
}
OPTIONAL: dict[Kind, tuple[str, ...]] = {
    "events": ("size", "event"),
    "rates": ("size", "cost"),
    "subscriptions": ("weight", "threshold"),
    "follows": (),
}

FORMATS = {"parquet": "parquet", "csv": "csv", "tsv": "tsv", "jsonl": "json", "ndjson": "json", "json": "json"}
_COMPRESSION = {"gz", "bz2", "zst", "lz4", "snappy", "deflate"}
_CORRUPT = "_corrupt"
_JSON_ROWS_LOOKED_AT = 100

_ID_TYPES = (T.StringType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.DecimalType)
_TIME_TYPES = (*_ID_TYPES, T.TimestampType, T.TimestampNTZType, T.DateType)
_COUNT_TYPES = (*_ID_TYPES, T.FloatType, T.DoubleType)
_ACCEPTED: dict[Role, tuple[tuple[type[T.DataType], ...], str]] = {
    "id": (_ID_TYPES, "text or a whole number"),
    "time": (_TIME_TYPES, "a timestamp, an integer epoch or ISO 8601 text"),
    "count": (_COUNT_TYPES, "a whole number"),
}


@dataclass(frozen=True)
class Source:
    """One raw table.

    Args:
        kind: what its rows are.
        path: a file, a directory, a glob, or what the format's connector takes.
        format: a Spark format name; None goes by the files' extension.
        columns: from our column names to those of the table; an empty name leaves an optional column out.
        options: for Spark's reader.
        has_header: whether CSV and TSV files begin with column names; without, columns come in our order.
    """

    kind: Kind
    path: str
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    has_header: bool = True

    def __post_init__(self) -> None:
        known = [*REQUIRED[self.kind], *OPTIONAL[self.kind]]
        for name in self.columns:
            if name not in known:
                raise InputError(unknown_name(f"column of {self.kind}", name, known))
        for name in REQUIRED[self.kind]:
            if self.columns.get(name, name) == "":
                raise InputError(f"The column {name} of {self.kind} cannot be left out.")


def read_source(spark: SparkSession, source: Source) -> DataFrame:
    """The rows of ``source``: our columns as they are stored, ``raw`` (the row as JSON) and ``is_malformed``.

    Raises:
        InputError: nothing is there, a file is empty, the format cannot be told, a column is missing or of another
            type. Names the file and what was expected.
    """
    files = _files(source)
    if files:  # Spark's own working directory may be another one
        source = replace(source, path=os.path.abspath(source.path))
    name = source.format or _format_of(source, files)
    with readable(source):
        if name in ("csv", "tsv"):
            frame = _read_csv(spark, source, name, _line_ending(files))
        elif name == "json":
            frame = _read_json(spark, source)
        else:
            frame = _reader(spark, source).format(name).load(source.path)
    return _with_our_columns(frame, source)


def local_parquet_files(source: Source) -> list[Path] | None:
    """The files of a source that is Parquet on a file system all nodes see; None for any other."""
    files = _files(source)
    if not files or source.options or (source.format or _format_of(source, files)) != "parquet":
        return None
    return [Path(os.path.abspath(file)) for file in files]


def _files(source: Source) -> list[Path]:
    """The local files behind a path; none for addresses and tables that only Spark can resolve."""
    if re.match(r"[a-z0-9+]{2,}:", source.path) or (source.format and source.format not in FORMATS.values()):
        return []
    path = Path(source.path)
    found = [path] if path.exists() else [Path(name) for name in sorted(glob(source.path))]
    if not found:
        raise InputError(f"There is no {source.path} to read {source.kind} from.")
    files = [file for place in found for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    files = [file for file in files if file.is_file() and not file.name.startswith(("_", "."))]
    if not files:
        raise InputError(f"{source.path} has no files; expected {source.kind} as Parquet, CSV, TSV or JSON lines.")
    for file in files:
        if file.stat().st_size == 0:
            raise InputError(f"{file} is empty; expected {source.kind} with {', '.join(REQUIRED[source.kind])}.")
    return files


def _format_of(source: Source, files: list[Path]) -> str:
    found = set()
    for file in files:
        parts = file.name.lower().split(".")[1:]
        while parts and parts[-1] in _COMPRESSION:
            parts.pop()
        found.add(FORMATS.get(parts[-1] if parts else "", f"unknown ({file.name})"))
    if len(found) != 1 or next(iter(found), "").startswith("unknown"):
        seen = ", ".join(sorted(found)) or "nothing"
        raise InputError(f"Cannot tell the format of {source.path} (found: {seen}). Name it with --format.")
    return found.pop()


def _reader(spark: SparkSession, source: Source) -> DataFrameReader:
    return spark.read.options(**{"recursiveFileLookup": "true", **source.options})


def _line_ending(files: list[Path]) -> str | None:
    """How the lines of all files end; None where it cannot be told, or files differ.

    Spark finds out by itself, but then rewrites line breaks inside fields too.
    """
    endings = set()
    for file in files:
        with suppress(OSError, EOFError), _opened(file) as handle:
            start = handle.read(1 << 16)
            end = start.find(b"\n")
            endings.add("\r\n" if end > 0 and start[end - 1 : end] == b"\r" else "\n" if end >= 0 else None)
    return endings.pop() if len(endings) == 1 else None


def _opened(file: Path) -> IO[bytes]:
    if file.suffix == ".gz":
        return gzip.open(file)  # type: ignore[return-value]
    return bz2.open(file) if file.suffix == ".bz2" else open(file, "rb")


def _read_csv(spark: SparkSession, source: Source, name: str, line_ending: str | None) -> DataFrame:
    """RFC 4180: quotes are doubled, fields may hold line breaks, rows have as many fields as the header."""
    options = {
        "header": source.has_header,
        "multiLine": True,
        "quote": '"',
        "escape": '"',
        "sep": "\t" if name == "tsv" else ",",
        "enforceSchema": not source.has_header,
        "columnNameOfCorruptRecord": _CORRUPT,
        **({"lineSep": line_ending} if line_ending else {}),
    }
    reader = _reader(spark, source).options(**options).options(**source.options)
    columns = reader.csv(source.path).columns
    if not source.has_header:
        ours = [*REQUIRED[source.kind], *OPTIONAL[source.kind]]
        named = [source.columns.get(name, name) for name in ours if source.columns.get(name, name)]
        columns = [*named[: len(columns)], *columns[len(named) :]]
    schema = T.StructType([T.StructField(column, T.StringType()) for column in [*columns, _CORRUPT]])
    return reader.schema(schema).csv(source.path)


def _read_json(spark: SparkSession, source: Source) -> DataFrame:
    """One object per line. Columns that none of the first rows has are taken to be missing."""
    wanted = {source.columns.get(name, name) for name in [*REQUIRED[source.kind], *OPTIONAL[source.kind]]} - {""}
    seen: set[str] = set()
    for row in _reader(spark, source).text(source.path).limit(_JSON_ROWS_LOOKED_AT).collect():
        try:
            value = json.loads(row["value"])
        except ValueError:
            continue
        seen |= set(value) if isinstance(value, dict) else set()
    schema = T.StructType([T.StructField(column, T.StringType()) for column in [*sorted(wanted & seen), _CORRUPT]])
    return _reader(spark, source).option("columnNameOfCorruptRecord", _CORRUPT).schema(schema).json(source.path)


def _with_our_columns(frame: DataFrame, source: Source) -> DataFrame:
    columns = {}
    for name in [*REQUIRED[source.kind], *OPTIONAL[source.kind]]:
        # Events are told apart by an id only where one is named.
        theirs = source.columns.get(name, "" if name == "event" else name)
        if theirs in frame.columns:
            _check_type(frame, source, name, theirs)
            columns[name] = theirs
        elif name in REQUIRED[source.kind] or (name in source.columns and theirs):
            listed = ", ".join(column for column in frame.columns if column != _CORRUPT) or "none"
            raise InputError(
                f"{source.path} has no column '{theirs}', expected for the {name} of {source.kind}. It has: {listed}. "
                f"Name another one with --column {source.kind}.{name}=…"
            )
    data = [column for column in frame.columns if column != _CORRUPT]
    as_json = F.to_json(F.struct(*(F.col(f"`{column}`") for column in data)))
    corrupt = F.col(_CORRUPT) if _CORRUPT in frame.columns else F.lit(None).cast("string")
    return frame.select(
        *(F.col(f"`{theirs}`").alias(name) for name, theirs in columns.items()),
        F.coalesce(corrupt, as_json).alias("raw"),
        corrupt.isNotNull().alias("is_malformed"),
    )


def _check_type(frame: DataFrame, source: Source, name: str, theirs: str) -> None:
    kind = frame.schema[theirs].dataType
    accepted, said = _ACCEPTED[ROLES[name]]
    whole = not isinstance(kind, T.DecimalType) or kind.scale == 0
    if not isinstance(kind, accepted) or not whole:
        raise InputError(f"{source.path}: column '{theirs}' is {kind.simpleString()}; expected {said} for the {name}.")


@contextmanager
def readable(*sources: Source) -> Iterator[None]:
    """Turn Spark's trouble with an input into a sentence that names the file."""
    try:
        yield
    except (InputError, EngineError, KeyboardInterrupt):
        raise
    except AnalysisException as error:
        raise InputError(f"Cannot read {_paths(sources)}: {_first_line(str(error))}") from error
    except Exception as error:
        text = str(error)
        known = re.search(r"\[(?:DATA_SOURCE_NOT_FOUND|PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA)[^\]]*\] ([^\n]*)", text)
        if known is not None:
            raise InputError(f"Cannot read {_paths(sources)}: {known[1]}") from error
        file = re.search(r"reading file (\S+?)\.?\s", text)
        if file is None:
            raise
        causes = re.findall(r"Caused by: (.*)", text)
        cause = re.sub(r"^[\w.$]+(?:Exception|Error): ?", "", causes[-1]) if causes else ""
        kinds = re.findall(r"Caused by: [\w.$]*?(\w+(?:Exception|Error))", text)
        detail = cause.strip() or (kinds[-1] if kinds else _first_line(text))
        raise InputError(f"Cannot read {file[1].removeprefix('file://')}: {detail}") from error


def _paths(sources: tuple[Source, ...]) -> str:
    return reduce(lambda text, source: f"{text}, {source.path}" if text else source.path, sources, "")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no message"
