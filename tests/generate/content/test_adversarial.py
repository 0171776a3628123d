"""The difficult workload of Yu, Agarwal, Yang (section VI): Table III, and how good a plan of it can be."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.generate import content_adversarial, generate
from pubplan.workload import least_load

TABLE_III = {
    (1, 2, 4, 5, 7, 8): {1, 2},
    (3, 9): {1, 3},
    (6,): {2, 3},
    (10, 11, 12): {1, 2, 3},
}
"""Interests, and the brokers that their clients may use, for three boxes and three brokers."""


def candidates(boxes: int, num_brokers: int) -> list[set[int]]:
    """Brokers (from 1) that are near to the clients of each square."""
    latencies = content_adversarial((boxes + 1) * num_brokers, num_brokers, boxes).sites.latencies
    return [set((np.flatnonzero(row == row.min()) + 1).tolist()) for row in latencies]


def test_candidates_are_those_of_table_iii() -> None:
    """For three boxes and three brokers, square by square."""
    expected = {interest: brokers for interests, brokers in TABLE_III.items() for interest in interests}
    assert candidates(3, 3) == [expected[interest] for interest in range(1, 13)]


@pytest.mark.parametrize(("boxes", "num_brokers"), [(2, 2), (3, 10), (5, 4)])
def test_everybody_can_have_the_brokers_of_its_run(boxes: int, num_brokers: int) -> None:
    """Squares up to a n have two brokers, one of them that of their run of a + 1 squares; later ones may have all."""
    for square, brokers in enumerate(candidates(boxes, num_brokers)):
        assert square // (boxes + 1) + 1 in brokers
        assert len(brokers) == (2 if square < boxes * num_brokers else num_brokers)


def test_squares_lie_on_the_diagonal() -> None:
    """Twelve unit squares, 10^((i mod 3) + 1) from square i to the next: 100, 1000, 10, 100, …"""
    clients = content_adversarial(24, 3).draw(0)
    corners = clients.lows[::2, 0]
    assert (clients.lows[:, 0] == clients.lows[:, 1]).all()
    assert (clients.highs == clients.lows + 1).all()
    assert np.diff(corners).tolist() == [100, 1000, 10, 100, 1000, 10, 100, 1000, 10, 100, 1000]
    assert clients.sites.tolist() == [square for square in range(12) for _ in range(2)]


def test_the_best_plan_has_369() -> None:
    """Every way to give each of three brokers four squares: a run of four costs 11 x 11 + 1 + 1 = 123, all three 369.

    Boxes around more than two squares that are not neighbours, or around two that are farther apart, are larger.
    """
    corners, allowed = content_adversarial(12, 3).draw(0).lows[:, 0].tolist(), candidates(3, 3)
    best = min(
        sum(three_boxes([corners[square] for square in range(12) if brokers[square] == broker]) for broker in (1, 2, 3))
        for brokers in product(*allowed)
        if all(brokers.count(broker) == 4 for broker in (1, 2, 3))
    )
    assert best == 369


def three_boxes(corners: list[int]) -> int:
    """The least volume of three boxes around four squares of the diagonal: the nearest two share one."""
    return min(second - first + 1 for first, second in pairwise(corners)) ** 2 + 2


def test_loads_must_be_exactly_even(tmp_path) -> None:
    """The least load factor is 1: everything fits, and only if every broker is full."""
    assert least_load(generate(content_adversarial(120, 10), tmp_path / "workload"), "0.3") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((35, 3), "num_clients must be a multiple of 12, not 35"),
        ((36, 3, 1), "boxes is a whole number from 2 to 5, not 1"),
        ((36, 3, 6), "boxes is a whole number from 2 to 5, not 6"),
        ((4, 1), "num_brokers must be at least 2"),
        ((60_000, 10_000, 5), "need a space that is too large"),
        ((0, 3), "num_clients is a whole number from 1"),
    ],
)
def test_wrong_sizes_are_refused(options: tuple[int, ...], said: str) -> None:
    """With a sentence that names the argument, or what does not fit."""
    with pytest.raises(InputError, match=said):
        content_adversarial(*options)
