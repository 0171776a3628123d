"""Small files: canonical JSON, written whole, and their hashes."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from pubplan.errors import InputError, one_line

MAX_INTEGER_DIGITS = 40
"""Digits of the longest integer that is read from JSON: enough for 2^128, and any such integer fits a float."""


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` under a temporary name, sync it, then rename it."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    temporary = temporary_name(path)
    try:
        with open(temporary, "wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_name(path: Path) -> Path:
    """A hidden neighbour of ``path``; Spark and Arrow ignore names that begin with a dot."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` for people to read: indented, keys in the order given."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say which file is broken and how.

    What Python's parser lets pass is refused: NaN and Infinity, numbers beyond a float, integers of more than 40
    digits, a key that occurs twice in an object.
    """
    try:
        value = json.loads(
            path.read_text(encoding="utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_without_repetition,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not readable JSON: {error}.") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} holds a JSON {type(value).__name__}, not an object.")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{one_line(text, 40)} is too large for a number")
    return value


def _bounded(text: str) -> int:
    if len(text.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise ValueError(f"{one_line(text, 40)} has more than {MAX_INTEGER_DIGITS} digits")
    return int(text)


def _without_repetition(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{one_line(repeated, 40)}' occurs twice in one object")
    return value


def file_sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
