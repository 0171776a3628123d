"""A workload shaped like the Twitter trace of Setty et al., *Cost-Effective Resource Allocation for Deploying Pub/Sub
on Cloud* (ICDCS 2014, doi 10.1109/ICDCS.2014.63): users who tweeted are topics, their followers subscribers.

Published (section IV-B, Appendix D) are 8 million topics, 30 million subscribers, 683.5 million pairs, 455 million
tweets in ten days, and marks of the distributions. The shape goes through them:

- topics per subscriber: a power law bent at 2000, about 550 subscribers beyond 10^4; in addition, many have exactly 20,
  some just 2000 or a little less;
- subscribers per topic: a power law with 4000 topics beyond 10^4 and 66 beyond 10^6, flatter from 10^5 on, bent further
  down so that it gives exactly the number of pairs drawn;
- rates: half of them below 10, 46 000 above 1000, one above 10^5, log-normal between these marks; on average they grow
  with the audience up to 10^5 subscribers and fall beyond.

The exponents that are not published were set so that 3 million subscribers receive more than 7000 events and one of
them 4 % of all. At smaller scales there are fewer topics and subscribers, but the laws stay: a topic of average fame
has as many subscribers as at scale 1. Only the largest audiences shrink, to about a tenth of the subscribers at most,
and the other topics take their pairs; this shows below scale 0.1. No subscriber follows more than a quarter of the
topics.

Pairs are matched by a random permutation of the topics' ends, as in the configuration model; where a subscriber meets
a topic twice, it draws again, so every subscriber follows as many topics as the law says. Every topic has a subscriber.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from pubplan.arguments import argument
from pubplan.engine import random_stream
from pubplan.errors import InputError
from pubplan.generate.matching import FloatArray, Followings, Matching, Permutation
from pubplan.generate.topic import TopicShape
from pubplan.workload import Int64Array, Window

NUM_TOPICS = 8_000_000
NUM_SUBSCRIBERS = 30_000_000
WINDOW = Window("2013-10-30T00:00:00Z", "2013-11-09T00:00:00Z", 864_000.0)

FOLLOWINGS_BEND, FOLLOWINGS_EXPONENT, FOLLOWINGS_TAIL_EXPONENT = 2000, 1.2612, 2.33
FOLLOWINGS_MARK = (10_000, 550 / NUM_SUBSCRIBERS)
MAX_FOLLOWINGS = 150_000
SPIKE, SPIKE_SHARE = 20, 0.025
PILE_WIDTH, PILE_SHARE = 100, 4e-4

CELEBRITIES = {10_000: 4000, 100_000: 280, 1_000_000: 66, 3_000_000: 0.5}
"""How many topics have more subscribers than that, at scale 1."""
TURNING_AUDIENCE = 100_000
LARGEST_AUDIENCE = 0.1

RATES = {9.5: 0.5, 130.7: 0.1, 1000.5: 46_000 / NUM_TOPICS, 120_000: 0.5 / NUM_TOPICS}
"""Which share of the topics has a higher rate."""
RATE_RISE, RATE_FALL, RATE_NOISE = 0.27, 0.6, 1.75


def twitter(scale: float, seed: int = 0) -> TopicShape:
    """Topics and subscribers like those of the Twitter trace, at ``scale`` (0.001 to 1) of their numbers.

    Args:
        seed: of everything that is drawn.

    Raises:
        InputError: ``scale`` is out of range.

    >>> len(pubplan.generate.twitter(0.001).rates)
    8000
    """
    if not 0.001 <= scale <= 1:
        raise InputError(f"{argument('scale')} must be between 0.001 and 1, not {scale}.")
    num_topics, num_subscribers = round(NUM_TOPICS * scale), round(NUM_SUBSCRIBERS * scale)
    followings = _followings(seed, num_topics, num_subscribers)
    fame, audiences = _audiences(num_topics, num_subscribers, followings.num_slots)
    popularity = _popularity(audiences, followings)
    rates = _rates(random_stream(seed, "twitter/rates"), fame)
    numbers = random_stream(seed, "twitter/topics").permutation(num_topics)
    matching = Matching.of(seed, "twitter/matching", followings, popularity[numbers], is_refilled=True)
    parameters = {"scale": scale, "seed": seed}
    return TopicShape("twitter", parameters, rates[numbers], num_subscribers, matching.draw, WINDOW)


def _followings(seed: int, num_topics: int, num_subscribers: int) -> Followings:
    """Every subscriber has one of the evenly spaced quantiles of the law."""
    sizes = np.arange(1, min(MAX_FOLLOWINGS, num_topics // 4) + 1)
    mark, share = FOLLOWINGS_MARK
    tail = share * (sizes / mark) ** -FOLLOWINGS_TAIL_EXPONENT
    share_at_bend = share * (FOLLOWINGS_BEND / mark) ** -FOLLOWINGS_TAIL_EXPONENT
    width = (FOLLOWINGS_BEND - 1) / (share_at_bend ** (-1 / FOLLOWINGS_EXPONENT) - 1)
    reached = np.where(sizes < FOLLOWINGS_BEND, (1 + (sizes - 1) / width) ** -FOLLOWINGS_EXPONENT, tail)
    pile = np.where((sizes <= FOLLOWINGS_BEND) & (sizes > FOLLOWINGS_BEND - PILE_WIDTH), 1.0, 0.0)
    pile /= np.maximum(1, FOLLOWINGS_BEND + 1 - sizes)
    shares = (1 - SPIKE_SHARE - PILE_SHARE) * -np.diff(reached, append=0)
    shares += SPIKE_SHARE * (sizes == SPIKE) + PILE_SHARE * pile / pile.sum()
    order = Permutation.of(seed, "twitter/followings", num_subscribers)

    def quantiles(first: int, last: int, block: int) -> FloatArray:
        return (order.images(first, last) + 0.5) / num_subscribers

    return Followings.of(num_subscribers, np.cumsum(shares), quantiles)


def _audiences(num_topics: int, num_subscribers: int, num_pairs: int) -> tuple[FloatArray, FloatArray]:
    """Subscribers per topic, descending: as they would be at scale 1, and limited to a tenth of the subscribers."""
    quantiles = (np.arange(num_topics) + 0.5) / num_topics
    marks, shares = np.array(list(CELEBRITIES)), np.array(list(CELEBRITIES.values())) / NUM_TOPICS
    num_celebrities = int(np.searchsorted(quantiles, shares[0]))
    celebrities = np.exp(np.interp(np.log(quantiles[:num_celebrities]), np.log(shares[::-1]), np.log(marks[::-1])))
    squeeze = 1 / (LARGEST_AUDIENCE * num_subscribers) - 1 / (LARGEST_AUDIENCE * NUM_SUBSCRIBERS)

    def fame(exponent: float) -> FloatArray:
        width = marks[0] / (shares[0] ** (-1 / exponent) - 1)
        others = 1 + width * (quantiles[num_celebrities:] ** (-1 / exponent) - 1)
        return np.concatenate([celebrities, others])

    def limited(famous: FloatArray) -> FloatArray:
        return famous / (1 + squeeze * famous)

    exponent = brentq(lambda guess: limited(fame(guess)).sum() - num_pairs, 0.8, 20, xtol=1e-5)
    famous = fame(exponent)
    return famous, limited(famous)


def _popularity(audiences: FloatArray, followings: Followings) -> Int64Array:
    """How many ends a topic needs to find that many subscribers.

    A subscriber that draws d times meets a topic that has the share p of all ends with probability 1 - exp(-d p).
    Popular topics therefore need more ends than subscribers; and a subscriber that wants k topics must draw more than k
    times, which the shares decide: three rounds agree within 1 %.
    """
    sizes = np.arange(1, len(followings.cumulated) + 1)
    size_shares = np.diff(followings.cumulated, prepend=0)
    # Topics of about the same popularity are one group, each of the most popular ones is a group by itself.
    first = np.unique(np.geomspace(1, len(audiences), 2000).astype(np.int64)) - 1
    members = np.diff(first, append=len(audiences))
    shares, times, num_draws = np.geomspace(1e-9, 0.1, 200), np.geomspace(1, 8 * len(sizes), 200), sizes.astype(float)
    for _ in range(3):
        meeting = np.array([size_shares @ -np.expm1(-num_draws * share) for share in shares])
        needed = np.interp(audiences, followings.num_subscribers * meeting, shares)
        needed /= needed.sum()
        grouped = np.add.reduceat(needed, first) / members
        num_draws = np.interp(sizes, [members @ -np.expm1(-grouped * number) for number in times], times)
    further = np.cumsum(np.maximum(0, needed * followings.num_slots - 1))
    num_further = followings.num_slots - len(audiences)  # every topic has one
    popularity: Int64Array = 1 + np.diff(np.rint(further * (num_further / further[-1])).astype(np.int64), prepend=0)
    return popularity


def _rates(generator: np.random.Generator, fame: FloatArray) -> Int64Array:
    """Rates of the topics in descending order of popularity."""
    below = np.log(np.minimum(fame, TURNING_AUDIENCE))
    above = np.log(np.maximum(fame / TURNING_AUDIENCE, 1))
    score = RATE_RISE * below - RATE_FALL * above + RATE_NOISE * _even_noise(generator, len(fame))
    ranks = ndtri((np.arange(len(fame)) + 0.5) / len(fame))
    # Normal scores of the ranks, and those at which the rates are published: log-normal between them.
    marks, known = np.log(list(RATES)), -ndtri(list(RATES.values()))
    lowest = marks[0] + ranks[0] * (marks[1] - marks[0]) / (known[1] - known[0])
    raw = np.exp(np.interp(ranks, [ranks[0], *known], [lowest, *marks]))
    rates = np.empty(len(fame), dtype=np.int64)
    rates[np.argsort(score, kind="stable")] = np.maximum(1, np.rint(raw))
    return rates


def _even_noise(generator: np.random.Generator, number: int) -> FloatArray:
    """Normal numbers; of every sixteen one lies in each sixteenth of the distribution, so that means over few topics,
    such as the most popular ones, are steady.
    """
    sixteenths = np.tile(np.arange(16.0), (-(-number // 16), 1))
    generator.permuted(sixteenths, axis=1, out=sixteenths)
    sixteenths += generator.random(sixteenths.shape)
    noise: FloatArray = ndtri(sixteenths.ravel()[:number] / 16)
    return noise
