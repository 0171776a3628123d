"""Distances between points with whole coordinates, and what they cost: rounded up, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pubplan.errors import InputError
from pubplan.workload.content.links import MAX_LINK_PRICE
from pubplan.workload.tables import Int64Array

MAX_DISTANCE = 2**31 - 1
"""Microseconds. Squares of distances are below 2^62, so that roots one too large still have squares within 64 bits."""

DOUBT = 2.0**-48
"""Relative; a product of a root and a quotient in floating point is wrong by less than 2^-50 of it."""


def distances(points: Int64Array, others: Int64Array) -> Int64Array:
    """Euclidean distances from every point (rows) to every other (columns), rounded up.

    Raises:
        InputError: one is larger than ``MAX_DISTANCE``.
    """
    return rounded_up_roots(_squares(points, others))


def distance_prices(points: Int64Array, others: Int64Array, rate: Fraction) -> Int64Array:
    """The prices of traffic from every point (rows) to every other (columns): ``rate`` per distance, rounded up.

    Rounded up, they are a metric like the distances.

    Raises:
        InputError: a distance is larger than ``MAX_DISTANCE``, or a price than that of any link.
    """
    squares = _squares(points, others)
    estimates = np.sqrt(squares.astype(np.float64)) * (rate.numerator / rate.denominator)
    if estimates.max(initial=0) >= MAX_LINK_PRICE:
        raise InputError(f"Traffic over the largest distance would cost more than {MAX_LINK_PRICE:,} per GB.")
    prices: Int64Array = np.ceil(estimates).astype(np.int64)
    # Next to a whole number the float may be on its wrong side.
    doubtful = np.abs(estimates - np.rint(estimates)) <= DOUBT * estimates
    for row, column in np.argwhere(doubtful & (squares > 0)).tolist():
        exact = -(-int(squares[row, column]) * rate.numerator**2 // rate.denominator**2)
        prices[row, column] = math.isqrt(exact - 1) + 1 if exact else 0
    return prices


def _squares(points: Int64Array, others: Int64Array) -> Int64Array:
    squares = np.zeros((len(points), len(others)), dtype=np.int64)
    rounded = np.zeros_like(squares, dtype=np.float64)
    for axis in range(points.shape[1]):
        offsets = points[:, axis, None] - others[None, :, axis]
        rounded += np.square(offsets.astype(np.float64))  # tells where whole numbers wrap around
        squares += offsets * offsets
    if (rounded > float(MAX_DISTANCE) ** 2).any():
        raise InputError(f"Points are farther than {MAX_DISTANCE:,} us from each other.")
    return squares


def rounded_up_roots(squares: Int64Array) -> Int64Array:
    """Square roots of numbers below 2^62, rounded up."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > squares  # the floating-point root of 62 bits may be one off, to either side
    roots += (roots + 1) * (roots + 1) <= squares
    rounded: Int64Array = roots + (roots * roots < squares)
    return rounded
