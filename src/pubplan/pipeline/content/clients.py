"""Clients: a look at their extent, sorting and numbering them by id, and writing their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.arguments import argument
from pubplan.engine import MAX_INT64, LazySpark, block_range, read_parquet, started
from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import first_reasons
from pubplan.pipeline.content.clean import OPTIONAL, ClientCleaner, range_checks, ranges, stored_columns
from pubplan.pipeline.decimals import decimals, extreme
from pubplan.pipeline.parts import MAX_ROWS_OF_ONE_PART, Part, num_parts, write_blocks, write_part, write_parts
from pubplan.pipeline.scratch import scratch_frame
from pubplan.pipeline.values import either, ids
from pubplan.workload import WrittenClients, corner_names, write_clients_block
from pubplan.workload.tables import INT32_LIST

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pubplan.pipeline.reader import Work

CLIENTS_PER_PART = 500_000
Publications = Callable[[int, int], Mapping[str, pa.Array]]
"""What the clients from one number to before another publish, as columns."""


@dataclass(frozen=True)
class Extent:
    """Sites, and per attribute the least and the largest value, of rows that are good as far as that can be said."""

    sites: pa.Array
    spans: Mapping[str, tuple[Decimal, Decimal]]

    @classmethod
    def merge(cls, parts: Iterable[Extent]) -> Extent:
        sites, spans = pa.array([], pa.string()), dict[str, tuple[Decimal, Decimal]]()
        for part in parts:
            sites = pa.concat_arrays([sites, part.sites]).unique()
            for name, (low, high) in part.spans.items():
                before = spans.get(name, (low, high))
                spans[name] = (min(before[0], low), max(before[1], high))
        return cls(sites.take(pc.sort_indices(sites.cast(pa.binary()))), spans)


def survey_clients(cleaner: ClientCleaner, wanted: frozenset[str]) -> Work[Extent]:
    """Work that finds the sites that clients name, and the extents of the ``wanted`` attributes."""

    def look(batch: Batch) -> Extent:
        _, checks = cleaner.read(batch)
        for attribute in cleaner.attributes:
            checks += range_checks(attribute, *ranges(batch, attribute, 0))
        reasons = first_reasons(batch.num_rows, checks)
        is_good = np.ones(batch.num_rows, dtype=bool) if reasons is None else reasons == 0
        spans = {}
        for attribute in (attribute for attribute in cleaner.attributes if attribute.name in wanted):
            columns = [batch.columns[name] for name in attribute.client_columns()]
            low, high = extreme(columns[0], is_good, min), extreme(columns[-1], is_good, max)
            if low is not None and high is not None:
                spans[attribute.name] = (low, high)
        sites = ids(batch.columns["site"])
        return Extent(sites.names.take(pa.array(np.unique(sites.codes[is_good]))), spans)

    return _looking(look)


def survey_messages(wanted: frozenset[str]) -> Work[Extent]:
    """Work that finds the extents of the ``wanted`` attributes of messages."""

    def look(batch: Batch) -> Extent:
        spans = {}
        for name in wanted:
            values = decimals(batch.columns[name], 0)
            is_bad = either(values.is_bad, values.is_missing)
            is_good = np.ones(batch.num_rows, dtype=bool) if is_bad is None else ~is_bad
            low, high = (extreme(batch.columns[name], is_good, choose) for choose in (min, max))
            if low is not None and high is not None:
                spans[name] = (low, high)
        return Extent(pa.array([], pa.string()), spans)

    return _looking(look)


def _looking(look: Callable[[Batch], Extent]) -> Work[Extent]:
    def work(batches: Iterator[Batch], task: int) -> Extent:
        return Extent.merge(look(batch) for batch in batches)

    return work


def sort_clients(
    files: list[Path],
    given: frozenset[str],
    num_rows: int,
    num_axes: int,
    directory: Path,
    spark: SparkSession | LazySpark,
) -> list[Part]:
    """Clients in the order of their ids, once each, in parts.

    Of several rows of one client the smallest is kept, so that the choice does not depend on their order.

    Args:
        files: what tasks wrote.
        given: the optional columns that some row has a value for.

    Raises:
        InputError: some clients have a limit and others have none.
    """
    if not files:
        return []
    types = stored_columns(num_axes)
    names = [name for name in types if name in given or name not in OPTIONAL]
    if num_rows <= MAX_ROWS_OF_ONE_PART:
        directory.mkdir()
        whole = pa.concat_tables([read_parquet(path, names) for path in files]).combine_chunks()
        parts = [write_part(directory, 0, _sorted(whole), once_each)]
    else:
        session = started(spark)
        schema = ", ".join(f"`{name}` {kind}" for name, kind in types.items())
        frame = scratch_frame(session, files, schema).select(*names)
        number = num_parts(num_rows, CLIENTS_PER_PART, session)
        ordered = frame.repartitionByRange(number, "client_id").sortWithinPartitions(*names)
        parts = write_parts(ordered, directory, once_each)
    _check_limits(parts)
    return parts


def _sorted(table: pa.Table) -> pa.Table:
    """Rows in the order in which Spark sorts them: text by its bytes, nulls first."""
    filled = {"limit": -1, "weight": -1, "allowed": ""}
    keys = {name: table[name].fill_null(filled[name]) if name in filled else table[name] for name in table.column_names}
    keys["client_id"] = keys["client_id"].cast(pa.binary())
    return table.take(pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys]))


def once_each(table: pa.Table) -> tuple[pa.Table, Mapping[str, int]]:
    """The first row of every client; counts the others that say something else."""
    names = table["client_id"].combine_chunks()
    is_first = np.ones(len(names), dtype=bool)
    is_first[1:] = np.asarray(pc.not_equal(names[1:], names[:-1]))
    firsts = np.maximum.accumulate(np.where(is_first, np.arange(len(names)), 0))
    copies = np.flatnonzero(~is_first)
    conflicts = _num_different(table.take(pa.array(copies)), table.take(pa.array(firsts[copies])))
    kept = table.take(pa.array(np.flatnonzero(is_first)))
    without = kept["limit"].null_count if "limit" in kept.column_names else 0
    return kept, {"conflicts": conflicts, "without_limit": without}


def _num_different(rows: pa.Table, others: pa.Table) -> int:
    """How many rows differ from those next to them; nulls are equal to each other."""
    is_different = np.zeros(rows.num_rows, dtype=bool)
    for name in rows.column_names:
        one, other = rows[name], others[name]
        both_null = pc.and_(one.is_null(), other.is_null())
        is_different |= ~np.asarray(pc.or_(pc.equal(one, other).fill_null(False), both_null))
    return int(np.count_nonzero(is_different))


def _check_limits(parts: list[Part]) -> None:
    without = sum(part.counts["without_limit"] for part in parts)
    if without:
        raise InputError(
            f"{without:,} clients have no limit, but others have one. Give every client one, or leave limits out with "
            f"{argument('columns', {'clients': {'limit': ''}})}"
        )


def client_ids(parts: list[Part]) -> pa.Array:
    """The ids of all clients in number order."""
    columns = [read_parquet(part.path, ["client_id"])["client_id"].combine_chunks() for part in parts]
    return pa.concat_arrays([pa.array([], pa.string()), *columns])


def write_clients(
    parts: list[Part],
    directory: Path,
    num_axes: int,
    every_broker: str,
    published: Publications | None,
    spark: SparkSession | LazySpark,
) -> list[WrittenClients]:
    """Number the clients in order, and write the blocks of ``clients/``.

    Args:
        every_broker: what a client that names no brokers may use, where others name some.
        published: what clients publish; None where that is not known.
    """
    lows, highs = corner_names(num_axes)

    def write(block: int, table: pa.Table) -> WrittenClients:
        optional: dict[str, pa.Array | np.ndarray] = {}
        if "limit" in table.column_names:
            optional["limit"] = table["limit"].combine_chunks()
        if "weight" in table.column_names:
            optional["weight"] = table["weight"].fill_null(1).combine_chunks()
        if "allowed" in table.column_names:
            texts = table["allowed"].fill_null(every_broker).combine_chunks()
            optional["allowed"] = pc.split_pattern(texts, ";").cast(INT32_LIST)
        if published is not None:
            first, _ = block_range(block, MAX_INT64)
            optional |= published(first, first + table.num_rows)
        low, high = (np.column_stack([np.asarray(table[name]) for name in names]) for names in (lows, highs))
        names, sites = table["client_id"].combine_chunks(), np.asarray(table["site"])
        return write_clients_block(directory, block, names, sites, low, high, optional)

    return list(write_blocks(parts, "clients", write, spark))
