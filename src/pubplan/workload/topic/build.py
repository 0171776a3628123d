"""Small workloads from plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range, num_blocks
from pubplan.errors import InputError
from pubplan.files import atomic_directory
from pubplan.text import listed
from pubplan.workload.manifest import MANIFEST, Window
from pubplan.workload.tables import Int64Array, sorted_ids
from pubplan.workload.topic.kind import TOPIC
from pubplan.workload.topic.tables import DEFAULT_MESSAGE_BYTES
from pubplan.workload.topic.workload import TopicWorkload
from pubplan.workload.topic.writer import finish_workload, write_interests_block
from pubplan.workload.workload import read_workload


def build_workload(
    out: str | Path,
    rates: Mapping[str, int],
    interests: Mapping[str, Sequence[str]],
    *,
    thresholds: Mapping[str, int] | None = None,
    weights: Mapping[str, int] | None = None,
    costs: Mapping[str, int] | None = None,
    message_bytes: int | Mapping[str, int] = DEFAULT_MESSAGE_BYTES,
    window: Window | None = None,
    replace: bool = False,
) -> TopicWorkload:
    """Write a workload given as ``{topic_id: rate}`` and ``{subscriber_id: [topic_id, …]}`` and open it.

    Meant for what fits on a page: examples, tests, notebooks.

    Args:
        out: the workload directory.
        rates: events per window, by topic.
        interests: the topics that each subscriber asks for.
        thresholds: per subscriber, for all of them.
        weights: per subscriber, for all of them; at least 0.
        costs: per topic, for all of them; at least 0.
        message_bytes: of all messages, or per topic, for all of them; at least 0.
        window: the time that the rates are counted over, if that is known.
        replace: overwrite the workload at ``out``.

    Raises:
        InputError: something is not a mapping, an id is not text, a number is not whole or out of range, an interest
            names a topic without a rate, a subscriber has no threshold or weight or a topic no cost or message size
            while others do.

    >>> tiny = pubplan.build_workload("tiny", {"news": 3, "sport": 5}, {"ann": ["news"], "bob": ["news", "sport"]})
    >>> tiny.summary()
    '2 topics, 2 subscribers, 3 interests; serving everything costs 11 deliveries per window'
    """
    _check_mappings(rates, interests)
    _check_whole("rate", rates)
    _check_whole("threshold", thresholds or {})
    _check_whole("weight", weights or {}, least=0)
    _check_whole("cost", costs or {}, least=0)
    sizes = message_bytes if isinstance(message_bytes, Mapping) else dict.fromkeys(rates, message_bytes)
    _check_whole("message size", sizes, least=0)
    topic_ids = sorted_ids(rates)
    subscriber_ids = sorted_ids(interests)
    number = {topic_id: topic for topic, topic_id in enumerate(topic_ids)}
    unknown = sorted({topic for topics in interests.values() for topic in topics} - set(number))
    if unknown:
        raise InputError(f"Interests name topics without a rate: {listed(unknown, 3)}.")
    by_subscriber = _given(threshold=thresholds, weight=weights)
    by_topic = _given(cost=costs)
    _check_complete("subscriber", interests, by_subscriber)
    _check_complete("topic", rates, {**by_topic, "message size": sizes})

    rows = [sorted({number[topic_id] for topic_id in interests[subscriber]}) for subscriber in subscriber_ids]
    subscribers = np.bincount([topic for row in rows for topic in row], minlength=len(topic_ids)).astype(np.int64)
    num_given, num_kept = sum(map(len, interests.values())), sum(map(len, rows))
    with atomic_directory(Path(out), marker=MANIFEST, replace=replace) as staging:
        entries = []
        for block in range(num_blocks(len(rows))):
            first, last = block_range(block, len(rows))
            offsets = np.cumsum([0, *map(len, rows[first:last])]).astype(np.int64)
            topics = np.array([topic for row in rows[first:last] for topic in row], dtype=np.int32)
            ids = subscriber_ids[first:last]
            optional = _arrays(by_subscriber, ids)
            entries.append(write_interests_block(staging, block, pa.array(ids, pa.string()), offsets, topics, optional))
        finish_workload(
            staging,
            topic_ids=pa.array(topic_ids, pa.string()),
            rates=np.array([rates[topic_id] for topic_id in topic_ids], dtype=np.int64),
            subscribers=subscribers,
            message_bytes=np.array([sizes[topic_id] for topic_id in topic_ids], dtype=np.int64),
            interests=entries,
            window=window or Window(),
            sources=[{"made": "by hand"}],
            rows={"rows_in": num_given, "kept": num_kept, "rejected": {}, "duplicates": num_given - num_kept},
            optional=_arrays(by_topic, topic_ids),
        )
    return read_workload(out, TOPIC)


def _check_mappings(rates: Mapping[str, int], interests: Mapping[str, Sequence[str]]) -> None:
    """Refuse tables and text where mappings and lists are meant: both can be gone through, and would be misread."""
    for name, given in (("rates", rates), ("interests", interests)):
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            raise InputError(f"{name} is a mapping by id, not a {kind}: pubplan.workload_from_tables takes tables.")
    for subscriber, topics in interests.items():
        if isinstance(topics, str):
            raise InputError(f"The topics of {subscriber!r} must be a list of ids, not the text {topics!r}.")


def _given(**columns: Mapping[str, int] | None) -> dict[str, Mapping[str, int]]:
    return {name: values for name, values in columns.items() if values is not None}


def _arrays(columns: Mapping[str, Mapping[str, int]], ids: Sequence[str]) -> dict[str, Int64Array]:
    """The values of ``ids``, in that order."""
    return {name: np.array([values[key] for key in ids], dtype=np.int64) for name, values in columns.items()}


def _check_complete(noun: str, ids: Mapping[str, object], columns: Mapping[str, Mapping[str, int]]) -> None:
    for column, values in columns.items():
        if set(values) != set(ids):
            raise InputError(f"A {column} must be given for every {noun} or for none.")


def _check_whole(column: str, values: Mapping[str, object], least: int = -MAX_INT64) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"The {column} of {name!r} must be a whole number, not {value!r}.")
        if not least <= value <= MAX_INT64:
            raise InputError(f"The {column} of {name!r} must be between {least} and {MAX_INT64}, not {value}.")
