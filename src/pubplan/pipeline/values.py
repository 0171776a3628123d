"""From stored columns to ids, moments and whole numbers; what cannot be one is marked, never dropped.

Masks are None where no row is marked, which is the rule and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import MAX_INT64
from pubplan.workload import Int64Array

Mask: TypeAlias = "npt.NDArray[np.bool_] | None"
TimestampUnit = Literal["s", "ms", "us", "ns"]

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999, in microseconds

_WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
_DECIMAL = r"^[+-]?[0-9]+\.[0-9]+$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_HOUR = r"[T ][0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
_ISO_LOCAL = rf"{_DAY}({_HOUR})?$"
_ISO_ZONED = rf"{_DAY}{_HOUR}(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)$"


@dataclass(frozen=True)
class Ids:
    """A column of ids: one code per row into ``names``; the code behind the last name is a null.

    ``is_missing`` and ``is_undecodable`` are per code.
    """

    codes: npt.NDArray[np.int64]
    names: pa.Array
    is_missing: npt.NDArray[np.bool_]
    is_undecodable: npt.NDArray[np.bool_]

    def rows_where(self, per_code: npt.NDArray[np.bool_]) -> Mask:
        """The rows whose code is marked; null ids are taken for missing unless some row has one."""
        marked = per_code[:-1].any() or (per_code[-1] and bool((self.codes == len(self.names)).any()))
        return per_code[self.codes] if marked else None

    def numbers(self, known: pa.Array) -> Int64Array:
        """Per row the position of its id in ``known``; -1 where it is not there."""
        names = self.names
        if self.is_undecodable.any():
            names = pc.if_else(pa.array(~self.is_undecodable[:-1]), names, pa.scalar(""))
        positions = pc.index_in(names, value_set=known).fill_null(-1)
        return np.append(np.asarray(positions, dtype=np.int64), -1)[self.codes]


def ids(column: pa.Array) -> Ids:
    """Ids as codes: text as it is, whole numbers as text."""
    column = as_strings(column)
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    names, number = encoded.dictionary, len(encoded.dictionary)
    indices = encoded.indices
    codes = (indices.fill_null(number) if indices.null_count else indices).to_numpy().astype(np.int64)
    is_missing = np.append(np.asarray(pc.equal(pc.binary_length(names), 0).fill_null(True)), True)
    if names.null_count:
        names = names.fill_null("")
    return Ids(codes, names, is_missing, np.append(~is_utf8(names), False))


def as_strings(column: pa.Array) -> pa.Array:
    """Text, or a dictionary of text, that may hold bytes that are not UTF-8; numbers as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = as_strings(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int64()), words, safe=False)
    if pa.types.is_string(kind):
        return column
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.large_binary()).cast(pa.binary()).cast(pa.string(), safe=False)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column.cast(pa.binary()).cast(pa.string(), safe=False)
    return column.cast(pa.string())


