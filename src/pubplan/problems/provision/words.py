"""Money and traffic in words: what is paid is rounded up, what no plan can be below is rounded down."""

from __future__ import annotations

from pubplan.problems.provision.catalogue import MICROS

_CENT = MICROS // 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def dollars_up(micros: int) -> str:
    """Micro-dollars as dollars and cents, never less than they are."""
    return _dollars(-(-micros // _CENT))


def dollars_down(micros: int) -> str:
    """Micro-dollars as dollars and cents, never more than they are."""
    return _dollars(micros // _CENT)


def dollars_change(old: int, new: int) -> str:
    """What the bill goes up (``+$1.20``) or down by, to the nearest cent."""
    cents = (2 * abs(new - old) + _CENT) // (2 * _CENT)
    return f"{'-' if new < old and cents else '+'}{_dollars(cents)}"


def traffic(num_bytes: int) -> str:
    """Bytes in the largest unit of which there is one, with three digits at least; 1 GB = 10^9 bytes."""
    unit = 0
    while unit + 1 < len(_UNITS) and abs(num_bytes) >= 1000 ** (unit + 1):
        unit += 1
    if unit == 0:
        return f"{num_bytes} bytes"
    amount = num_bytes / 1000**unit
    return f"{amount:,.{2 if abs(amount) < 10 else 1}f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """A window in days or hours if it has whole ones, else in seconds."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("second", 1)):
        if seconds >= length and seconds % length == 0:
            number = int(seconds // length)
            return f"{number:,} {unit}{'s' if number > 1 else ''}"
    return f"{seconds:,g} seconds"


def counted(number: int, what: str) -> str:
    """A number with what it counts, in the plural where it is not one."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
