"""Sums of integers that never wrap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]

MAX_INT64 = 2**63 - 1


def exact_sum(values: IntArray) -> int:
    """The sum of up to 2^31 int64 values as a Python integer, whatever its size.

    Summed as upper and lower halves, each of which fits 64 bits.
    """
    wide = np.asarray(values, dtype=np.int64)
    upper = int((wide >> 32).sum(dtype=np.int64))
    lower = int((wide & 0xFFFFFFFF).sum(dtype=np.int64))
    return (upper << 32) + lower


def exact_dot(left: IntArray, right: IntArray) -> int:
    """The sum of products of two non-negative int64 arrays of up to 2^31 entries, as a Python integer."""
    upper = np.asarray(left, dtype=np.int64)
    factor = np.asarray(right, dtype=np.int64)
    total = 0
    # 21-bit digits of both sides: a product has 42 bits, and 2^21 of them still fit 63.
    step = 1 << 21
    for start in range(0, len(upper), step):
        for shift_left in (0, 21, 42):
            digit_left = (upper[start : start + step] >> shift_left) & (step - 1)
            if not digit_left.any():
                continue
            for shift_right in (0, 21, 42):
                digit_right = (factor[start : start + step] >> shift_right) & (step - 1)
                total += int(np.dot(digit_left, digit_right)) << (shift_left + shift_right)
    return total
