"""Numbers of any kind of column are rounded to whole units exactly, as decimal arithmetic does it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.pipeline.decimals import MAX_SCALED, decimals, extreme

DIGITS = st.integers(-3, 17)
WRITTEN = st.one_of(
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,20}", fullmatch=True),
    st.from_regex(r"[+-]?[0-9]{1,5}(\.[0-9]{0,5})?[eE][+-]?[0-9]{1,3}", fullmatch=True),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
)
UNREADABLE = [
    "x",
    "1_000",
    "0x10",
    "1,5",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "1e",
    "--1",
    "1 2",
    "١٢",
    "1e99999999999999999999",
]


def expected(text: str, digits: int) -> tuple[int, bool]:
    """The number x 10^digits rounded down, and whether that is less than the number."""
    exact = Fraction(Decimal(text)) * Fraction(10) ** digits
    if abs(exact) >= MAX_SCALED:
        return (MAX_SCALED if exact > 0 else -MAX_SCALED), False
    return math.floor(exact), exact != math.floor(exact)


@given(st.lists(WRITTEN, min_size=1, max_size=20), DIGITS)
def test_text_is_rounded_as_fractions_are(texts: list[str], digits: int) -> None:
    """Huge, tiny and negative numbers, exponents, signs and zeros, among each other in one column."""
    rounded = decimals(pa.array(texts), digits)
    assert rounded.is_bad is None
    assert rounded.is_missing is None
    pairs = zip(rounded.floors.tolist(), rounded.has_rest.tolist(), strict=True)
    assert list(pairs) == [expected(text, digits) for text in texts]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20), DIGITS)
def test_floats_are_the_decimals_they_are_printed_as(floats: list[float], digits: int) -> None:
    """Also subnormal ones and -0.0: Parquet and CSV of the same table mean the same."""
    rounded = decimals(pa.array(floats, pa.float64()), digits)
    assert rounded.floors.tolist() == [expected(repr(value), digits)[0] for value in floats]
    assert rounded.has_rest.tolist() == [expected(repr(value), digits)[1] for value in floats]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20), DIGITS)
def test_whole_numbers_are_rounded_like_their_text(numbers: list[int], digits: int) -> None:
    """All 64-bit integers, signed or not."""
    rounded = decimals(pa.array(numbers, pa.int64()), digits)
    assert rounded.floors.tolist() == [expected(str(number), digits)[0] for number in numbers]
    unsigned = decimals(pa.array([abs(number) for number in numbers], pa.uint64()), 0)
    assert unsigned.floors.tolist() == [expected(str(abs(number)), 0)[0] for number in numbers]


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=20), DIGITS)
def test_comparing_is_exact(pairs: list[tuple[str, str]], digits: int) -> None:
    """Numbers that round to the same unit, or to the same float, are still compared as they are written."""
    pairs = [
        *pairs,
        *((text, text) for text, _ in pairs),
        *((text, f"{text}1") for text, _ in pairs if "." in text and "e" not in text.lower()),
    ]
    left, right = (decimals(pa.array(texts), digits) for texts in zip(*pairs, strict=True))
    assert left.is_above(right).tolist() == [Decimal(a) > Decimal(b) for a, b in pairs]
    assert right.is_above(left).tolist() == [Decimal(a) < Decimal(b) for a, b in pairs]


@pytest.mark.parametrize("text", ["1e999999999", "-1e999999999", "1e-999999999", "-1e-999999999"])
def test_exponents_that_would_fill_the_memory(text: str) -> None:
    """A number with a billion digits costs nothing: it is beyond everything, or next to zero."""
    rounded = decimals(pa.array([text]), 3)
    floors = {"1e999999999": MAX_SCALED, "-1e999999999": -MAX_SCALED, "1e-999999999": 0, "-1e-999999999": -1}
    assert rounded.floors.tolist() == [floors[text]]
    assert rounded.has_rest.tolist() == ["e-" in text]


def test_what_is_not_a_number_is_marked() -> None:
    """Words, other alphabets, NaN and infinity are bad; nulls and empty texts are missing; blanks do not matter."""
    texts = [*UNREADABLE, None, "", "  ", " 7.5\t"]
    rounded = decimals(pa.array(texts), 0)
    assert np.flatnonzero(rounded.is_bad).tolist() == list(range(len(UNREADABLE)))
    assert np.flatnonzero(rounded.is_missing).tolist() == [len(UNREADABLE) + row for row in range(3)]
    assert (rounded.floors[-1], rounded.has_rest[-1]) == (7, True)
    floats = decimals(pa.array([math.nan, math.inf, -math.inf, None, 1.5]), 1)
    assert floats.is_bad.tolist() == [True, True, True, False, False]
    assert floats.is_missing.tolist() == [False, False, False, True, False]
    assert floats.floors[-1] == 15


@given(st.lists(WRITTEN, min_size=1, max_size=20), st.data())
def test_extremes_are_exact(texts: list[str], data: st.DataObject) -> None:
    """The least and the largest number of chosen rows, also where all of them round to the same float."""
    texts = [*texts, "0.1000000000000000055511151231257827", "0.1"]
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    numbers = [Decimal(text) for text, is_chosen in zip(texts, chosen, strict=True) if is_chosen]
    for choose in (min, max):
        assert extreme(pa.array(texts), chosen, choose) == (choose(numbers) if numbers else None)
    assert extreme(pa.array([3, -2, 9]), np.array([True, True, False]), max) == 3


@pytest.mark.parametrize(
    ("column", "floors"),
    [
        (pa.array([], pa.string()), []),
        (pa.array(["x"]), [0]),
        (pa.array([None], pa.null()), [0]),
        (pa.array([], pa.float64()), []),
        (pa.array(["7", "1.5", "2"]).slice(1), [150, 200]),
        (pa.array(["a", "1.5"]).dictionary_encode(), [0, 150]),
        (pa.array([b"2.25"], pa.binary()), [225]),
    ],
    ids=str,
)
def test_columns_of_all_shapes(column: pa.Array, floors: list[int]) -> None:
    """Empty ones, those without any number, slices, dictionaries and bytes."""
    assert decimals(column, 2).floors.tolist() == floors
