"""What every reader delivers: rows as Arrow columns, and the text of malformed records, which have none."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pubplan.workload import Int64Array

RawRows = Callable[[Int64Array], list[str]]


@dataclass(frozen=True)
class Batch:
    """Some records of a source.

    Attributes:
        columns: our columns as they are stored; an optional column that the file does not have is absent.
        num_rows: the length of the columns.
        num_records: the physical records behind them, malformed ones included, counted apart from the parser.
        raw: the records behind given rows, as text.
        malformed: the text of records without columns.
    """

    columns: Mapping[str, pa.Array]
    num_rows: int
    num_records: int
    raw: RawRows
    malformed: list[str] = field(default_factory=list)


def as_text(raw: bytes) -> str:
    """Bytes of any origin as text that can be stored; what is not UTF-8 is replaced."""
    return raw.decode("utf-8", errors="replace")


def rows_as_json(names: Mapping[str, str], columns: Mapping[str, pa.Array]) -> RawRows:
    """Rows of typed columns as JSON objects, by the names they have in the table; nulls are left out."""

    def raw(rows: Int64Array) -> list[str]:
        taken = {names[name]: _plain(column.take(pa.array(rows))) for name, column in columns.items()}
        records = [dict(zip(taken, values, strict=True)) for values in zip(*taken.values(), strict=True)]
        return [
            json.dumps({name: value for name, value in record.items() if value is not None}, ensure_ascii=False)
            .encode("utf-8", errors="replace")
            .decode()
            for record in records
        ]

    return raw


def _plain(column: pa.Array) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())  # it may hold bytes that are not UTF-8
    if pa.types.is_timestamp(column.type):
        unit, zone = column.type.unit, column.type.tz
        moments = [None if value is None else f"{value} {unit}" for value in column.cast(pa.int64()).to_pylist()]
        if unit == "ns":
            return moments  # Python's moments end at microseconds
        try:
            return [None if value is None else str(value) for value in column.to_pylist()]
        except (ValueError, OverflowError, pa.ArrowException):
            return [None if moment is None else f"{moment} {zone or ''}".strip() for moment in moments]
    return [_value(value) for value in column.to_pylist()]


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        return as_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str, list, type(None))) else str(value)
