"""The Twitter shape has the published statistics.

Setty et al. (ICDCS 2014, section IV-B and Appendix D) print them for 8 M topics and 30 M subscribers. Numbers of topics
and subscribers shrink with the scale. Where a smaller scale changes more than that, the calibrated shape's value is
pinned here so that it does not drift; tests/soak checks the full scale.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.generate import generate, twitter
from pubplan.workload import Workload

SCALE = 0.02


@pytest.fixture(scope="module")
def fiftieth(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return generate(twitter(SCALE), tmp_path_factory.mktemp("fiftieth") / "workload")


def followings(workload: Workload) -> np.ndarray:
    return np.diff(workload.csr().by_subscriber.offsets)


def test_counts(fiftieth: Workload) -> None:
    """8 M topics, 30 M subscribers and 683.5 M pairs at scale 1: exact, exact, and within 1 %."""
    assert fiftieth.counts.topics == 160_000
    assert fiftieth.counts.subscribers == 600_000
    assert fiftieth.counts.pairs == pytest.approx(683.5e6 * SCALE, rel=0.01)
    assert fiftieth.manifest.window.seconds == 10 * 24 * 3600


def test_rates(fiftieth: Workload) -> None:
    """455 M events within 1 %, never 0, half the topics below 10, 46 000 of 8 M above 1000."""
    rates = fiftieth.topic_array("rate")
    assert rates.sum() == pytest.approx(455e6 * SCALE, rel=0.01)
    assert rates.min() >= 1
    assert (rates < 10).mean() == pytest.approx(0.5, abs=0.01)
    assert (rates > 1000).sum() == pytest.approx(46_000 * SCALE, rel=0.01)


def test_followings(fiftieth: Workload) -> None:
    """Every subscriber follows somebody, 22.8 topics on average, 550 of 30 M more than 10^4."""
    sizes = followings(fiftieth)
    assert sizes.min() >= 1
    assert sizes.mean() == pytest.approx(22.8, rel=0.01)
    assert (sizes > 10_000).sum() == pytest.approx(550 * SCALE, abs=1)


def test_many_follow_20(fiftieth: Workload) -> None:
    """At 20 followings there are more than three times as many subscribers as on either side."""
    counts = np.bincount(followings(fiftieth), minlength=22)
    assert counts[20] > 3 * max(counts[19], counts[21])


def test_followings_pile_up_at_2000(fiftieth: Workload) -> None:
    """Many more stop at 2000 or just before than go on; beyond, the distribution falls faster than before."""
    sizes = followings(fiftieth)
    before, at, after = ((sizes > low).sum() - (sizes > low + 100).sum() for low in (1700, 1900, 2000))
    assert at > 3 * before
    assert at > 5 * after
    reach = {size: (sizes > size).sum() for size in (125, 500, 2000, 8000)}
    assert np.log(reach[125] / reach[500]) / np.log(4) < 1.5
    assert np.log(reach[2000] / reach[8000]) / np.log(4) > 2


def test_followers(fiftieth: Workload) -> None:
    """Every topic has a follower; at scale 0.02 about 3200 of 8 M have more than 10^4, and the first nearly a tenth."""
    audience = fiftieth.topic_array("subscribers")
    assert audience.min() >= 1
    assert np.median(audience) == pytest.approx(22, abs=2)
    assert (audience > 10_000).sum() == pytest.approx(3200 * SCALE, rel=0.1)
    assert 0.08 < audience.max() / fiftieth.counts.subscribers < 0.102


def test_rates_rise_and_fall_with_the_audience(fiftieth: Workload) -> None:
    """The mean rate grows with every step of followers up to the celebrities, who publish less than half of that.

    At scale 0.02 audiences of 10^5 are squeezed to about 38 000, those of 10^6 to 57 000.
    """
    rates, audience = fiftieth.topic_array("rate"), fiftieth.topic_array("subscribers")
    steps = [1, 10, 100, 1000, 10_000, 38_000]
    means = [rates[(audience >= low) & (audience < high)].mean() for low, high in pairwise(steps)]
    assert means == sorted(means)
    assert means[-1] > 5 * means[0]
    assert rates[audience >= 45_000].mean() < means[-1] / 2


def test_events_received(fiftieth: Workload) -> None:
    """7.4 % of the subscribers receive more than 7000 events; with the full audiences of scale 1 it is a tenth."""
    interests = fiftieth.csr().by_subscriber
    received = np.add.reduceat(fiftieth.topic_array("rate")[interests.values], interests.offsets[:-1])
    assert (received > 7000).mean() == pytest.approx(0.074, abs=0.003)


def test_rows_are_ascending_and_exact() -> None:
    """Topics of a subscriber ascend without repeats, as many as the law says, whatever block is drawn first."""
    shape = twitter(0.005)
    blocks = {block: shape.draw(block) for block in (2, 0, 1)}
    for block, (offsets, topics) in blocks.items():
        steps = np.diff(topics)
        steps[offsets[1:-1] - 1] = 1  # from one subscriber to the next
        assert (steps > 0).all()
        assert np.array_equal(np.diff(offsets), shape.draw.__self__.followings.block(block))
        assert np.array_equal(topics, shape.draw(block)[1])


def test_repeats_are_few(fiftieth: Workload) -> None:
    """Without drawing again some pairs in a hundred would be missing, and the kinks smeared."""
    matching = twitter(SCALE).draw.__self__
    refilled, dropped = (replace(matching, is_refilled=flag).draw(0)[0][-1] for flag in (True, False))
    assert 0.01 < 1 - dropped / refilled < 0.1


@pytest.mark.parametrize("scale", [0.0009, 1.1, 0, -1, float("nan")])
def test_scales_out_of_range_are_refused(scale: float) -> None:
    """0.001 to 1, and nothing else."""
    with pytest.raises(InputError, match="scale"):
        twitter(scale)


def test_the_smallest_scale_is_a_workload(tmp_path) -> None:
    """Scale 0.001 gives 8000 topics and 30 000 subscribers, each with an interest, none with most topics."""
    smallest = generate(twitter(0.001), tmp_path / "workload")
    assert (smallest.counts.topics, smallest.counts.subscribers) == (8000, 30_000)
    interests = smallest.csr()
    assert np.diff(interests.by_topic.offsets).min() >= 1
    sizes = np.diff(interests.by_subscriber.offsets)
    assert (sizes.min(), sizes.max()) == (1, 2000)
