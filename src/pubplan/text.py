"""How numbers, money, traffic and lists are written for people.

What is paid or promised at most is rounded up, what is reached or ruled out is rounded down: no figure looks better
than it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from html import escape

MICROS = 10**6
"""Micro-dollars in a dollar."""

Micros = int | Fraction
"""An amount of micro-dollars; what is paid for a few messages is a fraction of one."""

SECONDS_PER_MONTH = 2_629_800
"""A month of 30.4375 days: a twelfth of a year of 365.25."""

_CENT = MICROS // 100
_BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def number(value: float) -> str:
    """Whole numbers without decimals, others with two, to the nearest: for comparing, not for promising."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def number_down(value: float) -> str:
    """Whole numbers without decimals, others with one, never more than they are."""
    return f"{value:,.0f}" if value == int(value) else f"{math.floor(value * 10) / 10:,.1f}"


def number_up(value: float) -> str:
    """Whole numbers without decimals, others with one, never less than they are."""
    return f"{value:,.0f}" if value == int(value) else f"{math.ceil(value * 10) / 10:,.1f}"


def decimals_down(value: float) -> str:
    """Whole numbers without decimals, others with two, or six below a hundredth; never more than they are."""
    return _to_decimals(value, math.floor)


def decimals_up(value: float) -> str:
    """Whole numbers without decimals, others with two, or six below a hundredth; never less than they are."""
    return _to_decimals(value, math.ceil)


def _to_decimals(value: float, rounded: Callable[[Fraction], int]) -> str:
    decimals = 6 if 0 < value < 0.01 else 2
    exact = Fraction(repr(value))  # 36.2 as it is written, not the float next to it
    amount = Fraction(rounded(exact * 10**decimals), 10**decimals)
    return f"{int(amount):,}" if amount.denominator == 1 else f"{float(amount):,.{decimals}f}"


def ceiling(bound: float, reached: float) -> str:
    """A bound that nothing exceeds, never less than it is, next to what was ``reached``: with one decimal like that, or
    with as many as it takes, at most six, for rounding to add less than lies between the two.
    """
    decimals = 1
    while decimals < 6 and math.ceil(bound * 10**decimals) / 10**decimals - bound > bound - reached:
        decimals += 1
    return number_up(bound) if decimals == 1 else f"{math.ceil(bound * 10**decimals) / 10**decimals:,.{decimals}f}"


def factor_up(factor: Fraction) -> str:
    """A factor with up to four decimals, never less than it is."""
    return f"{math.ceil(factor * 10_000) / 10_000:,.12g}"


def digits_up(value: float) -> str:
    """Three digits of a number, all where it has more before the point, never less than it is."""
    return _digits(value, math.ceil)


def digits_down(value: float) -> str:
    """Three digits of a number, all where it has more before the point, never more than it is."""
    return _digits(value, math.floor)


def percent(share: float) -> str:
    """A share with one decimal, to the nearest; what is there but very little is not 0."""
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def percent_up(share: float) -> str:
    """A share with two decimals, never less than it is."""
    return f"{math.ceil(share * 10_000) / 100:.2f} %"


def dollars_up(micros: Micros, *, cents_from: int = _CENT) -> str:
    """Micro-dollars as dollars, never less than they are: in cents from a cent on, or from as many micro-dollars as
    given, below that to the micro-dollar.
    """
    unit = _unit(micros, cents_from)
    return _in_dollars(_rounded_up(micros, unit), unit)


