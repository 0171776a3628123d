"""When a function starts Spark, and stops it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from pubplan.arguments import argument
from pubplan.engine import LazySpark, check_master, spark_session
from pubplan.errors import InputError

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MIN_SPARK_BLOCKS = 128
"""From this many blocks on Spark is started unasked: that takes as long as a hundred blocks in this process."""


@contextmanager
def lazy_spark(
    master: str | None, conf: Mapping[str, str] | None, spark: SparkSession | None = None
) -> Iterator[SparkSession | LazySpark]:
    """The session given, or one that starts when it is first needed; wrong options of it are refused at once."""
    if spark is not None:
        _check_only(master, conf)
        yield spark
        return
    settings = dict(conf or {})
    check_master(master)
    with ExitStack() as stack:
        yield LazySpark(
            lambda defaults: stack.enter_context(spark_session(master, {**defaults, **settings})),
            is_asked_for=master is not None or bool(settings),
        )


@contextmanager
def maybe_spark(
    master: str | None, conf: Mapping[str, str] | None, num_blocks: int, spark: SparkSession | None = None
) -> Iterator[SparkSession | None]:
    """The session given, one when it was asked for or pays for itself, or None: blocks then run in this process."""
    if spark is not None:
        _check_only(master, conf)
        yield spark
    elif master is None and not conf and num_blocks < MIN_SPARK_BLOCKS:
        yield None
    else:
        with spark_session(master, conf or {}) as session:
            yield session


def _check_only(master: str | None, conf: Mapping[str, str] | None) -> None:
    if master is not None or conf:
        raise InputError(f"Pass {argument('spark')}, or how to start it: not both.")
