"""Sites in three regions, brokers placed stratified over them, latencies as distances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.generate.content.brokers import make_brokers
from pubplan.generate.content.network import Network, apportion, make_network, neighbour_order
from pubplan.workload import PUBLISHER
from pubplan.workload.content.distances import distances


@pytest.fixture(scope="module")
def network() -> Network:
    return make_network(2000, seed=3)


def test_regions_have_sites_as_4_1_4(network: Network) -> None:
    """2000 x 4 / 9 = 888.9, 2000 / 9 = 222.2: the two large remainders are rounded up."""
    assert np.bincount(network.regions).tolist() == [889, 222, 889]
    assert (np.diff(network.regions) >= 0).all()
    assert network.coordinates.shape == (2000, 5)


@pytest.mark.parametrize(
    ("number", "weights", "shares"),
    [(9, [4, 1, 4], [4, 1, 4]), (75, [4, 1, 4], [34, 8, 33]), (3, [4, 1, 4], [1, 1, 1]), (4, [4, 1, 4], [2, 1, 1])],
)
def test_apportion(number: int, weights: list[int], shares: list[int]) -> None:
    """Everything is given out, at least 1 to each; 33.3, 8.3 and 33.3 have equal remainders, and the first grows."""
    assert apportion(number, weights) == shares


def test_regions_are_apart(network: Network) -> None:
    """Regions are farther from each other than their sites from their middle; the publisher is in the small one."""
    centres = np.array([network.coordinates[network.regions == region].mean(axis=0) for region in range(3)])
    within = max(
        np.sqrt(((network.coordinates[network.regions == region] - centre) ** 2).sum(axis=1)).max()
        for region, centre in enumerate(centres)
    )
    between = min(np.linalg.norm(centres[i] - centres[j]) for i in range(3) for j in range(i))
    assert between > within
    assert np.argmin(np.linalg.norm(centres - network.publisher, axis=1)) == 1


def test_latencies_are_distances_rounded_up() -> None:
    """sqrt(9 + 16) = 5 stays, sqrt(2) becomes 2; large whole roots are not off by one."""
    points = np.array([[0, 0], [10**7, 0]])
    others = np.array([[3, 4], [1, 1], [10**7, 10**7], [0, 10**7 - 1]])
    expected = [
        [math.isqrt(s) + (math.isqrt(s) ** 2 < s) for s in row]
        for row in (((points[:, None] - others[None]) ** 2).sum(axis=2)).tolist()
    ]
    assert distances(points, others).tolist() == expected
    assert distances(points, others)[0, :2].tolist() == [5, 2]


def test_neighbours_follow_each_other() -> None:
    """Twenty points around each of five far centres, mixed: each group is one run of the order."""
    generator = np.random.default_rng(1)
    groups = np.repeat(np.arange(5), 20)
    points = (np.arange(5) * 10_000)[groups, None] + generator.integers(0, 100, (100, 3))
    mixed = generator.permutation(100)
    order = neighbour_order(points[mixed])
    assert sorted(order.tolist()) == list(range(100))
    assert np.count_nonzero(np.diff(groups[mixed][order])) == 4


def test_brokers_are_stratified(network: Network) -> None:
    """Whatever the number, each region has its share of the leaves within one: of 100 these are 44.4, 11.1 and 44.4."""
    for number in (9, 37, 100):
        brokers = make_brokers(network, number)
        regions = regions_of(network, brokers.coordinates)
        shares = np.bincount(regions, minlength=3) - number * np.array([4, 1, 4]) / 9
        assert np.abs(shares).max() <= 1
        assert (brokers.parents == PUBLISHER).all()
        assert (brokers.shares == 1).all()


def regions_of(network: Network, points: np.ndarray) -> np.ndarray:
    """The region of the site at each point."""
    return np.array([network.regions[(network.coordinates == point).all(axis=1)][0] for point in points])


@pytest.mark.parametrize(("number", "levels", "out_degree"), [(200, 2, 15), (200, 3, 5), (40, 2, 2), (9, 3, 15)])
def test_trees(network: Network, number: int, levels: int, out_degree: int) -> None:
    """Exactly the brokers asked for, all leaves on the last level, no broker with more children than allowed."""
    brokers = make_brokers(network, number, levels, out_degree)
    brokers.check()
    assert brokers.num_brokers == number
    assert set(brokers.levels[brokers.leaves].tolist()) == {levels}
    inner = brokers.parents[brokers.parents != PUBLISHER]
    assert np.bincount(inner).max() <= out_degree
    assert (brokers.shares == brokers.is_leaf).all()
    latencies = distances(brokers.coordinates, np.vstack([brokers.coordinates, network.publisher]))
    assert brokers.latencies.tolist() == latencies[np.arange(number), brokers.parents].tolist()


def test_trees_waste_no_brokers(network: Network) -> None:
    """Of 200 brokers with at most 15 children, 83 + 20 + 83 leaves need 6 + 2 + 6 that feed them."""
    brokers = make_brokers(network, 200, 2, 15)
    assert len(brokers.leaves) == 186


def test_children_are_of_one_region(network: Network) -> None:
    """A broker feeds brokers of its region only: a detour over an ocean would cost all the delay there is."""
    brokers = make_brokers(network, 200, 2, 15)
    regions = regions_of(network, brokers.coordinates[brokers.leaves])
    for parent in np.unique(brokers.parents[brokers.leaves]):
        assert len(set(regions[brokers.parents[brokers.leaves] == parent].tolist())) == 1


def test_more_leaves_than_sites() -> None:
    """Some sites have several brokers then."""
    assert make_brokers(make_network(5, seed=0), 20).num_brokers == 20


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((5, 3), "5 brokers are too few for 3 levels"),
        ((5, 0), "levels is a whole number from 1 to 5, not 0"),
        ((5, 6), "levels is a whole number from 1 to 5, not 6"),
        ((5, 1, 1), "out_degree is a whole number from 2 to 1,000, not 1"),
    ],
)
def test_wrong_trees_are_refused(network: Network, options: tuple[int, ...], said: str) -> None:
    """With a sentence that names the argument."""
    with pytest.raises(InputError, match=said):
        make_brokers(network, *options)


@pytest.mark.parametrize("number", [2, 100_001, True, 2.5])
def test_wrong_numbers_of_sites_are_refused(number: object) -> None:
    """Every region has at least one."""
    with pytest.raises(InputError, match="num_sites is a whole number from 3 to 100,000"):
        make_network(number, seed=0)  # type: ignore[arg-type]


def test_too_many_latencies_are_refused() -> None:
    """100 000 sites x 10 000 brokers would be a thousand million numbers."""
    with pytest.raises(InputError, match="fewer num_sites or num_brokers"):
        make_brokers(make_network(100_000, seed=0), 10_000)
