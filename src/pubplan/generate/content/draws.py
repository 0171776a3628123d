"""Random choices with whole-number weights: the same on every machine, which powers and logarithms are not."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pubplan.workload import Int64Array

WEIGHT_BITS = 40


def zipf_half(number: int) -> list[int]:
    """Weights proportional to 1, 1 / sqrt 2, 1 / sqrt 3, …: Zipf's law with exponent 0.5."""
    return [math.isqrt((1 << 2 * WEIGHT_BITS) // rank) for rank in range(1, number + 1)]


def cumulate(weights: Iterable[int]) -> Int64Array:
    """Where each weight ends when all are put end to end."""
    return np.cumsum(np.array(list(weights), dtype=np.int64))


def choose(generator: np.random.Generator, ends: Int64Array, number: int) -> Int64Array:
    """Independent draws of 0, 1, …, each with the probability of its weight."""
    return np.searchsorted(ends, generator.integers(0, int(ends[-1]), number), side="right")


def spread(generator: np.random.Generator, deviation: int, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Whole numbers around 0, about normal with that deviation: the sum of four uniform ones, at most 3.5 away."""
    # The sum of four uniform numbers on [-w, w] has the variance 4 w^2 / 3.
    width = deviation * 866 // 1000
    sums: npt.NDArray[np.int64] = generator.integers(-width, width + 1, (4, *shape)).sum(axis=0)
    return sums
