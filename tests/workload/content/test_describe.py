"""A content workload in numbers: every one is what counting clients one by one gives."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workload.content.conftest import BROKERS, CLIENTS, LATENCIES

from pubplan.engine import num_blocks
from pubplan.errors import InputError
from pubplan.generate import content_exchange, content_hotspots, content_newsgroups, generate
from pubplan.workload import (
    Broker,
    Client,
    ContentDescription,
    ContentWorkload,
    Distribution,
    build_content_workload,
    describe,
    least_load,
    unit_space,
)
from pubplan.workload.content.describe import millionths
from pubplan.workload.content.overlap import cell_edges, count_overlap


def test_tiny(tiny: ContentWorkload) -> None:
    """Three clients in 10 x 5 steps with subscriptions of 8, 4 and 1 steps: 160, 80 and 20 thousandths of 50.

    Paths to north and south take 5 + 7 and 5 + 11 us. From oslo they end after 14 and 46, from rome after 32 and 20; a
    third more than the nearest (18 and 26) leaves one leaf each. Two of three clients go to north, which has two of
    three shares: a load factor of exactly 1.
    """
    description = describe(tiny)
    assert description.counts == {"clients": 3, "brokers": 3, "sites": 2, "leaves": 2}
    assert (description.volumes.total, description.volumes.largest) == (260_000, 160_000)
    assert (description.candidates.total, description.candidates.largest) == (3, 1)
    assert (description.clients_per_site.total, description.clients_per_site.largest) == (3, 2)
    assert (description.nearest_loads.total, description.nearest_loads.largest) == (3, 2)
    assert description.least_load == 1
    assert description.max_delay == "0.3"
    assert description.num_unserved == 0
    assert description.sites == description.brokers == []


def test_tiny_heat_map(tiny: ContentWorkload) -> None:
    """A cell per step, since there are few: zoe has 0 to 3 x 1 to 2, ann 2 to 5 x 0, bob 9 x 4."""
    overlap = describe(tiny).overlap
    assert overlap.attributes == ["x", "y"]
    assert overlap.edges == [list(range(11)), list(range(6))]
    expected = np.zeros((10, 5), dtype=int)
    expected[0:4, 1:3] += 1
    expected[2:6, 0:1] += 1
    expected[9, 4] += 1
    assert overlap.counts == expected.tolist()
    assert overlap.most == 1


def limited(limit: int) -> dict[str, Client]:
    return {name: Client(client.site, client.box, limit=limit) for name, client in CLIENTS.items()}


def test_limits_of_clients(tmp_path: Path) -> None:
    """With limits of 30 us all reach one leaf, with 33 us the one in rome reaches both, with 13 us nobody any."""
    means = {}
    for limit in (30, 33, 13):
        workload = build_content_workload(tmp_path / str(limit), unit_space(10, 5), limited(limit), BROKERS, LATENCIES)
        description = describe(workload)
        means[limit] = description.candidates.mean
        assert description.max_delay is None
        assert (description.least_load is None) == (limit == 13)
        assert description.num_unserved == (3 if limit == 13 else 0)
    assert means == {30: 1, 33: pytest.approx(4 / 3), 13: 0}


def test_least_load_says_who_is_unserved(tmp_path: Path) -> None:
    """Who may use a broker that feeds others only, has no leaf; without any there is no load factor."""
    clients = {name: Client(client.site, client.box, allowed=["hub"]) for name, client in CLIENTS.items()}
    workload = build_content_workload(tmp_path / "workload", unit_space(10, 5), clients, BROKERS, LATENCIES)
    with pytest.raises(InputError, match="no leaf"):
        least_load(workload, "0.3")


def test_messages_and_prices(tmp_path: Path) -> None:
    """Who publishes how much, messages of nobody known, and prices between sites, brokers and each other."""
    published = {"zoe": {1: 5, 3: 1}, "ann": {}, "bob": {1: 4}}
    workload = build_content_workload(
        tmp_path / "workload",
        replace(unit_space(10, 5), cells=(2, 5)),
        {name: replace(client, publishes=published[name]) for name, client in CLIENTS.items()},
        BROKERS,
        LATENCIES,
        density=[3, 9, 0, 1, 0, 0, 0, 0, 0, 1],
        prices={"oslo": {"hub": 7, "north": 1, "south": 2}, "rome": {"hub": 3, "north": 4, "south": 0}},
        links={"hub": {"north": 2, "south": 4}, "north": {"south": 3}},
    )
    description = describe(workload)
    assert (description.published.num_publishers, description.published.num_unnamed) == (2, 4)
    check_distribution(description.published.messages, [0, 4, 6])
    check_distribution(description.prices["sites"], [7, 1, 2, 3, 4, 0])
    check_distribution(description.prices["links"], [2, 4, 3])
    text = str(description)
    assert "14 messages published per window, by 2 of 3 clients; of 4 the client is not known" in text
    assert re.search(r"messages per client +3.33 ", text)
    assert re.search(r"prices between sites and brokers, in micro-dollars per GB +2.83 ", text)
    assert re.search(r"prices between brokers, in micro-dollars per GB +3.00 ", text)
    value = json.loads(json.dumps(description.to_dict()))
    assert value["published"]["num_publishers"] == 2
    assert value["prices"]["links"]["largest"] == 4


def test_messages_without_publishers(tmp_path: Path) -> None:
    """A density alone says how much, not by whom; without prices none are described."""
    space = replace(unit_space(10, 5), cells=(2, 5))
    workload = build_content_workload(tmp_path / "w", space, CLIENTS, BROKERS, LATENCIES, density=[1] * 10)
    description = describe(workload)
    assert (description.published, description.prices) == (None, {})
    assert "10 messages published per window; by which clients is not known" in str(description)


@given(st.integers(0, 2**32))
def test_against_counting_one_by_one(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Random workloads with weights, allowed brokers and shares of 0: all distributions agree with a slow twin."""
    generator = np.random.default_rng(seed)
    dims = int(generator.integers(1, 4))
    extents = generator.integers(1, 100, dims).tolist()
    brokers = {
        f"b{i}": Broker(latency=int(generator.integers(0, 50)), share=int(i == 0 or generator.integers(0, 3)))
        for i in range(int(generator.integers(1, 5)))
    }
    latencies = {f"s{i}": {name: int(generator.integers(0, 100)) for name in brokers} for i in range(3)}
    clients = {}
    for number in range(int(generator.integers(1, 20))):
        box = []
        for extent in extents:
            low = int(generator.integers(0, extent))
            box.append((low, int(generator.integers(low, extent)) + 1))
        allowed = [name for name in brokers if generator.random() < 0.7]
        clients[f"c{number:02}"] = Client(
            f"s{generator.integers(3)}", box, allowed=allowed, weight=int(generator.integers(1, 4))
        )
    path = tmp_path_factory.mktemp("random") / "workload"
    workload = build_content_workload(path, unit_space(*extents, names="xyz"), clients, brokers, latencies)
    check(describe(workload), extents, clients, brokers, latencies)


