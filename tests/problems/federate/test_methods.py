"""Methods of federate: what they promise, and what is known of their answers."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.federate import Case, Publisher, access_cost, best_cost, cases, core_in_tree, total_cost
from oracles.federate_plans import edges_of

from pubplan.generate import content_exchange, generate
from pubplan.planning import Draft
from pubplan.problems.federate.family import FAMILY, solve
from pubplan.problems.federate.kernels.attaching import (
    attach,
    detach,
    empty_work,
    estimate,
    reweigh_all,
)
from pubplan.problems.federate.kernels.attaching import (
    total_cost as cost_of,
)
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network

ROUTINGS = st.sampled_from(["spanning", "steiner", "acyclic"])
COSTS = st.sampled_from(["shared", "replicating"])

HUB = Case(
    (4,),
    (4,),
    tuple(Publisher(site, ((0, 4),), ((site, 10),)) for site in range(3)),
    tuple(tuple(0 if broker == site else 500 for broker in range(4)) for site in range(3)),
    ((0, 199, 199, 100), (199, 0, 199, 100), (199, 199, 0, 100), (100, 100, 100, 0)),
    (0, 0, 0, 0),
    (1,),
)
"""Three brokers with a client each, 199 from each other, and a hub that is 100 from all of them."""


def run(problem: Problem, method: str, seed: int = 0, **parameters: int) -> Draft:
    chosen = FAMILY.methods[method]
    return chosen.run(problem, chosen.parameters(**parameters), seed, None)


def attached(draft: Draft) -> list[int]:
    return draft.decisions["attachments"].make(0)["broker"].to_pylist()  # type: ignore[union-attr]


@given(cases(), ROUTINGS, COSTS)
def test_costs_are_those_of_the_definition(case: Case, routing: str, cost: str) -> None:
    """What a draft claims is what its attachment costs, with its tree where it has one for everything."""
    case = replace(case, routing=routing, cost=cost)
    if best_cost(case) is None:
        return
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory) / "workload")
        for method in ("greedy-packing", "clustering", "steiner-mixing", "random"):
            draft = run(problem, method)
            brokers = attached(draft)
            expected = total_cost(case, brokers)
            if routing == "acyclic":
                (row,) = draft.decisions["trees"].to_pylist()  # type: ignore[union-attr]
                edges = edges_of((-1, -1, tuple(row["parents"])))
                assert access_cost(case, brokers) + core_in_tree(case, brokers, edges) == draft.claimed.value
            elif routing == "spanning" or cost == "replicating":
                assert draft.claimed.value == expected
            assert draft.claimed.value >= expected


@given(cases(), ROUTINGS, COSTS, st.integers(0, 2**32 - 1))
def test_moves_change_costs_as_they_say(case: Case, routing: str, cost: str, seed: int) -> None:
    """Taking clients out and putting them in again keeps the cost of the state true, and estimates with a table of all
    sets of brokers are exact.
    """
    clients = tuple(replace(client, allowed=None) for client in case.clients)
    case = replace(case, clients=clients, routing=routing, cost=cost, capacities=(0,) * case.num_brokers)
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        network = Network(case.problem(Path(directory) / "workload"))
        start = rng.integers(0, case.num_brokers, len(case.clients)).astype(np.int32)
        trees = network.trees
        if routing == "acyclic":
            trees = network.fixed(network.best_tree(network.state_of(start)))
        state, work = network.state_of(start), empty_work(network.num_brokers)
        reweigh_all(network.field, state, trees, work)
        for _ in range(8):
            client, broker = int(rng.integers(len(case.clients))), int(rng.integers(case.num_brokers))
            detach(network.field, state, trees, client, work)
            without = cost_of(state)
            estimate(network.field, state, trees, client, work.estimates)
            guess = int(work.estimates[broker])
            attach(network.field, state, trees, client, broker, work)
            brokers = state.brokers.tolist()
            if routing == "acyclic":
                edges = edges_of((-1, -1, tuple(trees.parents.tolist())))
                assert cost_of(state) == access_cost(case, brokers) + core_in_tree(case, brokers, edges)
            else:
                assert cost_of(state) == total_cost(case, brokers)
                assert cost_of(state) - without == guess


@pytest.mark.parametrize(("ratio", "bar"), [(1, 0.03), ("0.05", 0.06)])
def test_local_moves_are_near_the_best(ratio: object, bar: float, tmp_path: Path) -> None:
    """Within 3 % of the optimum on average where access is as expensive as links, 6 % where links are expensive."""
    gaps = []
    for seed in range(10):
        shape = content_exchange(7, 4, seed, price_ratio=ratio, capacity_factor=6)
        problem = Problem(generate(shape, tmp_path / str(seed)), channels=3)
        best = run(problem, "exact").claimed.value
        gaps.append(run(problem, "local-moves").claimed.value / best - 1)
    assert np.mean(gaps) <= bar
    assert min(gaps) >= 0


@pytest.mark.parametrize("routing", ["spanning", "steiner", "acyclic"])
@pytest.mark.parametrize("niche", [None, "5%"])
def test_local_moves_are_never_above_the_others(routing: str, niche: str | None, tmp_path: Path) -> None:
    """With the same seed, no other method is cheaper; 20 brokers are too many for a table of all sets."""
    workload = generate(
        content_exchange(120, 20, 3, niche=niche, capacity_factor=12 if niche else 2), tmp_path / "workload"
    )
    problem = Problem(workload, channels=12, routing=routing)  # type: ignore[arg-type]
    moved = run(problem, "local-moves", steps=2_000).claimed.value
    for method in ("greedy-packing", "clustering", "steiner-mixing", "random"):
        assert moved <= run(problem, method).claimed.value, method
    assert moved <= run(problem, "local-moves", steps=0).claimed.value


def test_steiner_trees_find_the_hub(tmp_path: Path) -> None:
    """30 messages: a spanning tree of three brokers weighs 2 x 199, over the hub 3 x 100; access is free. With more
    than twelve brokers, which have no table of all sets, it is found as well.
    """
    costs = {}
    for routing in ("spanning", "steiner"):
        case = replace(HUB, routing=routing)
        costs[routing] = run(case.problem(tmp_path / routing), "greedy-packing").claimed.value
        assert costs[routing] == best_cost(case)
    assert costs == {"spanning": 30 * 2 * 199, "steiner": 30 * 3 * 100}
    far = 14
    links = [[0 if a == b else 400 for b in range(far)] for a in range(far)]
    for a in range(4):
        for b in range(4):
            links[a][b] = HUB.links[a][b]
    prices = tuple((*row, *[500] * (far - 4)) for row in HUB.prices)
    large = replace(HUB, prices=prices, links=tuple(map(tuple, links)), capacities=(0,) * far, routing="steiner")
    assert run(large.problem(tmp_path / "large"), "greedy-packing").claimed.value == 30 * 3 * 100


def test_one_tree_is_never_cheaper(tmp_path: Path) -> None:
    """A Steiner tree per channel costs no more than a spanning tree, and that no more than one tree for everything."""
    workload = generate(content_exchange(60, 8, 1, niche="10%", capacity_factor=12), tmp_path / "workload")
    costs = [
        run(Problem(workload, channels=10, routing=routing), "greedy-packing").claimed.value  # type: ignore[arg-type]
        for routing in ("steiner", "spanning", "acyclic")
    ]
    assert costs == sorted(costs)


def test_seeds_decide(tmp_path: Path) -> None:
    """Same seed, same plan; other seeds give other random attachments."""
    problem = Problem(generate(content_exchange(40, 5), tmp_path / "workload"), channels=5)
    assert solve(problem, "random", seed=1).plan.digest == solve(problem, "random", seed=1).plan.digest
    assert attached(run(problem, "random", 1)) != attached(run(problem, "random", 2))


def test_full_brokers_are_named(tmp_path: Path) -> None:
    """Every client sends 10 messages and receives 20; broker b2, the cheapest for all, takes 30: two are elsewhere."""
    case = replace(HUB, capacities=(0, 0, 30, 0), prices=((5, 5, 0, 9),) * 3)
    (reason,) = run(case.problem(tmp_path / "workload"), "greedy-packing").reasons
    assert (reason.limit, reason.need, reason.have, reason.where) == ("capacity", 30, 0, "b2")
    assert "for the smallest of 2 clients whose cheapest broker it is and that attach elsewhere" in str(reason)


@given(cases(), st.integers(0, 2**32 - 1))
def test_traffic_counted_in_tasks_is_that_of_the_arrays(case: Case, seed: int) -> None:
    """Subscribers and messages by channel and broker are the same, read block by block or from the arrays."""
    with tempfile.TemporaryDirectory() as directory:
        network = Network(case.problem(Path(directory) / "workload"))
        number = network.problem.instance.num_clients
        brokers = np.random.default_rng(seed).integers(0, network.num_brokers, number).astype(np.int32)
        for one, other in zip(
            network.matrices_of(brokers), network.problem.instance.matrices(brokers, None), strict=True
        ):
            assert one.tolist() == other.tolist()


def test_spark_gives_the_same_plan(spark, tmp_path: Path) -> None:
    """Draws, trees and the traffic matrix as Spark tasks: the digest of one process."""
    workload = generate(content_exchange(60, 5), tmp_path / "workload")
    for routing in ("spanning", "acyclic"):
        alone, together = (
            solve(Problem(workload, channels=6, routing=routing), "local-moves", bound="none", spark=session)
            for session in (None, spark)
        )
        assert together.plan.digest == alone.plan.digest


@pytest.mark.parametrize(
    ("sent", "capacity", "sentence"),
    [
        # In order 2 + 2, then 4 beside nothing, and nowhere for the last; the largest first: 4 + 2 twice.
        ((2, 2, 4, 4), 6, "greedy-packing found room only with the largest clients first"),
        # In order 3 + 3 + 4 and 4 + 5; the largest first 5 + 5 and 4 + 4 + 3; only 3 + 4 + 5 twice leaves nobody.
        (
            (3, 3, 4, 4, 5, 5),
            12,
            "greedy-packing left 1 client without room; all clients are packed by a search that looks at room alone",
        ),
        ((2, 4, 2, 4), 6, None),
    ],
)
def test_plans_say_how_clients_were_packed(
    tmp_path: Path, sent: tuple[int, ...], capacity: int, sentence: str | None
) -> None:
    """Clients send to one subscriber and receive nothing; two brokers take them, the first one is cheaper."""
    senders = tuple(Publisher(0, ((1, 2),), ((0, messages),), (0, 1)) for messages in sent)
    case = Case(
        (2,),
        (2,),
        (*senders, Publisher(0, ((0, 1),), (), (2,))),
        ((1, 2, 3),),
        ((0, 1, 1), (1, 0, 1), (1, 1, 0)),
        (capacity, capacity, 0),
        (2,),
    )
    reasons = run(case.problem(tmp_path / "workload"), "greedy-packing").reasons
    assert [str(reason) for reason in reasons if reason.limit == "room"] == [sentence] * (sentence is not None)
