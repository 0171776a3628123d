"""Arrays in and out of the tables of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import InputError

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

INT32_LIST = pa.list_(pa.field("element", pa.int32(), nullable=False))
INT64_LIST = pa.list_(pa.field("element", pa.int64(), nullable=False))

_ID_DIGITS = 9


def list_column(table: pa.Table, name: str) -> tuple[Int64Array, Int32Array]:
    """A column of lists as CSR: offsets from 0, and the values of all rows end to end, without copying them.

    Raises:
        InputError: it does not hold a list of int32 in every row.
    """
    return _csr(table, name, INT32_LIST)


def int64_list_column(table: pa.Table, name: str) -> tuple[Int64Array, Int64Array]:
    """As :func:`list_column`, for lists of int64."""
    return _csr(table, name, INT64_LIST)


def _csr(table: pa.Table, name: str, kind: pa.DataType) -> tuple[Int64Array, npt.NDArray[Any]]:
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=kind)
    if not pa.types.is_list(column.type) or column.type.value_type != kind.value_type or column.null_count:
        raise InputError(f"The column {name} is {column.type}; expected a list of {kind.value_type} in every row.")
    offsets = column.offsets.to_numpy().astype(np.int64)
    # A slice of a table keeps the values of all its rows; its own begin at the first offset.
    values = (
        column.values.to_numpy()[offsets[0] : offsets[-1]]
        if len(offsets)
        else np.empty(0, kind.value_type.to_pandas_dtype())
    )
    return offsets - offsets[:1], values


def numbered_ids(prefix: str, first: int, last: int) -> pa.Array:
    """The names ``prefix000000017`` of the numbers from ``first`` to before ``last``: text order is number order."""
    numbers = np.arange(first, last, dtype=np.int64)
    letters = np.empty((len(numbers), len(prefix) + _ID_DIGITS), dtype=np.uint8)
    letters[:, : len(prefix)] = np.frombuffer(prefix.encode(), dtype=np.uint8)
    for power in range(_ID_DIGITS):
        letters[:, -1 - power] = ord("0") + numbers // 10**power % 10
    offsets = np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(letters.shape[1])
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(letters.tobytes()))


def sorted_ids(ids: Mapping[str, object]) -> list[str]:
    """The ids in the order in which they are numbered: by their UTF-8 bytes.

    Raises:
        InputError: an id is not text.
    """
    for name in ids:
        if not isinstance(name, str):
            raise InputError(f"Ids are text, not {name!r}.")
    return sorted(ids, key=lambda name: name.encode("utf-8"))
