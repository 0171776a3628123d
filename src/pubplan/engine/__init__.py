"""The ground floor: Spark and Java, blocks, whole directories, digests, draws, progress, memory."""

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
from pubplan.engine.digests import digest_blocks, digest_table, digest_value
from pubplan.engine.directories import Keeper, check_apart, check_free, whole_directory
from pubplan.engine.draws import draws
from pubplan.engine.files import file_sha256, read_json_object, write_bytes, write_json, write_text
from pubplan.engine.integers import MAX_INT64, exact_dot, exact_sum
from pubplan.engine.memory import MemoryMeter, available_bytes, require_memory
from pubplan.engine.progress import Listener, Timings, listening, stage, unheard
from pubplan.engine.session import LOCAL_MASTER, parse_conf, spark_session
from pubplan.engine.store import Store, open_store, working_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession

__all__ = [
    "BLOCK_ROWS",
    "BLOCK_SHIFT",
    "LOCAL_MASTER",
    "MAX_INT64",
    "Keeper",
    "Listener",
    "MemoryMeter",
    "Store",
    "Timings",
    "available_bytes",
    "block_groups",
    "block_name",
    "block_range",
    "check_apart",
    "check_free",
    "digest_blocks",
    "digest_table",
    "digest_value",
    "draws",
    "exact_dot",
    "exact_sum",
    "file_sha256",
    "interruptible",
    "listening",
    "map_blocks",
    "num_blocks",
    "open_store",
    "parse_conf",
    "read_block",
    "read_json_object",
    "read_parquet",
    "require_memory",
    "spark_session",
    "stage",
    "unheard",
    "whole_directory",
    "working_in",
    "write_block",
    "write_bytes",
    "write_json",
    "write_parquet",
    "write_text",
]