def is_utf8(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Which texts are valid UTF-8."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return np.array([_decodes(value) for value in texts.cast(pa.binary()).to_pylist()], dtype=bool)
    return np.ones(len(texts), dtype=bool)


def _decodes(value: bytes | None) -> bool:
    try:
        (value or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Numbers:
    """Whole numbers, 0 where there is none; ``is_missing`` without a value, ``is_bad`` with one that is not whole."""

    values: Int64Array
    is_missing: Mask
    is_bad: Mask


def whole_numbers(column: pa.Array) -> Numbers:
    """A column as int64. Null and empty are missing; fractions, other text and what 64 bits do not hold are bad."""
    column = decoded(column)
    kind = column.type
    is_missing = np.asarray(column.is_null()) if column.null_count else None
    if pa.types.is_null(kind):
        return Numbers(np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=bool), None)
    if pa.types.is_string(kind):
        return _numbers_of_text(column)
    if pa.types.is_floating(kind):
        return _numbers_of_floats(column, is_missing)
    if pa.types.is_decimal(kind):
        return _numbers_of_objects(column, is_missing)
    if pa.types.is_uint64(kind) and len(column):
        largest = pc.max(column).as_py()
        if largest is not None and largest > MAX_INT64:
            return _numbers_of_objects(column, is_missing)
    filled = pc.fill_null(column, 0) if column.null_count else column
    return Numbers(np.asarray(filled.cast(pa.int64())), is_missing, None)


def decoded(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_text = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
    is_text = is_text or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)
    return as_strings(column) if is_text else column


def _numbers_of_text(column: pa.Array) -> Numbers:
    whole = _all_integers(column)
    if whole is not None:
        return Numbers(np.asarray(whole), None, None)
    text = pc.ascii_trim_whitespace(column)
    is_missing = np.asarray(pc.equal(pc.binary_length(text), 0).fill_null(True))
    is_whole = np.asarray(matches(text, _WHOLE)) & ~is_missing
    values = np.zeros(len(column), dtype=np.int64)
    is_bad = ~is_whole & ~is_missing
    rows = np.flatnonzero(is_whole)
    digits = pc.replace_substring_regex(text.take(pa.array(rows)), r"^\+|\.0*$", "")
    try:
        values[rows] = np.asarray(digits.cast(pa.int64()))
    except pa.ArrowInvalid:
        whole = [int(digit) for digit in digits.to_pylist()]
        fits = np.array([-MAX_INT64 - 1 <= number <= MAX_INT64 for number in whole], dtype=bool)
        is_bad[rows[~fits]] = True
        values[rows] = [number if fit else 0 for number, fit in zip(whole, fits, strict=True)]
    return Numbers(values, mask(is_missing), mask(is_bad))


def _all_integers(column: pa.Array) -> pa.Array | None:
    """Text in which every row is a whole number in the plainest form, as int64."""
    try:
        whole = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    # Arrow also takes 0x10 for a number.
    is_hexadecimal = pc.any(pc.or_(pc.match_substring(column, "x"), pc.match_substring(column, "X"))).as_py()
    return None if whole.null_count or is_hexadecimal else whole


def _numbers_of_floats(column: pa.Array, is_missing: Mask) -> Numbers:
    floats = np.asarray(column.cast(pa.float64()).fill_null(0.0) if column.null_count else column.cast(pa.float64()))
    is_nan = np.isnan(floats)
    is_whole = (np.floor(floats) == floats) & (np.abs(floats) < 2.0**63)
    if is_nan.any():  # what pandas writes for a missing number
        is_missing = is_nan if is_missing is None else is_missing | is_nan
    is_bad = ~is_whole & ~is_nan
    return Numbers(np.where(is_whole, floats, 0).astype(np.int64), is_missing, mask(is_bad))


def _numbers_of_objects(column: pa.Array, is_missing: Mask) -> Numbers:
    exact = [Decimal(0) if value is None else Decimal(value) for value in column.to_pylist()]
    is_whole = np.array([value == value.to_integral_value() and abs(value) <= MAX_INT64 for value in exact], dtype=bool)
    values = np.array([int(value) if whole else 0 for value, whole in zip(exact, is_whole, strict=True)], np.int64)
    return Numbers(values, is_missing, mask(~is_whole))


def matches(text: pa.Array, pattern: str) -> pa.Array:
    """Which texts match; what is not UTF-8 does not."""
    if is_utf8(text).all():
        return pc.match_substring_regex(text, pattern).fill_null(False)
    readable = pc.if_else(pa.array(is_utf8(text)), text, pa.scalar(""))
    return pc.match_substring_regex(readable, pattern).fill_null(False)


def mask(marked: npt.NDArray[np.bool_]) -> Mask:
    return marked if marked.any() else None


def moments(column: pa.Array, unit: TimestampUnit) -> tuple[Int64Array, Mask]:
    """Microseconds since 1970, and where there is no moment that can be used.

    Numbers, also fractions, count ``unit``; text is such a number or ISO 8601, in UTC unless it names a time zone.
    """
    column = decoded(column)
    kind = column.type
    if pa.types.is_string(kind):
        return _moments_of_text(column, unit)
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("ms"))
        kind = column.type
    if pa.types.is_timestamp(kind):
        numbers = whole_numbers(column.cast(pa.int64()))
        return _scaled(numbers.values, kind.unit, numbers.is_missing)
    if pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale > 0):
        return _moments_of_floats(np.asarray(column.cast(pa.float64()).fill_null(np.nan)), unit)
    numbers = whole_numbers(column)
    return _scaled(numbers.values, unit, either(numbers.is_missing, numbers.is_bad))