def dollars_down(micros: Micros, *, cents_from: int = _CENT) -> str:
    """Micro-dollars as dollars, never more than they are; in cents where :func:`dollars_up` is."""
    unit = _unit(micros, cents_from)
    return _in_dollars(micros // unit, unit)


def split_dollars(parts: Sequence[Micros], *, cents_from: int = _CENT) -> list[str]:
    """Parts of a sum, in micro-dollars, and the sum after them, as dollars that add up.

    The sum is that of :func:`dollars_up`; parts are less than a cent off, those that are whole cents not at all.
    """
    unit = _unit(sum(parts), cents_from)
    amounts = _split(parts, unit, _rounded_up(sum(parts), unit))
    return [_in_dollars(amount, unit) for amount in (*amounts, sum(amounts))]


def split_changes(
    old: Sequence[Micros], new: Sequence[Micros], *, cents_from: int = _CENT
) -> list[tuple[str, str, str]]:
    """Parts of two bills and their sums after them: before, after, and what they go up (``+$1.20``) or down by.

    Both bills add up, and so do the changes: each is the difference of what stands beside it.
    """
    unit = max(_unit(sum(old), cents_from), _unit(sum(new), cents_from))
    bills = [_split(parts, unit, _rounded_up(sum(parts), unit)) for parts in (old, new)]
    rows = zip(*((*amounts, sum(amounts)) for amounts in bills), strict=True)
    return [(_in_dollars(was, unit), _in_dollars(now, unit), _change(now - was, unit)) for was, now in rows]


def split_above(bound: Micros, parts: Sequence[Micros]) -> list[str]:
    """A bound, what a cost has above it in parts, and the cost after them, as dollars that add up.

    Bound and cost are written as by :func:`dollars_proven` and :func:`dollars_up`; parts are less than two cents off.
    """
    cost = bound + sum(parts)
    unit = _unit(cost)
    total = _rounded_up(cost, unit)
    proven = total if bound == cost else bound // unit
    return [_in_dollars(amount, unit) for amount in (proven, *_split(parts, unit, total - proven), total)]


def dollars_proven(bound: Micros, cost: Micros, *, cents_from: int = _CENT) -> str:
    """A bound that no cost is below: rounded down, but written like the cost that meets it."""
    return dollars_up(cost, cents_from=cents_from) if bound == cost else dollars_down(bound, cents_from=cents_from)


def traffic(num_bytes: int) -> str:
    """Bytes in the largest unit of which there is one, with three digits at least; 1 GB = 10^9 bytes."""
    unit = 0
    while unit + 1 < len(_BYTE_UNITS) and abs(num_bytes) >= 1000 ** (unit + 1):
        unit += 1
    if unit == 0:
        return counted(num_bytes, "byte")
    amount = num_bytes / 1000**unit
    return f"{amount:,.{2 if abs(amount) < 10 else 1}f} {_BYTE_UNITS[unit]}"


def duration(seconds: float) -> str:
    """A window in days or hours if it has whole ones, else in seconds."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("second", 1)):
        if seconds >= length and seconds % length == 0:
            return counted(int(seconds // length), unit)
    return f"{seconds:,g} seconds"


def counted(number: int, noun: str) -> str:
    """A number with what it counts, in the plural where it is not one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], shown: int = 8) -> str:
    """The first names of a list and how many more there are; ``none`` for an empty one."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more if names else "none"


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Rows as lines whose columns stand under each other: to the right, or to the ``left`` those named."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _digits(value: float, rounded: Callable[[float], int]) -> str:
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    # What multiplying adds beyond nine digits is not part of the number: 1.1 * 100 is above 110.
    text = f"{rounded(round(value * 10**decimals, 6)) / 10**decimals:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def html_table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Rows as a small HTML table, for notebooks; the first cell of each is its heading."""
    head = f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in header)}</tr>" if header else ""
    lines = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return f"<table>{head}{''.join(lines)}</table>"


def _unit(micros: Micros, cents_from: int = _CENT) -> int:
    """What an amount is counted in: cents, below a cent or what is given micro-dollars."""
    return 1 if 0 < micros < cents_from else _CENT


def _in_dollars(amount: int, unit: int) -> str:
    """An amount of cents or of micro-dollars."""
    return f"${amount / MICROS:.6f}" if unit == 1 and amount else f"${amount // 100:,}.{amount % 100:02d}"


def _change(amount: int, unit: int) -> str:
    return f"{'-' if amount < 0 else '+'}{_in_dollars(abs(amount), unit)}"


def _split(parts: Sequence[Micros], unit: int, total: int) -> list[int]:
    """Parts in whole units that add up to ``total``: what is left over goes to the largest remainders."""
    amounts = [part // unit for part in parts]
    shared_by = sorted((i for i, part in enumerate(parts) if part), key=lambda i: -(parts[i] % unit))
    for number in range(total - sum(amounts)):
        amounts[shared_by[number % len(shared_by)]] += 1
    return amounts


def _rounded_up(micros: Micros, unit: int) -> int:
    return -(-micros // unit)
