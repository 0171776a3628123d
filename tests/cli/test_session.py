"""Spark settings on the command line."""

from __future__ import annotations

import pytest

from pubplan.cli.session import parse_conf
from pubplan.errors import InputError


@pytest.mark.parametrize("setting", ["spark.driver.memory", "memory=1g", "=x", ""])
def test_settings_are_checked(setting: str) -> None:
    """A Spark setting needs a key that Spark knows and a value."""
    with pytest.raises(InputError, match="--conf"):
        parse_conf([setting])


def test_settings_may_hold_equals_signs() -> None:
    """Only the first equals sign separates key and value."""
    assert parse_conf(["spark.driver.extraJavaOptions=-Da=b"]) == {"spark.driver.extraJavaOptions": "-Da=b"}
