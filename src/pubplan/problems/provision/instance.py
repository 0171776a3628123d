"""What a question needs of its workload: arrays by topic and subscribers by block, read when they are first used."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from pubplan.engine import exact_dot
from pubplan.errors import InputError
from pubplan.workload import ALL_EVENTS, MAX_THRESHOLD, Int64Array, SubscriberReader, Threshold, TopicWorkload

MAX_TRAFFIC = 2**55
"""Traffic per window stays below this, so that sums and small multiples of it fit 64 bits."""


@dataclass(frozen=True, eq=False)
class Instance:
    """The numbers of a question, apart from its VM types; making one reads nothing.

    Attributes:
        remembered: results of scans over the subscribers, by what they depend on.
    """

    workload: TopicWorkload
    threshold: Threshold
    rate_factor: str
    message_bytes: int | None
    remembered: dict[Any, object] = field(default_factory=dict, repr=False)

    @cached_property
    def rates(self) -> Int64Array:
        """Events per window, by topic.

        Raises:
            InputError: they do not fit 64 bits.
        """
        rates = self.workload.topic_array("rate")
        factor = Fraction(self.rate_factor)
        if factor == 1:
            return rates
        if len(rates) and int(rates.max()) * factor.numerator > 2**62:
            raise InputError(f"Rates times {self.rate_factor} do not fit 64 bits.")
        scaled: Int64Array = -(-(rates * factor.numerator) // factor.denominator)
        return scaled

    @cached_property
    def sizes(self) -> Int64Array:
        """Bytes per message, by topic."""
        if self.message_bytes is None:
            return self.workload.topic_array("message_bytes")
        return np.full(self.workload.counts.topics, self.message_bytes, dtype=np.int64)

    @cached_property
    def common_size(self) -> int | None:
        """The size of all messages, if they have the same; it is what makes covers a matter of events alone."""
        sizes = self.sizes[self.rates > 0]
        if not len(sizes):
            return 1
        smallest = int(sizes.min())
        return smallest if smallest > 0 and smallest == int(sizes.max()) else None

    @cached_property
    def streams(self) -> Int64Array:
        """Bytes per window, by topic."""
        return self.rates * self.sizes

    def usable(self, limit: int) -> Int64Array:
        """The rates of topics that fit a VM with one subscriber, stream and all; 0 for those that do not."""
        return np.where(2 * self.streams <= limit, self.rates, 0)

    def num_usable(self, limit: int) -> int:
        """How many topics fit a VM; limits for which they are as many have the same ones."""
        return int(np.count_nonzero(2 * self.streams <= limit))

    def reader(self) -> SubscriberReader:
        """Reads the subscribers of one block at a time, here or in a task."""
        # Where nobody can spare an event, covers are not searched for, and may be as large as all traffic.
        most = MAX_TRAFFIC if self.threshold == ALL_EVENTS else MAX_THRESHOLD
        return SubscriberReader(self.workload, self.rates, self.threshold, has_weights=False, most=most)

    def check(self) -> None:
        """Refuse more traffic than can be counted.

        Raises:
            InputError: rates do not fit 64 bits, or serving everything takes MAX_TRAFFIC or more.
        """
        subscribers = self.workload.topic_array("subscribers")
        incoming = exact_dot(self.rates, self.sizes)
        # Products of three factors fit 64 bits only if those of two are small enough.
        total = max(exact_dot(self.rates, subscribers), incoming)
        if total < MAX_TRAFFIC:
            total = exact_dot(self.rates * subscribers, self.sizes) + incoming
        if total >= MAX_TRAFFIC:
            raise InputError(f"Serving everything takes {total} bytes or events per window; provision counts to 2^55.")
