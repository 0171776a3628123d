"""Cleaning against the obvious way, value by value."""

from __future__ import annotations

import random
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from pubplan.pipeline.values import EARLIEST, LATEST, ids, moments, whole_numbers

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": Fraction(1, 1000)}


def plain_number(text: str | None) -> int | str:
    """A whole number, "missing" or "bad"."""
    text = (text or "").strip(" \t\n\r\v\f")
    if not text:
        return "missing"
    if not re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text):
        return "bad"
    number = int(text.partition(".")[0])
    return number if -(2**63) <= number < 2**63 else "bad"


def plain_moment(text: str | None, unit: str) -> int | None:
    """Microseconds since 1970, or None."""
    number = plain_number(text)
    if isinstance(number, int):
        micros = int(number * UNITS[unit] // 1)
    else:
        text = (text or "").strip()
        if re.fullmatch(r"[+-]?[0-9]+\.[0-9]+", text):
            micros = round(Fraction(text) * UNITS[unit])
        else:
            shape = r"\d{4}-\d\d-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?"
            if not re.fullmatch(shape, text, flags=re.ASCII):
                return None
            try:
                moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
            except ValueError:
                return None
            micros = (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // timedelta(microseconds=1)
    return micros if EARLIEST <= micros <= LATEST else None


NUMBERS = ["", " ", None, "0", "7", "+7", "-7", " 12 ", "007", "5.0", "5.", "5.5", "1e3", "x", "é", "--1", "٣"]
NUMBERS += [str(2**63 - 1), str(2**63), str(-(2**63)), "9" * 30, "1_000", "inf", "nan", "0x10", "0XfF"]


@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_of_text(seed: int) -> None:
    """Numbers, missing ones and bad ones, mixed or all good."""
    rng = random.Random(seed)
    texts = [rng.choice(NUMBERS if seed % 2 else ["1", "-2", "30"]) for _ in range(200)]
    numbers = whole_numbers(pa.array(texts, pa.string()))
    is_missing = np.zeros(200, bool) if numbers.is_missing is None else numbers.is_missing
    is_bad = np.zeros(200, bool) if numbers.is_bad is None else numbers.is_bad
    seen = [
        "missing" if m else "bad" if b else v
        for v, m, b in zip(numbers.values.tolist(), is_missing, is_bad, strict=True)
    ]
    assert seen == [plain_number(text) for text in texts]


@pytest.mark.parametrize(
    ("column", "values", "missing", "bad"),
    [
        (pa.array([1, None, 2], pa.int32()), [1, 0, 2], [1], []),
        (pa.array([1, 2**64 - 1], pa.uint64()), [1, 0], [], [1]),
        (pa.array([1.0, 1.5, np.inf, -np.inf, 1e300, -1e300, np.nan, 2.0**63]), [1] + [0] * 7, [6], [1, 2, 3, 4, 5, 7]),
        (pa.array([Decimal("3.00"), Decimal("3.25"), None]), [3, 0, 0], [2], [1]),
        (pa.array([Decimal(10) ** 30, Decimal(4)]), [0, 4], [], [0]),
        (pa.nulls(2), [0, 0], [0, 1], []),
        (pa.array(["3", None, "x"]).dictionary_encode(), [3, 0, 0], [1], [2]),
        (pa.array([b"4", b"\xff"]), [4, 0], [], [1]),
        (pa.array(["5", ""], pa.large_string()), [5, 0], [1], []),
    ],
    ids=["int32", "uint64", "float", "decimal", "large decimal", "null", "categorical", "binary", "large string"],
)
def test_whole_numbers_of_other_types(column: pa.Array, values: list[int], missing: list[int], bad: list[int]) -> None:
    """Null is missing; infinities, fractions and what 64 bits do not hold are bad, never an overflow."""
    numbers = whole_numbers(column)
    assert numbers.values.tolist() == values
    assert (np.flatnonzero(numbers.is_missing).tolist() if numbers.is_missing is not None else []) == missing
    assert (np.flatnonzero(numbers.is_bad).tolist() if numbers.is_bad is not None else []) == bad


TIMES = ["2026-03-01", "2026-03-01 10:00", "2026-03-01T10:00:00Z", "2026-03-01 10:00:00.5+02:00", "2026-02-30"]
TIMES += ["2026-03-01 10:00:00+00", "2026-03-01T10:00:00.123456789Z", "2026-03-01T10:00:00+0130", "2026-13-01"]
TIMES += ["0001-01-01", "0000-01-01", "9999-12-31T23:59:59.999999Z", "1700000000.25", "-3.5", "yesterday", "2026-3-1"]
TIMES += [" 2026-03-01 ", "2026-03-01T10:00:00 UTC", "2026-03-01T25:00:00", "1969-12-31T23:59:59.999999", "é2026-03-01"]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_text(seed: int, unit: str) -> None:
    """Epochs with and without fractions and ISO 8601 with and without zones, mixed with what is neither."""
    rng = random.Random(seed)
    choices = [NUMBERS + TIMES, ["1", "20"], TIMES[2:3], TIMES[:1], ["1700000000.25", "5"], TIMES][seed % 6]
    texts = [rng.choice(choices) for _ in range(100)]
    values, is_bad = moments(pa.array(texts, pa.string()), unit)
    bad = np.zeros(100, bool) if is_bad is None else is_bad
    assert [None if b else v for v, b in zip(values.tolist(), bad, strict=True)] == [
        plain_moment(text, unit) for text in texts
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime(2026, 3, 1, 10, tzinfo=UTC), None], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([datetime(2026, 3, 1, 10), None], pa.timestamp("s")),
        pa.array([1772359200, None], pa.int64()),
        pa.array([1772359200.0, np.nan]),
        pa.array([Decimal("1772359200.0"), None]),
        pa.array([1772359200, 2**64 - 1], pa.uint64()),
    ],
    ids=["nanoseconds", "seconds", "integers", "floats", "decimals", "unsigned"],
)
def test_moments_of_other_types(column: pa.Array) -> None:
    """2026-03-01T10:00:00Z is second 1 772 359 200; what follows it is not a moment."""
    values, is_bad = moments(column, "s")
    assert values[0] == 1_772_359_200_000_000
    assert is_bad is not None
    assert is_bad.tolist() == [False, True]


