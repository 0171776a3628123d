"""How topics, subscribers and rates are distributed, and how they are related.

This is the trace analysis of Setty et al., *Cost-Effective Resource Allocation for Deploying Pub/Sub on Cloud* (ICDCS
2014, doi 10.1109/ICDCS.2014.63), Appendix D. Everything is counted exactly, block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import block_range, exact_sum, map_blocks, stage
from pubplan.text import aligned, html_table
from pubplan.workload.describe import Description
from pubplan.workload.distribution import (
    NUM_BINS,
    QUANTILE_HEADER,
    Distribution,
    Relation,
    bin_counts,
    bin_sums,
    distribution,
    distribution_of,
    one_in,
    quantile_rows,
    relation,
)
from pubplan.workload.tables import Int32Array, Int64Array, list_column
from pubplan.workload.topic.workload import TopicWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True, repr=False)
class TopicDescription(Description):
    """A topic workload in numbers.

    Attributes:
        subscribers_per_topic: how many subscribers the topics have.
        topics_per_subscriber: how many topics the subscribers have.
        rates: events per topic and window.
        received: events per subscriber and window, if everything is served.
        cardinality: subscription cardinality, 100 x received / all events, by topics per subscriber.
        rate_by_popularity: mean rate by subscribers per topic.
        top_share: the share of all interests that the most popular hundredth of the topics holds.
    """

    subscribers_per_topic: Distribution
    topics_per_subscriber: Distribution
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
        return {**super().to_dict(), "mean_cardinality": self.mean_cardinality}

    def __repr__(self) -> str:
        return f"TopicDescription({self._sizes()})"

    def __str__(self) -> str:
        lines = [self._sizes()]
        if self.window["seconds"] is not None:
            lines.append(f"{self.window['start']} to {self.window['end']} ({self.window['seconds']:,.0f} s)")
        totals = self.totals
        lines.append(f"{totals['rate']:,} events, {totals['cost']:,} deliveries per window if all is served")
        lines += ["", *aligned([QUANTILE_HEADER, *self._distributions()], left=(0,)), "", *self._shares()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The distributions as a table, for notebooks."""
        shares = "".join(f"<p>{sentence}</p>" for sentence in self._shares())
        return f"<p>{self._sizes()}</p>{html_table(self._distributions(), header=QUANTILE_HEADER)}{shares}"

    def _sizes(self) -> str:
        counts = self.counts
        return f"{counts['topics']:,} topics, {counts['subscribers']:,} subscribers, {counts['pairs']:,} interests"

    def _distributions(self) -> list[list[str]]:
        named = {
            "subscribers per topic": self.subscribers_per_topic,
            "topics per subscriber": self.topics_per_subscriber,
            "events per topic": self.rates,
            "events per subscriber": self.received,
        }
        return quantile_rows(named)

    def _shares(self) -> list[str]:
        return [
            f"The most popular 1 % of the topics hold {100 * self.top_share:.1f} % of the interests.",
            f"Mean subscription cardinality: {self.mean_cardinality:.3g} % of all events.",
        ]


@dataclass(frozen=True)
class _BlockCounts:
    """What one block adds: counts and sums per bin of topics per subscriber, counts per bin of events received, and
    both numbers of each subscriber, which order statistics need: 12 bytes.
    """

    topics: Int64Array
    received: Int64Array
    received_by_topics: list[int]
    largest_topics: int
    largest_received: int
    total_received: int
    topics_each: Int32Array
    received_each: Int64Array


def describe_topics(workload: TopicWorkload, spark: SparkSession | None = None) -> TopicDescription:
    """Describe a topic workload; subscribers are counted block by block, in this process or on Spark."""
    rates, subscribers = workload.topic_array("rate"), workload.topic_array("subscribers")
    blocks: list[_BlockCounts] = []
    topics_each: Int32Array = np.empty(workload.counts.subscribers, dtype=np.int32)
    received_each: Int64Array = np.empty(workload.counts.subscribers, dtype=np.int64)
    with stage("describing", workload.num_blocks) as advance:
        for number, block in enumerate(map_blocks(_block_counter(workload, rates), workload.num_blocks, spark)):
            first, last = block_range(number, workload.counts.subscribers)
            topics_each[first:last], received_each[first:last] = block.topics_each, block.received_each
            blocks.append(replace(block, topics_each=topics_each[first:last], received_each=received_each[first:last]))
            advance(1)
    num_subscribers, num_interests = workload.counts.subscribers, workload.counts.pairs
    topics_bins = sum((block.topics for block in blocks), np.zeros(NUM_BINS, dtype=np.int64))
    received_bins = sum((block.received for block in blocks), np.zeros(NUM_BINS, dtype=np.int64))
    received_sums = [sum(block.received_by_topics[index] for block in blocks) for index in range(NUM_BINS)]
    all_events = max(1, workload.totals.rate)
    most_popular = np.sort(subscribers)[::-1][: -(-len(subscribers) // 100)]
    return TopicDescription(
        counts=workload.counts.sizes,
        totals=asdict(workload.totals),
        window=asdict(workload.manifest.window),
        subscribers_per_topic=distribution_of(subscribers),
        topics_per_subscriber=distribution(
            topics_bins,
            num_interests,
            one_in(topics_each),
            num_subscribers,
            max((block.largest_topics for block in blocks), default=0),
        ),
        rates=distribution_of(rates),
        received=distribution(
            received_bins,
            sum(block.total_received for block in blocks),
            one_in(received_each),
            num_subscribers,
            max((block.largest_received for block in blocks), default=0),
        ),
        cardinality=relation(topics_bins, [100 * value / all_events for value in received_sums]),
        rate_by_popularity=relation(bin_counts(subscribers), bin_sums(subscribers, rates)),
        top_share=exact_sum(most_popular) / max(1, num_interests),
    )


def _block_counter(workload: TopicWorkload, rates: Int64Array) -> Callable[[int], _BlockCounts]:
    def count(block: int) -> _BlockCounts:
        offsets, topics = list_column(workload.interests_block(block, "topics"), "topics")
        num_topics = np.diff(offsets)
        # Rates added up over all rows: a subscriber receives the difference between the ends of its row.
        running = np.zeros(len(topics) + 1, dtype=np.int64)
        np.cumsum(rates[topics], out=running[1:])
        received = running[offsets[1:]] - running[offsets[:-1]]
        return _BlockCounts(
            topics=bin_counts(num_topics),
            received=bin_counts(received),
            received_by_topics=bin_sums(num_topics, received),
            largest_topics=int(num_topics.max(initial=0)),
            largest_received=int(received.max(initial=0)),
            total_received=exact_sum(received),
            topics_each=num_topics.astype(np.int32),
            received_each=received,
        )

    return count
