"""How the command line writes what messages name: arguments as options, functions as commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from pubplan.arguments import Mention

OPTIONS = {
    "columns": "--column",
    "dimensions": "--dims",
    "header": "--no-header",
    "num_brokers": "--brokers",
    "num_clients": "--clients",
    "num_nodes": "--nodes",
    "num_sites": "--sites",
    "num_topics": "--topics",
    "options": "--option",
    "thresholds": "--threshold",
    "vm_types": "--vm-type",
    "window_seconds": "--window",
}
"""Options that are not called like the arguments of functions."""

COMMANDS = {"read_plan": "show"}
"""Commands that are not called like the functions."""

SWITCHED_OFF = {"header"}
"""Arguments that are true unless their option is given."""


def in_options(mention: Mention) -> str:
    """As somebody types it: ``--threshold``, ``--replace``, ``'pubplan ingest'``."""
    if mention.is_function:
        return f"'pubplan {COMMANDS.get(mention.name, mention.name)}'"
    option = OPTIONS.get(mention.name, f"--{mention.name.replace('_', '-')}")
    if mention.value is None:
        return option
    if isinstance(mention.value, bool):
        return option if mention.value != (mention.name in SWITCHED_OFF) else f"no {option}"
    return f"{option} {shlex.quote(_value(mention.value))}"


def _value(value: Any) -> str:
    """``{"events": {"topic": "artist"}}`` as ``events.topic=artist``, a tab by its name, anything else as it is."""
    if not isinstance(value, Mapping):
        return "tab" if value == "\t" else str(value)
    ((key, of_key),) = value.items()
    if not isinstance(of_key, Mapping):
        return f"{key}={_value(of_key)}"
    ((name, inner),) = of_key.items()
    return f"{key}.{name}={inner}"
