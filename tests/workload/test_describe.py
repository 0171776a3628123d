"""The description against the obvious way to compute it."""

from __future__ import annotations

import json

import pytest

from pubplan.workload import Distribution, describe
from pubplan.workload.distribution import EDGES


def shares(distribution: Distribution) -> dict[int, float]:
    """The share of all that have at least each value."""
    return dict(zip(distribution.values, distribution.shares, strict=True))


def test_a_small_workload_by_hand(make_workload) -> None:
    """Two of three topics have at least 2 subscribers; x receives 2 + 3 = 5 of 9 events."""
    workload = make_workload({"a": 2, "b": 3, "c": 4}, {"x": ["a", "b"], "y": ["a"], "z": ["b"], "w": []})
    description = describe(workload)
    assert shares(description.subscribers_per_topic) == {1: 2 / 3, 2: 2 / 3}
    assert shares(description.topics_per_subscriber) == {1: 3 / 4, 2: 1 / 4}
    assert (description.rates.mean, description.rates.largest) == (3.0, 4)
    received = shares(description.received)
    assert received == {1: 0.75, 2: 0.75, 3: 0.5, 4: 0.25, 5: 0.25}
    assert description.received.one_in == {2: 3, 10: 5, 100: 5, 1000: 5}
    # By topics per subscriber: w has 0 topics and 0 events, y and z one topic and 2 and 3 events, x two and 5.
    assert description.cardinality.values == [0, 1, 2]
    assert description.cardinality.means == pytest.approx([0, 100 * 2.5 / 9, 100 * 5 / 9])
    assert description.cardinality.numbers == [1, 2, 1]
    assert description.rate_by_popularity.values == [0, 2]
    assert description.rate_by_popularity.means == [4.0, 2.5]
    assert description.top_share == 2 / 4
    assert description.mean_cardinality == pytest.approx(100 * (5 + 2 + 3) / 4 / 9)


def test_blocks_agree_with_whole_arrays(spotify, spark) -> None:
    """Counting block by block, here or on Spark, gives what the whole arrays give."""
    import numpy as np

    description = describe(spotify)
    assert describe(spotify, spark) == description
    sizes = np.diff(spotify.csr().by_subscriber.offsets)
    for value, share in shares(description.topics_per_subscriber).items():
        assert share == (sizes >= value).mean()
    received = np.add.reduceat(
        spotify.topic_array("rate")[spotify.csr().by_subscriber.values], spotify.csr().by_subscriber.offsets[:-1]
    )
    for value, share in shares(description.received).items():
        assert share == (received >= value).mean()
    assert description.received.total == received.sum() == spotify.totals.cost
    for distribution, values in (
        (description.topics_per_subscriber, sizes),
        (description.received, received),
        (description.rates, spotify.topic_array("rate")),
        (description.subscribers_per_topic, spotify.topic_array("subscribers")),
    ):
        descending = sorted(values.tolist(), reverse=True)
        assert distribution.one_in == {part: descending[-(-len(values) // part) - 1] for part in (2, 10, 100, 1000)}


def test_order_statistics_are_exact(cli, make_workload) -> None:
    """Of two subscribers that receive 573 and 574 events one in two receives 574, one in one 573: no edge of a bin."""
    path = make_workload({"a": 573, "b": 1}, {"x": ["a"], "y": ["a", "b"]}).path
    received = json.loads(cli("describe", path, "--json").out)["received"]
    assert received["one_in"] == {"2": 574, "10": 574, "100": 574, "1000": 574}
    (line,) = (line for line in cli("describe", path).out.splitlines() if line.startswith("events per subscriber"))
    assert line.split()[3:] == ["573.50", "574", "574", "574", "574", "574"]


def test_edges_are_fine_and_ascending() -> None:
    """Whole numbers up to ten, then at most a fifth apart."""
    assert EDGES[:10].tolist() == list(range(1, 11))
    assert (EDGES[11:] / EDGES[10:-1] < 1.2).all()


def test_empty_workloads_are_described(make_workload) -> None:
    """Nothing divides by zero."""
    description = describe(make_workload({}, {}))
    assert description.subscribers_per_topic.mean == description.top_share == description.mean_cardinality == 0.0
