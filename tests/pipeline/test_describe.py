"""The description against the obvious way to compute it."""

from __future__ import annotations

import pytest

from pubplan.pipeline import describe
from pubplan.pipeline.describe import EDGES


def test_a_small_workload_by_hand(make_workload) -> None:
    """Two of three topics have at least 2 subscribers; x receives 2 + 3 = 5 of 9 events."""
    workload = make_workload({"a": 2, "b": 3, "c": 4}, {"x": ["a", "b"], "y": ["a"], "z": ["b"], "w": []})
    found = describe(workload)
    assert dict(zip(found.followers.values, found.followers.shares, strict=True)) == {1: 2 / 3, 2: 2 / 3}
    assert dict(zip(found.followings.values, found.followings.shares, strict=True)) == {1: 3 / 4, 2: 1 / 4}
    assert (found.rates.mean, found.rates.largest) == (3.0, 4)
    received = dict(zip(found.received.values, found.received.shares, strict=True))
    assert received == {1: 0.75, 2: 0.75, 3: 0.5, 4: 0.25, 5: 0.25}
    assert found.received.reached_by(0.5) == 3
    # By followings: w has 0 topics and 0 events, y and z one topic and 2 and 3 events, x two and 5.
    assert found.cardinality.values == [0, 1, 2]
    assert found.cardinality.means == pytest.approx([0, 100 * 2.5 / 9, 100 * 5 / 9])
    assert found.cardinality.numbers == [1, 2, 1]
    assert found.rate_by_popularity.values == [0, 2]
    assert found.rate_by_popularity.means == [4.0, 2.5]
    assert found.top_share == 2 / 4
    assert found.mean_cardinality == pytest.approx(100 * (5 + 2 + 3) / 4 / 9)


def test_blocks_agree_with_whole_arrays(spotify, spark) -> None:
    """Counting block by block, here or on Spark, gives what the whole arrays give."""
    import numpy as np

    found = describe(spotify)
    assert describe(spotify, spark) == found
    sizes = np.diff(spotify.csr().by_subscriber.offsets)
    for value, share in zip(found.followings.values, found.followings.shares, strict=True):
        assert share == (sizes >= value).mean()
    received = np.add.reduceat(
        spotify.topic_array("rate")[spotify.csr().by_subscriber.values], spotify.csr().by_subscriber.offsets[:-1]
    )
    for value, share in zip(found.received.values, found.received.shares, strict=True):
        assert share == (received >= value).mean()
    assert found.received.total == received.sum() == spotify.totals.cost


def test_edges_are_fine_and_ascending() -> None:
    """Whole numbers up to ten, then at most a fifth apart."""
    assert EDGES[:10].tolist() == list(range(1, 11))
    assert (EDGES[11:] / EDGES[10:-1] < 1.2).all()


def test_empty_workloads_are_described(make_workload) -> None:
    """Nothing divides by zero."""
    found = describe(make_workload({}, {}))
    assert (found.followers.mean, found.top_share, found.mean_cardinality) == (0.0, 0.0, 0.0)
