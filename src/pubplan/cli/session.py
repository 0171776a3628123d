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
def started_spark(master: str | None, conf: list[str] | None) -> Iterator[SparkSession]:
    """A session, embedded unless a master is named."""
    with spark_session(master, parse_conf(conf or [])) as session:
        yield session


@contextmanager
def maybe_spark(master: str | None, conf: list[str] | None, num_blocks: int) -> Iterator[SparkSession | None]:
    """A session when one was asked for or pays for itself, otherwise None: blocks then run in this process."""
    if master is None and not conf and num_blocks < SPARK_PAYS_FROM_BLOCKS:
        yield None
    else:
        with started_spark(master, conf) as session:
            yield session
