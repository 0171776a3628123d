"""Cleaning the sources of content workloads: typed columns for every row, and the reason why a row cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import (
    BAD_CAPACITY,
    BAD_COUNT,
    BAD_LATENCY,
    BAD_LIMIT,
    BAD_NUMBER,
    BAD_SHARE,
    BAD_WEIGHT,
    INVERTED_RECTANGLE,
    MISSING_ID,
    OUTSIDE_SPACE,
    UNKNOWN_BROKER,
    UNKNOWN_CLIENT,
    UNKNOWN_SITE,
    Reasons,
    first_reasons,
    id_checks,
    not_counts,
    optional_numbers,
)
from pubplan.pipeline.content.columns import AttributeColumns
from pubplan.pipeline.content.grid import Grid
from pubplan.pipeline.decimals import MAX_SCALED, Decimals, decimals
from pubplan.pipeline.source import COORDINATES
from pubplan.pipeline.values import Ids, Mask, Numbers, as_strings, either, ids
from pubplan.workload import Int64Array, corner_names

MAX_LATENCY = 2**31 - 1
"""Microseconds: the latencies of sites have 32 bits."""

MICROS_DIGITS = {"us": 0, "ms": 3, "s": 6}
"""Units of latencies, as the power of ten that makes them microseconds."""

Cleaned = tuple[pa.Table, Reasons | None]
Clean = Callable[[Batch], Cleaned]
"""From a batch to a table with the same rows, and why some of them cannot be used: what they hold means nothing."""

Check = tuple[str, Mask]

OPTIONAL = ("limit", "allowed", "weight")
"""Columns of clean clients that may be null."""


def stored_columns(num_axes: int) -> dict[str, str]:
    """The columns of clean clients in their order, with Spark's names of their types."""
    lows, highs = corner_names(num_axes)
    types = {"client_id": "string", "limit": "bigint", "allowed": "string", "weight": "bigint"}
    return {name: types.get(name, "int") for name in ("client_id", "site", *lows, *highs, *OPTIONAL)}


def clean_brokers(digits: int) -> Clean:
    """``broker_id``, ``parent_id``, ``latency``, ``share``, ``capacity`` (null where not given), and coordinates."""

    def clean(batch: Batch) -> Cleaned:
        names = ids(batch.columns["broker"])
        checks: list[Check] = id_checks([names])
        columns = {"broker_id": named(names), "parent_id": pa.nulls(batch.num_rows, pa.string())}
        if "parent" in batch.columns:
            parents = ids(batch.columns["parent"])
            checks += _named_checks(parents)
            columns["parent_id"] = named(parents)
        latency, check = _latencies(batch, digits)
        columns["latency"] = latency
        checks.append(check)
        for name, reason in (("share", BAD_SHARE), ("capacity", BAD_CAPACITY)):
            numbers = optional_numbers(batch, name)
            checks.append((reason, not_counts(numbers)))
            columns[name] = _nullable(numbers, batch.num_rows)
        coordinates, check = _coordinates(batch, digits)
        return pa.table(columns | coordinates), first_reasons(batch.num_rows, [*checks, check])

    return clean


def clean_sites(digits: int) -> Clean:
    """``site_id`` and coordinates."""

    def clean(batch: Batch) -> Cleaned:
        names = ids(batch.columns["site"])
        coordinates, check = _coordinates(batch, digits)
        reasons = first_reasons(batch.num_rows, [*id_checks([names]), check])
        return pa.table({"site_id": named(names)} | coordinates), reasons

    return clean


def clean_latencies(brokers: pa.Array, digits: int) -> Clean:
    """``site_id``, ``broker`` (its number) and ``latency``."""

    def clean(batch: Batch) -> Cleaned:
        sites, names = ids(batch.columns["site"]), ids(batch.columns["broker"])
        numbers = names.numbers(brokers)
        latency, check = _latencies(batch, digits)
        is_missing = np.asarray(latency.is_null())
        checks = [*id_checks([sites, names]), check, (BAD_LATENCY, is_missing), (UNKNOWN_BROKER, numbers < 0)]
        columns = {"site_id": named(sites), "broker": pa.array(numbers.astype(np.int32)), "latency": latency}
        return pa.table(columns), first_reasons(batch.num_rows, checks)

    return clean


