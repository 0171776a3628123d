"""Distributions, counted exactly on logarithmic scales of twenty steps per decade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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
    """

    total: int
    number: int
    largest: int
    values: Sequence[int]
    shares: Sequence[float]

    @property
    def mean(self) -> float:
        return self.total / self.number if self.number else 0.0

    def reached_by(self, share: float) -> int:
        """The largest counted value that at least ``share`` of all reach; 0 if there is none."""
        reached = [value for value, reaching in zip(self.values, self.shares, strict=True) if reaching >= share]
        return max(reached, default=0)


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
    return distribution(bin_counts(values), exact_sum(values), len(values), int(values.max(initial=0)))


def distribution(bins: Int64Array, total: int, number: int, largest: int) -> Distribution:
    """A distribution from the counts of its bins, its sum, how many there are, and the largest."""
    at_least = np.cumsum(bins[::-1])[::-1][1:]  # at_least[i] = how many reach EDGES[i]
    is_reached = largest >= EDGES
    shares = (at_least[is_reached] / max(1, number)).tolist()
    return Distribution(total, number, largest, EDGES[is_reached].tolist(), shares)


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
        [name, f"{one.mean:,.2f}", *(f"{one.reached_by(1 / part):,}" for part in ONE_IN), f"{one.largest:,}"]
        for name, one in named.items()
    ]
