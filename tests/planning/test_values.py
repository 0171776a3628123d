"""Exact numbers, bounds and gaps."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import Violation
from pubplan.planning import Exact, Verdict, gap, tightest


@given(st.integers(-(2**70), 2**70), st.sampled_from([1, 3, 2**32]))
def test_rounding_is_to_the_safe_side(value: int, scale: int) -> None:
    """The float is never on the wrong side of the exact number, and next to it."""
    exact = Exact(value, scale)
    up, down = exact.rounded_up(), exact.rounded_down()
    assert Fraction(down) <= exact.fraction <= Fraction(up)
    assert up <= math.nextafter(down, math.inf)


def test_the_gap_is_relative_to_the_bound() -> None:
    """|objective - bound| / bound for both senses; 0 when both are 0; None without a bound."""
    assert gap(Exact(90), Exact(100)) == pytest.approx(0.1)
    assert gap(Exact(110), Exact(100)) == pytest.approx(0.1)
    assert gap(Exact(0), Exact(0)) == 0.0
    assert gap(Exact(1), Exact(0)) is None
    assert gap(Exact(1), None) is None


def test_the_tightest_bound_depends_on_the_sense() -> None:
    """The smallest upper bound, the largest lower bound."""
    bounds = {"a": Exact(7, 2), "b": Exact(3)}
    assert tightest(bounds, "max") == Exact(3)
    assert tightest(bounds, "min") == Exact(7, 2)
    assert tightest({}, "max") is None


def test_a_verdict_is_ok_without_violations() -> None:
    """Any violation makes it fail, and is listed."""
    assert Verdict(Exact(1)).ok
    failed = Verdict(Exact(1), (Violation("capacity exceeded", "here", stated=5, expected=4),))
    assert not failed.ok
    assert failed.to_dict()["violations"] == [
        {"fault": "capacity exceeded", "where": "here", "cases": None, "stated": 5, "expected": 4}
    ]


def test_nothing_rounds_to_plain_zero() -> None:
    """JSON would show the sign of -0.0."""
    assert str(Exact(0, 10**6).rounded_down()) == str(Exact(0, 10**6).rounded_up()) == "0.0"
