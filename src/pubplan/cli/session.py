"""When a command starts Spark, and the settings that it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pubplan.api import session
from pubplan.errors import InputError

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@contextmanager
def maybe_spark(master: str | None, conf: list[str] | None, num_blocks: int) -> Iterator[SparkSession | None]:
    """A session when one was asked for or pays for itself, otherwise None: blocks then run in this process."""
    with session.maybe_spark(master, parse_conf(conf or []), num_blocks) as spark:
        yield spark


def parse_conf(settings: list[str]) -> dict[str, str]:
    """``["spark.driver.memory=4g"]`` as a mapping.

    Raises:
        InputError: a setting has no ``=`` or does not begin with ``spark.``.
    """
    parsed: dict[str, str] = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator or not key.startswith("spark."):
            raise InputError(f"--conf takes spark.some.key=value, not '{setting}'.")
        if key == "spark.master":
            raise InputError("Name the Spark master with --master, not with --conf.")
        parsed[key] = value
    return parsed
