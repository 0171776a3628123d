"""Fig. 8 to 12 of Setty et al. (ICDCS 2014, Appendix D): how a workload of Twitter shape is distributed.

What grows with the number of topics or subscribers is told so that it does not depend on the scale: as shares of all,
and subscription cardinalities as of the whole workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pubplan.generate.twitter import NUM_SUBSCRIBERS, NUM_TOPICS
from pubplan.pipeline import describe
from pubplan.pipeline.describe import Description, Distribution, Relation
from pubplan.reproduce.figures import Figure, Line, Values
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

DECADES = tuple(10**power for power in range(7))
KINKS = (1, 10, 18, 20, 22, 100, 1000, 1778, 1995, 2239, 10**4, 10**5, 10**6)
"""Decades, and what lies around 20 and 2000."""
RECEIVED = (1, 10, 100, 1000, 7079, 10**4, 10**5, 10**6)

PAPER_FOLLOWERS = {10**4: 4000 / NUM_TOPICS, 10**6: 66 / NUM_TOPICS}
PAPER_FOLLOWINGS = {10**4: 550 / NUM_SUBSCRIBERS}
PAPER_RATES = {10: 0.5, 1000: 46_000 / NUM_TOPICS, 10**5: 1 / NUM_TOPICS}
PAPER_RECEIVED = {7079: 0.1}

SCALED = (
    "Below scale 1 the largest audiences are cut to a tenth of the subscribers and nobody follows more than a quarter "
    "of the topics, so the far ends of the distributions are shorter."
)


def trace_figures(workload: Workload, scale: float, spark: SparkSession | None = None) -> tuple[Figure, ...]:
    """The trace analysis of the paper, on ``workload``."""
    found = describe(workload, spark)
    return (
        _followers(found, scale),
        _rates(found, scale),
        _rate_by_followers(found),
        _received(found, scale),
        _cardinality(found, scale),
    )


def _followers(found: Description, scale: float) -> Figure:
    lines = (
        _ccdf("followers", found.followers, KINKS, PAPER_FOLLOWERS),
        _ccdf("followings", found.followings, KINKS, PAPER_FOLLOWINGS),
    )
    falls = [_fall(found.followings, *pair) for pair in ((18, 20), (20, 22), (1778, 1995), (1995, 2239))]
    kinks = (
        "Of those who follow at least so many, the share that does not reach the next mark: "
        f"{falls[0]:.1%} from 18 to 20, {falls[1]:.1%} from 20 to 22, {falls[2]:.1%} from 1778 to 1995, "
        f"{falls[3]:.1%} from 1995 to 2239. These are the kinks at 20 and 2000 that the paper sees."
    )
    return _figure(
        "Fig. 8", "Followers and followings", "number", KINKS, "share of users", lines, is_log=True
    ).with_notes(*_reasons(scale), kinks)


def _rates(found: Description, scale: float) -> Figure:
    lines = (_ccdf("tweets in ten days", found.rates, DECADES, PAPER_RATES),)
    return _figure("Fig. 9", "Tweets per user", "tweets", DECADES, "share of users", lines, is_log=True).with_notes(
        *_reasons(scale), f"Together {found.totals['rate'] / scale / 1e6:,.0f} M tweets; 455 M in the paper."
    )


def _rate_by_followers(found: Description) -> Figure:
    values = _means(found.rate_by_popularity, DECADES)
    lines = (Line("mean rate", "tweets in ten days", values),)
    note = "In the paper the mean grows with the followers up to 10^5 and is lower beyond; it prints no number."
    return _figure(
        "Fig. 10", "Mean rate by followers", "followers", DECADES, "tweets in ten days", lines, is_log=True
    ).with_notes("", note)


def _received(found: Description, scale: float) -> Figure:
    lines = (_ccdf("tweets received", found.received, RECEIVED, PAPER_RECEIVED),)
    most, share = found.received.largest, found.received.largest / max(1, found.totals["rate"])
    return _figure(
        "Fig. 11",
        "Subscription cardinality, as tweets received",
        "tweets",
        RECEIVED,
        "share of users",
        lines,
        is_log=True,
    ).with_notes(
        *_reasons(scale),
        "A subscriber's cardinality is what it would receive as a share of all tweets; 7079 of 455 M are 0.0016 %.",
        "The paper counts 3 M of 30 M users with more than 7000 tweets; here they are counted from 7079 on.",
        f"One user receives {most:,} tweets here, {share:.1%} of all; in the paper 18 M, 4 %.",
    )


def _cardinality(found: Description, scale: float) -> Figure:
    values = tuple(None if mean is None else scale * mean for mean in _means(found.cardinality, KINKS[:-2]))
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
        "As at scale 1, where there are more tweets to have a share in.",
        "In the paper it grows linearly, with glitches at 20 and 2000; it prints no number.",
    )


def _reasons(scale: float) -> tuple[str, ...]:
    return (SCALED,) if scale < 1 else ("",)


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


def _ccdf(name: str, found: Distribution, at: tuple[int, ...], printed: Mapping[int, float]) -> Line:
    shares = dict(zip(found.values, found.shares, strict=True))
    values: Values = tuple(shares.get(value) for value in at)
    return Line(name, "share with at least so many", values, tuple(printed.get(value) for value in at))


def _means(found: Relation, at: tuple[int, ...]) -> Values:
    """The means of the bins that begin there."""
    means = dict(zip(found.values, found.means, strict=True))
    return tuple(means.get(value) for value in at)


def _fall(found: Distribution, first: int, last: int) -> float:
    """The share of those from ``first`` on that are below ``last``."""
    shares = dict(zip(found.values, found.shares, strict=True))
    return 1 - shares.get(last, 0.0) / shares[first] if shares.get(first) else 0.0
