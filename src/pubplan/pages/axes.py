"""Axes that people can read: ticks at whole numbers, shares that begin where they differ, numbers without exponents."""

from __future__ import annotations

from math import ceil, floor, log10

SHORT_NUMBER = "datum.value < 1 ? format(datum.value, '~g') : replace(format(datum.value, '~s'), 'G', 'B')"
"""A Vega expression: 0, 0.1, 500, 1.5k, 2M, 3B."""

PLAIN_SHARE = "format(datum.value, '~%')"
"""A Vega expression: 0.01%, 10%, 100%."""

PLAIN_NUMBER = "format(datum.value, ',.6~r')"
"""A Vega expression: 0.000001, 0.5, 20, 1,000; never with an exponent."""

NUM_TICKS = 5
"""Of axes; scales are rounded to the same number, so that the highest value lies below a tick."""

_STEPS = (1, 2, 5)

MAX_LOG_TICKS = 9


def whole_ticks(least: int, most: int, number: int = 8) -> list[int]:
    """Whole numbers from ``least`` to ``most``, about ``number``: all of a short range, else multiples of a step."""
    step = next(
        digit * 10**power for power in range(19) for digit in _STEPS if most - least < number * digit * 10**power
    )
    first = -(-least // step) * step
    ticks = list(range(first, most + 1, step))
    if least < first and first - least >= step / 2:
        ticks.insert(0, least)
    return ticks or [least]


def log_ticks(least: float, most: float) -> list[float]:
    """Ticks of a logarithmic axis around all from ``least`` > 0 to ``most``: 1, 2, 5, 10 …, or powers of 10 if many."""
    powers = range(floor(log10(least)) - 1, ceil(log10(most)) + 2)
    ticks: list[float] = []
    for digits in (_STEPS, _STEPS[:1]):
        marks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        first = max(at for at, mark in enumerate(marks) if mark <= least)
        last = next(at for at, mark in enumerate(marks) if mark >= most and at > first)
        ticks = marks[first : last + 1]
        if len(ticks) <= MAX_LOG_TICKS:
            break
    return ticks


def least_share(shares: list[float]) -> float:
    """Where an axis of shares up to 1 begins, so that good ones differ: one of 0, 0.5, 0.8, 0.9, 0.95, 0.98 …"""
    missing = 1 - min(shares, default=0.0)
    spans = [digit / 10**power for power in range(3, 0, -1) for digit in _STEPS]
    return round(1 - next((span for span in spans if missing <= span), 1.0), 3)
