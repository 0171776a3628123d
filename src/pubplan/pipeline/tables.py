"""Parquet and ORC files: columns as they are stored, row groups or stripes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch, rows_as_json
from pubplan.pipeline.files import readable
from pubplan.pipeline.source import LISTS, Role, Source, missing_column

_EXPECTED: dict[Role, str] = {
    "id": "text or a whole number",
    "time": "a timestamp, an epoch number or ISO 8601 text",
    "count": "a whole number",
    "number": "a number",
}


@dataclass(frozen=True)
class TableLayout:
    """From our columns to those of one file, and our columns that its path gives.

    ``repeated`` are columns of text in which few values come often: Arrow then compares numbers instead of text.
    """

    names: Mapping[str, str]
    partitions: Mapping[str, str | None]
    repeated: tuple[str, ...] = ()


def layout_of(source: Source, path: object, schema: pa.Schema, partitions: dict[str, str | None]) -> TableLayout:
    """Find our columns in the schema of a file.

    Raises:
        InputError: a column is missing, there are two of its name, or its type cannot be used.
    """
    names, given = {}, {}
    for name, theirs in source.wanted.items():
        number = schema.names.count(theirs)
        if number > 1:
            raise InputError(f"{path} has {number} columns '{theirs}'; expected one for the {name}.")
        if number == 1:
            check_type(source, path, name, theirs, schema.field(theirs).type)
            names[name] = theirs
        elif theirs in partitions:
            given[name] = partitions[theirs]
        elif name in source.required:
            raise missing_column(source, path, name, theirs, schema.names)
    topics = [theirs for name, theirs in names.items() if name in ("topic", "followee")]
    return TableLayout(names, given, tuple(name for name in topics if pa.types.is_string(schema.field(name).type)))


def check_type(source: Source, path: object, name: str, theirs: str, kind: pa.DataType) -> None:
    """Refuse a column of a type that its role cannot have."""
    role, inner = source.role(name), kind
    if pa.types.is_dictionary(inner):
        inner = inner.value_type
    if (source.kind, name) in LISTS and _is_list(inner):
        inner = inner.value_type
    is_text = pa.types.is_binary(inner) or pa.types.is_large_binary(inner) or pa.types.is_null(inner)
    is_text = is_text or pa.types.is_string(inner) or pa.types.is_large_string(inner) or pa.types.is_string_view(inner)
    is_whole = pa.types.is_integer(inner) or (pa.types.is_decimal(inner) and inner.scale == 0)
    is_number = pa.types.is_floating(inner) or pa.types.is_decimal(inner)
    is_moment = pa.types.is_timestamp(inner) or pa.types.is_date(inner)
    accepted = {"id": False, "time": is_number or is_moment, "count": is_number, "number": is_number}[role]
    if not (is_text or is_whole or accepted):
        raise InputError(f"{path}: column '{theirs}' is {kind}; expected {_EXPECTED[role]} for the {name}.")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def schema_and_groups(path: Path, file_format: str) -> tuple[pa.Schema, list[int]]:
    """The columns of a file, and the rows of its row groups or stripes, from its footer."""
    with readable(path):
        if file_format == "parquet":
            with pq.ParquetFile(path) as file:
                metadata = file.metadata
                rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
                return file.schema_arrow, rows
        stripes = orc.ORCFile(path)
        return stripes.schema, [stripes.nrows] if stripes.nstripes else []


def read_table(
    path: Path, file_format: str, groups: tuple[int, int], num_rows: int, layout: TableLayout
) -> Iterator[Batch]:
    """Row groups of a Parquet file, or a whole ORC file; ``num_rows`` is what the footer says of them.

    Raises:
        InputError: other rows are read than the footer says, or the file cannot be read.
    """
    read = _row_groups(path, groups, layout) if file_format == "parquet" else _stripes(path, layout)
    num_read = 0
    for table in read:
        num_read += table.num_rows
        yield table_batch(table, layout)
    if num_read != num_rows:
        raise InputError(f"{path}: its footer counts {num_rows:,} rows, but {num_read:,} were read.")


def _row_groups(path: Path, groups: tuple[int, int], layout: TableLayout) -> Iterator[pa.Table]:
    wanted, options = list(layout.names.values()), {"coerce_int96_timestamp_unit": "us"}
    with readable(path), pq.ParquetFile(path, read_dictionary=list(layout.repeated), **options) as file:
        table = file.read_row_groups(list(range(*groups)), columns=wanted, use_threads=False)
    yield table


def _stripes(path: Path, layout: TableLayout) -> Iterator[pa.Table]:
    with readable(path):
        file = orc.ORCFile(path)
    for stripe in range(file.nstripes):
        with readable(path):
            batch = file.read_stripe(stripe, columns=list(layout.names.values()))
        yield pa.Table.from_batches([batch])


def table_batch(table: pa.Table, layout: TableLayout) -> Batch:
    """Our columns of a table."""
    columns = {name: combined(table[theirs]) for name, theirs in layout.names.items()}
    for name, value in layout.partitions.items():
        columns[name] = pa.repeat(pa.scalar(value, pa.string()), table.num_rows)
    names = dict(layout.names) | {name: name for name in layout.partitions}
    return Batch(columns, table.num_rows, table.num_rows, rows_as_json(names, columns))


def combined(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
    return whole
