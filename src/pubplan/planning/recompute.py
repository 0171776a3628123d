"""What families need to recompute a plan: plain NumPy, shared with no method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import Violation
from pubplan.workload import Int64Array


def wrong_columns(where: str, table: pa.Table, expected: pa.Schema) -> list[Violation]:
    """A violation if a table has other columns than expected, or nulls."""
    if table.schema.equals(expected) and not any(column.null_count for column in table.columns):
        return []
    stated = ", ".join(f"{field.name} {field.type}" for field in table.schema)
    names = ", ".join(f"{field.name} {field.type}" for field in expected)
    return [Violation("wrong columns, or nulls in them", where, stated=stated, expected=names)]


def wrong_values(where: str, columns: Mapping[str, npt.NDArray[np.generic]], table: pa.Table) -> Iterator[Violation]:
    """Columns of a table that do not hold what was recomputed; of each, the first row."""
    for name, expected in columns.items():
        stated = table[name].to_numpy()
        if len(stated) != len(expected):
            yield Violation("wrong number of rows", where, stated=len(stated), expected=len(expected))
            return
        wrong = np.flatnonzero(stated != expected)
        if len(wrong):
            row = wrong[0]
            yield Violation(
                f"wrong {name}", f"{where}, row {row}", stated=str(stated[row]), expected=str(expected[row])
            )


def sums_by_row(values: Int64Array, offsets: Int64Array) -> Int64Array:
    """Sums per row from running totals; these may wrap, their differences do not."""
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    sums: Int64Array = running[offsets[1:]] - running[offsets[:-1]]
    return sums
