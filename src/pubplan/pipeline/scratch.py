"""Tables between two steps: Parquet files inside the unfinished output, written and read by tasks.

Spark's readers and writers are not used for them: they look for plain paths on Spark's default file system, and
take brackets and colons in names for patterns and addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILES_PER_TASK = 4


def scratch_frame(spark: SparkSession, files: list[Path], schema: str) -> DataFrame:
    """The rows of files that tasks wrote, as a DataFrame."""
    paths = [str(path) for path in files]

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                with pq.ParquetFile(paths[number]) as file:
                    yield from file.iter_batches()

    num_tasks = max(1, -(-len(paths) // _FILES_PER_TASK))
    return spark.range(0, len(paths), 1, num_tasks).mapInArrow(read, schema)
