"""Methods of assign on small workloads whose answers can be worked out by hand, and on random ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import Infeasible, InputError
from pubplan.planning import Draft
from pubplan.planning.parameters import make_parameters
from pubplan.problems.assign.family import FAMILY
from pubplan.problems.assign.plan import ASSIGNMENTS, BROKERS, LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.problem import Problem
from pubplan.workload import Broker, Client, ContentWorkload, build_content_workload, load_factor, unit_space

TWO_LEAVES = {"near": Broker(share=1), "far": Broker(share=1)}
Make = Callable[..., ContentWorkload]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Workloads on a line of 100 steps; clients at one site unless they say otherwise."""

    def build(clients: dict[str, Client], brokers=TWO_LEAVES, latencies=None, name="workload") -> ContentWorkload:
        latencies = latencies or {"here": dict.fromkeys(brokers, 10)}
        return build_content_workload(tmp_path / name, unit_space(100), clients, brokers, latencies)

    return build


def run(problem: Problem, method: str, seed: int = 0, **parameters) -> Draft:
    """The draft of a method."""
    problem.check()
    chosen = FAMILY.named_method(method)
    return chosen.run(problem, make_parameters(chosen.parameters, parameters, method), seed, None)


def brokers_of(draft: Draft) -> list[int]:
    table = draft.decisions[ASSIGNMENTS]
    return [broker for block in range(table.num_blocks) for broker in table.make(block)["broker"].to_pylist()]


def interval(low: int, high: int, site: str = "here", **more) -> Client:
    return Client(site, [(low, high)], **more)


def test_refined_separates_what_gr_star_mixes(make: Make) -> None:
    """Intervals at 0, 1, 10, 11 on two leaves of two with one box: 22 by Gr*, 4 at best.

    Gr* puts 0 and 1 on different leaves, since ties go to the less loaded one; then 10 and 11 must join them.
    """
    clients = {name: interval(low, low + 1) for name, low in zip("abcd", (0, 1, 10, 11), strict=True)}
    problem = Problem(make(clients), boxes=1, max_delay="none", load=1, max_load=1)
    assert run(problem, "gr-star").claimed.value == 22
    refined = run(problem, "refined", steps=200)
    assert refined.claimed.value == 4
    assert brokers_of(refined) in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert run(problem, "refined", steps=0).claimed.value == 22


def test_gr_star_serves_the_choosy_first(make: Make) -> None:
    """b can use one leaf only, with room for one client: Gr serves a there first and overloads it, Gr* does not."""
    latencies = {"here": {"near": 10, "far": 10}, "there": {"near": 10, "far": 90}}
    workload = make({"a": interval(0, 10), "b": interval(0, 10, "there")}, latencies=latencies)
    problem = Problem(workload, max_delay="0.5", load=1, max_load=1)
    far, near = 0, 1  # in the order of their ids
    assert brokers_of(run(problem, "gr-star")) == [far, near]
    # Ties go to the smaller number, so Gr sends a to far by chance; mirrored, that is the leaf that b needs.
    assert brokers_of(run(problem, "gr")) == [far, near]
    mirrored = {"here": {"near": 10, "far": 10}, "there": {"near": 90, "far": 10}}
    workload = build_content_workload(
        workload.path, unit_space(100), {"a": interval(0, 10), "b": interval(0, 10, "there")}, TWO_LEAVES, mirrored,
        replace=True,
    )  # fmt: skip
    problem = Problem(workload, max_delay="0.5", load=1, max_load=1)
    overloaded = run(problem, "gr")
    assert brokers_of(overloaded) == [far, far]
    (reason,) = overloaded.reasons
    assert (reason.limit, reason.have, reason.where) == (LOAD_BROKEN, 1, "far")
    assert brokers_of(run(problem, "gr-star")) == [near, far]
    for eviction in ("reassign-now", "reassign-later"):
        evicted = run(problem, "gr", eviction=eviction)
        assert (brokers_of(evicted), evicted.reasons) == ([near, far], ())


def test_loads_rise_only_as_far_as_needed(make: Make) -> None:
    """Three of four clients can only use near: the factor must rise from 1 to 1.5, though 2 would be allowed.

    The fourth could join them for nothing; it goes to far, since near is full at 1.5.
    """
    latencies = {"here": {"near": 10, "far": 10}, "there": {"near": 10, "far": 90}}
    clients = {name: interval(0, 10, "there") for name in "abc"} | {"d": interval(0, 10)}
    problem = Problem(make(clients, latencies=latencies), max_delay="0.5", load=1, max_load=2)
    for method in ("gr-star", "refined", "balance"):
        assert brokers_of(run(problem, method)) == [1, 1, 1, 0], method


def test_methods_that_look_at_latency_alone(make: Make) -> None:
    """Everybody is nearest to near, which has room for two of four: closest sends the others to far."""
    latencies = {"here": {"near": 10, "far": 12}}
    clients = {name: interval(low, low + 1) for name, low in zip("abcd", (0, 50, 1, 51), strict=True)}
    problem = Problem(make(clients, latencies=latencies), boxes=1, max_delay="0.5", load=1, max_load=1)
    assert brokers_of(run(problem, "closest")) == [1, 1, 0, 0]
    assert run(problem, "closest").claimed.value == 51 + 51
    unbalanced = run(problem, "closest-unbalanced")
    assert brokers_of(unbalanced) == [1, 1, 1, 1]
    assert [reason.limit for reason in unbalanced.reasons] == [LOAD_BROKEN]


