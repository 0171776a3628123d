"""Networks like those of Zhao and Wu (section VI): points, prices, quadratics, intervals and capacities."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.generate import content_exchange, generate
from pubplan.generate.content import exchange
from pubplan.workload import ContentWorkload

from .test_traffic import naive_demand


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> ContentWorkload:
    return generate(content_exchange(300, 12, seed=4), tmp_path_factory.mktemp("exchange") / "w")


def test_the_workload_is_whole(workload: ContentWorkload) -> None:
    """Every check passes; clients have sites of their own, and the density is what they publish."""
    workload.check()
    assert workload.counts.sizes == {"clients": 300, "brokers": 12, "sites": 300, "leaves": 12}
    assert workload.read_clients(0).sites.tolist() == list(range(300))
    assert workload.density is not None
    assert workload.published().tolist() == workload.density.tolist()
    assert workload.space.cells == (200,)


@pytest.mark.parametrize("ratio", ["1", "0.01", "1.23457", "40"])
def test_prices_are_distances(ratio: str) -> None:
    """ceil(10^4 x distance) between brokers, times the ratio between sites and brokers; latencies in us."""
    shape = content_exchange(30, 5, price_ratio=ratio)
    points, sites, times = shape.brokers.coordinates, shape.sites.coordinates, Fraction(ratio)

    def price(one: np.ndarray, other: np.ndarray, factor: Fraction) -> int:
        # The least whole P with P^2 >= (factor x distance / 10)^2: the side of 100,000 us costs 10,000.
        square = factor**2 * sum((int(a) - int(b)) ** 2 for a, b in zip(one, other, strict=True)) / 100
        root = math.isqrt(math.ceil(square))
        return root if root * root >= square else root + 1

    assert shape.links.tolist() == [[price(one, other, Fraction(1)) for other in points] for one in points]
    assert shape.sites.prices.tolist() == [[price(site, broker, times) for broker in points] for site in sites]
    assert shape.sites.latencies.tolist() == [
        [price(site, broker, Fraction(10)) for broker in points] for site in sites
    ]


def test_capacities_are_twice_the_demand(workload: ContentWorkload, tmp_path: Path) -> None:
    """Of what clients send and receive, by the definitions; rounded up to equal whole capacities."""
    shape = content_exchange(300, 12, seed=4)
    _, _, demand = naive_demand(shape.space, shape.draw(0), shape.publish(0))
    assert workload.brokers.capacities.tolist() == [-(-2 * demand // 12)] * 12
    tight = generate(content_exchange(300, 12, seed=4, capacity_factor="1.1"), tmp_path / "w")
    assert tight.brokers.capacities.tolist() == [math.ceil(Fraction(11, 10) * demand / 12)] * 12


def test_quadratics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against coefficients in exact fractions, in two attributes; the rows at once do not matter."""
    shape = content_exchange(40, 3, seed=1, dimensions=2, cells=6)
    published = shape.publish(0)
    coefficients = exchange.random_stream(1, "content-exchange/publications", 0).integers(-1000, 1001, (40, 6))
    middles = [Fraction(2 * cell + 1 - 6, 6) for cell in range(6)]
    for client in range(40):
        one, first, second, square, product, other = (Fraction(int(value), 1000) for value in coefficients[client])
        values = [
            one + first * x + second * y + square * x * x + product * x * y + other * y * y
            for x in middles
            for y in middles
        ]
        sign = 1 if max(values) * 20 >= 1 else -1
        expected = {cell: math.floor(20 * sign * value) for cell, value in enumerate(values) if sign * value * 20 >= 1}
        part = slice(*published.offsets[client : client + 2])
        assert dict(zip(published.cells[part].tolist(), published.counts[part].tolist(), strict=True)) == expected
    monkeypatch.setattr(exchange, "VALUES_AT_ONCE", 36 * 7)
    again = shape.publish(0)
    assert all((one == other).all() for one, other in zip(published, again, strict=True))


def test_almost_everybody_publishes() -> None:
    """A quadratic that rounds to nothing is rare; others are positive everywhere, or in a small part of the space."""
    lengths = np.diff(content_exchange(20_000, 3).publish(0).offsets)
    assert (lengths == 0).mean() < 0.002
    assert 0.2 < (lengths == 200).mean() < 0.6
    assert (lengths < 100).mean() > 0.1


