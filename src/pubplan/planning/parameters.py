"""Parameters as small frozen values, checked when they are made and readable from one TOML file."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from pubplan.arguments import argument
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


def check_int(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is not a whole number from ``least`` to ``most``.

    Raises:
        ValueError: a sentence without a full stop; :func:`make_parameters` adds the method's name.
    """
    is_int = isinstance(value, int) and not isinstance(value, bool)
    if not is_int or value < least or (most is not None and value > most):  # type: ignore[operator]
        upper = "" if most is None else f" and at most {most:,}"
        raise ValueError(f"{name} is a whole number, at least {least}{upper}, not {value!r}")


def decimal_text(name: str, value: object, least: Fraction) -> str:
    """The value of an argument, a number, as decimal text, which is exact and goes into JSON.

    Raises:
        InputError: it is not a number of at most 15 digits before the point and 9 after it, or less than ``least``.
    """
    text = str(value).strip() if isinstance(value, (str, int, float)) and value is not True else ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        text = str(int(value))
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text):
        raise InputError(f"{argument(name)} is a number such as 2 or 1.5, not {str(value)[:40]!r}.")
    if Fraction(text) < least:
        raise InputError(f"{argument(name)} must be at least {least}, not {text}.")
    return text.rstrip("0").rstrip(".") if "." in text else text


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


def read_table(path: Path, name: str) -> dict[str, Any]:
    """A table of a TOML file.

    Raises:
        InputError: the file is missing or broken, or has no such table.
    """
    try:
        with open(path, "rb") as handle:
            content = tomllib.load(handle)
    except FileNotFoundError as error:
        raise InputError(f"There is no parameter file {path}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not readable TOML: {error}.") from error
    table = content.get(name)
    if not isinstance(table, dict):
        tables = ", ".join(f"[{other}]" for other in content) or "nothing"
        raise InputError(f"{path} has no table [{name}]; it has {tables}.")
    return table


def read_parameters(path: Path, name: str, known: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """A table of a TOML file whose keys and types are ``known``.

    Raises:
        InputError: as :func:`read_table`; or a key is unknown or has a value of another type.
    """
    table = read_table(path, name)
    for key, value in table.items():
        if key not in known:
            raise InputError(f"{path}, table [{name}]: " + unknown_name("parameter", key, known))
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            kinds = " or ".join(_TOML_NAMES[kind] for kind in known[key])
            raise InputError(f"{path}, table [{name}]: {key} must be {kinds}, not {value!r}.")
    return table
