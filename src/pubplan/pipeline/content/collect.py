"""Reading a source: tasks that clean it, count it and keep its good rows, in memory or in files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import write_parquet
from pubplan.pipeline.accounts import RowTotals
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.content.clean import Clean, Cleaned
from pubplan.pipeline.rejected import Rejects

if TYPE_CHECKING:
    from pubplan.pipeline.reader import Work


@dataclass(frozen=True)
class CollectedPart:
    """The good rows of one task."""

    totals: RowTotals
    tables: tuple[pa.Table, ...]


@dataclass(frozen=True)
class StoredPart:
    """The files one task wrote, and which of their columns have a value in some row."""

    totals: RowTotals
    files: tuple[Path, ...]
    given: frozenset[str]


def collect(clean: Clean, kind: str, rejected: Path) -> Work[CollectedPart]:
    """Work that returns the good rows of a source that fits in memory; others are rejected."""

    def work(batches: Iterator[Batch], task: int) -> CollectedPart:
        totals, rejects, tables = RowTotals(), Rejects(rejected, kind, task), []
        for batch in batches:
            cleaned = clean(batch)
            totals.add(batch, cleaned[1], rejects)
            tables.append(good_rows(cleaned))
        rejects.write()
        totals.rejected = rejects.counts
        return CollectedPart(totals, tuple(tables))

    return work


def store(clean: Clean, kind: str, directory: Path, rejected: Path) -> Work[StoredPart]:
    """Work that writes the good rows of a source to files in ``directory``; others are rejected."""

    def work(batches: Iterator[Batch], task: int) -> StoredPart:
        totals, rejects, given = RowTotals(), Rejects(rejected, kind, task), set()
        files: list[Path] = []
        for batch in batches:
            cleaned = clean(batch)
            totals.add(batch, cleaned[1], rejects)
            table = good_rows(cleaned)
            if table.num_rows:
                given |= {name for name in table.column_names if table[name].null_count < table.num_rows}
                files.append(directory / f"{task:05d}-{len(files):05d}.parquet")
                write_parquet(files[-1], table)
        rejects.write()
        totals.rejected = rejects.counts
        return StoredPart(totals, tuple(files), frozenset(given))

    return work


def good_rows(cleaned: Cleaned) -> pa.Table:
    """The rows without a reason."""
    table, reasons = cleaned
    return table if reasons is None else table.take(pa.array(np.flatnonzero(reasons == 0)))