@dataclass(frozen=True)
class ClientCleaner:
    """Clients: their ids and sites, and the ranges of their attributes on grids.

    Attributes:
        attributes: in the order of the space.
        brokers: the ids of the brokers in number order.
        digits: of latency limits, see MICROS_DIGITS.
        grids: by attribute.
        sites: the ids of the sites in number order.
    """

    attributes: tuple[AttributeColumns, ...]
    brokers: pa.Array
    digits: int
    grids: Mapping[str, Grid]
    sites: pa.Array

    def __call__(self, batch: Batch) -> Cleaned:
        """``client_id``, ``site`` and corners; ``limit``, ``allowed`` and ``weight`` are null where not given.

        ``allowed`` has the numbers of brokers as text, so that rows can be compared and sorted everywhere alike.
        """
        columns, checks = self.read(batch)
        lows, highs = corner_names(len(self.attributes))
        for attribute, low, high in zip(self.attributes, lows, highs, strict=True):
            grid = self.grids[attribute.name]
            ends = ranges(batch, attribute, grid.digits)
            checks += range_checks(attribute, *ends)
            is_outside = grid.is_outside(ends[0]) | grid.is_outside(ends[1])
            checks.append((OUTSIDE_SPACE, is_outside))
            columns[low], columns[high] = (pa.array(line.astype(np.int32)) for line in grid.lines(*ends))
        names = ids(batch.columns["site"])
        sites = names.numbers(self.sites)
        columns["site"] = pa.array(sites.astype(np.int32))
        checks.append((UNKNOWN_SITE, sites < 0))
        return pa.table(columns).select(list(stored_columns(len(self.attributes)))), first_reasons(
            batch.num_rows, checks
        )

    def read(self, batch: Batch) -> tuple[dict[str, pa.Array], list[Check]]:
        """What needs neither grids nor sites."""
        clients, sites = ids(batch.columns["client"]), ids(batch.columns["site"])
        weights = optional_numbers(batch, "weight")
        checks = [*id_checks([clients, sites]), (BAD_WEIGHT, not_counts(weights))]
        columns = {"client_id": named(clients), "weight": _nullable(weights, batch.num_rows)}
        columns["limit"] = pa.nulls(batch.num_rows, pa.int64())
        if "limit" in batch.columns:
            limits = decimals(batch.columns["limit"], self.digits)
            checks.append((BAD_LIMIT, either(limits.is_bad, (limits.floors < 0) | (limits.floors >= MAX_SCALED))))
            columns["limit"] = pa.array(limits.floors, mask=limits.is_missing)
        columns["allowed"], is_unknown = _allowed(batch, self.brokers)
        return columns, [*checks, (UNKNOWN_BROKER, is_unknown)]


def ranges(batch: Batch, attribute: AttributeColumns, digits: int) -> tuple[Decimals, Decimals]:
    """The low and high ends of an attribute."""
    lows, *highs = (decimals(batch.columns[name], digits) for name in attribute.client_columns())
    return lows, highs[0] if highs else lows


def range_checks(attribute: AttributeColumns, lows: Decimals, highs: Decimals) -> list[Check]:
    bad = either(either(lows.is_bad, highs.is_bad), either(lows.is_missing, highs.is_missing))
    return [(BAD_NUMBER, bad), *([] if attribute.is_point else [(INVERTED_RECTANGLE, lows.is_above(highs))])]


@dataclass(frozen=True)
class MessageCleaner:
    """Messages: the cell that each lies in, who published it where that is known, and how many it stands for.

    Attributes:
        grids: by attribute, in the order of the space.
        cells: how many each attribute is cut into.
        clients: gives the ids of the clients in number order; asked where a message names its publisher.
    """

    grids: Mapping[str, Grid]
    cells: Sequence[int]
    clients: Callable[[], pa.Array]

    def __call__(self, batch: Batch) -> Cleaned:
        checks: list[Check] = []
        cell = np.zeros(batch.num_rows, dtype=np.int64)
        for (name, grid), number in zip(self.grids.items(), self.cells, strict=True):
            values = decimals(batch.columns[name], grid.digits)
            checks += [(BAD_NUMBER, either(values.is_bad, values.is_missing)), (OUTSIDE_SPACE, grid.is_outside(values))]
            cell = cell * number + grid.steps_of(values) // (grid.steps // number)
        counts = optional_numbers(batch, "count")
        checks.append((BAD_COUNT, not_counts(counts)))
        columns = {"cell": pa.array(cell.astype(np.int32)), "count": _nullable(counts, batch.num_rows).fill_null(1)}
        columns["client"] = pa.nulls(batch.num_rows, pa.int64())
        if "client" in batch.columns:
            names = ids(batch.columns["client"])
            is_named = ~names.is_missing[names.codes]
            numbers = names.numbers(self.clients()) if is_named.any() else np.full(batch.num_rows, -1)
            checks += [*_named_checks(names), (UNKNOWN_CLIENT, is_named & (numbers < 0))]
            columns["client"] = pa.array(numbers, mask=~is_named)
        return pa.table(columns), first_reasons(batch.num_rows, checks)


