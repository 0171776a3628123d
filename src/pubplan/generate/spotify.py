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

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import random_stream
from pubplan.errors import InputError
from pubplan.generate.matching import FloatArray, Followings, Matching
from pubplan.generate.topic import TopicShape
from pubplan.workload import Int64Array, Window

NUM_TOPICS = 1_100_000
NUM_SUBSCRIBERS = 4_900_000
MEAN_RATE = 2763
WINDOW = Window("2013-01-09T00:00:00Z", "2013-01-19T00:00:00Z", 864_000.0)

INTERESTS_EXPONENT = 2.29
MAX_INTERESTS = 1000
LARGEST_AUDIENCE = 0.02
RATE_SPREAD = 1.65
RATE_AGAINST_POPULARITY = -0.1


def spotify(scale: float, seed: int = 0) -> TopicShape:
    """Topics and subscribers like those of the Spotify trace, at ``scale`` (0.001 to 1) of their numbers.

    Args:
        seed: of everything that is drawn.

    Raises:
        InputError: ``scale`` is out of range.

    >>> len(pubplan.generate.spotify(0.001).rates)
    1100
    """
    if not 0.001 <= scale <= 1:
        raise InputError(f"{argument('scale')} must be between 0.001 and 1, not {scale}.")
    num_topics, num_subscribers = round(NUM_TOPICS * scale), round(NUM_SUBSCRIBERS * scale)
    followings = _followings(seed, num_topics, num_subscribers)
    popularity = _popularity(num_topics, int(LARGEST_AUDIENCE * num_subscribers), followings.num_slots)
    rates = _rates(random_stream(seed, "spotify/rates"), num_topics)
    numbers = random_stream(seed, "spotify/topics").permutation(num_topics)
    matching = Matching.of(seed, "spotify/matching", followings, popularity[numbers])
    parameters = {"scale": scale, "seed": seed}
    return TopicShape("spotify", parameters, rates[numbers], num_subscribers, matching.draw, WINDOW)


def _followings(seed: int, num_topics: int, num_subscribers: int) -> Followings:
    sizes = np.arange(1, min(MAX_INTERESTS, max(1, num_topics // 2)) + 1)
    shares = sizes**-INTERESTS_EXPONENT

    def quantiles(first: int, last: int, block: int) -> FloatArray:
        return random_stream(seed, "spotify/followings", block).random(last - first)

    return Followings.of(num_subscribers, np.cumsum(shares) / shares.sum(), quantiles)


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
    noise = generator.standard_normal(num_topics)
    rho = RATE_AGAINST_POPULARITY
    raw = np.exp(RATE_SPREAD * (rho * by_popularity + math.sqrt(1 - rho * rho) * noise))
    rates: Int64Array = np.maximum(1, np.rint(raw * (MEAN_RATE / raw.mean()))).astype(np.int64)
    return rates
