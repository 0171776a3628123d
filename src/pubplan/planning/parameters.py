"""Parameters as small frozen values, checked when they are made and readable from one TOML file."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pubplan.errors import InputError, unknown_name

Parameters = TypeVar("Parameters")

_TOML_NAMES = {
    bool: "true or false",
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


@dataclasses.dataclass(frozen=True)
class NoParameters:
    """For methods that have none."""


def make_parameters(kind: type[Parameters], values: Mapping[str, Any], where: str) -> Parameters:
    """An instance of the dataclass ``kind`` from named values.

    Raises:
        InputError: a name is unknown (says the nearest known one), or a value is refused.
    """
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise InputError(f"{where}: " + unknown_name("parameter", name, known or ["(none)"]))
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}") from error


def read_parameters(path: Path, family: str, known: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """The table ``[family]`` of a TOML file, with every key checked.

    Args:
        known: the options of the family and their types; a table ``[family.method]`` holds a method's own.

    Raises:
        InputError: the file is missing or broken, or a key is unknown or of another type.
    """
    try:
        with open(path, "rb") as handle:
            content = tomllib.load(handle)
    except FileNotFoundError as error:
        raise InputError(f"There is no parameter file {path}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not readable TOML: {error}.") from error
    table = content.get(family)
    if not isinstance(table, dict):
        found = ", ".join(f"[{name}]" for name in content) or "nothing"
        raise InputError(f"{path} has no table [{family}]; it has {found}.")
    for name, value in table.items():
        if name not in known:
            raise InputError(f"{path}, table [{family}]: " + unknown_name("parameter", name, known))
        if not isinstance(value, known[name]) or (isinstance(value, bool) and bool not in known[name]):
            kinds = " or ".join(_TOML_NAMES[kind] for kind in known[name])
            raise InputError(f"{path}, table [{family}]: {name} must be {kinds}, not {value!r}.")
    return table
