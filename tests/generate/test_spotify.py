"""The Spotify shape has the published statistics.

Setty et al. (INFOCOM 2014) print counts, the mean rate and how plans fare; the quantiles of the tails are those of the
calibrated shape, pinned here so that they do not drift.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.generate import generate, spotify
from pubplan.problems.select import Problem, solve
from pubplan.workload import Workload


@pytest.fixture(scope="module")
def tenth(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return generate(spotify(0.1), tmp_path_factory.mktemp("tenth") / "workload")


def test_counts(tenth: Workload) -> None:
    """1.1 M topics, 4.9 M subscribers and about 12 M pairs at scale 1: exact, exact, and within 3 %."""
    assert tenth.counts.topics == 110_000
    assert tenth.counts.subscribers == 490_000
    assert tenth.counts.pairs == pytest.approx(1_200_000, rel=0.03)
    assert tenth.manifest.window.seconds == 10 * 24 * 3600


def test_rates(tenth: Workload) -> None:
    """A mean of 2763 events within 0.1 %, never 0, half the topics below 1000, one in a hundred above 25 000."""
    rates = tenth.topic_array("rate")
    assert rates.mean() == pytest.approx(2763, rel=0.001)
    assert rates.min() >= 1
    assert np.quantile(rates, [0.1, 0.5, 0.9, 0.99]) == pytest.approx([85, 703, 5830, 33_000], rel=0.05)


def test_interests(tenth: Workload) -> None:
    """2.4 topics per subscriber, most with one, a power-law tail: the 99th and 99.9th percentile are 21 and 113."""
    sizes = np.diff(tenth.csr().by_subscriber.offsets)
    assert sizes.min() >= 1
    assert sizes.mean() == pytest.approx(2.45, rel=0.03)
    assert (sizes == 1).mean() == pytest.approx(0.70, abs=0.01)
    assert np.quantile(sizes, [0.9, 0.99, 0.999]) == pytest.approx([4, 21, 113], rel=0.1)
    assert sizes.max() > 400


def test_popularity(tenth: Workload) -> None:
    """Every topic has a subscriber; one topic in a hundred holds more than half of all pairs."""
    audience = np.sort(np.diff(tenth.csr().by_topic.offsets))
    assert audience[0] >= 1
    assert audience[-1100:].sum() / audience.sum() == pytest.approx(0.58, abs=0.02)
    assert np.quantile(audience, [0.5, 0.9, 0.99, 0.999]) == pytest.approx([2, 10, 113, 1188], rel=0.1)
    assert 0.015 < audience[-1] / tenth.counts.subscribers <= 0.02


@pytest.fixture(scope="module")
def plans(tenth: Workload) -> dict[tuple[str, int], tuple[float, float]]:
    """By objective and threshold, which share of the subscribers a greedy plan at 10 % of the cost satisfies, and which
    share the paper's bound allows.
    """
    shares = {}
    for objective, threshold in product(("b3m", "fb3m"), (2, 27, 276, 2763)):
        result = solve(Problem(tenth, "10%", threshold, objective), bound="paper", verify=False)
        shares[objective, threshold] = (result.objective / 490_000, result.bounds["paper"] / 490_000)
    return shares


CALIBRATED = {
    ("b3m", 2): (0.7557, 0.9157),
    ("b3m", 27): (0.7507, 0.9155),
    ("b3m", 276): (0.6988, 0.9005),
    ("b3m", 2763): (0.5705, 0.7230),
    ("fb3m", 2): (0.7557, 0.9157),
    ("fb3m", 27): (0.7535, 0.9155),
    ("fb3m", 276): (0.7242, 0.9005),
    ("fb3m", 2763): (0.6207, 0.7230),
}
"""What the shape was calibrated to give, at scale 0.1 with seed 0."""


def test_plans_do_not_drift(plans) -> None:
    """Satisfied shares and bounds are those of the calibrated shape, within a thousandth."""
    for key, expected in CALIBRATED.items():
        assert plans[key] == pytest.approx(expected, abs=0.001), key


def test_shares_of_the_bound_fall_and_rise_as_in_the_paper(plans) -> None:
    """Fig. 3 of the paper has 0.87, 0.83, 0.75 and 0.82 for B3M: down to tau = 276, then up.

    Ours fall by 0.005 and 0.044 and rise by 0.013, the paper's by 0.04, 0.08 and 0.07. F-B3M is above B3M, the more
    so the larger tau; 0.9 is its only number.
    """
    share = {key: satisfied / bound for key, (satisfied, bound) in plans.items()}
    assert share["b3m", 2] > share["b3m", 27] > share["b3m", 276] + 0.04
    assert share["b3m", 2763] > share["b3m", 276] + 0.01
    better = [share["fb3m", threshold] - share["b3m", threshold] for threshold in (2, 27, 276, 2763)]
    assert better == sorted(better)
    assert better[-1] == pytest.approx(0.08, abs=0.02)  # 0.9 - 0.82 in the paper


@pytest.mark.parametrize(("threshold", "printed"), [(2, 0.87), (27, 0.83), (276, 0.75), (2763, 0.82)])
def test_shares_of_the_bound_are_near_the_paper(plans, threshold: int, printed: float) -> None:
    """GreedyB3M reaches the paper's share of the paper's bound within 0.05; at tau = 2 it lacks 0.045."""
    satisfied, bound = plans["b3m", threshold]
    assert satisfied / bound == pytest.approx(printed, abs=0.05)


def test_three_quarters_are_satisfied(plans) -> None:
    """With threshold 27 GreedyB3M satisfies 72 % of the paper's subscribers and its bound allows 86 %; ours are 3 and 6
    points more.
    """
    satisfied, bound = plans["b3m", 27]
    assert satisfied == pytest.approx(0.72, abs=0.035)
    assert bound == pytest.approx(0.86, abs=0.06)


@pytest.mark.parametrize("scale", [0.0009, 1.1, 0, -1, float("nan")])
def test_scales_out_of_range_are_refused(scale: float) -> None:
    """0.001 to 1, and nothing else."""
    with pytest.raises(InputError, match="scale"):
        spotify(scale)


def test_the_smallest_scale_is_a_workload(tmp_path) -> None:
    """Scale 0.001 gives 1100 topics and 4900 subscribers, each with an interest."""
    smallest = generate(spotify(0.001), tmp_path / "workload")
    assert (smallest.counts.topics, smallest.counts.subscribers) == (1100, 4900)
    interests = smallest.csr()
    assert np.diff(interests.by_subscriber.offsets).min() >= 1
    assert np.diff(interests.by_topic.offsets).min() >= 1


def test_public_name() -> None:
    """The generators are reachable from the package."""
    assert pubplan.generate.spotify is spotify
