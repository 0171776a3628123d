"""Explanations of federate: where a client could attach, and what brokers, links and channels carry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from oracles.federate import Case, Publisher, access_cost, core_cost, core_in_tree
from oracles.federate_example import ASKED, BROKERS, TERABYTE, hub

from pubplan.errors import InputError
from pubplan.generate import content_exchange, generate
from pubplan.planning import Explanation, Plan
from pubplan.problems.federate import FAMILY, TREES, Problem, solve
from pubplan.problems.federate import moving as moving_module
from pubplan.problems.federate.measures import attached_brokers
from pubplan.problems.federate.moving import moves_of
from pubplan.problems.federate.problem import DOLLAR_SCALE
from pubplan.problems.federate.routing import Network

CASE = Case(
    steps=(6,),
    cells=(6,),
    clients=(
        Publisher(0, ((0, 3),), ((0, 2), (4, 1)), (0, 1, 2, 3)),
        Publisher(1, ((2, 6),), ((1, 3),), (0, 1, 3)),
        Publisher(2, ((0, 6),), ((5, 2),), (0, 1, 2, 3)),
        Publisher(1, ((4, 5),), ((0, 1), (3, 2)), (1, 2)),
        Publisher(0, ((0, 1),), (), (0, 2)),
    ),
    prices=((1, 4, 6, 3), (5, 2, 2, 3), (7, 3, 1, 4)),
    links=((0, 9, 9, 5), (9, 0, 9, 5), (9, 9, 0, 5), (5, 5, 5, 0)),
    capacities=(40, 40, 40, 40),
    cuts=(3,),
)
"""Three brokers around a fourth, three channels, and clients that may not use all brokers."""


def explained(problem: Problem, kind: str, name: str, method: str = "greedy-packing") -> Explanation:
    return FAMILY.explain[kind](problem, solve(problem, method).plan, name, None)


def tree_edges(plan: Plan) -> list[tuple[int, int]]:
    (parents,) = plan.decisions(TREES)["parents"].to_pylist()
    return [(min(a, b), max(a, b)) for a, b in enumerate(parents) if b >= 0]


@pytest.mark.parametrize("cost", ["shared", "replicating"])
@pytest.mark.parametrize("routing", ["spanning", "steiner", "acyclic"])
def test_moves_cost_what_the_definitions_say(tmp_path: Path, routing: str, cost: str) -> None:
    """For every client and every broker that it may use; one tree stays as it is."""
    case = replace(CASE, routing=routing, cost=cost)
    problem = case.problem(tmp_path / "workload")
    plan = solve(problem, "greedy-packing").plan
    attached = attached_brokers(plan, 4).tolist()
    for number, client in enumerate(case.clients):
        facts = FAMILY.explain["client"](problem, plan, f"c{number}", None).facts
        shown = {int(row["broker"][1:]): row for row in facts["brokers"]}
        assert sorted(shown) == list(client.allowed or ())
        for broker, row in shown.items():
            changed = [*attached[:number], broker, *attached[number + 1 :]]
            core = core_in_tree(case, changed, tree_edges(plan)) if routing == "acyclic" else core_cost(case, changed)
            assert row["is_exact"]
            assert round(row["cost"] * DOLLAR_SCALE) == access_cost(case, changed) + core
            assert row["is_attached"] == (broker == attached[number])


def test_many_brokers_with_steiner_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some moves are routed anew; routing the others gives at most what is said."""
    monkeypatch.setattr(moving_module, "MAX_ROUTED", 3)
    exchange = generate(content_exchange(40, 14, niche="10%"), tmp_path / "exchange")
    problem = Problem(exchange, channels=10, routing="steiner")
    plan, network = solve(problem, "random").plan, Network(problem)
    brokers = attached_brokers(plan, 14)
    moves = moves_of(network, plan, 7)
    assert len(moves) == 14
    assert 3 <= sum(move.is_exact for move in moves) <= 4
    for move in moves:
        changed = brokers.copy()
        changed[7] = move.broker
        cost = network.access_cost(changed) + network.route(changed).cost
        assert move.cost == cost if move.is_exact else move.cost >= cost
    sentences = FAMILY.explain["client"](problem, plan, "c000000007", None).sentences
    assert any(": at most $" in sentence for sentence in sentences)


