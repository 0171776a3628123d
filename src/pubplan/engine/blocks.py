"""Blocks: the unit of big tables, and the one way to run a function over all of them.

Block b of a table holds the rows whose dense number >> 16 is b, ascending, in the file ``00017.parquet``.
"""

from __future__ import annotations

import os
import pickle
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pubplan.errors import EngineError, InputError, PubplanError
from pubplan.files.documents import temporary_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK_SHIFT = 16
BLOCK_ROWS = 1 << BLOCK_SHIFT

TASKS_PER_CORE = 4
BLOCKS_PER_TASK = 16

T = TypeVar("T")


def num_blocks(num_rows: int) -> int:
    """How many blocks hold ``num_rows`` rows."""
    return -(-num_rows // BLOCK_ROWS)


def block_range(block: int, num_rows: int) -> tuple[int, int]:
    """First and past-the-last dense number of ``block`` in a table of ``num_rows`` rows."""
    return block << BLOCK_SHIFT, min(num_rows, (block + 1) << BLOCK_SHIFT)


def block_name(block: int) -> str:
    return f"{block:05d}.parquet"


def write_block(directory: Path, block: int, table: pa.Table, *, is_repetitive: bool = False) -> int:
    """Write one block and return its size in bytes; writing it again, as a retried task does, is harmless.

    The parent of ``directory`` must exist: a task that outlives its cancelled job must not bring it back.
    """
    directory.mkdir(exist_ok=True)
    return write_parquet(directory / block_name(block), table, is_repetitive=is_repetitive)


def write_parquet(
    path: Path, table: pa.Table, *, row_group_rows: int | None = None, is_repetitive: bool = False
) -> int:
    """Write ``table`` under a temporary name, sync it, rename it; returns its size in bytes.

    Dictionaries pay only on a table that ``is_repetitive``: in ours numbers are dense and names unique.
    """
    temporary = temporary_name(path)
    try:
        with open(temporary, "wb") as handle:
            pq.write_table(
                table,
                handle,
                compression="zstd",
                use_dictionary=is_repetitive,
                store_schema=False,
                row_group_size=row_group_rows,
            )
            handle.flush()
            os.fsync(handle.fileno())
            size = handle.tell()
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return size


def read_block(directory: Path, block: int, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one block, or some of its columns."""
    return read_parquet(directory / block_name(block), columns)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file pubplan wrote.

    Raises:
        InputError: the file is missing, damaged, or lacks a column.
    """
    try:
        with pq.ParquetFile(path) as file:
            missing = set(columns or ()) - set(file.schema_arrow.names)
            if missing:
                raise InputError(f"{path} has no column {', '.join(sorted(missing))}.")
            return file.read(columns=list(columns) if columns is not None else None, use_threads=False)
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing.") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def map_blocks(function: Callable[[int], T], num_blocks: int, spark: SparkSession | None = None) -> Iterator[T]:
    """Run ``function(block)`` for every block and yield the results in block order.

    Without a session the blocks run in this process, a thread per core; with one they run as Spark tasks, several
    blocks each. The function and the answer are the same. A :class:`~pubplan.errors.PubplanError` that the function
    raises arrives here as it was.
    """
    if num_blocks <= 0:
        return iter(())
    return _in_process(function, num_blocks) if spark is None else _on_spark(function, num_blocks, spark)


def block_groups(num_blocks: int, spark: SparkSession | None = None) -> list[range]:
    """Blocks in consecutive groups, some per core: for passes whose result is too big to be returned by every block."""
    num_groups = min(num_blocks, TASKS_PER_CORE * (_num_cores() if spark is None else _parallelism(spark)))
    return [
        range(num_blocks * group // num_groups, num_blocks * (group + 1) // num_groups) for group in range(num_groups)
    ]


def _in_process(function: Callable[[int], T], num_blocks: int) -> Iterator[T]:
    threads = min(num_blocks, _num_cores())
    if threads == 1:
        yield from map(function, range(num_blocks))
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="blocks")
    running: deque[Future[T]] = deque()
    try:
        for block in range(num_blocks):
            running.append(pool.submit(function, block))
            if len(running) >= 2 * threads:  # a slow consumer does not pile up results
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_spark(function: Callable[[int], T], num_blocks: int, spark: SparkSession) -> Iterator[T]:
    from pyspark.errors import PySparkException

    tasks = TASKS_PER_CORE * _parallelism(spark)
    num_waves = -(-num_blocks // (tasks * BLOCKS_PER_TASK))
    bounds = [num_blocks * wave // num_waves for wave in range(num_waves + 1)]
    run = _task(function)
    for first, last in pairwise(bounds):
        numbers = spark.range(first, last, 1, min(tasks, last - first))
        try:
            answers = numbers.mapInArrow(run, "block long, result binary").toArrow()
        except Exception as error:
            if _was_interrupted(error):
                raise KeyboardInterrupt from None
            if not isinstance(error, PySparkException):
                raise
            raise EngineError(f"A Spark task failed: {_last_line(str(error))}") from error
        results = dict(zip(answers["block"].to_pylist(), answers["result"], strict=True))
        for block in range(first, last):
            result = pickle.loads(results.pop(block).as_buffer())
            if isinstance(result, PubplanError):
                raise result
            yield result


def _task(function: Callable[[int], T]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for block in batch.column(0).to_pylist():
                try:
                    result: object = function(block)
                except PubplanError as error:
                    result = error
                encoded = pickle.dumps(result, protocol=5)
                yield pa.RecordBatch.from_pydict({"block": [block], "result": pa.array([encoded], pa.binary())})

    return run


def _parallelism(spark: SparkSession) -> int:
    """The cores Spark has for us; over Spark Connect, which does not say, a guess."""
    context = getattr(spark, "_sc", None)
    return int(context.defaultParallelism) if context is not None else 8


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the body as an interrupt, also where Spark turns it into an error of the jobs it cancels."""
    try:
        yield
    except Exception as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind ``error``: Spark then reports the jobs it cancelled instead."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    python_errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)(:|$)", line)]
    return (python_errors or lines or ["no message"])[-1]