def test_random_intervals() -> None:
    """Between two different lines, all pairs equally likely: the width is a third of the space on average."""
    drawn = content_exchange(20_000, 3).draw(0)
    widths = (drawn.highs - drawn.lows)[:, 0]
    assert widths.min() >= 1
    # The mean of 20,000 widths with deviation 0.236 is within 0.0017 x 4 of a third.
    assert widths.mean() / 20_000 == pytest.approx(1 / 3, abs=0.007)
    narrow = content_exchange(5000, 3, cells=1).draw(0)  # 100 lines: all 5050 intervals have the same chance
    assert narrow.lows.min() == 0
    assert narrow.highs.max() == 100


def test_niches_have_one_width() -> None:
    """2 % of 20,000 steps are 400, along both attributes where there are two."""
    drawn = content_exchange(500, 3, niche="2%").draw(0)
    assert np.unique(drawn.highs - drawn.lows).tolist() == [400]
    drawn = content_exchange(500, 3, niche="10%", dimensions=2).draw(0)
    assert np.unique(drawn.highs - drawn.lows).tolist() == [140]
    assert drawn.lows.shape == (500, 2)


def test_groups_share_subscriptions() -> None:
    """With 7 groups there are 7 different subscriptions, in all blocks the same."""
    shape = content_exchange(70_000, 3, groups=7)
    both = [np.hstack([drawn.lows, drawn.highs]) for drawn in (shape.draw(0), shape.draw(1))]
    assert len(np.unique(both[0], axis=0)) == 7
    assert len(np.unique(np.vstack(both), axis=0)) == 7


def test_sites_are_shared_where_there_are_fewer() -> None:
    """Clients draw one of the sites."""
    shape = content_exchange(500, 3, num_sites=20)
    assert len(shape.sites.ids) == 20
    assert set(shape.draw(0).sites.tolist()) == set(range(20))
    assert len(content_exchange(10_500, 3).sites.ids) == 10_000


def test_assign_plans_it(workload: ContentWorkload) -> None:
    """Latencies are distances from a publisher in the middle: a plan with some delay is found and verified."""
    problem = pubplan.assign.Problem(workload, max_delay="0.5", load="6", max_load="6")
    result = pubplan.assign.solve(problem, "gr-star")
    assert pubplan.assign.verify(problem, result.plan).ok


def test_seeds_and_options_change_the_workload(workload: ContentWorkload, tmp_path: Path) -> None:
    """The same seed gives the same digest, everything else another one."""
    assert generate(content_exchange(300, 12, seed=4), tmp_path / "same").digest == workload.digest
    others = [{"seed": 5}, {"price_ratio": "2"}, {"niche": "5%"}, {"groups": 9}, {"capacity_factor": "3"}]
    digests = {
        generate(content_exchange(300, 12, **{"seed": 4} | option), tmp_path / str(number)).digest
        for number, option in enumerate(others)
    }
    assert len(digests | {workload.digest}) == 6


def test_blocks_are_the_same_on_spark(tmp_path: Path, spark) -> None:
    """Two blocks, drawn by tasks and by threads."""
    shape = content_exchange(66_000, 4, cells=10, num_sites=50)
    assert generate(shape, tmp_path / "here").digest == generate(shape, tmp_path / "there", spark=spark).digest


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_brokers": 2001}, "num_brokers is a whole number from 1 to 2,000"),
        ({"num_sites": 0}, "num_sites is a whole number from 1 to"),
        ({"dimensions": 4}, "dimensions is a whole number from 1 to 3"),
        ({"cells": 101, "dimensions": 2}, "cells is a whole number from 1 to 100"),
        ({"groups": 11}, "groups is a whole number from 1 to 10"),
        ({"price_ratio": "0"}, "price_ratio is a decimal number above 0"),
        ({"price_ratio": "100001"}, "price_ratio is at most 100,000"),
        ({"capacity_factor": "much"}, "capacity_factor is a decimal number above 0"),
        ({"niche": "0.02"}, "niche is a share of the space such as 2%, not '0.02'. Did you mean '2%'"),
        ({"niche": "0%"}, "niche is a share of the space"),
    ],
)
def test_refusals(options: dict[str, object], sentence: str) -> None:
    """Sizes out of range and unreadable numbers, by the name of the argument."""
    with pytest.raises(InputError, match=sentence):
        content_exchange(**{"num_clients": 10, "num_brokers": 4} | options)
