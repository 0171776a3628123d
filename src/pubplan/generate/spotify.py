"""A workload shaped like the Spotify trace of Setty et al., *Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints* (INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205).

The trace is not public. Published are 1.1 million topics, 4.9 million subscribers, about 12 million pairs, ten days in
January 2013, a mean rate of 2763 events per topic, heavy tails, and how a greedy plan and its bound fare on it. The
shape has those counts and that mean; the rest was set so that the plans come out alike:

- topics per subscriber: a power law with exponent 2.29, cut at 1000;
- subscribers per topic: a power law that gives exactly the number of pairs drawn, cut at 2 % of all subscribers;
- rates: log-normal with spread 1.65, correlated -0.1 with popularity.

Pairs are matched by a random permutation of the topics' ends, as in the configuration model, so every topic keeps the
popularity it was given (less the few ends that meet the same subscriber twice) and at least one subscriber.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubplan.engine import block_range, draws, num_blocks
from pubplan.errors import InputError
from pubplan.generate.shape import Shape
from pubplan.kernels import permute
from pubplan.workload import Int32Array, Int64Array, Window

NUM_TOPICS = 1_100_000
NUM_SUBSCRIBERS = 4_900_000
MEAN_RATE = 2763
WINDOW = Window("2013-01-09T00:00:00Z", "2013-01-19T00:00:00Z", 864_000.0)

INTERESTS_EXPONENT = 2.29
MAX_INTERESTS = 1000
LARGEST_AUDIENCE = 0.02
RATE_SPREAD = 1.65
RATE_AGAINST_POPULARITY = -0.1
FEISTEL_ROUNDS = 6


def spotify(scale: float, seed: int = 0) -> Shape:
    """The shape at ``scale`` (0.001 to 1) of the trace's topics and subscribers.

    Raises:
        InputError: ``scale`` is out of range.
    """
    if not 0.001 <= scale <= 1:
        raise InputError(f"--scale must be between 0.001 and 1, not {scale}.")
    num_topics, num_subscribers = round(NUM_TOPICS * scale), round(NUM_SUBSCRIBERS * scale)
    followings = _Followings.of(seed, num_topics, num_subscribers)
    popularity = _popularity(num_topics, int(LARGEST_AUDIENCE * num_subscribers), followings.num_ends)
    rates = _rates(draws(seed, "spotify/rates"), num_topics)
    numbers = draws(seed, "spotify/topics").permutation(num_topics)
    matching = _Matching(
        followings,
        ends=np.cumsum(popularity[numbers]),
        keys=draws(seed, "spotify/matching").integers(0, 2**63, FEISTEL_ROUNDS, dtype=np.uint64),
    )
    parameters = {"scale": scale, "seed": seed}
    return Shape("spotify", parameters, rates[numbers], num_subscribers, matching.draw, WINDOW)


@dataclass(frozen=True)
class _Followings:
    """How many topics each subscriber draws, and how many ends lie before each block."""

    seed: int
    num_subscribers: int
    cumulated: npt.NDArray[np.float64]
    ends_before: Int64Array

    @classmethod
    def of(cls, seed: int, num_topics: int, num_subscribers: int) -> _Followings:
        sizes = np.arange(1, min(MAX_INTERESTS, max(1, num_topics // 2)) + 1)
        shares = sizes**-INTERESTS_EXPONENT
        cumulated = np.cumsum(shares) / shares.sum()
        drawing = cls(seed, num_subscribers, cumulated, np.zeros(0, dtype=np.int64))
        totals = [drawing.block(block).sum() for block in range(num_blocks(num_subscribers))]
        return cls(seed, num_subscribers, cumulated, np.cumsum([0, *totals]).astype(np.int64))

    @property
    def num_ends(self) -> int:
        return int(self.ends_before[-1])

    def block(self, block: int) -> Int64Array:
        first, last = block_range(block, self.num_subscribers)
        uniform = draws(self.seed, "spotify/followings", block).random(last - first)
        return np.minimum(np.searchsorted(self.cumulated, uniform), len(self.cumulated) - 1) + 1


@dataclass(frozen=True)
class _Matching:
    """Slot i of the subscribers' ends meets the topic that owns end ``permutation(i)``."""

    followings: _Followings
    ends: Int64Array
    keys: npt.NDArray[np.uint64]

    def draw(self, block: int) -> tuple[Int64Array, Int32Array]:
        counts = self.followings.block(block)
        size = self.followings.num_ends
        images = np.empty(int(counts.sum()), dtype=np.int64)
        half_bits = max(1, ((size - 1).bit_length() + 1) // 2)
        permute(int(self.followings.ends_before[block]), self.keys, images, size, half_bits)
        topics = np.searchsorted(self.ends, images, side="right")
        rows = np.repeat(np.arange(len(counts)), counts)
        pairs = np.unique(rows * len(self.ends) + topics)
        rows, topics = np.divmod(pairs, len(self.ends))
        offsets = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(counts)), out=offsets[1:])
        return offsets, topics.astype(np.int32)


def _popularity(num_topics: int, largest: int, num_ends: int) -> Int64Array:
    """Audiences in descending order: quantiles of the power law whose sum is just ``num_ends``."""
    quantiles = (np.arange(num_topics) + 0.5) / num_topics

    def audiences(exponent: float) -> Int64Array:
        return np.minimum(largest, np.floor(quantiles ** (-1 / exponent))).astype(np.int64)

    low, high = 0.3, 10.0  # the sum falls as the exponent grows
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if audiences(middle).sum() > num_ends else (low, middle)
    sizes = audiences(high)
    missing = num_ends - int(sizes.sum())
    below_largest = np.flatnonzero(sizes < largest)
    sizes[below_largest[:missing]] += 1
    sizes[-1] += num_ends - int(sizes.sum())
    return sizes


def _rates(generator: np.random.Generator, num_topics: int) -> Int64Array:
    """Rates of the topics in descending order of popularity, with the published mean."""
    by_popularity = -np.sort(-generator.standard_normal(num_topics))
    own = generator.standard_normal(num_topics)
    rho = RATE_AGAINST_POPULARITY
    raw = np.exp(RATE_SPREAD * (rho * by_popularity + math.sqrt(1 - rho * rho) * own))
    rates: Int64Array = np.maximum(1, np.rint(raw * (MEAN_RATE / raw.mean()))).astype(np.int64)
    return rates
