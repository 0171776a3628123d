"""Content digests: SHA-256 over canonical buffers, the same for the same values however they were chunked or stored.

A column enters as its name, its type, its length, its validity (only when something is null), then its values with
null slots zeroed and offsets starting at 0. A table is its columns in order; a table in blocks is the digest of its
block digests in block order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.files.documents import canonical_json


def digest_table(table: pa.Table) -> str:
    """The digest of one table, or of one block of a big one."""
    state = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        array = column.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], type=array.type)
        _text(state, name)
        _array(state, array)
    return state.hexdigest()


def digest_blocks(block_digests: Iterable[str]) -> str:
    """The digest of a table from the digests of its blocks, in block order."""
    return digest_value(list(block_digests))


def digest_value(value: Any) -> str:
    """The digest of a JSON value."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


def _text(state: hashlib._Hash, text: str) -> None:
    encoded = text.encode("utf-8")
    state.update(len(encoded).to_bytes(8, "little"))
    state.update(encoded)


def _array(state: hashlib._Hash, array: pa.Array) -> None:
    _text(state, str(array.type))
    state.update(len(array).to_bytes(8, "little"))
    if array.null_count:
        state.update(np.packbits(np.asarray(array.is_valid())).tobytes())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        filled = array.fill_null("") if array.null_count else array
        lengths = np.asarray(pc.binary_length(filled), dtype=np.int64)
        state.update(_offsets(lengths).data)
        state.update(_string_bytes(filled))
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        lengths = np.asarray(pc.list_value_length(array).fill_null(0), dtype=np.int64)
        state.update(_offsets(lengths).data)
        _array(state, array.flatten())
    elif pa.types.is_boolean(array.type):
        values = np.asarray(array.fill_null(False)).astype(np.uint8)
        state.update(values.data)
    else:
        filled = array.fill_null(0) if array.null_count else array
        values = np.ascontiguousarray(filled.to_numpy(zero_copy_only=False))
        state.update(values.astype(values.dtype.newbyteorder("<"), copy=False).data)


def _offsets(lengths: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, dtype="<i8")
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _string_bytes(array: pa.Array) -> memoryview:
    """The text of all rows, end to end, without copying it row by row."""
    wide = array.cast(pa.large_string())
    _, offsets, values = wide.buffers()
    if len(wide) == 0 or values is None:
        return memoryview(b"")
    bounds = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return memoryview(values)[int(bounds[0]) : int(bounds[-1])]
