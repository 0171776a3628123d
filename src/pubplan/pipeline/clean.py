"""Cleaning: every row gets typed values and, if it cannot be used, the reason why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.values import Ids, Mask, Numbers, TimestampUnit, ids, moments, whole_numbers
from pubplan.workload import Int64Array

MALFORMED = "malformed"
MISSING_ID = "missing_id"
BAD_ENCODING = "bad_encoding"
BAD_TIMESTAMP = "bad_timestamp"
OUTSIDE_WINDOW = "outside_window"
BAD_SIZE = "bad_size"
BAD_RATE = "bad_rate"
BAD_COST = "bad_cost"
BAD_WEIGHT = "bad_weight"
BAD_THRESHOLD = "bad_threshold"
UNKNOWN_TOPIC = "unknown_topic"
BAD_NUMBER = "bad_number"
INVERTED_RECTANGLE = "inverted_rectangle"
BAD_LATENCY = "bad_latency"
BAD_LIMIT = "bad_limit"
BAD_SHARE = "bad_share"
BAD_CAPACITY = "bad_capacity"
BAD_COUNT = "bad_count"
BAD_PRICE = "bad_price"
OUTSIDE_SPACE = "outside_space"
UNKNOWN_CLIENT = "unknown_client"
UNKNOWN_SITE = "unknown_site"
UNKNOWN_BROKER = "unknown_broker"

REASONS = {
    MALFORMED: "the record cannot be parsed, or has another number of fields than its header",
    MISSING_ID: "an id is null or empty",
    BAD_ENCODING: "an id is not valid UTF-8",
    BAD_TIMESTAMP: "the timestamp is missing or not readable",
    OUTSIDE_WINDOW: "the event lies outside the window",
    BAD_SIZE: "the size is negative or not a whole number",
    BAD_RATE: "the rate is missing, negative or not a whole number",
    BAD_COST: "the cost is negative or not a whole number",
    BAD_WEIGHT: "the weight is negative or not a whole number",
    BAD_THRESHOLD: "the threshold is negative or not a whole number",
    UNKNOWN_TOPIC: "the subscription names a topic without events or rate",
    BAD_NUMBER: "a value of an attribute or a coordinate is missing, unreadable, infinite or not a number",
    INVERTED_RECTANGLE: "a range of the client ends before it begins",
    BAD_LATENCY: "the latency is missing, negative, longer than 2,147 s (35 minutes) or not a number",
    BAD_LIMIT: "the limit is negative or not a number",
    BAD_SHARE: "the share is negative or not a whole number",
    BAD_CAPACITY: "the capacity is negative or not a whole number",
    BAD_COUNT: "the count of messages is negative or not a whole number",
    BAD_PRICE: "the price is missing, negative, too large or not a number",
    OUTSIDE_SPACE: "a value lies outside the grid of its attribute",
    UNKNOWN_CLIENT: "the message names a client that is not in the workload",
    UNKNOWN_SITE: "the row names a site that is not in the table of sites, latencies or prices",
    UNKNOWN_BROKER: "the row names a broker that does not exist",
}
"""Why a row was rejected, in the order in which reasons are looked for."""

REASON_NAMES = tuple(REASONS)
Reasons = npt.NDArray[np.uint8]
"""Per row 0, or 1 + the position of the reason in REASONS."""


@dataclass(frozen=True)
class TimeWindow:
    """From ``start`` to before ``end``, in microseconds since 1970; None where the trace decides."""

    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise InputError(f"The window ends ({iso(self.end)}) before it starts ({iso(self.start)}).")

    @classmethod
    def parse(cls, start: str | None, end: str | None) -> TimeWindow:
        return cls(_parse(start), _parse(end))


def _parse(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"'{text}' is not a time in ISO 8601, such as 2013-01-09T00:00:00Z.") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def iso(micros: int) -> str:
    """A moment as ISO 8601 in UTC, with as many decimals as it has."""
    seconds, rest = divmod(micros, 1_000_000)
    text = datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    return text + (f".{rest:06d}".rstrip("0") if rest else "") + "Z"


@dataclass(frozen=True)
class CleanEvents:
    """Events: ``reasons`` is None where every row is good."""

    topics: Ids
    events: Ids | None
    micros: Int64Array
    sizes: Numbers | None
    reasons: Reasons | None


def clean_events(batch: Batch, window: TimeWindow, unit: TimestampUnit) -> CleanEvents:
    topics = ids(batch.columns["topic"])
    events = ids(batch.columns["event"]) if "event" in batch.columns else None
    micros, is_bad_time = moments(batch.columns["timestamp"], unit)
    sizes = optional_numbers(batch, "size")
    is_outside: Mask = None
    for bound, is_beyond in ((window.start, np.less), (window.end, np.greater_equal)):
        if bound is not None and len(micros):
            beyond = is_beyond(micros, bound)
            is_outside = beyond if is_outside is None else is_outside | beyond
    checks = [
        *id_checks([topics, *([events] if events is not None else [])]),
        (BAD_TIMESTAMP, is_bad_time),
        (OUTSIDE_WINDOW, is_outside),
        (BAD_SIZE, not_counts(sizes)),
    ]
    return CleanEvents(topics, events, micros, sizes, first_reasons(batch.num_rows, checks))


@dataclass(frozen=True)
class CleanRates:
    """Rates; a row may give no size and no cost."""

    topics: Ids
    rates: Int64Array
    sizes: Numbers | None
    costs: Numbers | None
    reasons: Reasons | None


def clean_rates(batch: Batch) -> CleanRates:
    topics = ids(batch.columns["topic"])
    rates = whole_numbers(batch.columns["rate"])
    sizes, costs = optional_numbers(batch, "size"), optional_numbers(batch, "cost")
    checks = [
        *id_checks([topics]),
        (BAD_RATE, rates.is_missing),
        (BAD_RATE, not_counts(rates)),
        (BAD_SIZE, not_counts(sizes)),
        (BAD_COST, not_counts(costs)),
    ]
    return CleanRates(topics, rates.values, sizes, costs, first_reasons(batch.num_rows, checks))


@dataclass(frozen=True)
class CleanSubscriptions:
    """Subscriptions, or a follow graph: who follows is the subscriber, who is followed the topic."""

    subscribers: Ids
    topics: Ids
    weights: Numbers | None
    thresholds: Numbers | None
    reasons: Reasons | None


def clean_subscriptions(batch: Batch) -> CleanSubscriptions:
    subscriber, topic = ("subscriber", "topic") if "subscriber" in batch.columns else ("follower", "followee")
    subscribers, topics = ids(batch.columns[subscriber]), ids(batch.columns[topic])
    weights, thresholds = optional_numbers(batch, "weight"), optional_numbers(batch, "threshold")
    checks = [
        *id_checks([subscribers, topics]),
        (BAD_WEIGHT, not_counts(weights)),
        (BAD_THRESHOLD, not_counts(thresholds)),
    ]
    return CleanSubscriptions(subscribers, topics, weights, thresholds, first_reasons(batch.num_rows, checks))


def spread_topics(batch: Batch) -> Batch:
    """One row per topic where a subscription lists several; an empty list is a row without a topic."""
    topics = batch.columns.get("topic")
    if topics is None or not (pa.types.is_list(topics.type) or pa.types.is_large_list(topics.type)):
        return batch
    lengths = np.asarray(pc.list_value_length(topics).fill_null(0), dtype=np.int64)
    rows = np.repeat(np.arange(len(lengths)), np.maximum(lengths, 1))
    positions = np.full(len(rows), -1, dtype=np.int64)
    positions[np.repeat(lengths > 0, np.maximum(lengths, 1))] = np.arange(lengths.sum())
    spread = topics.flatten().take(pa.array(positions, mask=positions < 0))
    columns = {name: column.take(pa.array(rows)) for name, column in batch.columns.items() if name != "topic"}
    return replace(
        batch, columns={**columns, "topic": spread}, num_rows=len(rows), raw=lambda chosen: batch.raw(rows[chosen])
    )


def optional_numbers(batch: Batch, name: str) -> Numbers | None:
    return whole_numbers(batch.columns[name]) if name in batch.columns else None


def not_counts(numbers: Numbers | None) -> Mask:
    """Where a value is given that is not a whole number from 0."""
    if numbers is None or not len(numbers.values):
        return None
    if numbers.values.min() >= 0:
        return numbers.is_bad
    is_negative = numbers.values < 0
    return is_negative if numbers.is_bad is None else is_negative | numbers.is_bad


def id_checks(columns: Iterable[Ids]) -> list[tuple[str, Mask]]:
    columns = list(columns)
    return [
        *((MISSING_ID, column.rows_where(column.is_missing)) for column in columns),
        *((BAD_ENCODING, column.rows_where(column.is_undecodable)) for column in columns),
    ]


def first_reasons(num_rows: int, checks: list[tuple[str, Mask]]) -> Reasons | None:
    """Per row the first of REASONS whose check fails."""
    failed = [(1 + REASON_NAMES.index(reason), mask) for reason, mask in checks if mask is not None]
    if not failed:
        return None
    reasons = np.zeros(num_rows, dtype=np.uint8)
    for number, mask in sorted(failed, key=lambda check: -check[0]):
        reasons[mask] = number
    return reasons if reasons.any() else None
