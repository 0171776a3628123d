"""Shared kernels against their obvious twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.kernels import count_columns, row_positive_minima, row_sums, transpose

pytestmark = pytest.mark.kernel

ROWS = st.lists(st.sets(st.integers(0, 8), max_size=9).map(sorted), max_size=12)


def csr(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return offsets, np.array([value for row in rows for value in row], dtype=np.int32)


@given(ROWS)
def test_transposing(rows: list[list[int]]) -> None:
    """Column c lists the rows that hold c, ascending."""
    offsets, columns = csr(rows)
    counts = np.zeros(9, dtype=np.int64)
    count_columns(columns, counts)
    expected = [[row for row, held in enumerate(rows) if column in held] for column in range(9)]
    assert counts.tolist() == [len(column) for column in expected]
    column_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    turned = np.empty(len(columns), dtype=np.int32)
    transpose(columns, offsets, column_offsets, turned)
    assert [turned[a:b].tolist() for a, b in itertools.pairwise(column_offsets)] == expected


@given(ROWS, st.lists(st.integers(0, 5), min_size=9, max_size=9))
def test_rows(rows: list[list[int]], weights: list[int]) -> None:
    """Sums and smallest positive weights per row; empty rows give 0."""
    offsets, columns = csr(rows)
    weight_array = np.array(weights, dtype=np.int64)
    sums, minima = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    row_sums(weight_array, columns, offsets, sums)
    row_positive_minima(weight_array, columns, offsets, minima)
    assert sums.tolist() == [sum(weights[column] for column in row) for row in rows]
    positive = [[weights[column] for column in row if weights[column]] for row in rows]
    assert minima.tolist() == [min(row, default=0) for row in positive]
