"""Messages: how many lie in each cell of the space, and who published them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import MAX_INT64, LazySpark, exact_sum, read_parquet, started, write_parquet
from pubplan.errors import InputError
from pubplan.pipeline.accounts import RowTotals
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.content.clean import MessageCleaner
from pubplan.pipeline.content.collect import good_rows
from pubplan.pipeline.parts import MAX_ROWS_OF_ONE_PART, Part, num_parts, write_part, write_parts
from pubplan.pipeline.rejected import Rejects
from pubplan.pipeline.scratch import scratch_frame
from pubplan.workload import Int64Array
from pubplan.workload.content.tables import ragged
from pubplan.workload.tables import INT32_LIST, INT64_LIST

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pubplan.pipeline.reader import Work

PUBLICATIONS_PER_PART = 2_000_000
_KEYS = ("client", "cell")
_COUNTS = pa.schema([("client", pa.int64()), ("cell", pa.int32()), ("count", pa.int64())])


@dataclass(frozen=True)
class MessagePart:
    """What one task counted: messages per cell, and files of messages per client and cell."""

    totals: RowTotals
    density: Int64Array
    num_publications: int
    files: tuple[Path, ...]


def write_ids(path: Path, ids: pa.Array) -> Callable[[], pa.Array]:
    """Keep ids in a file, for tasks to look them up; a process reads them once."""
    write_parquet(path, pa.table({"id": ids}))
    return lambda: _read_ids(path)


@lru_cache(maxsize=1)
def _read_ids(path: Path) -> pa.Array:
    return read_parquet(path)["id"].combine_chunks()


def count_messages(clean: MessageCleaner, num_cells: int, directory: Path, rejected: Path) -> Work[MessagePart]:
    """Work that counts messages per cell, and per client where a message names one."""

    def work(batches: Iterator[Batch], task: int) -> MessagePart:
        totals, rejects = RowTotals(), Rejects(rejected, "messages", task)
        density, num_publications = np.zeros(num_cells, dtype=np.int64), 0
        files: list[Path] = []
        for batch in batches:
            cleaned = clean(batch)
            totals.add(batch, cleaned[1], rejects)
            table = good_rows(cleaned)
            _add(density, np.asarray(table["cell"]), np.asarray(table["count"]))
            named = table.filter(table["client"].is_valid())
            if named.num_rows:
                summed = _summed(named)
                num_publications += summed.num_rows
                files.append(directory / f"{task:05d}-{len(files):05d}.parquet")
                write_parquet(files[-1], summed)
        rejects.write()
        totals.rejected = rejects.counts
        return MessagePart(totals, density, num_publications, tuple(files))

    return work


def _add(density: Int64Array, cells: np.ndarray, counts: Int64Array) -> None:
    _check_sum(exact_sum(counts) + int(density.max(initial=0)))
    np.add.at(density, cells, counts)


def _summed(table: pa.Table) -> pa.Table:
    """One row per client and cell."""
    summed = table.group_by(list(_KEYS), use_threads=False).aggregate([("count", "sum")])
    return summed.rename_columns([*_KEYS, "count"])


def add_densities(parts: list[MessagePart], num_cells: int) -> Int64Array:
    """Messages per cell of all tasks.

    Raises:
        InputError: they are more than 64 bits hold.
    """
    _check_sum(sum(exact_sum(part.density) for part in parts))
    total = np.zeros(num_cells, dtype=np.int64)
    for part in parts:
        total += part.density
    return total


def _check_sum(number: int) -> None:
    if number > MAX_INT64:
        raise InputError("The counts of messages add up to more than 64 bits hold.")


def sort_publications(parts: list[MessagePart], directory: Path, spark: SparkSession | LazySpark) -> list[Part]:
    """Messages per client and cell, ascending, in parts; all rows of a client are in one part.

    Nothing where no message names a client.
    """
    files = [file for part in parts for file in part.files]
    number = sum(part.num_publications for part in parts)
    if not files:
        return []
    if number <= MAX_ROWS_OF_ONE_PART:
        directory.mkdir()
        whole = pa.concat_tables([read_parquet(path) for path in files])
        order = [(name, "ascending") for name in _KEYS]
        return [write_part(directory, 0, _summed(whole).sort_by(order).combine_chunks(), _span)]
    from pyspark.sql import functions as F

    session = started(spark)
    frame = scratch_frame(session, files, "client bigint, cell int, count bigint")
    ordered = (
        frame.repartitionByRange(num_parts(number, PUBLICATIONS_PER_PART, session), "client")
        .groupBy(*_KEYS)
        .agg(F.sum("count").alias("count"))
        .sortWithinPartitions(*_KEYS)
    )
    return write_parts(ordered, directory, _span)


def _span(table: pa.Table) -> tuple[pa.Table, Mapping[str, int]]:
    clients = pc.min_max(table["client"]).as_py()
    return table, {"first": clients["min"], "last": clients["max"]}


def publications(parts: list[Part]) -> Callable[[int, int], Mapping[str, pa.Array]]:
    """Reads what the clients from one number to before another publish: their cells, and messages per cell."""

    def read(first: int, last: int) -> Mapping[str, pa.Array]:
        tables = [
            read_parquet(part.path) for part in parts if part.counts["first"] < last and part.counts["last"] >= first
        ]
        table = pa.concat_tables([_COUNTS.empty_table(), *tables])
        clients = np.asarray(table["client"])
        start, end = np.searchsorted(clients, [first, last])
        offsets = np.searchsorted(clients[start:end], np.arange(first, last + 1)).astype(np.int64)
        cells, counts = (np.asarray(table[name])[start:end] for name in ("cell", "count"))
        return {"cells": ragged(offsets, cells, INT32_LIST), "counts": ragged(offsets, counts, INT64_LIST)}

    return read
