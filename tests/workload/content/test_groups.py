"""Groups of clients, their candidates, and the least load factor, against definitions written down plainly."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.workload import (
    UNLIMITED_US,
    Broker,
    Candidates,
    Client,
    ContentWorkload,
    balance,
    build_content_workload,
    candidates_of,
    capacities_at,
    least_load_factor,
    load_factor,
    read_groups,
    unit_space,
)

from .conftest import BROKERS, CLIENTS, LATENCIES


def test_delays_limit_candidates(tiny: ContentWorkload) -> None:
    """By hand: paths to north and south take 12 and 16 us; oslo reaches them in 14 and 46, rome in 32 and 20."""
    groups = read_groups(tiny, "0.5")
    assert groups.sites.tolist() == [0, 1]
    assert groups.limits.tolist() == [21, 30]
    assert groups.of_client.tolist() == [1, 0, 0]  # ann is at rome
    assert groups.weights.tolist() == [2, 1]
    candidates = candidates_of(tiny, groups)
    assert (candidates.row(0).tolist(), candidates.row(1).tolist()) == ([1], [2])
    # 32 = 1.6 x 20 reaches north from rome, 46 = 3.2858 x 14 does not reach south from oslo.
    candidates = candidates_of(tiny, read_groups(tiny, "0.6"))
    assert (candidates.row(0).tolist(), candidates.row(1).tolist()) == ([1], [1, 2])
    assert candidates.latencies.tolist() == [14, 32, 20]


def test_the_last_hop_alone(tiny: ContentWorkload) -> None:
    """Only the way from the leaf counts: 2 and 30 us from oslo, 20 and 4 from rome."""
    groups = read_groups(tiny, "4", "last")
    assert groups.limits.tolist() == [10, 20]
    candidates = candidates_of(tiny, groups, "last")
    assert (candidates.row(0).tolist(), candidates.row(1).tolist()) == ([1], [1, 2])


def test_no_limit(tiny: ContentWorkload) -> None:
    """Every leaf is a candidate."""
    groups = read_groups(tiny, "none")
    assert set(groups.limits.tolist()) == {UNLIMITED_US}
    assert candidates_of(tiny, groups).brokers.tolist() == [1, 2, 1, 2]


def test_delays_are_exact(tmp_path: Path) -> None:
    """A limit of exactly the latency is kept, one of a billionth less is not."""
    latencies = {"here": {"near": 1_000_000_000, "far": 1_100_000_000}}
    brokers = {"near": Broker(share=1), "far": Broker(share=1)}
    workload = build_content_workload(
        tmp_path / "w", unit_space(2), {"a": Client("here", [(0, 1)])}, brokers, latencies
    )
    assert candidates_of(workload, read_groups(workload, "0.1")).brokers.tolist() == [0, 1]
    assert candidates_of(workload, read_groups(workload, "0.099999999")).brokers.tolist() == [1]


def test_limits_and_allowed_brokers(tmp_path: Path) -> None:
    """Groups differ by site, limit and allowed brokers; inner brokers and leaves without a share are no candidates."""
    clients = {
        "a": Client("oslo", [(0, 1), (0, 1)], limit=46, allowed=["north", "south"]),
        "b": Client("oslo", [(1, 2), (0, 1)], limit=45, allowed=["north", "south"]),
        "c": Client("oslo", [(0, 1), (0, 1)], limit=46, allowed=["hub", "south"]),
        "d": Client("oslo", [(5, 6), (0, 1)], limit=46, allowed=["south", "north"]),
        "e": Client("rome", [(0, 1), (0, 1)], limit=46, allowed=[]),
    }
    workload = build_content_workload(tmp_path / "w", unit_space(10, 5), clients, BROKERS, LATENCIES)
    groups = read_groups(workload, None)
    candidates = candidates_of(workload, groups)
    by_client = [candidates.row(group).tolist() for group in groups.of_client.tolist()]
    assert by_client == [[1, 2], [1], [2], [1, 2], []]
    assert groups.of_client[0] == groups.of_client[3]
    assert groups.num_groups == 4
    idle = BROKERS | {"south": Broker("hub", 11)}
    workload = build_content_workload(tmp_path / "idle", unit_space(10, 5), clients, idle, LATENCIES)
    assert candidates_of(workload, read_groups(workload, None)).brokers.tolist().count(2) == 0


def test_weights_add_up(tmp_path: Path) -> None:
    """A group weighs what its clients weigh; more than 32 bits are refused."""
    clients = {name: Client(client.site, client.box, weight=3) for name, client in CLIENTS.items()}
    workload = build_content_workload(tmp_path / "w", unit_space(10, 5), clients, BROKERS, LATENCIES)
    assert read_groups(workload, "none").weights.tolist() == [6, 3]
    heavy = {name: Client(client.site, client.box, weight=2**30) for name, client in CLIENTS.items()}
    workload = build_content_workload(tmp_path / "heavy", unit_space(10, 5), heavy, BROKERS, LATENCIES)
    with pytest.raises(InputError, match="clients weigh 3,221,225,472 together"):
        read_groups(workload, "none")


def test_reading_on_spark(spark, tiny: ContentWorkload) -> None:
    """The same groups as in one process."""
    alone, together = read_groups(tiny, "0.5"), read_groups(tiny, "0.5", spark=spark)
    assert alone.of_client.tolist() == together.of_client.tolist()
    assert alone.limits.tolist() == together.limits.tolist()


def test_the_least_load_factor_by_trying_everything() -> None:
    """Against all assignments of single clients to candidates, on 300 random instances with ties and uneven shares."""
    generator = np.random.default_rng(7)
    for _ in range(300):
        num_brokers, num_clients = generator.integers(1, 5), generator.integers(0, 6)
        shares = generator.integers(1, 5, num_brokers).astype(np.int64)
        sets = [
            np.sort(generator.choice(num_brokers, generator.integers(1, num_brokers + 1), replace=False)).tolist()
            for _ in range(num_clients)
        ]
        offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
        brokers = np.array([broker for each in sets for broker in each], dtype=np.int32)
        weights = np.ones(num_clients, dtype=np.int64)
        answer = balance(Candidates(offsets, brokers, np.zeros(len(brokers), np.int64)), weights, shares)
        factors = [
            load_factor(np.bincount(choice, minlength=num_brokers) if choice else np.zeros(num_brokers, int), shares)
            for choice in itertools.product(*sets)
        ]
        least = min(factors)
        loads = np.bincount(brokers, weights=answer.flows, minlength=num_brokers).astype(np.int64)
        assert (loads <= capacities_at(answer.factor, shares, num_clients)).all()
        # A factor below which nobody stays, and at which this assignment is: the least.
        assert answer.factor == least
        assert load_factor(loads, shares) == least
        assert [answer.flows[first:last].sum() for first, last in itertools.pairwise(offsets)] == [1] * num_clients


def test_large_groups_are_divided() -> None:
    """Two groups of a million share three brokers: the first two serve 666,667 and 666,667, the third 666,666."""
    candidates = Candidates(np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.zeros(4, np.int64))
    weights, shares = np.full(2, 1_000_000), np.ones(3, np.int64)
    assert least_load_factor(candidates, weights, shares) == Fraction(666_667 * 3, 2_000_000)


def test_groups_without_candidates_are_refused() -> None:
    """There is no factor at which they could be served."""
    candidates = Candidates(np.array([0, 0]), np.empty(0, np.int32), np.empty(0, np.int64))
    with pytest.raises(InputError, match="no leaf that may serve"):
        least_load_factor(candidates, np.ones(1, np.int64), np.ones(1, np.int64))
    assert least_load_factor(candidates, np.zeros(1, np.int64), np.ones(1, np.int64)) == 0
