"""Small workloads from plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range, num_blocks, whole_directory
from pubplan.errors import InputError
from pubplan.workload.manifest import MANIFEST, Window
from pubplan.workload.tables import Int64Array
from pubplan.workload.workload import Workload, read_workload
from pubplan.workload.writer import finish_workload, write_interests_block


def build_workload(
    out: str | Path,
    rates: Mapping[str, int],
    interests: Mapping[str, Sequence[str]],
    *,
    thresholds: Mapping[str, int] | None = None,
    weights: Mapping[str, int] | None = None,
    costs: Mapping[str, int] | None = None,
    message_bytes: int | Mapping[str, int] = 200,
    window: Window | None = None,
    replace: bool = False,
) -> Workload:
    """Write a workload given as ``{topic_id: rate}`` and ``{subscriber_id: [topic_id, …]}`` and open it.

    Meant for what fits on a page: examples, tests, notebooks.

    >>> build_workload("tiny", {"news": 3, "sport": 5}, {"ann": ["news"], "bob": ["news", "sport"]})  # doctest: +SKIP

    Args:
        thresholds: per subscriber, for all of them.
        weights: per subscriber, for all of them; at least 0.
        costs: per topic, for all of them; at least 0.
        message_bytes: of all messages, or per topic, for all of them; at least 0.

    Raises:
        InputError: an id is no text, a number is not whole or out of range, an interest names a topic without a rate,
            a subscriber has no threshold or weight or a topic no cost or message size while others do.
    """
    _check_whole("rate", rates)
    _check_whole("threshold", thresholds or {})
    _check_whole("weight", weights or {}, least=0)
    _check_whole("cost", costs or {}, least=0)
    sizes = message_bytes if isinstance(message_bytes, Mapping) else dict.fromkeys(rates, message_bytes)
    _check_whole("message size", sizes, least=0)
    topic_ids = _sorted_ids(rates)
    subscriber_ids = _sorted_ids(interests)
    number = {topic_id: topic for topic, topic_id in enumerate(topic_ids)}
    unknown = sorted({topic for wanted in interests.values() for topic in wanted} - set(number))
    if unknown:
        raise InputError(f"Interests name topics without a rate: {', '.join(unknown[:3])}.")
    by_subscriber = _given(threshold=thresholds, weight=weights)
    by_topic = _given(cost=costs)
    of_topics = {**by_topic, "message size": sizes}
    for of, columns, everyone in (("subscriber", by_subscriber, interests), ("topic", of_topics, rates)):
        for what, values in columns.items():
            if set(values) != set(everyone):
                raise InputError(f"A {what} must be given for every {of} or for none.")

    rows = [sorted({number[topic_id] for topic_id in interests[subscriber]}) for subscriber in subscriber_ids]
    followers = np.bincount([topic for row in rows for topic in row], minlength=len(topic_ids)).astype(np.int64)
    num_given, num_kept = sum(map(len, interests.values())), sum(map(len, rows))
    with whole_directory(Path(out), marker=MANIFEST, replace=replace) as staging:
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
            subscribers=followers,
            message_bytes=np.array([sizes[topic_id] for topic_id in topic_ids], dtype=np.int64),
            interests=entries,
            window=window or Window(),
            sources=[{"made": "by hand"}],
            rows={"rows_in": num_given, "kept": num_kept, "rejected": {}, "duplicates": num_given - num_kept},
            optional=_arrays(by_topic, topic_ids),
        )
    return read_workload(out)


def _given(**columns: Mapping[str, int] | None) -> dict[str, Mapping[str, int]]:
    return {name: values for name, values in columns.items() if values is not None}


def _arrays(columns: Mapping[str, Mapping[str, int]], ids: Sequence[str]) -> dict[str, Int64Array]:
    """The values of ``ids``, in that order."""
    return {name: np.array([values[key] for key in ids], dtype=np.int64) for name, values in columns.items()}


def _check_whole(what: str, values: Mapping[str, object], least: int = -MAX_INT64) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"The {what} of {name!r} must be a whole number, not {value!r}.")
        if not least <= value <= MAX_INT64:
            raise InputError(f"The {what} of {name!r} must be between {least} and {MAX_INT64}, not {value}.")


def _sorted_ids(ids: Mapping[str, object]) -> list[str]:
    for name in ids:
        if not isinstance(name, str):
            raise InputError(f"Ids are text, not {name!r}.")
    return sorted(ids, key=lambda name: name.encode("utf-8"))