@pytest.mark.parametrize("text", [text for text in NUMBERS + TIMES + ["2026-03-01T10Z", "2026-03-01 10"] if text])
def test_what_a_value_is_does_not_depend_on_its_neighbours(text: str) -> None:
    """Columns of one form are parsed at once, mixed ones row by row: both find the same in a value."""
    for unit in ("s", "ns"):
        alone, mixed = (moments(pa.array(column), unit) for column in ([text], [text, "yesterday"]))
        assert (alone[1] is None or not alone[1][0]) == (mixed[1] is not None and not mixed[1][0])
        assert alone[0][0] == mixed[0][0]
        assert (None if alone[1] is not None else alone[0][0]) == plain_moment(text, unit)
    numbers = whole_numbers(pa.array([text])), whole_numbers(pa.array([text, "x"]))
    assert [plain_number(text)] * 2 == [
        "missing"
        if n.is_missing is not None and n.is_missing[0]
        else "bad"
        if n.is_bad is not None and n.is_bad[0]
        else n.values[0]
        for n in numbers
    ]


def test_days_are_moments() -> None:
    """A date is its midnight in UTC."""
    values, is_bad = moments(pa.array([date(1970, 1, 2)]), "s")
    assert (values.tolist(), is_bad) == ([86_400_000_000], None)


def test_ids_keep_their_bytes() -> None:
    """A replacement character is valid text; bytes that are not UTF-8 are marked; null and empty are missing."""
    column = pa.array([b"a", b"\xff", "\ufffd".encode(), b"", None, b"a"], pa.binary()).cast(pa.string(), safe=False)
    for stored in (column, column.dictionary_encode(), column.cast(pa.binary())):
        encoded = ids(stored)
        assert encoded.rows_where(encoded.is_missing).tolist() == [False, False, False, True, True, False]
        assert encoded.rows_where(encoded.is_undecodable).tolist() == [False, True, False, False, False, False]
        assert encoded.codes[0] == encoded.codes[5]
    whole = ids(pa.array([1, 2**64 - 1], pa.uint64()))
    assert whole.names.to_pylist() == ["1", str(2**64 - 1)]
    assert whole.rows_where(whole.is_missing) is None
