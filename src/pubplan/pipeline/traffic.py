"""Counting traffic: events or rates, per topic, inside the tasks that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.arguments import argument
from pubplan.engine import MAX_INT64, write_parquet
from pubplan.errors import InputError
from pubplan.pipeline.accounts import RowTotals
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import CleanEvents, CleanRates, Reasons, TimeWindow, clean_events, clean_rates
from pubplan.pipeline.rejected import Rejects
from pubplan.pipeline.values import Ids, Mask, TimestampUnit
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.pipeline.reader import Work

# Sums are kept in two halves, value = high x 2^31 + low, which NumPy adds exactly in floating point: a batch has at
# most 2^22 rows, so its sums stay below 2^53.
LOW_BITS = 31
_MAX_BATCH_ROWS = 1 << 22
_SUM_COLUMNS = ("rate", "bytes", "sized")
_COST = "cost"
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class TrafficPart:
    """The counts of one task: per topic the halves of its sums, and the first and last moment of all good events."""

    totals: RowTotals
    counts: pa.Table
    first: int | None = None
    last: int | None = None
    files: tuple[Path, ...] = ()


def count_events(window: TimeWindow, unit: TimestampUnit, rejected: Path, copies: Path | None) -> Work[TrafficPart]:
    """Work that counts events; with ``copies``, good events are written there, to be counted once per event id."""

    def work(batches: Iterator[Batch], task: int) -> TrafficPart:
        totals, rejects, counts, spans = RowTotals(), Rejects(rejected, "events", task), [], []
        files: list[Path] = []
        for batch in _small(batches):
            events = clean_events(batch, window, unit)
            totals.add(batch, events.reasons, rejects)
            good = _good(events.reasons)
            micros = _chosen(events.micros, good)
            if len(micros):
                spans.append((int(micros.min()), int(micros.max())))
            if copies is None:
                counts.append(_counted(events, good))
            else:
                files.append(copies / f"{task:05d}-{len(files):05d}.parquet")
                write_parquet(files[-1], _good_events(events, good))
        rejects.write()
        totals.rejected = rejects.counts
        first, last = min((a for a, _ in spans), default=None), max((b for _, b in spans), default=None)
        return TrafficPart(totals, merge(counts), first, last, tuple(files))

    return work


def add_rates(rejected: Path) -> Work[TrafficPart]:
    """Work that adds up rates, which may come in several rows per topic; sizes are weighted by rate."""

    def work(batches: Iterator[Batch], task: int) -> TrafficPart:
        totals, rejects, counts = RowTotals(), Rejects(rejected, "rates", task), []
        for batch in _small(batches):
            rates = clean_rates(batch)
            totals.add(batch, rates.reasons, rejects)
            counts.append(_added(rates, _good(rates.reasons)))
        rejects.write()
        totals.rejected = rejects.counts
        return TrafficPart(totals, merge(counts))

    return work


def _small(batches: Iterator[Batch]) -> Iterator[Batch]:
    for batch in batches:
        if batch.num_rows <= _MAX_BATCH_ROWS:
            yield batch
            continue
        for first in range(0, batch.num_rows, _MAX_BATCH_ROWS):
            yield _slice(batch, first, min(batch.num_rows - first, _MAX_BATCH_ROWS))


def _slice(batch: Batch, first: int, number: int) -> Batch:
    columns = {name: column.slice(first, number) for name, column in batch.columns.items()}
    malformed = batch.malformed if first == 0 else []
    return Batch(columns, number, number + len(malformed), lambda rows: batch.raw(rows + first), malformed)


def _good(reasons: Reasons | None) -> Mask:
    return None if reasons is None else reasons == 0


def _chosen(values: npt.NDArray[Scalar], good: Mask) -> npt.NDArray[Scalar]:
    return values if good is None else values[good]


def _counted(events: CleanEvents, good: Mask) -> pa.Table:
    codes, number = _chosen(events.topics.codes, good), len(events.topics.names) + 1
    rate: Int64Array = np.bincount(codes, minlength=number).astype(np.int64, copy=False)
    halves = {"rate_low": rate}
    if events.sizes is not None:
        sizes, sized = _chosen(events.sizes.values, good), rate
        if events.sizes.is_missing is not None:
            sized = rate - np.bincount(codes[_chosen(events.sizes.is_missing, good)], minlength=number)
        halves |= {"sized_low": sized, **_sums("bytes", codes, sizes, number)}
    return _table(events.topics, rate > 0, halves)


def _added(rates: CleanRates, good: Mask) -> pa.Table:
    codes, number = _chosen(rates.topics.codes, good), len(rates.topics.names) + 1
    rate = _chosen(rates.rates, good)
    halves = _sums("rate", codes, rate, number)
    if rates.sizes is not None:
        sizes = _chosen(rates.sizes.values, good)
        may_overflow = len(rate) > 0 and float(rate.max()) * float(sizes.max()) >= 2.0**62
        if may_overflow and any(a * b > MAX_INT64 for a, b in zip(rate.tolist(), sizes.tolist(), strict=True)):
            raise InputError("The sizes of a topic add up to more than 64 bits hold.")
        is_sized = np.ones(len(rate), dtype=bool)
        if rates.sizes.is_missing is not None:
            is_sized = ~_chosen(rates.sizes.is_missing, good)
        halves |= _sums("bytes", codes, rate * sizes, number) | _sums("sized", codes, rate * is_sized, number)
    costs = None
    if rates.costs is not None:
        costs = np.full(number, -1, dtype=np.int64)  # -1: no row gives one
        given = _chosen(rates.costs.values, good)
        if rates.costs.is_missing is not None:
            given = np.where(_chosen(rates.costs.is_missing, good), -1, given)
        np.maximum.at(costs, codes, given)
    return _table(rates.topics, np.bincount(codes, minlength=number) > 0, halves, costs)


def _sums(name: str, codes: Int64Array, values: Int64Array, number: int) -> dict[str, Int64Array]:
    low = values
    halves = {}
    if len(values) and values.max() >> LOW_BITS:
        low = values & ((1 << LOW_BITS) - 1)
        high = np.bincount(codes, weights=values >> LOW_BITS, minlength=number)
        halves[f"{name}_high"] = high.astype(np.int64)
    halves[f"{name}_low"] = np.bincount(codes, weights=low, minlength=number).astype(np.int64)
    return halves


def _table(
    topics: Ids, is_used: np.ndarray, halves: Mapping[str, Int64Array], costs: Int64Array | None = None
) -> pa.Table:
    used = np.flatnonzero(is_used)
    columns = {"topic": topics.names.take(pa.array(used))}
    columns |= {name: pa.array(values[used]) for name, values in halves.items()}  # what is zero everywhere is left out
    if costs is not None:
        columns[_COST] = pa.array(costs[used])
    return pa.table(columns)


def merge(tables: list[pa.Table]) -> pa.Table:
    """Counts of several batches or tasks as one; where none counts anything, an empty table."""
    if not tables:
        return pa.table({"topic": pa.array([], pa.string())})
    if len(tables) == 1:
        return tables[0]
    whole = pa.concat_tables(tables, promote_options="default")
    names = [name for name in whole.column_names if name != "topic"]
    how = [(name, "max" if name == _COST else "sum") for name in names]
    return whole.group_by("topic", use_threads=False).aggregate(how).rename_columns(["topic", *names])


def per_topic(counts: pa.Table) -> pa.Table:
    """The halves put together: ``topic``, ``rate``, ``bytes``, ``sized``, and ``cost`` where rates give costs.

    Raises:
        InputError: a sum leaves 64 bits, or some topics have a cost and others have none.
    """
    columns = {"topic": counts["topic"]}
    for name in _SUM_COLUMNS:
        low, high = (_half(counts, f"{name}_{half}") for half in ("low", "high"))
        high = high + (low >> LOW_BITS)
        if (high >> (63 - LOW_BITS)).any():
            said = {"bytes": "sizes"}.get(name, "rates")
            raise InputError(f"The {said} of a topic add up to more than 64 bits hold.")
        columns[name] = pa.array((high << LOW_BITS) + (low & ((1 << LOW_BITS) - 1)))
    if _COST in counts.column_names:
        has_none = pc.less(pc.fill_null(counts[_COST], -1), 0)
        number = pc.sum(has_none).as_py() or 0
        if number and number < counts.num_rows:
            example = counts.filter(has_none)["topic"][0].as_py()
            raise InputError(
                f"{number:,} topics have no cost, '{example}' for one, but others have. Give every topic a cost in at "
                f"least one row, or leave costs out with {argument('columns', {'rates': {'cost': ''}})}."
            )
        if not number:
            columns[_COST] = counts[_COST]
    return pa.table(columns)


def _half(counts: pa.Table, name: str) -> Int64Array:
    if name not in counts.column_names:
        return np.zeros(counts.num_rows, dtype=np.int64)
    return np.asarray(pc.fill_null(counts[name], 0), dtype=np.int64)


def _good_events(events: CleanEvents, good: Mask) -> pa.Table:
    """Good events row by row, for counting them once per id."""
    assert events.events is not None
    rows = np.arange(len(events.micros)) if good is None else np.flatnonzero(good)
    sizes = pa.nulls(len(rows), pa.int64())
    if events.sizes is not None:
        missing = None if events.sizes.is_missing is None else events.sizes.is_missing[rows]
        sizes = pa.array(events.sizes.values[rows], mask=missing)
    return pa.table(
        {
            "event": events.events.names.take(pa.array(events.events.codes[rows])),
            "topic": events.topics.names.take(pa.array(events.topics.codes[rows])),
            "micros": pa.array(events.micros[rows]),
            "size": sizes,
        }
    )
