"""How quantities are read, the same in every option, file and argument: numbers, shares, durations and rates.

What is read stays exact: decimal text and fractions, never floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

_SCALES = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9}
_NUMBER = re.compile(
    r"(?P<whole>-?(?:[0-9]{1,40}|[0-9]{1,3}(?:_[0-9]{3})+|[0-9]{1,3}(?P<commas>(?:,[0-9]{3})+)))"
    r"(?P<decimals>\.[0-9]{1,40})?(?:[eE]\+?(?P<power>[0-9]{1,2})|(?P<scale>[kKMG]))?"
)
_SHARE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)\s*%")
_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(s|min|h|d|w)?")
_SECONDS = {None: 1, "s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {
    **{f"{scale}bit/s": Fraction(10**power, 8) for scale, power in (("", 0), ("k", 3), ("M", 6), ("G", 9))},
    **{f"{scale}B/s": Fraction(10**power) for scale, power in (("", 0), ("k", 3), ("M", 6), ("G", 9))},
}
MESSAGES_PER_SECOND = "msg/s"
_UNITS = {unit.lower() if "bit" in unit else unit: unit for unit in _BYTES} | {"KB/s": "kB/s"}


@dataclass(frozen=True)
class Rate:
    """An amount per second.

    Attributes:
        amount: messages, or bytes, per second.
        of: which of the two.
        text: the same with the unit it was given in, in plain digits.
    """

    amount: Fraction
    of: Literal["messages", "bytes"]
    text: str


def plain_number(text: str, *, commas: bool = False) -> str:
    """A number as people write it, in plain decimal digits: ``1M``, ``1.5k``, ``1e6`` and ``1_000_000``.

    With ``commas`` also ``1,000,000``, which elsewhere may be a list.

    Raises:
        ValueError: it is not a number.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or (match["commas"] and not commas):
        raise ValueError
    power = int(match["power"]) if match["power"] else _SCALES[match["scale"] or ""]
    whole, decimals = re.sub("[,_]", "", match["whole"]), (match["decimals"] or ".")[1:]
    if not power:
        return f"{whole}.{decimals}" if decimals else whole
    digits = decimals.ljust(power, "0")
    return f"{whole}{digits[:power]}.{digits[power:]}".rstrip("0").rstrip(".") if digits[power:] else whole + digits


def share_text(value: object) -> str | None:
    """A share such as ``10 %`` in its one form, ``10%``; None for anything else."""
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    return None if match is None else f"{match[1]}%"


def share_fraction(text: str) -> Fraction:
    """The number that a share in its one form stands for."""
    return Fraction(text.removesuffix("%")) / 100


def share_hint(value: object) -> str:
    """What a number without a percent sign probably means, as the end of a refusal; nothing for anything else."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        return ""
    if isinstance(value, bool) or not 0 < number <= 100:
        return ""
    return f" Did you mean '{100 * number if number < 1 else number:g}%'?"


def duration_text(value: object) -> str:
    """A length of time in seconds, as exact decimal text, from ``36h``, ``10 d``, ``2w`` or a number of seconds.

    Raises:
        ValueError: it is not a length of time.
    """
    match = _DURATION.fullmatch(str(value).strip()) if _is_text_or_number(value) else None
    if match is None:
        raise ValueError
    return format(Decimal(match[1]) * _SECONDS[match[2]], "f")


def read_rate(value: object) -> Rate | None:
    """A rate such as ``1200 msg/s``, ``64 Mbit/s`` or ``8 MB/s``; None for anything else. 1 MB = 10^6 bytes."""
    match = re.fullmatch(r"(.*?)\s*([A-Za-z]+/s)", value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        number = plain_number(match[1], commas=True)
    except ValueError:
        return None
    if number.startswith("-"):
        return None
    unit = match[2]
    if unit in (MESSAGES_PER_SECOND, "messages/s"):
        return Rate(Fraction(number), "messages", f"{number} {MESSAGES_PER_SECOND}")
    unit = _UNITS.get(unit) or _UNITS.get(unit.lower() if "bit" in unit.lower() else "") or ""
    if not unit:
        return None
    return Rate(Fraction(number) * _BYTES[unit], "bytes", f"{number} {unit}")


def _is_text_or_number(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
