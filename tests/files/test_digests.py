"""Digests follow the content, nothing else."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pubplan.files import digest_table, digest_value


def table(**columns) -> pa.Table:
    return pa.table(columns)


BASE = table(number=[1, 2, None], name=["a", "bc", ""], topics=pa.array([[1, 2], [], [3]], pa.list_(pa.int32())))


def test_chunks_and_slices_do_not_matter() -> None:
    """The same values digest the same however they lie in memory."""
    chunked = pa.concat_tables([BASE.slice(0, 1), BASE.slice(1, 2)])
    padded = pa.concat_tables([BASE, BASE]).combine_chunks().slice(3, 3)
    assert digest_table(chunked) == digest_table(padded) == digest_table(BASE)


def test_what_lies_under_a_null_does_not_matter() -> None:
    """Null slots are zeroed before they are digested."""
    mask = pa.py_buffer(bytes([0b101]))
    columns = [
        pa.Array.from_buffers(pa.int64(), 3, [mask, pa.py_buffer(b"".join(v.to_bytes(8, "little") for v in values))])
        for values in ([1, 7, 3], [1, 99, 3])
    ]
    assert len({digest_table(pa.table({"x": column})) for column in columns}) == 1


@pytest.mark.parametrize(
    "other",
    [
        table(number=[1, 2, 3], name=["a", "bc", ""], topics=BASE["topics"]),
        table(number=[1, 2, None], name=["ab", "c", ""], topics=BASE["topics"]),
        table(number=[1, 2, None], name=["a", "bc", ""], topics=pa.array([[1], [2], [3]], pa.list_(pa.int32()))),
        table(number=[1, 2, None], name=["a", "bc", ""], topics=pa.array([[1, 2], [3], []], pa.list_(pa.int32()))),
        table(number=[1, 2, None], label=["a", "bc", ""], topics=BASE["topics"]),
        table(number=[1, 2, None], name=["a", "bc", None], topics=BASE["topics"]),
        table(number=pa.array([1, 2, None], pa.int32()), name=["a", "bc", ""], topics=BASE["topics"]),
        BASE.slice(0, 2),
    ],
    ids=["value", "string boundary", "list boundary", "empty list", "column name", "null", "type", "rows"],
)
def test_every_difference_matters(other: pa.Table) -> None:
    """A change anywhere, string and list boundaries included, changes the digest."""
    assert digest_table(other) != digest_table(BASE)


def test_empty_tables_digest() -> None:
    """A table without rows has a digest that depends on its schema."""
    assert digest_table(BASE.slice(0, 0)) != digest_table(BASE.select(["name"]).slice(0, 0))


def test_values_digest_by_content() -> None:
    """The order of keys does not matter, the order of a list does."""
    assert digest_value({"a": 1, "b": [1, 2]}) == digest_value({"b": [1, 2], "a": 1})
    assert digest_value([1, 2]) != digest_value([2, 1])
