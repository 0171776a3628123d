"""Sums that never wrap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pubplan.engine import exact_dot, exact_sum

INT64 = st.integers(-(2**63), 2**63 - 1)
COUNT = st.integers(0, 2**63 - 1)


@given(st.lists(INT64, max_size=50))
def test_sums_equal_pythons(values: list[int]) -> None:
    """Whatever the size of the sum, it is the one Python's integers give."""
    assert exact_sum(np.array(values, dtype=np.int64)) == sum(values)


@given(st.lists(st.tuples(COUNT, COUNT), max_size=50))
def test_dot_products_equal_pythons(pairs: list[tuple[int, int]]) -> None:
    """Products and their sum may leave 64 bits."""
    left = np.array([a for a, _ in pairs], dtype=np.int64)
    right = np.array([b for _, b in pairs], dtype=np.int64)
    assert exact_dot(left, right) == sum(a * b for a, b in pairs)


def test_long_arrays_are_summed_in_pieces() -> None:
    """More than 2^21 products of the largest digits still do not wrap."""
    length = 2**21 + 5
    largest = np.full(length, 2**63 - 1, dtype=np.int64)
    assert exact_dot(largest, largest) == length * (2**63 - 1) ** 2
