"""Distances and prices by distance, against whole-number arithmetic without limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import InputError
from pubplan.workload.content.distances import MAX_DISTANCE, distance_prices, distances

coordinates = st.one_of(st.integers(-(5 * 10**8), 5 * 10**8), st.integers(-9, 9).map(lambda number: number * 10**6))
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=5)
rates = st.one_of(st.fractions(0, 1000, max_denominator=10**9), st.sampled_from([Fraction(1, 10), Fraction(10, 3)]))


def least_price(one: tuple[int, int], other: tuple[int, int], rate: Fraction) -> int:
    """The least whole P with P^2 >= (rate x distance)^2."""
    square = rate**2 * sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
    root = math.isqrt(math.ceil(square))
    return root if root * root >= square else root + 1


@given(points, points, rates)
def test_prices_are_rounded_up_exactly(
    ones: list[tuple[int, int]], others: list[tuple[int, int]], rate: Fraction
) -> None:
    """Also where a price is whole, or as close to a whole number as floats cannot tell."""
    one, other = (np.array(each, dtype=np.int64) for each in (ones, others))
    expected = [[least_price(left, right, rate) for right in others] for left in ones]
    assert distance_prices(one, other, rate).tolist() == expected
    expected = [[least_price(left, right, Fraction(1)) for right in others] for left in ones]
    assert distances(one, other).tolist() == expected


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 3), Fraction(10**8 + 1, 10**8)])
def test_prices_next_to_whole_numbers(rate: Fraction) -> None:
    """Distances whose floats are the same whole number, although only one of them is whole."""
    origin, edge = np.zeros((1, 2), dtype=np.int64), 3 * 2**29
    ones = [(edge, 0), (edge, 1), (edge - 1, 1), (3, 4), (0, 0)]
    expected = [[least_price(one, (0, 0), rate)] for one in ones]
    assert distance_prices(np.array(ones), origin, rate).tolist() == expected


def test_distances_and_prices_have_limits() -> None:
    """2^31 - 1 us is the largest distance, and 10^18 the price that nothing reaches."""
    origin = np.zeros((1, 1), dtype=np.int64)
    assert distances(origin, np.array([[MAX_DISTANCE]])).tolist() == [[MAX_DISTANCE]]
    with pytest.raises(InputError, match="farther than 2,147,483,647 us"):
        distances(origin, np.array([[2**40]]))
    with pytest.raises(InputError, match="would cost more than"):
        distance_prices(origin, np.array([[10]]), Fraction(10**17))