def test_without_latency_clients_go_anywhere_allowed(make: Make) -> None:
    """far is too far for all, and c is not allowed to use it: without latency a goes there, c does not.

    a costs 50 at either leaf and goes to the smaller number, far; b costs 49 at either and goes to near, which is less
    loaded; c must join it: [0, 50) and [0, 99), 149 in all. In time there is only near.
    """
    latencies = {"here": {"near": 10, "far": 90}}
    clients = {
        "a": interval(0, 50, allowed=["near", "far"]),
        "b": interval(50, 99, allowed=["near", "far"]),
        "c": interval(0, 50, allowed=["near"]),
    }
    problem = Problem(make(clients, latencies=latencies), boxes=1, max_delay="0.5", load=3, max_load=3)
    draft = run(problem, "gr-no-latency")
    assert (brokers_of(draft), draft.claimed.value) == ([0, 1, 1], 149)
    assert [(reason.limit, reason.have) for reason in draft.reasons] == [(LATENCY_BROKEN, 1)]
    assert brokers_of(run(problem, "gr-star")) == [1, 1, 1]


def test_heavy_clients_that_do_not_fit(make: Make) -> None:
    """Three clients of weight 2 on two leaves of 3: half a client would fit, none of them does."""
    clients = {name: interval(0, 10, weight=2) for name in "abc"}
    problem = Problem(make(clients), max_delay="none", load=1, max_load="1.2")
    with pytest.raises(Infeasible, match="3 clients stand for 6 and leaves may serve 6 at load factor"):
        problem.check()
    problem = Problem(problem.workload, max_delay="none", load=1, max_load="1.4")  # 4 of 6 at one leaf
    problem.check()
    for method in ("gr-star", "refined", "balance"):
        assert sorted(brokers_of(run(problem, method))) in ([0, 0, 1], [0, 1, 1])


def test_a_client_that_is_too_heavy_for_every_leaf(make: Make) -> None:
    """One client of weight 3 on two leaves of 2."""
    problem = Problem(make({"a": interval(0, 10, weight=3)}), max_delay="none", load=1, max_load="1.5")
    with pytest.raises(Infeasible, match="a stands for 3 clients; a leaf that it may use serves at most 2 at load"):
        problem.check()


def test_packings_that_a_rule_does_not_find(make: Make) -> None:
    """Weights 5, 5, 4, 4, 3, 3 fit two leaves of 12 only as 5 + 4 + 3: the plan says that a search found them room.

    Of many clients that share rectangles, a greedy rule and moves of one client at a time stop at other sums.
    """
    num_searched = 0
    for seed in range(20):
        weights = np.random.default_rng(seed).permutation([5, 5, 4, 4, 3, 3])
        clients = {f"c{number}": interval(0, 10, weight=int(weight)) for number, weight in enumerate(weights)}
        problem = Problem(make(clients, name=str(seed)), max_delay="none", load=1, max_load=1)
        for method in ("gr-star", "balance"):
            draft = run(problem, method)
            served = np.bincount(brokers_of(draft), weights=weights)
            assert served.tolist() == [12, 12]
            num_searched += [reason.limit for reason in draft.reasons] == ["room"]
            assert len(draft.reasons) <= 1
        assert not run(problem, "refined").reasons
    assert num_searched


def test_unknown_evictions_are_refused() -> None:
    """The message names those there are."""
    with pytest.raises(InputError, match=r"There is no eviction 'reasign-now'\. Did you mean 'reassign-now'"):
        make_parameters(FAMILY.named_method("gr").parameters, {"eviction": "reasign-now"}, "gr")


@pytest.fixture(scope="module")
def build_random(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Problem]:
    """Problems with some hundred clients of a tree with two levels."""

    def build(seed: int) -> Problem:
        rng = np.random.default_rng(seed)
        inner = {f"inner{k}": Broker(latency=5) for k in range(2)}
        leaves = {
            f"leaf{k}": Broker(f"inner{k % 2}", int(rng.integers(1, 20)), int(rng.integers(1, 4))) for k in range(6)
        }
        latencies = {f"site{k}": {name: int(rng.integers(1, 60)) for name in inner | leaves} for k in range(12)}
        lows, extents = rng.integers(0, 60, (200, 2)), rng.integers(1, 40, (200, 2))
        clients = {
            f"c{k:03}": Client(
                f"site{rng.integers(12)}", [(int(a), int(a + e)) for a, e in zip(low, extent, strict=True)]
            )
            for k, (low, extent) in enumerate(zip(lows, extents, strict=True))
        }
        path = tmp_path_factory.mktemp("random") / "workload"
        return Problem(
            build_content_workload(path, unit_space(100, 100), clients, inner | leaves, latencies),
            max_delay=1,
            load=2,
            max_load=4,
        )

    return build


@given(seed=st.integers(0, 2**16))
def test_methods_in_order_of_their_promises(seed: int, build_random: Callable[[int], Problem]) -> None:
    """refined is no larger than gr-star; balance has the least load factor of all that keep latency limits, which only
    gr-no-latency does not.
    """
    problem = build_random(seed)
    least = problem.instance.least_load_factor
    if least > problem.max_factor:
        return
    drafts = {name: run(problem, name) for name in FAMILY.methods if name != "refined"}
    refined = run(problem, "refined", seed, steps=100)
    assert refined.claimed.value <= drafts["gr-star"].claimed.value
    shares = problem.instance.shares
    factors = {
        name: load_factor(np.array(draft.decisions[BROKERS]["clients"]), shares) for name, draft in drafts.items()
    }
    assert factors["balance"] == least
    # Without latency limits clients have more leaves to choose from: that load factor may be less still.
    assert least == min(factor for name, factor in factors.items() if name != "gr-no-latency")
    assert factors["gr-star"] <= problem.max_factor
    assert {name for name, draft in drafts.items() if LATENCY_BROKEN in {r.limit for r in draft.reasons}} <= {
        "gr-no-latency"
    }
    assert run(problem, "refined", seed, steps=100).claimed == refined.claimed
