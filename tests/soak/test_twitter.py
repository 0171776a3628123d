"""The Twitter shape at full scale has the published celebrities, bots and busiest subscribers."""

from __future__ import annotations

import numpy as np
import pytest

from pubplan.engine import BLOCK_ROWS
from pubplan.generate import Shape, twitter

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def full() -> Shape:
    return twitter(1)


def test_rates(full: Shape) -> None:
    """455 M events within 1 %, half the topics below 10, 46 000 above 1000, one above 10^5."""
    rates = full.rates
    assert rates.sum() == pytest.approx(455e6, rel=0.01)
    assert (rates < 10).mean() == pytest.approx(0.5, abs=0.01)
    assert (rates > 1000).sum() == pytest.approx(46_000, rel=0.01)
    assert (rates > 100_000).sum() == 1


def test_celebrities(full: Shape) -> None:
    """4000 topics beyond 10^4 followers, 66 beyond 10^6, within 5 %, by a sample of every fifteenth block.

    From 10^5 on the distribution is flatter than before. Celebrities publish less than half as much as the others.
    """
    sampled = range(0, 450, 15)
    drawn = np.concatenate([full.draw(block)[1] for block in sampled])
    audience = np.bincount(drawn, minlength=len(full.rates)) * (full.num_subscribers / (len(sampled) * BLOCK_ROWS))
    beyond = [int((audience > mark).sum()) for mark in (10**4, 10**5, 10**6)]
    assert beyond[0] == pytest.approx(4000, rel=0.05)
    assert beyond[2] == pytest.approx(66, rel=0.05)
    assert beyond[0] / beyond[1] > 3 * beyond[1] / beyond[2]
    popular, celebrities = (audience > 10**4) & (audience < 10**5), audience > 10**6
    assert full.rates[celebrities].mean() < full.rates[popular].mean() / 2


def test_events_received(full: Shape) -> None:
    """3 M subscribers receive more than 7000 events, within 5 %; who follows most receives 4 % of all, within 0.3."""
    received = []
    for block in range(0, 450, 15):
        offsets, topics = full.draw(block)
        received.append(np.add.reduceat(full.rates[topics], offsets[:-1]))
    share = (np.concatenate(received) > 7000).mean()
    assert share * full.num_subscribers == pytest.approx(3e6, rel=0.05)
    followings = full.draw.__self__.followings
    largest = [int(followings.block(block).max()) for block in range(len(followings.slots_before) - 1)]
    offsets, topics = full.draw(int(np.argmax(largest)))
    row = int(np.diff(offsets).argmax())
    assert full.rates[topics[offsets[row] : offsets[row + 1]]].sum() / full.rates.sum() == pytest.approx(
        0.04, abs=0.003
    )