def test_a_client_of_the_hub(tmp_path: Path) -> None:
    """Away from home ann pays $297 more; at north two brokers are left, $119.40 - $59.70 less; at hub a spanning tree
    of hub, north and south has two links of $0.01: $60 instead of $119.40.
    """
    explanation = explained(Problem(hub(tmp_path / "hub"), **ASKED), "client", "ann")
    assert explanation.sentences == (
        "ann attaches to east. It wants 1 channel, sends 1,000,000,000 and receives 2,000,000,000 messages per window.",
        "4 brokers are allowed. The plan would cost",
        "  east: as much as it does; $0.001 per GB (attached)",
        "  north: $237.30 more; $0.1 per GB",
        "  south: $237.30 more; $0.1 per GB",
        "  hub: $237.60 more; $0.1 per GB",
        "No other broker with room makes the plan cheaper.",
    )
    assert explanation.facts["channels"] == [0]
    assert (explanation.facts["sends"], explanation.facts["receives"]) == (TERABYTE, 2 * TERABYTE)


def test_brokers_without_room_are_said(tmp_path: Path) -> None:
    """north takes 5 TB, of which bea has 3: ann needs 3 and would find 2."""
    brokers = {**BROKERS, "north": replace(BROKERS["north"], capacity=5 * TERABYTE)}
    explanation = explained(Problem(hub(tmp_path / "hub", brokers=brokers), **ASKED), "client", "ann")
    (row,) = [row for row in explanation.facts["brokers"] if row["broker"] == "north"]
    assert (row["has_room"], row["room"]) == (False, 2 * TERABYTE)
    assert any("north: $237.30 more; $0.1 per GB, but has room for 2,000,000,000" in s for s in explanation.sentences)


def test_brokers_without_a_limit_have_no_room_in_numbers(tmp_path: Path) -> None:
    """They take anything."""
    brokers = {name: replace(broker, capacity=0) for name, broker in BROKERS.items()}
    facts = explained(Problem(hub(tmp_path / "hub", brokers=brokers), **ASKED), "client", "ann").facts
    assert all(row["has_room"] and row["room"] is None for row in facts["brokers"])


def test_a_client_without_a_choice(tmp_path: Path) -> None:
    """ann may use east alone."""
    changes = {name: {"allowed": ["east"] if name == "ann" else list(BROKERS)} for name in ("ann", "bea", "cid")}
    explanation = explained(Problem(hub(tmp_path / "hub", changes), **ASKED), "client", "ann")
    assert explanation.sentences[-1] == "It may use no other broker."


def test_cheaper_moves_are_not_denied(tmp_path: Path) -> None:
    """A random plan leaves clients where moving one saves much; then nothing is said to be best."""
    problem = Problem(hub(tmp_path / "hub"), **ASKED)
    plan = solve(problem, "random", seed=1).plan
    away = next(
        name for name, broker in zip(("ann", "bea", "cid"), attached_brokers(plan, 4), strict=True) if broker == 1
    )
    explanation = FAMILY.explain["client"](problem, plan, away, None)
    assert " less; $0.001 per GB" in explanation.sentences[2]
    assert "makes the plan cheaper" not in str(explanation)


def test_one_tree_is_kept(tmp_path: Path) -> None:
    """And the last sentence says so."""
    explanation = explained(Problem(hub(tmp_path / "hub"), routing="acyclic", **ASKED), "client", "ann")
    assert explanation.sentences[-1] == (
        "The tree between brokers stays as it is; another one may suit the change better."
    )


def test_a_broker(tmp_path: Path) -> None:
    """hub has nobody and forwards each TB to two others."""
    explanation = explained(Problem(hub(tmp_path / "hub"), routing="steiner", **ASKED), "broker", "hub")
    assert explanation.sentences == (
        "hub has 0 clients, with 0 of at most 9,000,000,000 messages to and from them per window (0.0 %).",
        "1 channel passes: 0; hub forwards 6,000,000,000 messages to others.",
        "  hub -> east: 2,000,000,000 messages per window for $20.00",
        "  hub -> north: 2,000,000,000 messages per window for $20.00",
        "  hub -> south: 2,000,000,000 messages per window for $20.00",
        "  east -> hub: 1,000,000,000 messages per window for $10.00",
        "  north -> hub: 1,000,000,000 messages per window for $10.00",
        "  south -> hub: 1,000,000,000 messages per window for $10.00",
    )
    assert explanation.facts["channels"] == [0]
    assert [link["cost"] for link in explanation.facts["links"]] == [20.0] * 3 + [10.0] * 3


def test_a_broker_without_links(tmp_path: Path) -> None:
    """Spanning trees leave the hub out."""
    explanation = explained(Problem(hub(tmp_path / "hub"), **ASKED), "broker", "hub")
    assert explanation.sentences[1:] == ("It exchanges nothing with other brokers.",)


