"""What a workload says about a select problem, as arrays that are read when they are first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import exact_sum
from pubplan.errors import InputError
from pubplan.kernels import count_columns, transpose
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE, DemandByTopic, TopicLists
from pubplan.workload import (
    MAX_THRESHOLD,
    Csr,
    Int32Array,
    Int64Array,
    Interests,
    SubscriberReader,
    Threshold,
    TopicWorkload,
    effective_thresholds,
    unit_weights,
)

BYTES = "bytes"
"""The cost of a topic in bytes delivered per window: rate x subscribers x message_bytes."""


@dataclass(frozen=True)
class Instance:
    """A problem in memory. Making one reads nothing; every array is read once, when it is first asked for.

    Small enough to go to a task, which reads for itself: the arrays are left behind.

    Raises:
        InputError: from a property, where a column has values that cannot be planned with, or does not exist.
    """

    workload: TopicWorkload
    threshold: Threshold
    cost: str | None

    def __getstate__(self) -> dict[str, Any]:
        return {"workload": self.workload, "threshold": self.threshold, "cost": self.cost}

    @property
    def num_topics(self) -> int:
        return self.workload.counts.topics

    @property
    def num_subscribers(self) -> int:
        return self.workload.counts.subscribers

    @cached_property
    def rates(self) -> Int64Array:
        """Events per window, by topic."""
        return self.workload.topic_array("rate")

    @cached_property
    def events(self) -> Int64Array:
        """The rates cut to what any subscriber can need, so that products with slopes fit 64 bits."""
        return np.minimum(self.rates, MAX_THRESHOLD)

    @cached_property
    def costs(self) -> Int64Array:
        """What serving each topic costs."""
        if self.cost is None:
            return self.rates * self.workload.topic_array("subscribers")
        if self.cost == BYTES:
            # Every product is at most the total, which fits 64 bits.
            return self.rates * self.workload.topic_array("subscribers") * self.workload.topic_array("message_bytes")
        costs = self.workload.topic_array(self.cost)
        if len(costs) and costs.min() < 0:
            raise InputError(f"Costs in {self.workload.path} must not be negative.")
        return costs

    @cached_property
    def total_cost(self) -> int:
        """What serving all topics costs."""
        if self.cost == BYTES:
            return self.workload.totals.bytes
        return self.workload.totals.cost if self.cost is None else exact_sum(self.costs)

    @cached_property
    def has_weights(self) -> bool:
        """Whether subscribers have weights; where not, each of them counts once."""
        return "weight" in self.workload.optional_columns

    @cached_property
    def total_weight(self) -> int:
        """What satisfying every subscriber is worth; reads the weights, but does not keep them."""
        if not self.has_weights:
            return self.num_subscribers
        weights = self.workload.subscriber_array("weight")
        if len(weights) and weights.min() < 0:
            raise InputError(f"Weights in {self.workload.path} must not be negative.")
        return exact_sum(weights)

    @cached_property
    def weights(self) -> Int64Array:
        """How often each subscriber counts."""
        return self.workload.subscriber_array("weight") if self.has_weights else unit_weights(self.num_subscribers)

    @cached_property
    def interests(self) -> Interests:
        """Who wants what, by subscriber and by topic."""
        return self.workload.csr()

    @cached_property
    def thresholds(self) -> Int64Array:
        """tau_v by subscriber: the threshold, or everything it asked for if that is less."""
        lists = self.interests.by_subscriber
        asked = self.threshold if self.threshold is not None else self.workload.subscriber_array("threshold")
        return effective_thresholds(self.workload, self.rates, asked, lists.offsets, lists.values)

    @cached_property
    def single_topic_weight(self) -> Int64Array:
        """By topic, the weight of the subscribers who want that topic alone: they need no other bookkeeping."""
        lists = self.interests.by_subscriber
        single = np.flatnonzero((self.thresholds > 0) & (np.diff(lists.offsets) == 1))
        weight = np.zeros(self.num_topics, dtype=np.int64)
        np.add.at(weight, lists.values[lists.offsets[single]], self.weights[single])
        return weight

    @cached_property
    def multi_topic(self) -> MultiTopicSubscribers:
        """The subscribers who want several topics."""
        return MultiTopicSubscribers.of(self)

    @cached_property
    def demand(self) -> DemandByTopic:
        """The topics as the kernels take them."""
        several = self.multi_topic
        return DemandByTopic(
            offsets=several.by_topic.offsets,
            subscribers=several.by_topic.values,
            weights=several.weights,
            events=self.events,
            costs=self.costs,
            single_topic_weight=self.single_topic_weight,
        )

    @property
    def topic_lists(self) -> TopicLists:
        """The topics of the subscribers who want several, as the kernels take them."""
        by_subscriber = self.multi_topic.by_subscriber
        return TopicLists(by_subscriber.offsets, by_subscriber.values)

    def topic_numbers(self, topic_ids: Sequence[str]) -> Int32Array:
        """The numbers of topics, ascending.

        Raises:
            InputError: one of them does not exist.
        """
        if not topic_ids:
            return np.empty(0, dtype=np.int32)
        known = self.workload.topics("topic_id")["topic_id"].combine_chunks()
        numbers = pc.index_in(pa.array(topic_ids, pa.string()), value_set=known)
        if numbers.null_count:
            missing = topic_ids[numbers.is_null().to_pylist().index(True)]
            raise InputError(f"{self.workload.path} has no topic {missing!r}.")
        return np.sort(numbers.to_numpy()).astype(np.int32)

    def reader(self) -> SubscriberReader:
        """Reads the subscribers of one block at a time, here or in a task."""
        return SubscriberReader(self.workload, self.rates, self.threshold, self.has_weights)


@dataclass(frozen=True)
class MultiTopicSubscribers:
    """The subscribers who want events, and of more than one topic: there lies all the work.

    They are numbered anew, from 0; ``numbers`` are their numbers in the workload.
    """

    numbers: Int64Array
    by_subscriber: Csr
    by_topic: Csr
    thresholds: Int64Array
    weights: Int64Array

    @classmethod
    def of(cls, instance: Instance) -> MultiTopicSubscribers:
        lists = instance.interests.by_subscriber
        lengths = np.diff(lists.offsets)
        wants_several = (instance.thresholds > 0) & (lengths > 1)
        numbers = np.flatnonzero(wants_several)
        row_offsets = np.concatenate([[0], np.cumsum(lengths[numbers])]).astype(np.int64)
        topics = lists.values[np.repeat(wants_several, lengths)]
        num_wanting = np.zeros(instance.num_topics, dtype=np.int64)
        count_columns(topics, num_wanting)
        offsets = np.concatenate([[0], np.cumsum(num_wanting)]).astype(np.int64)
        subscribers = np.empty(len(topics), dtype=np.int32)
        transpose(topics, row_offsets, offsets, subscribers)
        return cls(
            numbers=numbers,
            by_subscriber=Csr(row_offsets, topics),
            by_topic=Csr(offsets, subscribers),
            thresholds=instance.thresholds[numbers],
            weights=instance.weights[numbers] if instance.has_weights else unit_weights(len(numbers)),
        )


def slopes(thresholds: Int64Array) -> Int64Array:
    """What one event adds to a subscriber in units of 2^-32; nothing where tau_v is 0."""
    return np.where(thresholds > 0, -(-FIXED_POINT_ONE // np.maximum(thresholds, 1)), 0)


def start_state(thresholds: Int64Array, *, is_whole: bool) -> Int64Array:
    """Room and slope per subscriber before anything is served, as the kernels have it; ``is_whole`` for B3M."""
    state = np.empty((len(thresholds), 2), dtype=np.int64)
    if is_whole:
        state[:, 0], state[:, 1] = thresholds, 1
    else:
        state[:, 0], state[:, 1] = np.where(thresholds > 0, FIXED_POINT_ONE, 0), slopes(thresholds)
    return state
