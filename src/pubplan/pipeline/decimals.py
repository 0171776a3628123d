"""Exact decimal numbers of any kind of column, rounded to whole units of a power of ten.

A number is what is written: text as it stands, a floating-point number as the shortest decimal that stands for it, so
that a file means the same as Parquet and as CSV. Nothing is computed in floating point.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.pipeline.values import Mask, decoded, mask, matches
from pubplan.workload import Int64Array

MAX_DIGITS = 18
MAX_SCALED = 10**MAX_DIGITS
"""Numbers that are larger in their unit are all taken for this one, which lies outside of everything."""

_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,17})?$"
_CONTEXT = decimal.Context(
    prec=MAX_DIGITS + 2, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation]
)


@dataclass(frozen=True)
class Decimals:
    """Numbers x 10^``digits``, rounded down.

    Attributes:
        floors: whole numbers of at most 18 digits; larger ones are +-10^18.
        has_rest: where rounding cut something off.
        is_missing: where there is no value; ``floors`` is 0 there.
        is_bad: where there is one that is not a number.
        text: all of them as they are written; None for whole numbers that fit, which leave no rest.
    """

    floors: Int64Array
    has_rest: npt.NDArray[np.bool_]
    is_missing: Mask
    is_bad: Mask
    text: pa.Array | None

    @property
    def ceilings(self) -> Int64Array:
        return self.floors + self.has_rest

    def is_above(self, other: Decimals) -> npt.NDArray[np.bool_]:
        """Where a number is larger than the other one, exactly; both must have the same digits."""
        is_above: npt.NDArray[np.bool_]
        is_above = (self.floors > other.floors) | ((self.floors == other.floors) & self.has_rest & ~other.has_rest)
        is_close = (self.floors == other.floors) & (self.has_rest & other.has_rest | (abs(self.floors) == MAX_SCALED))
        if self.text is None or other.text is None or not is_close.any():
            return is_above
        # The parts that were cut off decide. Rounding keeps the order: what rounds to different floats is settled,
        # and only what rounds to the same one is compared as it is written.
        rows = np.flatnonzero(is_close)
        left, right = (_rounded(text.take(pa.array(rows))) for text in (self.text, other.text))
        is_above[rows] = left > right
        for row in rows[left == right].tolist():
            is_above[row] = self.exact(row) > other.exact(row)
        return is_above

    def exact(self, row: int) -> Decimal:
        """One number as it is; of those with digits beyond the unit, only where there are texts."""
        value = None if self.text is None else self.text[row].as_py()
        return Decimal(value) if value and not _is_marked(self.is_bad, row) else Decimal(int(self.floors[row]))


def _rounded(text: pa.Array) -> npt.NDArray[np.float64]:
    """Numbers as floats; 0 for what is not a number."""
    return np.asarray(pc.if_else(matches(text, _NUMBER), text, pa.scalar("0")).cast(pa.float64()))


def _is_marked(marked: Mask, row: int) -> bool:
    return marked is not None and bool(marked[row])


def decimals(column: pa.Array, digits: int) -> Decimals:
    """A column of whole numbers, floating-point numbers, decimals or text, in units of 10^-``digits``."""
    column = decoded(column)
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type) and 0 <= digits <= MAX_DIGITS:
        return _of_integers(column, digits)
    return _of_text(column if pa.types.is_string(column.type) else column.cast(pa.string()), digits)


def _of_integers(column: pa.Array, digits: int) -> Decimals:
    is_missing = np.asarray(column.is_null()) if column.null_count else None
    values = np.asarray(pc.fill_null(column, 0) if column.null_count else column).astype(np.int64)
    most = 10 ** (MAX_DIGITS - digits)
    has_rest = np.zeros(len(values), dtype=bool)
    text = None
    if len(values) and (values.min() <= -most or values.max() >= most):
        text = column.cast(pa.string())
        values = np.clip(values, -most, most)
    return Decimals(values * 10**digits, has_rest, is_missing, None, text)


def _of_text(column: pa.Array, digits: int) -> Decimals:
    """Plain numbers all at once; those with exponents, or with more digits than fit, by distinct value."""
    text = pc.ascii_trim_whitespace(column)
    is_missing = np.asarray(pc.equal(pc.binary_length(text), 0).fill_null(True))
    floors, has_rest = np.zeros(len(text), dtype=np.int64), np.zeros(len(text), dtype=bool)
    is_number = np.zeros(len(text), dtype=bool)
    if 0 <= digits < MAX_DIGITS:
        is_number = np.array(matches(text, rf"^[+-]?[0-9]{{1,{MAX_DIGITS - digits}}}(\.[0-9]*)?$"))
        rows = np.flatnonzero(is_number)
        chosen = text if len(rows) == len(text) else text.take(pa.array(rows))
        floors[rows], has_rest[rows] = _of_plain(chosen, digits)
    rows = np.flatnonzero(~is_number & ~is_missing)
    rows = rows[np.asarray(matches(text.take(pa.array(rows)), _NUMBER))]
    if len(rows):
        is_number[rows] = True
        distinct = text.take(pa.array(rows)).dictionary_encode()
        pairs = [_floor(Decimal(value), digits) for value in distinct.dictionary.to_pylist()]
        codes = distinct.indices.to_numpy()
        floors[rows] = np.array([floor for floor, _ in pairs], dtype=np.int64)[codes]
        has_rest[rows] = np.array([rest for _, rest in pairs], dtype=bool)[codes]
    return Decimals(floors, has_rest, mask(is_missing), mask(~is_number & ~is_missing), text)


def _of_plain(text: pa.Array, digits: int) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
    """Numbers without exponent: the digits behind the unit are cut off, which rounds negative ones up."""
    is_longer = pc.match_substring_regex(text, rf"\.[0-9]{{{digits}}}[0-9]" if digits else r"\.")
    has_rest = np.zeros(len(text), dtype=bool)
    if pc.any(is_longer).as_py():
        has_rest = np.asarray(pc.match_substring_regex(text, rf"\.[0-9]{{{digits}}}[0-9]*[1-9]"))
        kept = rf"(\.[0-9]{{{digits}}})[0-9]+$" if digits else r"()\.[0-9]*$"
        text = pc.replace_substring_regex(text, kept, r"\1")
    scaled = text.cast(pa.decimal128(MAX_DIGITS + 1, digits))
    # Arrow stores 128 bits per number, the lower 64 first; 19 digits fit them with their sign.
    words = np.frombuffer(scaled.buffers()[1], dtype=np.int64).reshape(-1, 2)
    truncated = words[scaled.offset : scaled.offset + len(scaled), 0]
    is_negative = np.asarray(pc.starts_with(text, "-"))
    return truncated - (has_rest & is_negative), has_rest


def _floor(value: Decimal, digits: int) -> tuple[int, bool]:
    """One number x 10^``digits`` rounded down, and whether that cut something off; +-10^18 where it has more digits."""
    if value.is_zero():
        return 0, False
    if value.adjusted() + digits >= MAX_DIGITS:
        return (-MAX_SCALED if value.is_signed() else MAX_SCALED), False
    unit = Decimal((0, (1,), -digits))
    floor = value.quantize(unit, rounding=decimal.ROUND_FLOOR, context=_CONTEXT)
    return int(floor.scaleb(digits, context=_CONTEXT)), floor != value


def extreme(column: pa.Array, rows: npt.NDArray[np.bool_], choose: Callable[..., Decimal]) -> Decimal | None:
    """The smallest or largest (``choose`` is min or max) number among some rows, all of which are numbers."""
    column = decoded(column).filter(pa.array(rows))
    if not len(column):
        return None
    if pa.types.is_integer(column.type):
        return Decimal(choose(pc.min_max(column).as_py().values()))
    text = pc.ascii_trim_whitespace(column if pa.types.is_string(column.type) else column.cast(pa.string()))
    is_plain = pc.match_substring_regex(text, r"^[+-]?[0-9]{1,18}(\.[0-9]*)?$")
    candidates = text.filter(pc.invert(is_plain)).unique().to_pylist()
    plain = text.filter(is_plain)
    if len(plain):
        # Rounding keeps the order, so the extreme number is among those whose rounded value is extreme.
        rounded = _rounded(plain)
        candidates += plain.filter(pa.array(rounded == choose(rounded.min(), rounded.max()))).unique().to_pylist()
    return choose(Decimal(value) for value in candidates)
