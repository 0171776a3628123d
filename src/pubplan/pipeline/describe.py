"""How topics, subscribers and rates are distributed, and how they hang together.

This is the trace analysis of Setty et al., *Cost-Effective Resource Allocation for Deploying Pub/Sub on Cloud* (ICDCS
2014, doi 10.1109/ICDCS.2014.63), Appendix D.

Everything is counted exactly, block by block, on logarithmic scales of twenty steps per decade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import exact_sum, map_blocks, stage
from pubplan.workload import Int64Array, Workload, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

STEPS_PER_DECADE = 20
_STEPS = np.arange(18 * STEPS_PER_DECADE + 1) / STEPS_PER_DECADE
EDGES: Int64Array = np.unique(np.rint(10.0**_STEPS).astype(np.int64))
"""Where distributions are counted: 1, 2, 3, … and from 10 on twenty integers per decade, up to 10^18."""


@dataclass(frozen=True)
class Distribution:
    """How a number is distributed over topics or subscribers.

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
        reached = [value for value, there in zip(self.values, self.shares, strict=True) if there >= share]
        return max(reached, default=0)


@dataclass(frozen=True)
class Relation:
    """The mean of one number among those whose other number lies from ``values[i]`` to before the next edge."""

    values: Sequence[int]
    means: Sequence[float]
    numbers: Sequence[int]


@dataclass(frozen=True)
class Description:
    """A workload in numbers.

    Attributes:
        followers: subscribers per topic.
        followings: topics per subscriber.
        rates: events per topic and window.
        received: events per subscriber and window, if everything is served.
        cardinality: subscription cardinality, 100 x received / all events, by number of followings.
        rate_by_popularity: mean rate by number of followers.
        top_share: the share of all interests that the most popular hundredth of the topics holds.
    """

    counts: Mapping[str, int]
    totals: Mapping[str, int]
    window: Mapping[str, Any]
    followers: Distribution
    followings: Distribution
    rates: Distribution
    received: Distribution
    cardinality: Relation
    rate_by_popularity: Relation
    top_share: float

    @property
    def mean_cardinality(self) -> float:
        """The mean subscription cardinality, in percent of all events."""
        total = self.totals["rate"]
        return 100 * self.received.mean / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "mean_cardinality": self.mean_cardinality}


@dataclass(frozen=True)
class _Counted:
    """One block: per bin of followings their number and the sums over it, per bin of events received its number."""

    followings: Int64Array
    received: Int64Array
    received_by_followings: list[int]
    largest_followings: int
    largest_received: int
    total_received: int


def describe(workload: Workload, spark: SparkSession | None = None) -> Description:
    """Describe a workload; subscribers are counted block by block, in this process or on Spark."""
    rates, followers = workload.topic_array("rate"), workload.topic_array("subscribers")
    count = _counter(workload, rates)
    parts = []
    with stage("describing", len(workload.interests_blocks)) as advance:
        for part in map_blocks(count, len(workload.interests_blocks), spark):
            parts.append(part)
            advance(1)
    number = workload.counts.subscribers
    bins = len(EDGES) + 1
    followings = sum((part.followings for part in parts), np.zeros(bins, dtype=np.int64))
    received = sum((part.received for part in parts), np.zeros(bins, dtype=np.int64))
    sums = [sum(part.received_by_followings[place] for part in parts) for place in range(bins)]
    all_events = max(1, workload.totals.rate)
    top = np.sort(followers)[::-1][: -(-len(followers) // 100)]
    return Description(
        counts={name: getattr(workload.counts, name) for name in ("topics", "subscribers", "pairs")},
        totals=asdict(workload.totals),
        window=asdict(workload.manifest.window),
        followers=_of_array(followers),
        followings=_distribution(
            followings, workload.counts.pairs, number, max((p.largest_followings for p in parts), default=0)
        ),
        rates=_of_array(rates),
        received=_distribution(
            received,
            sum(part.total_received for part in parts),
            number,
            max((part.largest_received for part in parts), default=0),
        ),
        cardinality=_relation(followings, [100 * value / all_events for value in sums]),
        rate_by_popularity=_relation(_binned(followers), _sums_by_bin(followers, rates)),
        top_share=exact_sum(top) / max(1, workload.counts.pairs),
    )


def _counter(workload: Workload, rates: Int64Array) -> Callable[[int], _Counted]:
    def count(block: int) -> _Counted:
        offsets, topics = topic_lists(workload.interests_block(block, "topics"))
        sizes = np.diff(offsets)
        running = np.zeros(len(topics) + 1, dtype=np.int64)
        np.cumsum(rates[topics], out=running[1:])
        received = running[offsets[1:]] - running[offsets[:-1]]
        return _Counted(
            followings=_binned(sizes),
            received=_binned(received),
            received_by_followings=_sums_by_bin(sizes, received),
            largest_followings=int(sizes.max(initial=0)),
            largest_received=int(received.max(initial=0)),
            total_received=exact_sum(received),
        )

    return count


def _binned(values: Int64Array) -> Int64Array:
    """How many values lie below the first edge, from each edge to the next, and above the last."""
    return np.bincount(np.searchsorted(EDGES, values, side="right"), minlength=len(EDGES) + 1)


def _sums_by_bin(keys: Int64Array, values: Int64Array) -> list[int]:
    """The sum of ``values`` over each bin of ``keys``."""
    places = np.searchsorted(EDGES, keys, side="right")
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(EDGES) + 2))
    return [exact_sum(values[order[first:last]]) for first, last in pairwise(starts.tolist())]


def _of_array(values: Int64Array) -> Distribution:
    return _distribution(_binned(values), exact_sum(values), len(values), int(values.max(initial=0)))


def _distribution(bins: Int64Array, total: int, number: int, largest: int) -> Distribution:
    at_least = np.cumsum(bins[::-1])[::-1][1:]  # at_least[i] = how many reach EDGES[i]
    there = largest >= EDGES
    shares = (at_least[there] / max(1, number)).tolist()
    return Distribution(total, number, largest, EDGES[there].tolist(), shares)


def _relation(bins: Int64Array, sums: Sequence[float]) -> Relation:
    """Means per bin, empty bins left out; what lies below the first edge counts as 0."""
    filled = np.flatnonzero(bins).tolist()
    lower = [0, *EDGES.tolist()]
    return Relation(
        [lower[place] for place in filled],
        [sums[place] / int(bins[place]) for place in filled],
        bins[filled].tolist(),
    )
