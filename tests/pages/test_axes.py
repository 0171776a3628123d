"""Ticks: enough to read values off, at numbers that people know."""

from __future__ import annotations

import pytest

from pubplan.pages.axes import MAX_LOG_TICKS, least_share, log_ticks, whole_ticks
from pubplan.pages.lines import LOG_SCALE_RATIO, Axis, Mark, are_far_apart, has_lines, lines_spec


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (13, 33, [10, 20, 50]),
        (1, 10, [1, 2, 5, 10]),
        (0.3, 0.3, [0.2, 0.5]),
        (5, 5, [5, 10]),
        (1, 100_000, [1, 10, 100, 1000, 10_000, 100_000]),
        (0.00002, 1, [0.00001, 0.0001, 0.001, 0.01, 0.1, 1]),
    ],
)
def test_logarithmic_ticks_enclose_all_values(least: float, most: float, ticks: list[float]) -> None:
    """The first is not above the least, the last not below the most; 1, 2, 5 while there is room, else powers of 10."""
    assert log_ticks(least, most) == ticks
    assert len(ticks) <= MAX_LOG_TICKS


def test_whole_ticks_are_whole() -> None:
    """Two VMs have the ticks 1 and 2; a hundred have multiples of 20, and 1 where they begin."""
    assert whole_ticks(1, 2) == [1, 2]
    assert whole_ticks(1, 100) == [1, 20, 40, 60, 80, 100]


def test_shares_begin_near_the_smallest() -> None:
    """0.97 is told from 0.99 on an axis from 0.95."""
    assert least_share([0.99, 0.97]) == 0.95
    assert least_share([0.3]) == 0


def test_axes_end_at_a_tick() -> None:
    """Scales are rounded to as many steps as there are ticks, so that the highest value has a tick above it."""
    y = lines_spec([Mark("a", 1, 0.024)], Axis("x"), Axis("y"))["layer"][0]["encoding"]["y"]
    assert y["scale"]["nice"] == y["axis"]["tickCount"]


def test_a_line_has_two_points() -> None:
    """Two methods at one threshold each are dots; one at two thresholds is a line."""
    assert not has_lines(["a", "b"], [1, 2])
    assert not has_lines(["a", "a"], [1, 1])
    assert has_lines(["a", "a", "b"], [1, 2, 1])


def test_small_values_stay_apart() -> None:
    """0.1 s beside 2000 s needs a logarithmic scale; 0 has no place on one."""
    assert are_far_apart([Mark("a", 1, 0.1), Mark("b", 1, 2000)])
    assert not are_far_apart([Mark("a", 1, 1), Mark("b", 1, LOG_SCALE_RATIO)])
    assert not are_far_apart([Mark("a", 1, 0), Mark("b", 1, 2000)])
    assert not are_far_apart([])
