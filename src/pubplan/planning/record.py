"""The shape of plan.json: which keys it has and what their values look like."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any


def is_exact(value: Any) -> bool:
    """Whether a value is an integer over a positive scale."""
    if not isinstance(value, dict) or value.keys() != {"value", "scale"}:
        return False
    return _is_int(value["value"]) and _is_int(value["scale"]) and value["scale"] > 0


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _maps_to(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _is_number_or_null(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_workload(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"kind", "digest"} and all(map(_is_text, value.values()))


def _is_reason(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"limit", "need", "have", "where", "sentence"}
        and all(_is_text(value[name]) for name in ("limit", "where", "sentence"))
        and all(_is_text(value[name]) or _is_number(value[name]) for name in ("need", "have"))
    )


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "format": (_is_text, "text"),
    "family": (_is_text, "text"),
    "method": (_is_text, "text"),
    "parameters": (lambda value: isinstance(value, dict), "an object"),
    "seed": (_is_int, "a whole number"),
    "workload": (_is_workload, "kind and digest"),
    "sense": (lambda value: value in ("max", "min"), "max or min"),
    "objective": (_is_number, "a number"),
    "bound": (_is_number_or_null, "a number or null"),
    "gap": (_is_number_or_null, "a number or null"),
    "unit": (_is_text, "text"),
    "exact": (is_exact, "a whole value over a positive scale"),
    "bounds": (_maps_to(_is_number), "numbers by name"),
    "verified": (lambda value: isinstance(value, bool), "true or false"),
    "deterministic": (lambda value: isinstance(value, bool), "true or false"),
    "reasons": (lambda value: isinstance(value, list) and all(map(_is_reason, value)), "a list of reasons"),
    "files": (_maps_to(_is_text), "hashes by path"),
    "digest": (_is_text, "text"),
}

KEYS = tuple(_CHECKS)
"""The keys of plan.json, in order."""


def record_trouble(record: Mapping[str, Any]) -> str | None:
    """What is wrong with the shape of a plan.json, or None."""
    missing = [key for key in KEYS if key not in record]
    if missing:
        return f"it lacks {', '.join(missing)}"
    unknown = [key for key in record if key not in _CHECKS]
    if unknown:
        return f"it has the unknown key '{unknown[0]}'"
    for key, (check, expected) in _CHECKS.items():
        if not check(record[key]):
            return f"{key} must be {expected}"
    return None