def check(
    description: ContentDescription,
    extents: list[int],
    clients: dict[str, Client],
    brokers: dict[str, Broker],
    latencies: dict[str, dict[str, int]],
) -> None:
    whole = int(np.prod(extents))
    volumes = [int(np.prod([high - low for low, high in client.box])) for client in clients.values()]
    check_distribution(description.volumes, [-(-volume * 10**6 // whole) for volume in volumes])
    candidates, loads = [], dict.fromkeys(brokers, 0)
    for client in clients.values():
        path = {name: broker.latency + latencies[client.site][name] for name, broker in brokers.items()}
        limit = Fraction(13, 10) * min(path.values())
        usable = [name for name in client.allowed or () if brokers[name].share]
        candidates.append(sum(path[name] <= limit for name in usable))
        if usable:
            loads[min(usable, key=lambda name: (latencies[client.site][name], name))] += client.weight or 0
    check_distribution(description.candidates, candidates)
    assert description.num_unserved == candidates.count(0)
    assert (description.least_load is None) == (0 in candidates)
    check_distribution(description.nearest_loads, list(loads.values()))
    sites = [client.site for client in clients.values()]
    check_distribution(description.clients_per_site, [sites.count(site) for site in latencies])


def check_distribution(distribution: Distribution, values: list[int]) -> None:
    assert (distribution.total, distribution.number, distribution.largest) == (sum(values), len(values), max(values))
    for value, share in zip(distribution.values, distribution.shares, strict=True):
        assert share == pytest.approx(sum(each >= value for each in values) / len(values))
    descending = sorted(values, reverse=True)
    assert distribution.one_in == {part: descending[-(-len(values) // part) - 1] for part in (2, 10, 100, 1000)}


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_overlap_against_trying_all_cells(seed: int, dims: int) -> None:
    """A subscription counts in each cell of the first two attributes with which it has a step in common."""
    generator = np.random.default_rng(seed)
    extents = generator.integers(1, 200, dims).tolist()
    edges = cell_edges(unit_space(*extents, names="xyz"))
    lows = np.column_stack([generator.integers(0, extent, 15) for extent in extents]).astype(np.int32)
    highs = np.column_stack([generator.integers(low, extent) + 1 for low, extent in zip(lows.T, extents, strict=True)])
    counts = count_overlap(lows, highs.astype(np.int32), edges)
    columns = edges[1] if dims > 1 else [0, 1]
    assert counts.shape == (len(edges[0]) - 1, len(columns) - 1)
    for row in range(counts.shape[0]):
        for column in range(counts.shape[1]):
            meets = (lows[:, 0] < edges[0][row + 1]) & (highs[:, 0] > edges[0][row])
            if dims > 1:
                meets &= (lows[:, 1] < columns[column + 1]) & (highs[:, 1] > columns[column])
            assert counts[row, column] == meets.sum()


def test_cells_are_equal() -> None:
    """64 of them at most, with widths that differ by one step."""
    (edges,) = cell_edges(unit_space(1000))
    assert (len(edges), edges[0], edges[-1]) == (65, 0, 1000)
    assert set(np.diff(edges).tolist()) == {15, 16}


def test_millionths_are_exact() -> None:
    """Volumes up to 2^52, rounded up, as Python's whole numbers have them."""
    whole = 2**52 - 3
    volumes = np.array([0, 1, whole // 10**6, whole // 10**6 + 1, whole // 3, whole - 1, whole], dtype=np.int64)
    assert millionths(volumes, whole).tolist() == [-(-volume * 10**6 // whole) for volume in volumes.tolist()]


def test_spark_and_threads_describe_alike(tmp_path: Path, spark) -> None:
    """Two blocks of clients, counted by tasks or here."""
    for shape in (content_newsgroups(70_000, 30, levels=2), content_exchange(70_000, 5, cells=10, num_sites=100)):
        workload = generate(shape, tmp_path / shape.name)
        assert num_blocks(workload.counts.clients) == 2
        assert describe(workload) == describe(workload, spark)


def test_maps(tmp_path: Path) -> None:
    """Sites and brokers with their first two coordinates; all clients are at sites, and nearest to leaves."""
    workload = generate(content_hotspots(500, 20, levels=2, num_sites=40), tmp_path / "workload")
    description = describe(workload)
    assert [point.id for point in description.sites] == workload.site_ids.to_pylist()
    assert [[point.x, point.y] for point in description.brokers] == workload.brokers.coordinates[:, :2].tolist()
    assert [point.is_leaf for point in description.brokers] == workload.brokers.is_leaf.tolist()
    assert sum(point.clients for point in description.sites) == 500
    assert sum(point.clients for point in description.brokers if point.is_leaf) == 500


def test_json(tiny: ContentWorkload) -> None:
    """Everything is JSON; the load factor as a number, and exactly."""
    value = json.loads(json.dumps(describe(tiny).to_dict()))
    assert value["least_load"] == {"factor": 1.0, "exact": "1"}
    assert value["candidates"]["shares"] == [1.0]
    assert value["overlap"]["counts"][9][4] == 1
