"""Money on screen: parts add up to what is written as their sum."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.text import (
    ceiling,
    decimals_down,
    decimals_up,
    digits_down,
    digits_up,
    dollars_down,
    dollars_proven,
    dollars_up,
    percent,
    split_above,
    split_changes,
    split_dollars,
)

MICROS = st.one_of(st.integers(0, 30_000), st.integers(0, 10**12))
BILLS = st.lists(MICROS, min_size=3, max_size=3)
CENT = Decimal("0.01")


def amount(text: str) -> Decimal:
    """What a text such as $1,234.50 or -$0.03 says."""
    return Decimal(text.replace("$", "").replace(",", ""))


@given(st.lists(MICROS, max_size=6))
def test_parts_add_up_to_their_sum(parts: list[int]) -> None:
    """The sum is rounded up, and every part is less than a cent from what it is."""
    *shown, total = split_dollars(parts)
    assert total == dollars_up(sum(parts))
    assert sum(map(amount, shown)) == amount(total)
    for part, text in zip(parts, shown, strict=True):
        assert abs(amount(text) - Decimal(part).scaleb(-6)) < CENT
        assert part % 10_000 or amount(text) == Decimal(part).scaleb(-6)


@given(BILLS, BILLS)
def test_changes_add_up_with_both_bills(old: list[int], new: list[int]) -> None:
    """In every row before + change = after, and the last row is the sum of the others."""
    rows = [tuple(map(amount, row)) for row in split_changes(old, new)]
    assert all(before + change == after for before, after, change in rows)
    for column in zip(*rows, strict=True):
        assert sum(column[:-1]) == column[-1]
    for bill, column in ((old, 0), (new, 1)):
        for part, row in zip((*bill, sum(bill)), rows, strict=True):
            assert abs(row[column] - Decimal(part).scaleb(-6)) < CENT


@given(MICROS, BILLS)
def test_what_is_above_a_bound_adds_up(bound: int, parts: list[int]) -> None:
    """Bound and parts make the cost; a bound below the cost is not rounded up; nothing stays nothing."""
    proven, *above, cost = map(amount, split_above(bound, parts))
    assert proven + sum(above) == cost
    assert cost == amount(dollars_up(bound + sum(parts)))
    assert proven <= Decimal(bound).scaleb(-6) or proven == cost
    for part, shown in zip(parts, above, strict=True):
        assert abs(shown - Decimal(part).scaleb(-6)) < 2 * CENT
        assert part or shown == 0


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([36_000_000, 36_500, 162_500], ["$36.00", "$0.04", "$0.16", "$36.20"]),  # 36.199: a cent for the larger rest
        ([300_000, 5_000, 4_000], ["$0.30", "$0.01", "$0.00", "$0.31"]),
        ([3_000, 550, 3_900], ["$0.003000", "$0.000550", "$0.003900", "$0.007450"]),
        ([0, 0, 0], ["$0.00", "$0.00", "$0.00", "$0.00"]),
    ],
)
def test_bills(parts: list[int], shown: list[str]) -> None:
    """Bills of which each figure by itself would be rounded up."""
    assert split_dollars(parts) == shown


def test_changes_of_a_bill() -> None:
    """$0.035 falls to $0.001: each bill is rounded up, and the change is what lies between the two on screen."""
    assert split_changes([10_000_000, 35_000], [10_000_000, 1_000]) == [
        ("$10.00", "$10.00", "+$0.00"),
        ("$0.04", "$0.01", "-$0.03"),
        ("$10.04", "$10.01", "-$0.03"),
    ]


def test_a_bound_that_is_met() -> None:
    """A cost of $253.837661 that is its own bound is not a cent above it; another bound is rounded down."""
    assert dollars_proven(253_837_661, 253_837_661) == dollars_up(253_837_661) == "$253.84"
    assert dollars_proven(253_837_660, 253_837_661) == dollars_down(253_837_660) == "$253.83"
    assert split_above(253_837_661, [0, 0, 0]) == ["$253.84", "$0.00", "$0.00", "$0.00", "$253.84"]


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0.0, "0", "0"),
        (7 / 12, "0.584", "0.583"),
        (1.1, "1.1", "1.1"),
        (2.0, "2", "2"),
        (12.341, "12.4", "12.3"),
        (123456.2, "123,457", "123,456"),
        (0.000012345, "0.0000124", "0.0000123"),
    ],
)
def test_three_digits(value: float, up: str, down: str) -> None:
    """Never better than they are, never as a power of ten, and no digit that multiplying made up."""
    assert (digits_up(value), digits_down(value)) == (up, down)


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0.0, "0", "0"),
        (36.2, "36.20", "36.20"),  # 36.2 * 100 is more than 3620 in floating point
        (253.837661, "253.84", "253.83"),
        (1234.999, "1,235", "1,234.99"),
        (0.0000123, "0.000013", "0.000012"),
        (10**20, "100,000,000,000,000,000,000", "100,000,000,000,000,000,000"),
    ],
)
def test_two_decimals(value: float, up: str, down: str) -> None:
    """Never better than they are, and no digit that multiplying made up."""
    assert (decimals_up(value), decimals_down(value)) == (up, down)


@pytest.mark.parametrize(
    ("bound", "reached", "shown"),
    [
        (3758.74, 3747.0, "3,758.8"),
        (1.50015, 1.5, "1.5002"),  # 1.6 would be far from a plan that is within 0.01 % of it
        (2.0, 2.0, "2"),
        (0.00001, 0.0, "0.00001"),
        (0.1, 0.1, "0.1"),
    ],
)
def test_bounds_are_as_near_as_they_are(bound: float, reached: float, shown: str) -> None:
    """Rounding moves a bound away from a plan by less than the two are apart, and never below itself."""
    assert ceiling(bound, reached) == shown


def test_very_little_is_not_nothing() -> None:
    """0.03 % of a VM is not 0.0 % of it."""
    assert [percent(share) for share in (0.0, 0.0003, 0.0006, 0.5, 1.0)] == [
        "0.0 %",
        "under 0.1 %",
        "0.1 %",
        "50.0 %",
        "100.0 %",
    ]


def test_small_bills_are_split_to_the_micro_dollar() -> None:
    """Where cents begin is up to the caller; fractions of micro-dollars are rounded up in the sum, and still add up."""
    parts = [Fraction(31, 2), Fraction(61, 3)]  # 15.5 + 20.33 = 35.83 micro-dollars
    assert split_dollars(parts) == ["$0.000016", "$0.000020", "$0.000036"]
    assert split_dollars([17_277, 500_000]) == ["$0.02", "$0.50", "$0.52"]
    assert split_dollars([17_277, 500_000], cents_from=10**6) == ["$0.017277", "$0.500000", "$0.517277"]
    assert dollars_up(Fraction(1, 3)) == "$0.000001"