def _named_checks(names: Ids) -> list[Check]:
    """The checks of ids that may be missing."""
    return [(reason, where) for reason, where in id_checks([names]) if reason != MISSING_ID]


def named(names: Ids) -> pa.Array:
    """The ids row by row; null where there is none."""
    codes = pa.array(names.codes, mask=names.is_missing[names.codes])
    return names.names.take(codes)


def _nullable(numbers: Numbers | None, num_rows: int) -> pa.Array:
    return pa.nulls(num_rows, pa.int64()) if numbers is None else pa.array(numbers.values, mask=numbers.is_missing)


def _latencies(batch: Batch, digits: int) -> tuple[pa.Array, Check]:
    """Microseconds rounded up; null where there are none."""
    if "latency" not in batch.columns:
        return pa.nulls(batch.num_rows, pa.int64()), (BAD_LATENCY, None)
    given = decimals(batch.columns["latency"], digits)
    is_bad = either(given.is_bad, (given.floors < 0) | (given.ceilings > MAX_LATENCY))
    return pa.array(given.ceilings, mask=given.is_missing), (BAD_LATENCY, is_bad)


def _coordinates(batch: Batch, digits: int) -> tuple[dict[str, pa.Array], Check]:
    """Coordinates to the nearest microsecond; halves are rounded up."""
    columns, is_bad = {}, None
    for name in COORDINATES:
        if name in batch.columns and batch.columns[name].null_count < batch.num_rows:
            tenths = decimals(batch.columns[name], digits + 1)
            values = (tenths.floors + 5) // 10
            is_bad = either(is_bad, either(tenths.is_bad, tenths.is_missing))
            is_bad = either(is_bad, np.abs(values) > MAX_LATENCY)
            columns[name] = pa.array(values)
    return columns, (BAD_NUMBER, is_bad)


def _allowed(batch: Batch, brokers: pa.Array) -> tuple[pa.Array, Mask]:
    """Numbers of brokers, ascending and joined by semicolons; null where none is named. And where one is unknown."""
    if "allowed" not in batch.columns:
        return pa.nulls(batch.num_rows, pa.string()), None
    column = batch.columns["allowed"]
    lists = column
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        column = as_strings(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column)
        lists = pc.split_pattern(column, ";")
    lengths = np.asarray(pc.list_value_length(lists).fill_null(0), dtype=np.int64)
    entries = lists.flatten()
    names = ids(entries if lists is batch.columns["allowed"] else pc.ascii_trim_whitespace(entries))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    is_named = ~names.is_missing[names.codes]
    numbers, rows = names.numbers(brokers)[is_named], rows[is_named]
    is_unknown = np.zeros(batch.num_rows, dtype=bool)
    is_unknown[rows[numbers < 0]] = True
    return _joined(rows[numbers >= 0], numbers[numbers >= 0], len(brokers), batch.num_rows), is_unknown


def _joined(rows: Int64Array, numbers: Int64Array, num_brokers: int, num_rows: int) -> pa.Array:
    """Per row its numbers once each, ascending, as text."""
    keys = np.unique(rows * num_brokers + numbers)
    owners, values = np.divmod(keys, num_brokers)
    offsets = np.searchsorted(owners, np.arange(num_rows + 1)).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values).cast(pa.string()))
    text = pc.binary_join(lists, ";")
    return pc.if_else(pa.array(np.diff(offsets) > 0), text, pa.scalar(None, pa.string()))
