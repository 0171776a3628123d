"""Fig. 8 to 12 of Setty et al. (ICDCS 2014, Appendix D): how a workload of Twitter shape is distributed.

What grows with the number of topics or subscribers is given so that it does not depend on the scale: as shares of all,
and subscription cardinalities as shares of the tweets at scale 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pubplan.generate.twitter import LARGEST_AUDIENCE, MAX_FOLLOWINGS, NUM_SUBSCRIBERS, NUM_TOPICS
from pubplan.reproduce.figures import Figure, Line, Values
from pubplan.reproduce.provision.paper import UNEXPLAINED
from pubplan.workload import Distribution, Relation, TopicDescription, TopicWorkload, describe_topics

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

DECADES = tuple(10**power for power in range(7))
KINKS = (1, 10, 18, 20, 22, 100, 1000, 1778, 1995, 2239, 10**4, 10**5, 10**6)
"""Decades, and what lies around 20 and 2000."""
FOLLOWERS = (1, 10, 100, 1000, 3162, 10**4, 15849, 25119, 39811, 10**5, 316228, 10**6)
"""Decades, and more of them where the mean rate turns: at 10^5 followers, at fewer below scale 1."""
RECEIVED = (1, 10, 100, 1000, 7079, 10**4, 10**5, 10**6)

PAPER_FOLLOWERS = {10**4: 4000 / NUM_TOPICS, 10**6: 66 / NUM_TOPICS}
PAPER_FOLLOWINGS = {10**4: 550 / NUM_SUBSCRIBERS}
PAPER_RATES = {10: 0.5, 1000: 46_000 / NUM_TOPICS, 10**5: 1 / NUM_TOPICS}
PAPER_RECEIVED = {7079: 0.1}


def trace_figures(workload: TopicWorkload, scale: float, spark: SparkSession | None = None) -> tuple[Figure, ...]:
    """The trace analysis of the paper, on ``workload``."""
    description = describe_topics(workload, spark)
    return (
        _followers(description, scale),
        _rates(description, scale),
        _rate_by_followers(description, scale),
        _received(description, scale),
        _cardinality(description, scale),
    )


def _followers(description: TopicDescription, scale: float) -> Figure:
    lines = (
        _ccdf("followers", description.subscribers_per_topic, KINKS, PAPER_FOLLOWERS),
        _ccdf("followings", description.topics_per_subscriber, KINKS, PAPER_FOLLOWINGS),
    )
    marks = ((18, 20), (20, 22), (1778, 1995), (1995, 2239))
    falls = [_fall(description.topics_per_subscriber, *pair) for pair in marks]
    kinks = (
        "Of those who follow at least this many, the share that does not reach the next mark: "
        f"{falls[0]:.1%} from 18 to 20, {falls[1]:.1%} from 20 to 22, {falls[2]:.1%} from 1778 to 1995, "
        f"{falls[3]:.1%} from 1995 to 2239. These are the kinks at 20 and 2000 that the paper sees."
    )
    figure = _figure("Fig. 8", "Followers and followings", "number", KINKS, "share of users", lines, is_log=True)
    cut = _cut(scale)
    # Where a cut leaves no value to compare, there is no difference to explain, but still a cut.
    is_said = scale >= 1 or bool(figure.differences())
    return figure.with_notes(cut, *([] if is_said else [cut]), kinks)


def _rates(description: TopicDescription, scale: float) -> Figure:
    lines = (_ccdf("tweets in ten days", description.rates, DECADES, PAPER_RATES),)
    notes = [f"Together {description.totals['rate'] / scale / 1e6:,.0f} M tweets at scale 1; 455 M in the paper."]
    if description.rates.largest < DECADES[5]:
        notes.append(
            f"Nobody tweets 10^5 times here, the most is {description.rates.largest:,}; in the paper it is one of 8 M "
            "users."
        )
    return _figure("Fig. 9", "Tweets per user", "tweets", DECADES, "share of users", lines, is_log=True).with_notes(
        UNEXPLAINED, *notes
    )


def _rate_by_followers(description: TopicDescription, scale: float) -> Figure:
    relation = description.rate_by_popularity
    lines = (Line("mean rate", "tweets in ten days", _means(relation, FOLLOWERS)),)
    notes = ["In the paper the mean grows with the followers up to 10^5 and is lower beyond; it prints no number."]
    if scale < 1:
        notes.append(
            f"Below scale 1 large audiences are cut: the turn at 10^5 followers is at {audience(10**5, scale):,.0f} "
            f"here, and the largest audience is {description.subscribers_per_topic.largest:,}. Few topics are that "
            "large, so means scatter."
        )
    return _figure(
        "Fig. 10", "Mean rate by followers", "followers", FOLLOWERS, "tweets in ten days", lines, is_log=True
    ).with_notes("", *notes)


def _received(description: TopicDescription, scale: float) -> Figure:
    lines = (_ccdf("tweets received", description.received, RECEIVED, PAPER_RECEIVED),)
    return _figure(
        "Fig. 11",
        "Subscription cardinality, as tweets received",
        "tweets",
        RECEIVED,
        "share of users",
        lines,
        is_log=True,
    ).with_notes(
        "It grows with the scale: 5.8, 7.3 and 8.8 % at 0.004, 0.02 and 0.1 (seed 0), where fewer audiences are cut, "
        "which are those of topics with high rates."
        if scale < 1
        else UNEXPLAINED,
        "A subscriber's cardinality is what it would receive as a share of all tweets; 7079 of 455 M are 0.0016 %.",
        "The paper counts 3 M of 30 M users with more than 7000 tweets; here they are counted from 7079 on.",
        *_busiest(description, scale),
    )


def _busiest(description: TopicDescription, scale: float) -> Iterator[str]:
    """What the subscriber receives that receives the most."""
    most, total = description.received.largest, max(1, description.totals["rate"])
    text = f"One user receives {most:,} tweets here, {most / (total / scale):.1%} of those at scale 1"
    yield f"{text}; in the paper 18 M, 4 %."
    most_topics = round(NUM_TOPICS * scale) // 4
    if most_topics < MAX_FOLLOWINGS:
        yield (
            f"It is {most / total:.1%} of the tweets at this scale. Followings do not shrink with the scale, only the "
            f"largest do: nobody follows more than {most_topics:,} topics here, a quarter of all, and "
            f"{MAX_FOLLOWINGS:,} at scale 1."
        )


def _cardinality(description: TopicDescription, scale: float) -> Figure:
    values = tuple(None if mean is None else scale * mean for mean in _means(description.cardinality, KINKS[:-2]))
    lines = (Line("mean cardinality", "% of all tweets", values),)
    return _figure(
        "Fig. 12",
        "Mean subscription cardinality by followings",
        "followings",
        KINKS[:-2],
        "% of all tweets",
        lines,
        is_log=True,
    ).with_notes(
        "",
        "Cardinalities are shares of the tweets at scale 1.",
        "In the paper it grows linearly, with glitches at 20 and 2000; it prints no number.",
    )


def audience(followers: int, scale: float) -> float:
    """How many followers a topic has at ``scale`` that has this many at scale 1: at most a tenth of the subscribers."""
    largest = LARGEST_AUDIENCE * NUM_SUBSCRIBERS
    return followers / (1 + followers * (1 / (largest * scale) - 1 / largest))


def _cut(scale: float) -> str:
    if scale >= 1:
        return UNEXPLAINED
    return (
        "Below scale 1 audiences are cut to at most a tenth of the subscribers: a topic with 10^4 followers at scale 1 "
        f"has {audience(10**4, scale):,.0f} here, one with 10^6 has {audience(10**6, scale):,.0f}."
    )


def _figure(
    name: str,
    title: str,
    x: str,
    at: tuple[int, ...],
    y: str,
    lines: tuple[Line, ...],
    *,
    is_log: bool,
) -> Figure:
    return Figure(name, f"Twitter shape: {title}", x, "", at, y, "number", lines, is_log=is_log)


def _ccdf(name: str, distribution: Distribution, at: tuple[int, ...], printed: Mapping[int, float]) -> Line:
    shares = dict(zip(distribution.values, distribution.shares, strict=True))
    values: Values = tuple(shares.get(value) for value in at)
    return Line(name, "share with at least this many", values, tuple(printed.get(value) for value in at))


def _means(relation: Relation, at: tuple[int, ...]) -> Values:
    """The means of the bins that begin there."""
    means = dict(zip(relation.values, relation.means, strict=True))
    return tuple(means.get(value) for value in at)


def _fall(distribution: Distribution, first: int, last: int) -> float:
    """The share of those from ``first`` on that are below ``last``."""
    shares = dict(zip(distribution.values, distribution.shares, strict=True))
    return 1 - shares.get(last, 0.0) / shares[first] if shares.get(first) else 0.0
