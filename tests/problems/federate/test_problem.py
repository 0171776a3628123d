"""What can be asked, and what no plan can do."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from oracles.federate import Case, Publisher, best_cost, cases, demand, sent, wants

from pubplan.errors import Infeasible, InputError
from pubplan.problems.federate.problem import Problem
from pubplan.workload import Attribute, Broker, Client, Space, build_content_workload

CASE = Case(
    (6,),
    (6,),
    (
        Publisher(0, ((0, 4),), ((0, 2), (5, 1))),
        Publisher(1, ((2, 6),), ((1, 3),)),
        Publisher(1, ((0, 6),), ()),
    ),
    ((1, 4), (4, 1)),
    ((0, 2), (2, 0)),
    (0, 0),
    (3,),
)
"""Channels are cells 0-1, 2-3 and 4-5. The first client wants channels 0 and 1 and publishes 2 messages in channel 0
and 1 in channel 2; the second wants 1 and 2 and publishes 3 in channel 0; the third wants everything.
"""


@given(cases())
def test_traffic_is_counted_by_the_definition(case: Case) -> None:
    """What clients want, send for others, and send and receive in all."""
    with tempfile.TemporaryDirectory() as directory:
        instance = case.problem(Path(directory) / "workload").instance
        for number, client in enumerate(case.clients):
            first, last = instance.wanted_offsets[number : number + 2]
            assert set(instance.wanted[first:last].tolist()) == wants(case, client)
            row = np.zeros(instance.num_channels, dtype=np.int64)
            first, last = instance.published_offsets[number : number + 2]
            row[instance.published[first:last]] = instance.counts[first:last]
            assert row.tolist() == list(sent(case)[number])
            assert instance.demand[number] == demand(case, number)


def test_demand_by_hand(tmp_path: Path) -> None:
    """Client 1 sends 3 messages and receives its 3 from client 2 (channel 0); client 2 sends 3 and receives 1 (channel
    2); client 3 sends nothing and receives 2 + 1 + 3. What a client sends itself does not come back to it.
    """
    assert CASE.problem(tmp_path / "workload").instance.demand.tolist() == [3 + 3, 3 + 1, 6]


@given(cases())
def test_infeasible_is_proven(case: Case) -> None:
    """A problem is refused if and only if no attachment keeps the capacities."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory) / "workload")
        if best_cost(case) is None:
            with pytest.raises(Infeasible) as caught:
                problem.check()
            assert caught.value.reasons
        else:
            problem.check()


@pytest.mark.parametrize(
    ("capacities", "allowed", "sentence"),
    [
        ((5, 20), None, None),
        ((5, 5), None, "c0 sends and receives 6 messages per window; no broker that it may use takes more than 5"),
        ((7, 8), None, "3 clients send and receive 16 messages per window; all brokers together take 15"),
        ((7, 20), (0,), "b0 take 7"),
        ((9, 7), None, "no way to attach whole clients keeps every capacity"),
    ],
)
def test_reasons_say_what_is_too_tight(
    tmp_path: Path, capacities: tuple[int, int], allowed: tuple[int, ...] | None, sentence: str | None
) -> None:
    """One client too large, all together, those with the same brokers, or no way to pack 6, 4 and 6 messages."""
    clients = tuple(replace(client, allowed=allowed) for client in CASE.clients)
    problem = replace(CASE, capacities=capacities, clients=clients).problem(tmp_path / "workload")
    if sentence is None:
        problem.check()
        return
    with pytest.raises(Infeasible) as caught:
        problem.check()
    assert any(sentence in str(reason) for reason in caught.value.reasons), caught.value.reasons


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": "hight"}, "The cut is width or traffic, not 'hight'"),
        ({"routing": "tree"}, "The routing is spanning, steiner or acyclic"),
        ({"cost": "free"}, "The cost is shared or replicating"),
        ({"message_bytes": 0}, "The size of a message is 1 to"),
        ({"channels": 0}, "There are 1 to 4,096 channels"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, object], message: str) -> None:
    """Options have known values."""
    with pytest.raises(InputError, match=message):
        Problem(CASE.workload(tmp_path / "workload"), **options)


def test_prices_and_publications_are_needed(tmp_path: Path) -> None:
    """A workload for assign alone is refused with what it lacks."""
    from pubplan.generate import content_feeds, generate

    feeds = generate(content_feeds(50, 4), tmp_path / "feeds")
    with pytest.raises(InputError, match="does not say what its clients publish"):
        Problem(feeds).check()
    brokers, sites = {"north": Broker(share=1), "south": Broker(share=1)}, {"oslo": {"north": 1, "south": 1}}
    clients = {"ann": Client("oslo", [(0, 6)], publishes={0: 1}), "bob": Client("oslo", [(0, 6)], publishes={})}
    space = Space((Attribute("x", 6),), (6,))
    for prices, links, message in (
        (None, {"north": {"south": 3}}, "no prices between sites and brokers. Give prices, or price_per_distance"),
        (sites, None, "no prices between brokers. Give links, or price_per_distance"),
    ):
        workload = build_content_workload(
            tmp_path / "priced", space, clients, brokers, sites, prices=prices, links=links, replace=True
        )
        with pytest.raises(InputError, match=message):
            Problem(workload).check()


def test_costs_beyond_64_bits_are_refused(tmp_path: Path) -> None:
    """Messages times prices are added up in 64 bits; larger ones are refused with what to do."""
    client = Publisher(0, ((0, 6),), ((0, 2**50),))
    case = replace(CASE, clients=(client, client), links=((0, 2**20), (2**20, 0)))
    with pytest.raises(InputError, match="Count messages in thousands"):
        case.problem(tmp_path / "workload").check()