def test_a_link(tmp_path: Path) -> None:
    """Of three TB two go into north and one comes out of it: 3,000 GB x $0.01."""
    problem = Problem(hub(tmp_path / "hub"), routing="steiner", **ASKED)
    explanation = explained(problem, "link", "north, hub")
    assert explanation.sentences == (
        "north and hub exchange 3,000,000,000 messages per window for $30.00, at $0.01 per GB.",
        "  hub -> north: 2,000,000,000 messages per window for $20.00",
        "  north -> hub: 1,000,000,000 messages per window for $10.00",
        "1 channel passes: 0.",
    )
    assert explanation.facts["channels"] == [0]
    assert explained(problem, "link", "east,north").sentences == (
        "Nothing goes between east and north; it would cost $0.0199 per GB.",
    )


def test_a_channel(tmp_path: Path) -> None:
    """Its range in values, who publishes and wants it where, and who forwards to whom."""
    explanation = explained(Problem(hub(tmp_path / "hub"), routing="steiner", **ASKED), "channel", "0")
    assert explanation.facts["ranges"] == {"price": ["0.0", "5.0"]}
    assert explanation.facts["published_at"] == {"east": TERABYTE, "north": TERABYTE, "south": TERABYTE}
    assert explanation.facts["wanted_at"] == {"east": 1, "north": 1, "south": 1}
    assert explanation.sentences[0] == (
        "Channel 0 is price 0.0 to 5.0. 3 clients publish 3,000,000,000 messages per window in it that others want; 3 "
        "clients want it."
    )
    assert explanation.sentences[2:] == (
        "What is published at brokers that want it; a broker forwards to all but the one that a message came from:",
        "  east forwards to hub",
        "  hub forwards to east, north, south",
        "  north forwards to hub",
        "  south forwards to hub",
    )


def test_a_channel_with_an_origin(tmp_path: Path) -> None:
    """ann publishes what she does not want: her messages leave east along a tree of their own."""
    changes = {"ann": {"box": [(10, 20)]}, "bea": {"publishes": {}}, "cid": {"publishes": {}}}
    explanation = explained(Problem(hub(tmp_path / "hub", changes), routing="steiner", **ASKED), "channel", "0")
    assert explanation.facts["trees"] == [
        {"origin": "east", "forwards": [["east", "hub"], ["hub", "north"], ["hub", "south"]]}
    ]
    assert explanation.sentences[0].startswith(
        "Channel 0 is price 0.0 to 5.0. 1 client publishes 1,000,000,000 messages"
    )
    assert explanation.sentences[2:] == (
        "What is published at east:",
        "  east forwards to hub",
        "  hub forwards to north, south",
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"routing": "acyclic"}, "In the one tree of all channels a broker forwards"),
        ({"cost": "replicating"}, "Every subscriber gets a copy of its own straight from the publisher's broker."),
    ],
)
def test_channels_without_trees_of_their_own(tmp_path: Path, asked: dict[str, str], said: str) -> None:
    """One tree for all of them, or none."""
    explanation = explained(Problem(hub(tmp_path / "hub"), **ASKED, **asked), "channel", "0")
    assert explanation.sentences[2].startswith(said)


def test_a_silent_channel(tmp_path: Path) -> None:
    """Nobody publishes from 5 on."""
    explanation = explained(Problem(hub(tmp_path / "hub"), **ASKED), "channel", "1")
    assert explanation.sentences == (
        "Channel 1 is price 5.0 to 10.0. Nobody publishes in it what others want; 0 clients want it.",
    )


def test_a_channel_of_one_broker(tmp_path: Path) -> None:
    """Everybody is at hub, which forwards to nobody."""
    prices = {site: dict.fromkeys(BROKERS, 100) | {"hub": 0} for site in ("amiens", "bergen", "cadiz")}
    explanation = explained(Problem(hub(tmp_path / "hub", prices=prices), **ASKED), "channel", "0")
    assert explanation.sentences[-1] == "No broker forwards it."


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("client", "eve", "has no client 'eve'"),
        ("broker", "west", "has no broker 'west'"),
        ("link", "hub,west", "has no broker 'west'"),
        ("link", "hub", "A link is two brokers with a comma between them, such as A,B, not 'hub'"),
        ("link", "hub,north,east", "A link is two brokers with a comma between them"),
        ("link", "hub,hub", "A link is between two different brokers, not 'hub' and itself"),
        ("channel", "2", "Channels are numbered from 0 to 1, not '2'"),
        ("channel", "-1", "Channels are numbered from 0 to 1, not '-1'"),
        ("channel", "x", "Channels are numbered from 0 to 1, not 'x'"),
    ],
)
def test_wrong_names(tmp_path: Path, kind: str, name: str, said: str) -> None:
    """A sentence says what is wrong with them."""
    with pytest.raises(InputError, match=said):
        explained(Problem(hub(tmp_path / "hub"), **ASKED), kind, name)
