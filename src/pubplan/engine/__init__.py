"""The ground floor: Spark and Java, blocks, random streams, progress, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.engine.blocks import (
    BLOCK_ROWS,
    BLOCK_SHIFT,
    block_groups,
    block_name,
    block_range,
    interruptible,
    map_blocks,
    num_blocks,
    read_block,
    read_parquet,
    write_block,
    write_parquet,
)
from pubplan.engine.deadline import is_time_over, time_limited
from pubplan.engine.integers import MAX_INT64, exact_dot, exact_sum
from pubplan.engine.memory import MemoryMeter, available_bytes, require_memory
from pubplan.engine.progress import COMPILING, PLANNING, READING, Listener, Stage, Timings, muted, observed_by, stage
from pubplan.engine.random_streams import random_stream
from pubplan.engine.session import LOCAL_MASTER, LazySpark, check_master, is_at_hand, spark_session, started
from pubplan.engine.store import Store, open_store, stores_below

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession

__all__ = [
    "BLOCK_ROWS",
    "BLOCK_SHIFT",
    "COMPILING",
    "LOCAL_MASTER",
    "MAX_INT64",
    "PLANNING",
    "READING",
    "LazySpark",
    "Listener",
    "MemoryMeter",
    "Stage",
    "Store",
    "Timings",
    "available_bytes",
    "block_groups",
    "block_name",
    "block_range",
    "check_master",
    "exact_dot",
    "exact_sum",
    "interruptible",
    "is_at_hand",
    "is_time_over",
    "map_blocks",
    "muted",
    "num_blocks",
    "observed_by",
    "open_store",
    "random_stream",
    "read_block",
    "read_parquet",
    "require_memory",
    "spark_session",
    "stage",
    "started",
    "stores_below",
    "time_limited",
    "write_block",
    "write_parquet",
]
