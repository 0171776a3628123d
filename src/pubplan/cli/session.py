"""When a command starts Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pubplan.engine import parse_conf, spark_session

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SPARK_PAYS_FROM_BLOCKS = 128
"""Starting Spark takes as long as a hundred blocks of planning work in this process."""


@contextmanager
def maybe_spark(master: str | None, conf: list[str] | None, num_blocks: int) -> Iterator[SparkSession | None]:
    """A session when one was asked for or pays for itself, otherwise None: blocks then run in this process."""
    settings = parse_conf(conf or [])
    if master is None and not settings and num_blocks < SPARK_PAYS_FROM_BLOCKS:
        yield None
    else:
        with spark_session(master, settings) as session:
            yield session