def either(first: Mask, second: Mask) -> Mask:
    return second if first is None else first if second is None else first | second


def _scaled(values: Int64Array, unit: str, is_bad: Mask) -> tuple[Int64Array, Mask]:
    if unit == "ns":
        values = values // 1000
        factor = 1
    else:
        factor = 1_000_000 // PER_SECOND[unit]
    earliest, latest = -(-EARLIEST // factor), LATEST // factor
    if len(values) and (values.min() < earliest or values.max() > latest):
        is_outside = (values < earliest) | (values > latest)
        is_bad = either(is_bad, is_outside)
        values = np.where(is_outside, 0, values)
    return values * factor if factor != 1 else values, is_bad


def _moments_of_floats(values: npt.NDArray[np.float64], unit: TimestampUnit) -> tuple[Int64Array, Mask]:
    micros = values * (1_000_000 / PER_SECOND[unit])
    is_good = (micros >= EARLIEST) & (micros <= LATEST)
    return np.rint(np.where(is_good, micros, 0)).astype(np.int64), mask(~is_good)


def _moments_of_text(column: pa.Array, unit: TimestampUnit) -> tuple[Int64Array, Mask]:
    """Try the whole column in the ways files are mostly written; sort it out row by row only where none fits."""
    whole = _all_integers(column)
    if whole is not None:
        return _scaled(np.asarray(whole), unit, None)
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            parsed = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        if parsed.null_count == 0:
            return _scaled(np.asarray(parsed.cast(pa.int64())), "us", None)
    numbers = _numbers_of_text(column)
    values, is_bad = _scaled(numbers.values, unit, either(numbers.is_missing, numbers.is_bad))
    if is_bad is None:
        return values, None
    values, is_bad = values.copy(), is_bad.copy()
    rows = np.flatnonzero(is_bad)
    text = pc.ascii_trim_whitespace(column.take(pa.array(rows)))
    decimal = np.asarray(matches(text, _DECIMAL))
    if decimal.any():
        chosen = text.filter(pa.array(decimal))
        micros, bad = _moments_of_floats(np.asarray(chosen.cast(pa.float64())), unit)
        _settle(values, is_bad, rows[decimal], micros, bad)
    shortened = text
    if pc.any(matches(text, r"\.[0-9]{7,}")).as_py():  # nanoseconds: beyond microseconds nothing counts
        shortened = pc.if_else(matches(text, r"\.[0-9]{7,}"), _without_nanoseconds(text), text)
    for pattern, kind in ((_ISO_LOCAL, pa.timestamp("us")), (_ISO_ZONED, pa.timestamp("us", "UTC"))):
        chosen = np.asarray(matches(shortened, pattern))
        if chosen.any():
            parsed = _cast_or_null(shortened.filter(pa.array(chosen)), kind)
            micros, bad = _scaled(
                np.asarray(parsed.cast(pa.int64()).fill_null(0)),
                "us",
                np.asarray(parsed.is_null()) if parsed.null_count else None,
            )
            _settle(values, is_bad, rows[chosen], micros, bad)
    return values, mask(is_bad)


def _without_nanoseconds(text: pa.Array) -> pa.Array:
    readable = pc.if_else(pa.array(is_utf8(text)), text, pa.scalar(""))
    return pc.replace_substring_regex(readable, r"(\.[0-9]{6})[0-9]+", r"\1")


def _settle(values: Int64Array, is_bad: npt.NDArray[np.bool_], rows: Int64Array, micros: Int64Array, bad: Mask) -> None:
    values[rows] = micros
    is_bad[rows] = False if bad is None else bad


def _cast_or_null(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast what can be cast; days that no calendar has are searched for by halving."""
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        if len(text) == 1:
            return pa.nulls(1, kind)
        half = len(text) // 2
        return pa.concat_arrays([_cast_or_null(text.slice(0, half), kind), _cast_or_null(text.slice(half), kind)])
