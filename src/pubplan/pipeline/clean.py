"""Cleaning: every row gets typed values and, if it cannot be used, the reason why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubplan.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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

REASONS = {
    MALFORMED: "the record cannot be parsed, or has another number of fields than its header",
    MISSING_ID: "a topic, subscriber or event id is null or empty",
    BAD_ENCODING: "an id is not valid UTF-8",
    BAD_TIMESTAMP: "the timestamp is missing or not readable",
    OUTSIDE_WINDOW: "the event lies outside the window",
    BAD_SIZE: "the size is missing, negative or not a whole number",
    BAD_RATE: "the rate is missing, negative or not a whole number",
    BAD_COST: "the cost is missing, negative or not a whole number",
    BAD_WEIGHT: "the weight is missing, negative or not a whole number",
    BAD_THRESHOLD: "the threshold is missing, negative or not a whole number",
    UNKNOWN_TOPIC: "the subscription names a topic without events or rate",
}
"""Why a row was rejected, in the order in which reasons are looked for."""

TimestampUnit = Literal["s", "ms", "us"]
Checks: TypeAlias = "list[tuple[str, Column]]"
"""Reasons in order of precedence, each with the condition under which it rejects a row."""

REPLACEMENT = "\ufffd"
"""What Spark puts in place of bytes that are not UTF-8."""

MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}

EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999
_WHOLE = r"^\s*[+-]?[0-9]+\s*$"
_ISO = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}"


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
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return text + (f".{rest:06d}".rstrip("0") if rest else "") + "Z"


def clean_events(frame: DataFrame, window: TimeWindow, unit: TimestampUnit) -> tuple[DataFrame, Checks]:
    """Events as ``topic``, ``micros``, ``size``, ``event``, ``raw`` and ``reason`` (null for good rows).

    Also the checks that look at more than the topic's id, for counting without looking at ids row by row.
    """
    micros = _micros(frame, unit)
    ids = [name for name in ("topic", "event") if name in frame.columns]
    typed = frame.select(
        *(F.col(name).cast("string").alias(name) for name in ids),
        micros.alias("micros"),
        _count(frame, "size").alias("size"),
        "raw",
        "is_malformed",
    )
    moment = F.col("micros")
    inside = F.lit(True)
    if window.start is not None:
        inside &= moment >= window.start
    if window.end is not None:
        inside &= moment < window.end
    checks = [
        (MALFORMED, F.col("is_malformed")),
        (BAD_TIMESTAMP, moment.isNull() | ~moment.between(EARLIEST, LATEST)),
        (OUTSIDE_WINDOW, ~inside),
        *_count_check(frame, "size", BAD_SIZE),
    ]
    return typed.withColumn("reason", _reason([checks[0], *_id_checks(ids), *checks[1:]])), checks


def clean_rates(frame: DataFrame) -> tuple[DataFrame, Checks]:
    """Rates as ``topic``, ``rate``, ``size``, ``cost`` if the source has it, ``raw`` and ``reason``.

    Also the checks that look beyond the id.
    """
    costs = [_count(frame, "cost").alias("cost")] if "cost" in frame.columns else []
    typed = frame.select(
        F.col("topic").cast("string").alias("topic"),
        _count(frame, "rate").alias("rate"),
        _count(frame, "size").alias("size"),
        *costs,
        "raw",
        "is_malformed",
    )
    checks = [
        (MALFORMED, F.col("is_malformed")),
        *_count_check(frame, "rate", BAD_RATE),
        *_count_check(frame, "size", BAD_SIZE),
        *_count_check(frame, "cost", BAD_COST),
    ]
    return typed.withColumn("reason", _reason([checks[0], *_id_checks(["topic"]), *checks[1:]])), checks


def clean_subscriptions(frame: DataFrame) -> DataFrame:
    """Subscriptions as ``subscriber_id``, ``topic_id``, their optional columns, ``raw`` and ``reason``.

    A follow graph is read the same way: who follows is the subscriber, who is followed the topic.
    """
    subscriber, topic = ("subscriber", "topic") if "subscriber" in frame.columns else ("follower", "followee")
    optional = [name for name in ("weight", "threshold") if name in frame.columns]
    typed = frame.select(
        F.col(subscriber).cast("string").alias("subscriber_id"),
        F.col(topic).cast("string").alias("topic_id"),
        *(_count(frame, name).alias(name) for name in optional),
        "raw",
        "is_malformed",
    )
    checks = [
        (MALFORMED, F.col("is_malformed")),
        *_id_checks(["subscriber_id", "topic_id"]),
        *_count_check(frame, "weight", BAD_WEIGHT),
        *_count_check(frame, "threshold", BAD_THRESHOLD),
    ]
    return typed.withColumn("reason", _reason(checks)).drop("is_malformed")


def reason_checks() -> Checks:
    """Checks that repeat the reason a row was given already."""
    return [(reason, F.col("reason") == reason) for reason in REASONS]


def exclusive(checks: Checks) -> Checks:
    """The same checks, each failing only where none before it does."""
    found, earlier = [], F.lit(False)
    for reason, failed in checks:
        fails = F.coalesce(failed, F.lit(False))
        found.append((reason, fails & ~earlier))
        earlier |= fails
    return found


def _id_checks(ids: list[str]) -> Checks:
    missing, undecodable = F.lit(False), F.lit(False)
    for name in ids:
        missing |= F.col(name).isNull() | (F.col(name) == "")
        undecodable |= F.col(name).contains(REPLACEMENT)
    return [(MISSING_ID, missing), (BAD_ENCODING, undecodable)]


def _count_check(frame: DataFrame, name: str, reason: str) -> Checks:
    """A check of a column that was typed before; none where the source does not have it."""
    if name not in frame.columns:
        return []
    return [(reason, F.col(name).isNull() | (F.col(name) < 0))]


def _count(frame: DataFrame, name: str) -> Column:
    """A column as bigint: null where it is absent or not a whole number."""
    if name not in frame.columns:
        return F.lit(None).cast("bigint")
    column, kind = F.col(name), frame.schema[name].dataType
    if isinstance(kind, T.StringType):
        return F.when(column.rlike(_WHOLE), column).try_cast("bigint")
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        return F.when(column == F.floor(column), column).try_cast("bigint")
    return column.try_cast("bigint")


def _micros(frame: DataFrame, unit: TimestampUnit) -> Column:
    """The timestamp in microseconds since 1970, null where it is not readable."""
    column, kind = F.col("timestamp"), frame.schema["timestamp"].dataType
    if isinstance(kind, T.StringType):
        epoch = F.try_multiply(F.when(column.rlike(_WHOLE), column).try_cast("bigint"), F.lit(MICROS[unit]))
        text = F.when(column.rlike(_ISO), F.trim(column)).try_cast("timestamp")
        return F.coalesce(epoch, F.unix_micros(text))
    if isinstance(kind, (T.TimestampType, T.TimestampNTZType, T.DateType)):
        return F.unix_micros(column.cast("timestamp"))
    return F.try_multiply(column.try_cast("bigint"), F.lit(MICROS[unit]).cast("bigint"))


def _reason(checks: Checks) -> Column:
    """The first check that fails."""
    reason = F.lit(None).cast("string")
    for name, failed in reversed(checks):
        reason = F.when(failed, F.lit(name)).otherwise(reason)
    return reason
