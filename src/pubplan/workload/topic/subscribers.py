"""Subscribers and their thresholds, one block at a time."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import MAX_INT64
from pubplan.errors import InputError
from pubplan.workload.tables import Int32Array, Int64Array, list_column
from pubplan.workload.topic.workload import TopicWorkload

MAX_THRESHOLD = 2**31 - 1

ALL_EVENTS: Literal["all"] = "all"
"""The threshold of subscribers who must receive everything that they asked for."""

Threshold = int | Literal["all"] | None
"""Events that satisfy every subscriber, everything that it asked for, or None for each one's threshold."""


def checked_threshold(workload: TopicWorkload, threshold: object) -> Threshold:
    """The events that satisfy every subscriber, all of them, or None where the workload has one for each.

    Raises:
        InputError: the threshold is not a number of events, or there is none at all.
    """
    if threshold is None:
        if "threshold" not in workload.optional_columns:
            raise InputError(
                f"No threshold: pass {argument('threshold')}, or give the workload's subscribers a threshold column."
            )
        return None
    if threshold == ALL_EVENTS:
        return ALL_EVENTS
    if not isinstance(threshold, Integral) or isinstance(threshold, bool):
        raise InputError(f"{argument('threshold')} is a whole number of events, or 'all' of them, not {threshold!r}.")
    events = int(threshold)
    if not 0 <= events <= MAX_THRESHOLD:
        raise InputError(f"{argument('threshold')} must be between 0 and {MAX_THRESHOLD} events, not {events}.")
    return events


def with_all_events(threshold: Threshold) -> str:
    """What sentences about satisfied subscribers add where these receive everything that they asked for."""
    return " with all their events" if threshold == ALL_EVENTS else ""


@dataclass(frozen=True)
class SubscriberBlock:
    """Subscribers in memory: their topics as CSR, effective thresholds (tau_v) and weights."""

    offsets: Int64Array
    topics: Int32Array
    thresholds: Int64Array
    weights: Int64Array


@dataclass(frozen=True)
class SubscriberReader:
    """Reads blocks of subscribers; small enough to send to a task.

    ``most`` is the largest effective threshold that can be counted with.
    """

    workload: TopicWorkload
    rates: Int64Array
    threshold: Threshold
    has_weights: bool
    most: int = MAX_THRESHOLD

    def read(self, block: int) -> SubscriberBlock:
        """The subscribers of one block.

        Raises:
            InputError: the block cannot be read, names topics that do not exist, or has thresholds out of range.
        """
        is_needed = {"threshold": self.threshold is None, "weight": self.has_weights}
        table = self.workload.interests_block(block, "topics", *(name for name in is_needed if is_needed[name]))
        offsets, topics = list_column(table, "topics")
        if len(topics) and (topics.min() < 0 or topics.max() >= len(self.rates)):
            raise InputError(f"Block {block} of {self.workload.path}/interests names topics that do not exist.")
        asked = table["threshold"].to_numpy() if self.threshold is None else self.threshold
        thresholds = effective_thresholds(self.workload, self.rates, asked, offsets, topics, self.most)
        weights = table["weight"].to_numpy() if self.has_weights else unit_weights(len(thresholds))
        return SubscriberBlock(offsets, topics, thresholds, weights)


def effective_thresholds(
    workload: TopicWorkload,
    rates: Int64Array,
    asked: Int64Array | Threshold,
    offsets: Int64Array,
    topics: Int32Array,
    most: int = MAX_THRESHOLD,
) -> Int64Array:
    """tau_v: the threshold asked for, or all events of the subscriber's topics if those are fewer.

    Raises:
        InputError: one is negative or above ``most``.
    """
    from pubplan.kernels import row_sums_up_to  # imports Numba

    thresholds = np.empty(len(offsets) - 1, dtype=np.int64)
    is_all = isinstance(asked, str)
    caps = np.broadcast_to(np.asarray(MAX_INT64 if is_all else asked, dtype=np.int64), len(thresholds))
    row_sums_up_to(caps, rates, topics, offsets, thresholds)
    if is_all and len(thresholds) and thresholds.max() > most:
        raise InputError(
            f"A subscriber of {workload.path} asks for {thresholds.max():,} events per window; all of them can be a "
            f"threshold up to {most:,}. Pass a smaller {argument('threshold')}, or count rates over a shorter window."
        )
    if len(thresholds) and (thresholds.max() > most or thresholds.min() < 0):
        raise InputError(f"Thresholds in {workload.path} must be between 0 and {most} events.")
    return thresholds


def unit_weights(num_subscribers: int) -> Int64Array:
    """Every subscriber counts once; takes the memory of a single number."""
    if num_subscribers <= 1:  # repeating it at most once would be contiguous: other types, other kernels to compile
        return np.ones(num_subscribers, dtype=np.int64)
    return np.broadcast_to(np.int64(1), num_subscribers)
