"""Cleaning subscriptions and naming their topics by number, inside the tasks that read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import read_parquet, write_parquet
from pubplan.pipeline.accounts import RowTotals
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import (
    REASON_NAMES,
    UNKNOWN_TOPIC,
    CleanSubscriptions,
    clean_subscriptions,
    spread_topics,
)
from pubplan.pipeline.rejected import Rejects
from pubplan.pipeline.values import Numbers
from pubplan.pipeline.wildcards import Syntax, Wildcards
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.pipeline.reader import Work

OPTIONAL_COLUMNS = ("weight", "threshold")
_UNKNOWN = 1 + REASON_NAMES.index(UNKNOWN_TOPIC)


@dataclass(frozen=True)
class AudiencePart:
    """The pairs one task wrote: ``subscriber_id``, ``topic``, ``weight`` and ``threshold``, which may be null."""

    totals: RowTotals
    files: tuple[Path, ...]
    given: frozenset[str]
    """The optional columns that some row gives a value for."""


def write_topics(path: Path, ids: pa.Array) -> None:
    """The topics' ids in number order, for tasks to look up."""
    write_parquet(path, pa.table({"topic_id": ids}))


@lru_cache(maxsize=1)
def _topics(path: Path) -> pa.Array:
    return read_parquet(path)["topic_id"].combine_chunks()


def wanted_topics(wildcards: Syntax | None) -> Work[pa.Array]:
    """Work that lists the topics that good subscriptions name, wildcards aside."""

    def work(batches: Iterator[Batch], task: int) -> pa.Array:
        wanted = pa.array([], pa.string())
        matcher = Wildcards(wildcards, pa.array([], pa.string())) if wildcards else None
        for batch in batches:
            rows = clean_subscriptions(spread_topics(batch))
            codes = rows.topics.codes if rows.reasons is None else rows.topics.codes[rows.reasons == 0]
            names = rows.topics.names.take(pa.array(np.unique(codes)))
            if matcher is not None:
                is_pattern = [matcher.is_pattern(name) for name in names.cast(pa.binary()).to_pylist()]
                names = names.filter(pa.array([not pattern for pattern in is_pattern], pa.bool_()))
            wanted = pa.concat_arrays([wanted, names]).unique()
        return wanted

    return work


def name_topics(topics: Path, pairs: Path, rejected: Path, kind: str, wildcards: Syntax | None) -> Work[AudiencePart]:
    """Work that writes the pairs of good subscriptions to known topics; others are rejected.

    Args:
        topics: what :func:`write_topics` wrote.
        pairs: the directory for the pairs.
        rejected: the directory for rejected rows.
        wildcards: how subscriptions name many topics; each is expanded over the known ones.
    """

    def work(batches: Iterator[Batch], task: int) -> AudiencePart:
        totals, rejects, given = RowTotals(), Rejects(rejected, kind, task), set()
        matcher = Wildcards(wildcards, _topics(topics)) if wildcards else None
        files: list[Path] = []
        for whole in batches:
            batch = spread_topics(whole)
            rows = clean_subscriptions(batch)
            reasons = np.zeros(batch.num_rows, dtype=np.uint8) if rows.reasons is None else rows.reasons
            chosen, numbers = _look_up(rows, reasons, _topics(topics))
            if matcher is not None:
                chosen, numbers = _expand(rows, reasons, matcher, chosen, numbers, totals)
            rejects.add(batch, reasons if reasons.any() else None)
            totals.records += batch.num_records
            totals.kept += len(chosen)
            totals.rows += len(chosen) + int(np.count_nonzero(reasons)) + len(batch.malformed)
            given |= {name for name, column in _optional(rows).items() if _has_values(column, chosen)}
            if len(chosen):
                files.append(pairs / f"{task:05d}-{len(files):05d}.parquet")
                write_parquet(files[-1], _pairs(rows, chosen, numbers))
        rejects.write()
        totals.rejected = rejects.counts
        return AudiencePart(totals, tuple(files), frozenset(given))

    return work


def _look_up(rows: CleanSubscriptions, reasons: np.ndarray, topics: pa.Array) -> tuple[Int64Array, Int64Array]:
    """The good rows whose topic is known, with its number; of the others ``reasons`` says so."""
    numbers = rows.topics.numbers(topics)
    reasons[(reasons == 0) & (numbers < 0)] = _UNKNOWN
    chosen = np.flatnonzero(reasons == 0)
    return chosen, numbers[chosen]


def _expand(
    rows: CleanSubscriptions,
    reasons: np.ndarray,
    matcher: Wildcards,
    chosen: Int64Array,
    numbers: Int64Array,
    totals: RowTotals,
) -> tuple[Int64Array, Int64Array]:
    """Subscriptions with wildcards as one row per topic they match; those that match none stay unknown."""
    names = rows.topics.names.cast(pa.binary()).to_pylist()
    patterns = {code: matcher.matches(name) for code, name in enumerate(names) if matcher.is_pattern(name)}
    if not patterns:
        return chosen, numbers
    is_pattern = np.zeros(len(names) + 1, dtype=bool)
    is_pattern[list(patterns)] = True
    is_literal = ~is_pattern[rows.topics.codes[chosen]]
    usable = is_pattern[rows.topics.codes] & ((reasons == 0) | (reasons == _UNKNOWN))
    wild = np.flatnonzero(usable)
    lengths = np.array([len(patterns[code]) for code in rows.topics.codes[wild].tolist()], dtype=np.int64)
    reasons[wild] = np.where(lengths > 0, 0, _UNKNOWN)
    matched = [patterns[code] for code in rows.topics.codes[wild].tolist()]
    totals.wildcards += int(np.count_nonzero(lengths))
    totals.expanded += int(lengths.sum())
    return (
        np.concatenate([chosen[is_literal], np.repeat(wild, lengths)]),
        np.concatenate([numbers[is_literal], *matched]),
    )


def _optional(rows: CleanSubscriptions) -> dict[str, Numbers]:
    columns = dict(zip(OPTIONAL_COLUMNS, (rows.weights, rows.thresholds), strict=True))
    return {name: column for name, column in columns.items() if column is not None}


def _has_values(column: Numbers, chosen: Int64Array) -> bool:
    return len(chosen) > 0 and (column.is_missing is None or not column.is_missing[chosen].all())


def _pairs(rows: CleanSubscriptions, chosen: Int64Array, numbers: Int64Array) -> pa.Table:
    optional = _optional(rows)
    columns = {
        "subscriber_id": rows.subscribers.names.take(pa.array(rows.subscribers.codes[chosen])),
        "topic": pa.array(numbers.astype(np.int32)),
    }
    for name in OPTIONAL_COLUMNS:
        columns[name] = pa.nulls(len(chosen), pa.int64())
        if name in optional:
            column = optional[name]
            missing = None if column.is_missing is None else column.is_missing[chosen]
            columns[name] = pa.array(column.values[chosen], mask=missing)
    return pa.table(columns)
