"""Distributions, counted exactly on logarithmic scales of twenty steps per decade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_sum
from pubplan.workload.tables import Int64Array

STEPS_PER_DECADE = 20
_STEPS = np.arange(18 * STEPS_PER_DECADE + 1) / STEPS_PER_DECADE
EDGES: Int64Array = np.unique(np.rint(10.0**_STEPS).astype(np.int64))
"""Where distributions are counted: 1, 2, 3, … and from 10 on twenty integers per decade, up to 10^18."""

NUM_BINS = len(EDGES) + 1
"""Bin 0 is below the first edge, bin i from ``EDGES[i - 1]`` to before ``EDGES[i]``, the last from the last edge on."""


ONE_IN = (2, 10, 100, 1000)
"""Shares of all of which a description says what they reach: half, a tenth …"""

QUANTILE_HEADER = ["have at least", "mean", *(f"1 in {part}" for part in ONE_IN), "largest"]


@dataclass(frozen=True)
class Distribution:
    """How a number is distributed over topics, subscribers or whatever has it.

    ``values`` and ``shares`` are its complementary distribution: the share of all that have at least that value.
    ``one_in`` has what one in 2, 10, 100 and 1000 have at least: the largest value that as many of all reach.
    """

    total: int
    number: int
    largest: int
    values: Sequence[int]
    shares: Sequence[float]
    one_in: Mapping[int, int]

    @property
    def mean(self) -> float:
        return self.total / self.number if self.number else 0.0


@dataclass(frozen=True)
class Relation:
    """The mean of one number among those whose other number lies from ``values[i]`` to before the next edge."""

    values: Sequence[int]
    means: Sequence[float]
    numbers: Sequence[int]


def bin_counts(values: Int64Array) -> Int64Array:
    """How many values lie in each bin."""
    return np.bincount(np.searchsorted(EDGES, values, side="right"), minlength=NUM_BINS)


def bin_sums(keys: Int64Array, values: Int64Array) -> list[int]:
    """The sum of ``values`` over each bin of ``keys``."""
    bins = np.searchsorted(EDGES, keys, side="right")
    order = np.argsort(bins, kind="stable")
    starts = np.searchsorted(bins[order], np.arange(NUM_BINS + 1))
    return [exact_sum(values[order[first:last]]) for first, last in pairwise(starts.tolist())]


def distribution_of(values: Int64Array) -> Distribution:
    """The distribution of numbers that are all in memory."""
    return distribution(bin_counts(values), exact_sum(values), one_in(values), len(values), int(values.max(initial=0)))


def distribution(bins: Int64Array, total: int, reached: Mapping[int, int], number: int, largest: int) -> Distribution:
    """A distribution from the counts of its bins, its sum, what one in 2, 10 … reaches, how many there are, and the
    largest.
    """
    at_least = np.cumsum(bins[::-1])[::-1][1:]  # at_least[i] = how many reach EDGES[i]
    is_reached = largest >= EDGES
    shares = (at_least[is_reached] / max(1, number)).tolist()
    return Distribution(total, number, largest, EDGES[is_reached].tolist(), shares, reached)


def one_in(values: npt.NDArray[np.integer[Any]], numbers: Int64Array | None = None) -> dict[int, int]:
    """The largest value that one in 2, 10, 100 and 1000 reach; 0 where there is none.

    Args:
        numbers: how often each value occurs; None is once each.
    """
    if numbers is not None:
        order = np.argsort(values)[::-1]
        at_least = np.cumsum(numbers[order])  # how many have at least the value
        total = exact_sum(numbers)
        return {
            part: int(values[order[np.searchsorted(at_least, -(-total // part))]]) if total else 0 for part in ONE_IN
        }
    if not len(values):
        return dict.fromkeys(ONE_IN, 0)
    positions = {part: len(values) - -(-len(values) // part) for part in ONE_IN}
    ordered = np.partition(values, sorted(set(positions.values())))
    return {part: int(ordered[position]) for part, position in positions.items()}


def relation(bins: Int64Array, sums: Sequence[float]) -> Relation:
    """Means per bin, empty bins left out; the bin below the first edge has the value 0."""
    filled = np.flatnonzero(bins).tolist()
    lower_edges = [0, *EDGES.tolist()]
    return Relation(
        [lower_edges[index] for index in filled],
        [sums[index] / int(bins[index]) for index in filled],
        bins[filled].tolist(),
    )


def quantile_rows(named: Mapping[str, Distribution]) -> list[list[str]]:
    """Under ``QUANTILE_HEADER``: the name of each distribution, its mean, what one in two … reaches, the largest."""
    return [
        [name, f"{one.mean:,.2f}", *(f"{one.one_in[part]:,}" for part in ONE_IN), f"{one.largest:,}"]
        for name, one in named.items()
    ]


def quantile_sentence(distribution: Distribution) -> str:
    """What one in two … reaches, and the largest, in a line."""
    reached = [f"1 in {part:,} at least {value:,}" for part, value in distribution.one_in.items()]
    return f"{', '.join(reached)}, none more than {distribution.largest:,}"
