"""Sorted rows on their way into numbered blocks: parts that tasks write, and blocks that are cut out of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pubplan.engine import LazySpark, block_range, is_at_hand, map_blocks, num_blocks, stage, started, write_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_ROWS_OF_ONE_PART = 100_000
"""Up to this many rows are sorted by one task: dividing them would take longer than sorting them."""

MAX_ROWS_IN_PROCESS = 1_000_000
"""Up to this many rows are sorted and numbered in this process unless a session is at hand: they take a few seconds,
of which starting one would be most."""

_PART_ROW_GROUP = 1 << 14

T = TypeVar("T")
Finish = Callable[[pa.Table], tuple[pa.Table, Mapping[str, int]]]
"""What is left of the sorted rows of a part, and what is counted of them."""


@dataclass(frozen=True)
class Part:
    """A file of consecutive rows, and what was counted of them."""

    path: Path
    num_rows: int
    counts: Mapping[str, int]


def num_parts(num_rows: int, rows_per_part: int, spark: SparkSession) -> int:
    """Into how many parts rows are sorted: one where they are few, at least one per core where they are many."""
    if num_rows <= MAX_ROWS_OF_ONE_PART:
        return 1
    return int(max(spark.sparkContext.defaultParallelism, -(-num_rows // rows_per_part)))


def is_done_here(num_rows: int, spark: SparkSession | LazySpark) -> bool:
    """Whether rows are sorted and numbered in this process, without Spark."""
    return num_rows <= MAX_ROWS_IN_PROCESS and not is_at_hand(spark)


def write_parts(ordered: DataFrame, directory: Path, finish: Finish) -> list[Part]:
    """Write every partition as one file, in the task that made it; the files are in the order of the partitions."""
    from pyspark import TaskContext

    directory.mkdir()

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        part = write_part(directory, context.partitionId(), pa.Table.from_batches(held), finish)
        counts = json.dumps(dict(part.counts))
        yield pa.RecordBatch.from_pydict({"part": [context.partitionId()], "rows": [part.num_rows], "counts": [counts]})

    written = ordered.mapInArrow(write, "part bigint, rows bigint, counts string").toArrow().sort_by("part")
    return [
        Part(_part_path(directory, row["part"]), row["rows"], json.loads(row["counts"])) for row in written.to_pylist()
    ]


def write_part(directory: Path, number: int, ordered: pa.Table, finish: Finish) -> Part:
    """Write the sorted rows of one part."""
    table, counts = finish(ordered)
    path = _part_path(directory, number)
    write_parquet(path, table, row_group_rows=_PART_ROW_GROUP)
    return Part(path, table.num_rows, counts)


def write_blocks(
    parts: list[Part], noun: str, write: Callable[[int, pa.Table], T], spark: SparkSession | LazySpark
) -> Iterator[T]:
    """Number the rows in order and hand every block of them to ``write``; its answers, in block order."""
    num_rows = sum(part.num_rows for part in parts)
    read, number = block_reader(parts), num_blocks(num_rows)
    session = None if number <= 1 or is_done_here(num_rows, spark) else started(spark)
    with stage(f"writing {noun}", number) as advance:
        for answer in map_blocks(lambda block: write(block, read(block)), number, session):
            yield answer
            advance(1)


def block_reader(parts: list[Part]) -> Callable[[int], pa.Table]:
    """Reads the rows of any block from the parts that they are in: rows are numbered through all parts."""
    total = sum(part.num_rows for part in parts)
    firsts = np.cumsum([0, *(part.num_rows for part in parts)])

    def read(block: int) -> pa.Table:
        first, last = block_range(block, total)
        return pa.concat_tables(
            _read_rows(part.path, max(0, first - start), min(part.num_rows, last - start))
            for part, start in zip(parts, firsts.tolist(), strict=False)
            if start < last and start + part.num_rows > first
        ).combine_chunks()

    return read


def _read_rows(path: Path, first: int, last: int) -> pa.Table:
    """Rows ``first`` to before ``last`` of a file, reading only the row groups they are in."""
    with pq.ParquetFile(path) as file:
        groups = range(first // _PART_ROW_GROUP, -(-last // _PART_ROW_GROUP))
        table = file.read_row_groups(list(groups), use_threads=False)
        return table.slice(first - groups.start * _PART_ROW_GROUP, last - first)


def _part_path(directory: Path, part: int) -> Path:
    return directory / f"{part:05d}.parquet"
