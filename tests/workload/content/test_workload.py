"""Content workloads on disk: what is written is read back, checked, and refused where it was changed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pubplan
from pubplan.engine import BLOCK_ROWS
from pubplan.errors import InputError
from pubplan.workload import (
    CONTENT,
    TOPIC,
    Broker,
    Client,
    ContentWorkload,
    Space,
    build_content_workload,
    require_kind,
    unit_space,
)

from .conftest import BROKERS, CLIENTS, LATENCIES


def test_a_workload_is_read_back(tiny: ContentWorkload) -> None:
    """Ids are numbered in the order of their bytes; corners, sites, brokers and latencies are as given."""
    opened = pubplan.read_workload(tiny.path, CONTENT)
    assert opened.ids("clients", "client_id").to_pylist() == ["ann", "bob", "zoe"]
    clients = opened.read_clients(0)
    assert clients.sites.tolist() == [1, 0, 0]
    assert clients.lows.tolist() == [[2, 0], [9, 4], [0, 1]]
    assert clients.highs.tolist() == [[6, 1], [10, 5], [4, 3]]
    assert opened.site_latencies.tolist() == [[1, 2, 30], [3, 20, 4]]
    # Volumes: ann 4 x 1, bob 1 x 1, zoe 4 x 2.
    assert (opened.totals.volume, opened.totals.rate) == (13, 0)
    assert opened.counts.sizes == {"clients": 3, "brokers": 3, "sites": 2, "leaves": 2}
    assert (opened.density, opened.site_prices, opened.site_coordinates) == (None, None, None)
    assert opened.find_client("zoe") == (0, 2)
    assert opened.broker_number("south") == 2
    opened.check()


def test_the_tree_is_derived(tiny: ContentWorkload) -> None:
    """Leaves feed nobody; levels and latencies add up from the publisher."""
    brokers = tiny.brokers
    assert brokers.leaves.tolist() == [1, 2]
    assert brokers.levels.tolist() == [1, 2, 2]
    assert brokers.path_latencies.tolist() == [5, 12, 16]


def test_deep_trees(tmp_path: Path) -> None:
    """A chain of brokers whose numbers go down while it goes down: levels and latencies follow the chain."""
    names = [f"b{number}" for number in range(9, -1, -1)]
    chain = {name: Broker(parent, 2) for parent, name in zip([None, *names], names, strict=False)}
    chain["b0"] = replace(chain["b0"], share=1)
    latencies = {"here": dict.fromkeys(names, 1)}
    workload = build_content_workload(tmp_path / "w", unit_space(4), {"a": Client("here", [(0, 1)])}, chain, latencies)
    assert workload.brokers.levels.tolist() == list(range(10, 0, -1))
    assert workload.brokers.path_latencies.tolist() == list(range(20, 0, -2))
    assert workload.brokers.leaves.tolist() == [0]


def test_the_manifest_has_the_space(tiny: ContentWorkload) -> None:
    """Space and units are in the manifest and in the digest."""
    raw = json.loads((tiny.path / "manifest.json").read_text())
    assert raw["space"] == {
        "attributes": [
            {"name": "x", "origin": "0", "step": "1", "steps": 10},
            {"name": "y", "origin": "0", "step": "1", "steps": 5},
        ],
        "density": None,
    }
    assert raw["units"] == {"latency": "us", "price": "micro-dollars per GB"}
    raw["space"]["attributes"][0]["steps"] = 11
    (tiny.path / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match="was edited"):
        pubplan.read_workload(tiny.path)


@pytest.mark.parametrize("space", [None, {}, {"attributes": [], "density": None}, {"attributes": 3, "density": 4}])
def test_a_space_that_is_none_is_refused(tiny: ContentWorkload, space: object) -> None:
    """Also where somebody computed the digest anew."""
    manifest = replace(tiny.manifest, details={**tiny.manifest.details, "space": space})
    (tiny.path / "manifest.json").write_text(json.dumps(manifest.to_dict()))
    with pytest.raises(InputError, match="its space is not one"):
        pubplan.read_workload(tiny.path)


def test_digests_follow_every_part(tiny: ContentWorkload, tmp_path: Path) -> None:
    """Other corners, sites, brokers, latencies, steps or columns give another digest; the same values the same one."""

    def digest(name: str, **changed: object) -> str:
        given = {"space": unit_space(10, 5), "clients": CLIENTS, "brokers": BROKERS, "latencies": LATENCIES} | changed
        return build_content_workload(tmp_path / name, **given).digest

    assert digest("same") == tiny.digest
    others = {
        "box": {"clients": CLIENTS | {"ann": Client("rome", [(2, 6), (0, 2)])}},
        "site": {"clients": CLIENTS | {"ann": Client("oslo", [(2, 6), (0, 1)])}},
        "share": {"brokers": BROKERS | {"south": Broker("hub", 11, share=2)}},
        "latency": {"latencies": LATENCIES | {"rome": {"hub": 3, "north": 20, "south": 5}}},
        "steps": {"space": unit_space(10, 6)},
        "limit": {"clients": {name: replace(client, limit=9) for name, client in CLIENTS.items()}},
        "density": {"space": replace(unit_space(10, 5), cells=(2, 1)), "density": [3, 4]},
    }
    digests = [digest(name, **changed) for name, changed in others.items()]
    assert len({tiny.digest, *digests}) == len(others) + 1


def test_optional_columns(tmp_path: Path) -> None:
    """Limits, allowed brokers, weights and publications are columns where every client has them."""
    clients = {
        name: replace(client, limit=40, allowed=["south", "north"], weight=2, publishes={1: 5})
        for name, client in CLIENTS.items()
    }
    space = replace(unit_space(10, 5), cells=(2, 5))
    workload = build_content_workload(tmp_path / "w", space, clients, BROKERS, LATENCIES, density=[1, 20, *[1] * 8])
    assert workload.optional_columns == {"limit", "allowed", "weight", "cells", "counts"}
    table = workload.client_block(0, "limit", "allowed", "weight", "cells", "counts")
    assert table.slice(0, 1).to_pylist() == [{"limit": 40, "allowed": [1, 2], "weight": 2, "cells": [1], "counts": [5]}]
    assert workload.density is not None
    assert workload.density.shape == (2, 5)
    assert workload.totals.rate == 29
    workload.check()


def test_clients_span_blocks(tmp_path: Path) -> None:
    """More than 65,536 clients are written in blocks and found by id."""
    clients = {f"c{number:06d}": Client("oslo", [(number % 10, 10), (0, 5)]) for number in range(BLOCK_ROWS + 3)}
    workload = build_content_workload(tmp_path / "w", unit_space(10, 5), clients, BROKERS, LATENCIES)
    assert workload.num_blocks == 2
    assert workload.find_client(f"c{BLOCK_ROWS + 1:06d}") == (1, 1)
    assert workload.totals.volume == sum(5 * (10 - number % 10) for number in range(BLOCK_ROWS + 3))
    workload.check()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"clients": {"ann": Client("bonn", [(0, 1), (0, 1)])}}, "There is no site 'bonn'"),
        ({"clients": {"ann": Client("oslo", [(3, 3), (0, 1)])}}, "goes from 3 to 3"),
        ({"clients": {"ann": Client("oslo", [(0, 11), (0, 1)])}}, "within 0 to 10"),
        ({"clients": {"ann": Client("oslo", [(0, 1)])}}, "has 1 ranges; the space has 2"),
        (
            {"clients": CLIENTS | {"ann": Client("oslo", [(0, 1), (0, 1)], limit=3)}},
            "limit must be given for every client",
        ),
        ({"clients": {"ann": Client("oslo", [(0, 1), (0, 1)], allowed=["west"])}}, "There is no broker 'west'"),
        ({"brokers": BROKERS | {"south": Broker("west", share=1)}}, "There is no broker 'west'"),
        ({"brokers": {"hub": Broker("north"), "north": Broker("hub"), "south": Broker(share=1)}}, "in a circle"),
        ({"brokers": BROKERS | {"hub": Broker(share=1)}}, "feeds other brokers"),
        ({"brokers": {name: replace(broker, share=0) for name, broker in BROKERS.items()}}, "No broker has a share"),
        ({"brokers": BROKERS | {"hub": Broker(latency=-1)}}, "latency of a broker is a whole number"),
        ({"latencies": LATENCIES | {"rome": {"hub": 3, "north": 20}}}, "needs a latency to every broker; 'south'"),
        ({"latencies": LATENCIES | {"rome": {"hub": 3, "north": 20, "south": -4}}}, "latency from 'rome' to 'south'"),
        ({"density": [1, 2]}, "a space without cells none"),
        ({"space": replace(unit_space(10, 5), cells=(2, 5)), "density": [-1] * 10}, "must not be negative"),
    ],
)
def test_refusals(tmp_path: Path, changed: dict[str, object], sentence: str) -> None:
    """What is not a content workload is refused with a sentence, and nothing is written."""
    given = {"space": unit_space(10, 5), "clients": CLIENTS, "brokers": BROKERS, "latencies": LATENCIES} | changed
    with pytest.raises(InputError, match=sentence):
        build_content_workload(tmp_path / "w", **given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: unit_space(2**27, 2**26), r"2\^52. Use coarser steps: 67,108,864 per attribute fit"),
        (lambda: unit_space(2**31), "1 to 2,147,483,647 grid steps"),
        (lambda: replace(unit_space(10, 5), cells=(3, 5)), "3 cells do not divide the 10 steps of 'x'"),
        (lambda: replace(unit_space(10, 5), cells=(10,)), "a number of cells per attribute"),
        (lambda: Space(()), "1 to 16 attributes"),
        (lambda: unit_space(2, 2, names="aa"), "different names"),
    ],
)
def test_spaces_are_checked(make, sentence: str) -> None:
    """A space that has no exact volumes, or whose cells do not divide it, is refused."""
    with pytest.raises(InputError, match=sentence):
        make()


def test_largest_spaces_are_exact() -> None:
    """2^52 steps are allowed."""
    assert unit_space(2**26, 2**26).volume == 2**52
    assert unit_space(2**17, 2**17, 2**17).volume == 2**51


def test_damage_is_found(tiny: ContentWorkload, tmp_path: Path) -> None:
    """A table whose values changed is named; corners out of the space and sites that do not exist are refused."""
    import pyarrow.parquet as pq

    def damaged(column: str, values: list[int]) -> ContentWorkload:
        copy = Path(shutil.copytree(tiny.path, tmp_path / column))
        path = copy / "clients" / "00000.parquet"
        table = pq.read_table(path)
        index = table.column_names.index(column)
        table = table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))
        pq.write_table(table, path)
        return ContentWorkload(copy, tiny.manifest)  # read_workload would refuse its size already

    with pytest.raises(InputError, match="was changed since it was written"):
        damaged("high_0", [6, 10, 5]).check()
    with pytest.raises(InputError, match="leave the space"):
        damaged("high_1", [1, 5, 9]).read_clients(0)
    with pytest.raises(InputError, match="sites that do not exist"):
        damaged("site", [1, 0, 2]).read_clients(0)


def test_false_leaves_are_found(tiny: ContentWorkload) -> None:
    """The number of leaves is checked against the tree."""
    manifest = replace(tiny.manifest, counts=replace(tiny.counts, leaves=3))
    (tiny.path / "manifest.json").write_text(json.dumps(manifest.to_dict()))
    with pytest.raises(InputError, match="counts other leaves"):
        pubplan.read_workload(tiny.path).check()


def test_families_for_topics_refuse_it(tiny: ContentWorkload) -> None:
    """Planning it with a family for topics ends in a sentence with its kind."""
    with pytest.raises(InputError, match=r"select plans topic workloads; .*tiny is a content workload\."):
        require_kind(tiny, TOPIC, "select")
    assert "3 clients at 2 sites, 3 brokers (leaves: 2); events in x (10 steps) x y (5 steps)" in repr(tiny)


def test_circles_of_any_length_are_found() -> None:
    """Circles of 1 to 40 brokers beside a proper tree, in any order of numbers, are refused; trees never are."""
    from pubplan.workload import Brokers

    generator = np.random.default_rng(5)
    for length in range(1, 41):
        number = length + 8
        order = generator.permutation(number)
        parents = np.full(number, -1, dtype=np.int32)
        parents[order[:length]] = order[np.roll(np.arange(length), 1)]
        for position in range(length + 1, number):
            parents[order[position]] = order[generator.integers(length, position)]
        zeros = np.zeros(number, dtype=np.int64)
        ids = pa.array([f"b{index}" for index in range(number)])
        shares = zeros.copy()
        shares[np.setdiff1d(np.arange(number), parents)] = 1
        with pytest.raises(InputError, match="in a circle"):
            Brokers(ids, parents, zeros, shares, zeros).check()
        parents[order[0]] = -1  # opened, it is a chain
        shares[:] = 0
        shares[np.setdiff1d(np.arange(number), parents)] = 1
        Brokers(ids, parents, zeros, shares, zeros).check()
