"""What families need to recompute a plan: plain NumPy, shared with no method."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pubplan.errors import Reason
from pubplan.workload import Int64Array


def wrong_columns(where: str, table: pa.Table, expected: pa.Schema) -> list[Reason]:
    """A violation if a table has other columns than expected, or nulls."""
    if table.schema.equals(expected) and not any(column.null_count for column in table.columns):
        return []
    found = ", ".join(f"{field.name} {field.type}" for field in table.schema)
    names = ", ".join(f"{field.name} {field.type}" for field in expected)
    return [Reason("columns without nulls", names, found, where)]


def sums_by_row(values: Int64Array, offsets: Int64Array) -> Int64Array:
    """Sums per row from running totals; these may wrap, their differences do not."""
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    sums: Int64Array = running[offsets[1:]] - running[offsets[:-1]]
    return sums
