"""Subscribers with what satisfies them, one block at a time."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from pubplan.errors import InputError
from pubplan.kernels import row_sums_up_to
from pubplan.workload.tables import Int32Array, Int64Array, topic_lists
from pubplan.workload.workload import Workload

MAX_THRESHOLD = 2**31 - 1


def checked_threshold(workload: Workload, threshold: object) -> int | None:
    """The events that satisfy every subscriber, or None where the workload says so for each.

    Raises:
        InputError: the threshold is no number of events, or there is none at all.
    """
    if threshold is None:
        if "threshold" not in workload.optional_columns:
            raise InputError("No threshold: pass --threshold, or give the workload's subscribers a threshold column.")
        return None
    if not isinstance(threshold, Integral) or isinstance(threshold, bool):
        raise InputError(f"The threshold is a whole number of events, not {threshold!r}.")
    events = int(threshold)
    if not 0 <= events <= MAX_THRESHOLD:
        raise InputError(f"The threshold must be between 0 and {MAX_THRESHOLD} events, not {events}.")
    return events


@dataclass(frozen=True)
class Rows:
    """Subscribers in memory: their topics as CSR, what satisfies them (tau_v) and how often each counts."""

    offsets: Int64Array
    topics: Int32Array
    thresholds: Int64Array
    weights: Int64Array


@dataclass(frozen=True)
class RowReader:
    """Reads blocks of subscribers; small enough to send to a task."""

    workload: Workload
    rates: Int64Array
    threshold: int | None
    has_weights: bool

    def read(self, block: int) -> Rows:
        wanted = {"threshold": self.threshold is None, "weight": self.has_weights}
        table = self.workload.interests_block(block, "topics", *(name for name in wanted if wanted[name]))
        offsets, topics = topic_lists(table)
        if len(topics) and (topics.min() < 0 or topics.max() >= len(self.rates)):
            raise InputError(f"Block {block} of {self.workload.path}/interests names topics that do not exist.")
        asked = table["threshold"].to_numpy() if self.threshold is None else self.threshold
        thresholds = satisfying(self.workload, self.rates, asked, offsets, topics)
        weights = table["weight"].to_numpy() if self.has_weights else unit_weights(len(thresholds))
        return Rows(offsets, topics, thresholds, weights)


def satisfying(
    workload: Workload, rates: Int64Array, asked: Int64Array | int, offsets: Int64Array, topics: Int32Array
) -> Int64Array:
    """tau_v: what was asked for, or everything if that is less."""
    thresholds = np.empty(len(offsets) - 1, dtype=np.int64)
    row_sums_up_to(
        np.broadcast_to(np.asarray(asked, dtype=np.int64), len(thresholds)), rates, topics, offsets, thresholds
    )
    if len(thresholds) and (thresholds.max() > MAX_THRESHOLD or thresholds.min() < 0):
        raise InputError(f"Thresholds in {workload.path} must be between 0 and {MAX_THRESHOLD} events.")
    return thresholds


def unit_weights(num_subscribers: int) -> Int64Array:
    """Everybody counts once, at the price of one number."""
    return np.broadcast_to(np.int64(1), num_subscribers)
