"""Numbers, shares, durations and rates as people write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pubplan.quantities import duration_text, read_rate, share_fraction, share_hint, share_text


@pytest.mark.parametrize(("text", "share"), [("10%", "10%"), (" 2.5 % ", "2.5%"), ("150%", "150%")])
def test_shares_have_one_form(text: str, share: str) -> None:
    """Spaces do not matter; the number stays as it was written."""
    assert share_text(text) == share
    assert share_fraction(share) == Fraction(share[:-1]) / 100


@pytest.mark.parametrize("value", ["10", "0.1", 0.1, 10, None, "%", "ten%", "-5%", "1e1%", "1,5%"])
def test_a_share_has_a_percent_sign(value: object) -> None:
    """A number alone is not a share: it could be one in a hundred or all."""
    assert share_text(value) is None


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("0.05", " Did you mean '5%'?"),
        (0.1, " Did you mean '10%'?"),
        ("60", " Did you mean '60%'?"),
        (1, " Did you mean '1%'?"),
    ]
    + [(value, "") for value in ("0", "-1", "101", "much", None, True, "nan", 10**400)],
)
def test_numbers_get_a_hint_at_the_share(value: object, hint: str) -> None:
    """Below one they are read as fractions, up to a hundred as percentages; for others nothing is guessed."""
    assert share_hint(value) == hint


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10d", "864000"),
        ("10 d", "864000"),
        ("36h", "129600"),
        ("2w", "1209600"),
        ("1.5h", "5400.0"),
        ("90 min", "5400"),
        ("30s", "30"),
        ("1800", "1800"),
        (1800, "1800"),
        (0.5, "0.5"),
    ],
)
def test_durations_are_exact_seconds(value: object, seconds: str) -> None:
    """Weeks, days, hours, minutes and seconds; a number alone counts seconds."""
    assert duration_text(value) == seconds


@pytest.mark.parametrize("value", ["", "d", "a week", "1 month", "-1d", "1m", True, None, "1d 2h"])
def test_what_is_no_duration(value: object) -> None:
    """Nothing is guessed: m could be minutes or months."""
    with pytest.raises(ValueError, match=r"^$"):
        duration_text(value)


@pytest.mark.parametrize(
    ("text", "amount", "of", "shown"),
    [
        ("1200 msg/s", 1200, "messages", "1200 msg/s"),
        ("1,200 messages/s", 1200, "messages", "1200 msg/s"),
        ("1.2k msg/s", 1200, "messages", "1200 msg/s"),
        ("64 Mbit/s", 8_000_000, "bytes", "64 Mbit/s"),
        ("64mbit/s", 8_000_000, "bytes", "64 Mbit/s"),
        ("1 bit/s", Fraction(1, 8), "bytes", "1 bit/s"),
        ("8 MB/s", 8_000_000, "bytes", "8 MB/s"),
        ("0.5 GB/s", 500_000_000, "bytes", "0.5 GB/s"),
        ("3 KB/s", 3000, "bytes", "3 kB/s"),
        ("7 B/s", 7, "bytes", "7 B/s"),
    ],
)
def test_rates(text: str, amount: Fraction | int, of: str, shown: str) -> None:
    """Messages, bits and bytes per second: 1 MB = 10^6 bytes, 8 bits to a byte; read again they are the same."""
    rate = read_rate(text)
    assert rate is not None
    assert (rate.amount, rate.of, rate.text) == (amount, of, shown)
    assert read_rate(rate.text) == rate


@pytest.mark.parametrize("text", ["64", "64 Mb/s", "8 mb/s", "-1 msg/s", "msg/s", "5 topics/s", "5%/s", 64, None])
def test_what_is_no_rate(text: object) -> None:
    """Mb may be bits or bytes; it is neither here."""
    assert read_rate(text) is None
