"""Packing, against slow and obvious twins; and the decision form."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import provision as oracle
from oracles.examples import MANY
from oracles.provision import Case, Machine, best_cost, cases, placements_of, variant

from pubplan.engine import random_stream
from pubplan.errors import Infeasible, InputError
from pubplan.planning import Method, NoParameters
from pubplan.problems.provision import FAMILY, Problem, solve, verify, what_if
from pubplan.problems.provision.kernels.packing import level_pack
from pubplan.problems.provision.methods import cbp, ffbp
from pubplan.problems.provision.methods import level as levelled
from pubplan.problems.provision.packing import Packing, total_cost
from pubplan.problems.provision.selection import Pairs, Selection

pytestmark = pytest.mark.kernel

STEPS = ["b", "bc", "bd", "bcd", "bde", "bcde"]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """A problem with eight topics, of which tests change rates, limit and prices in memory."""
    topics = {f"t{number}": 1 for number in range(8)}
    case = Case(topics, {"x": tuple(topics)}, 1, (Machine("m", 100, 10),), dict.fromkeys(topics, 1))
    return case.problem(tmp_path_factory.mktemp("ground"))


@st.composite
def loads(draw: st.DrawFn) -> tuple[list[int], list[int], Machine]:
    """Streams and pairs of eight topics, and VMs that take at least one pair of each."""
    streams = [draw(st.integers(0, 12)) for _ in range(8)]
    counts = [draw(st.integers(0, 9)) for _ in range(8)]
    line = draw(st.integers(max(1, 2 * max(streams)), 60))
    price = draw(st.integers(0, 9))
    return streams, counts, Machine("m", line, draw(st.integers(0, 900)), ((None, price),))


def asked(ground: Problem, streams: Sequence[int], machine: Machine) -> Problem:
    """The ground with other streams and another VM type."""
    problem = replace(ground, vm_types=[machine.vm_type])
    by_topic = {"rates": np.array(streams), "sizes": np.ones(len(streams), np.int64), "streams": np.array(streams)}
    vars(problem.instance).update(by_topic)  # in place of what would be read
    return problem


def chosen(counts: Sequence[int], pairs: Sequence[int] | None = None) -> Selection:
    """This many pairs of each topic; ``pairs`` by topic, where their order matters."""
    listed = np.array(pairs or [], dtype=np.int32)
    return Selection("given", np.array(counts), lambda block: Pairs(np.array([len(listed)], np.int32), listed))


def portions_of(packing: Packing) -> list[tuple[int, int, int]]:
    return list(zip(packing.topics.tolist(), packing.vms.tolist(), packing.pairs.tolist(), strict=True))


def check_loads(packing: Packing, streams: Sequence[int], counts: Sequence[int], limit: int) -> None:
    """Every pair is somewhere, no VM carries more than it may, none is empty."""
    portions = portions_of(packing)
    for topic, number in enumerate(counts):
        assert sum(pairs for other, _, pairs in portions if other == topic) == number
    assert all(pairs > 0 for _, _, pairs in portions)
    for vm in range(packing.num_vms):
        load = {topic: pairs for topic, other, pairs in portions if other == vm}
        assert load
        assert oracle.used(load, streams) <= limit
    assert packing.incoming == sum(streams[topic] for topic, _, _ in portions)
    assert packing.outgoing == sum(n * s for n, s in zip(counts, streams, strict=True))


@MANY
@given(loads(), st.sampled_from(STEPS), st.sampled_from(["stream", "traffic"]))
def test_custom_packing(ground: Problem, load, steps: str, order: str) -> None:
    """cbp with its steps packs part for part as its definition says."""
    streams, counts, machine = load
    problem = asked(ground, streams, machine)
    packing = cbp.pack(problem, problem.types[0], chosen(counts), cbp.CbpParameters(steps, order), 0, None)
    topics = [topic for topic in range(8) if counts[topic]]
    if "c" in steps:
        weight = [s if order == "stream" else s * n for s, n in zip(streams, counts, strict=True)]
        topics.sort(key=lambda topic: (-weight[topic], topic))
    prices = Fraction(machine.rent), Fraction(machine.incoming[0][1])
    portions = oracle.custom_pack(topics, streams, counts, machine.line, steps, prices)
    assert portions_of(packing) == sorted(portions)
    check_loads(packing, streams, counts, machine.line)


@MANY
@given(loads(), st.randoms(use_true_random=False))
def test_first_fit_packing(ground: Problem, load, random) -> None:
    """ffbp puts every pair on the first VM with room: the first pair of a topic needs it twice."""
    streams, counts, machine = load
    problem = asked(ground, streams, machine)
    pairs = [topic for topic, number in enumerate(counts) for _ in range(number)]
    random.shuffle(pairs)
    packing = ffbp.pack(problem, problem.types[0], chosen(counts, pairs), ffbp.FfbpParameters(), 0, None)
    expected = oracle.first_fit(pairs, streams, machine.line)
    assert packing.placed is not None
    assert packing.placed(0).tolist() == expected
    together = Counter(zip(pairs, expected, strict=True))
    assert portions_of(packing) == [(*topic_and_vm, number) for topic_and_vm, number in sorted(together.items())]
    check_loads(packing, streams, counts, machine.line)


@MANY
@given(loads())
def test_first_fit_by_topic(ground: Problem, load) -> None:
    """By topic, ffbp packs as its definition does with all pairs of a topic in a row."""
    streams, counts, machine = load
    problem = asked(ground, streams, machine)
    packing = ffbp.pack(problem, problem.types[0], chosen(counts), ffbp.FfbpParameters("topic"), 0, None)
    pairs = [topic for topic, number in enumerate(counts) for _ in range(number)]
    together = Counter(zip(pairs, oracle.first_fit(pairs, streams, machine.line), strict=True))
    assert portions_of(packing) == [(*pair, number) for pair, number in sorted(together.items())]
    check_loads(packing, streams, counts, machine.line)


@MANY
@given(loads(), st.integers(0, 3))
def test_first_fit_at_random(ground: Problem, load, seed: int) -> None:
    """At random, ffbp packs as its definition does with the pairs in an order that the seed decides."""
    streams, counts, machine = load
    problem = asked(ground, streams, machine)
    pairs = [topic for topic, number in enumerate(counts) for _ in range(number)]
    packing = ffbp.pack(problem, problem.types[0], chosen(counts, pairs), ffbp.FfbpParameters("random"), seed, None)
    order = random_stream(seed, "provision/ffbp", 0).permutation(len(pairs)).tolist()
    vms = dict(zip(order, oracle.first_fit([pairs[number] for number in order], streams, machine.line), strict=True))
    assert packing.placed is not None
    assert packing.placed(0).tolist() == [vms[number] for number in range(len(pairs))]
    check_loads(packing, streams, counts, machine.line)


@pytest.mark.parametrize("method", ["rsp+ffbp", "rsp+cbp", "gsp+ffbp"])
def test_random_orders_depend_on_the_seed_alone(method: str, tmp_path: Path) -> None:
    """The same seed gives the same plan again, another seed another one; plans of every order verify."""
    wanted = {f"s{number:02}": tuple(f"t{(7 * number + step) % 20:02}" for step in range(9)) for number in range(40)}
    rates = {f"t{number:02}": 3 + number % 7 for number in range(20)}
    wanted = {subscriber: tuple(sorted(topics)) for subscriber, topics in wanted.items()}
    problem = Case(rates, wanted, 20, (Machine("m", 90, 500),), dict.fromkeys(rates, 1)).problem(tmp_path)
    orders = {"interest_order": "random"} if method.startswith("rsp") else {}
    orders |= {"pair_order": "random"} if method.endswith("ffbp") else {}
    first, again, other = (
        solve(problem, method, seed=seed, parameters=orders, bound="none").plan for seed in (1, 1, 2)
    )
    assert first.digest == again.digest
    assert placements_of(first) != placements_of(other)
    assert all(verify(problem, plan).ok for plan in (first, other))


def test_what_if_draws_by_the_seed(tmp_path: Path) -> None:
    """A table's fleets are those that solve plans with the same seed."""
    rates = {f"t{number:02}": 3 + 5 * number for number in range(20)}
    case = Case(rates, {f"s{n}": tuple(rates) for n in range(6)}, 20, (Machine("m", 900, 1),), dict.fromkeys(rates, 1))
    problem = case.problem(tmp_path)
    options = {"method": "rsp+cbp", "parameters": {"interest_order": "random"}, "bound": "none"}
    asked = {"thresholds": [20], "vm_types": problem.types, "window_seconds": 8, "message_bytes": 1}
    costs = [what_if(problem.workload, seed=seed, **options, **asked)[0].cost for seed in range(4)]
    assert costs == [solve(problem, seed=seed, **options).exact.value for seed in range(4)]
    assert len(set(costs)) > 1


def test_orders_are_checked(ground: Problem) -> None:
    """An order that there is not is refused with those that there are."""
    with pytest.raises(InputError, match="pair_order must be subscriber, topic or random, not 'vm'"):
        solve(ground, "gsp+ffbp", parameters={"pair_order": "vm"})
    with pytest.raises(InputError, match="interest_order must be topic or random, not 'subscriber'"):
        solve(ground, "rsp+cbp", parameters={"interest_order": "subscriber"})


@pytest.mark.parametrize("method", list(FAMILY.methods.values()), ids=list(FAMILY.methods))
def test_every_parameter_says_what_it_does(method: Method) -> None:
    """Each has a default and a sentence of help that ends with a full stop."""
    for parameter in fields(method.parameters):
        assert parameter.default is not MISSING
        assert parameter.metadata["help"].endswith(".")


@MANY
@given(loads(), st.integers(1, 6))
def test_level_packing(ground: Problem, load, num_vms: int) -> None:
    """level packs as its definition says, from any number of VMs; what it makes of them is never more expensive than
    cbp, nor on fewer VMs than the traffic fills.
    """
    streams, counts, machine = load
    topics = sorted((t for t in range(8) if counts[t]), key=lambda t: (-(counts[t] + 1) * streams[t], t))
    arrays = (np.array(values, dtype=np.int64) for values in (topics, streams, counts))
    portions = level_pack(*arrays, machine.line, num_vms)
    packed = list(zip(*(values.tolist() for values in portions), strict=True))
    assert packed == oracle.level_pack(topics, streams, counts, machine.line, num_vms)

    problem = asked(ground, streams, machine)
    packing = levelled.pack(problem, problem.types[0], chosen(counts), NoParameters(), 0, None)
    check_loads(packing, streams, counts, machine.line)
    traffic = sum((counts[topic] + 1) * streams[topic] for topic in topics)
    assert packing.num_vms >= max(min(1, len(topics)), -(-traffic // machine.line))
    packed_by_cbp = cbp.pack(problem, problem.types[0], chosen(counts), cbp.CbpParameters(), 0, None)
    assert total_cost(problem, packing) <= total_cost(problem, packed_by_cbp)


@MANY
@given(loads(), st.sampled_from(["b", "bc"]))
def test_only_step_d_distributes(ground: Problem, load, steps: str) -> None:
    """Without (d) a topic is split only where its pairs fill whole VMs: on as few VMs as its pairs alone take."""
    streams, counts, machine = load
    problem = asked(ground, streams, machine)
    packing = cbp.pack(problem, problem.types[0], chosen(counts), cbp.CbpParameters(steps), 0, None)
    for topic in range(8):
        if counts[topic]:
            per_vm = machine.line // streams[topic] - 1 if streams[topic] else counts[topic]
            assert [part[0] for part in portions_of(packing)].count(topic) == -(-counts[topic] // per_vm)


def test_grouping_may_take_more_vms_for_less_traffic(ground: Problem) -> None:
    """The trade-off of step (b): a VM more than first fit and a stream less.

    VMs of 20; a has one pair of 6 (12 bytes with its stream), b two of 4 (12), c two of 4 (12), in this order. First
    fit by topic: a and a pair of b take 12 + 8 = 20; the other pair of b and c take 8 + 12 = 20: two VMs, with
    6 + 4 + 4 + 4 = 18 bytes in. By group b does not fit the 8 left after a, nor c the 8 left after b: three VMs, 14
    bytes in. With (d) the 8 bytes left after a take a pair of b, and c goes with the other one.
    """
    streams, counts = [6, 4, 4, 0, 0, 0, 0, 0], [1, 2, 2, 0, 0, 0, 0, 0]
    problem = asked(ground, streams, Machine("m", 20, 1))
    packings = {
        steps: cbp.pack(problem, problem.types[0], chosen(counts), cbp.CbpParameters(steps), 0, None)
        for steps in ("b", "bd")
    }
    assert oracle.first_fit([0, 1, 1, 2, 2], streams, 20) == [0, 0, 1, 1, 1]
    assert {steps: (packing.num_vms, packing.incoming) for steps, packing in packings.items()} == {
        "b": (3, 14),
        "bd": (2, 18),
    }


def test_free_incoming_traffic_does_not_open_vms(ground: Problem) -> None:
    """Where bytes in cost nothing, (e) spares VMs: two pairs fit next to the first topic, and one VM takes the third.

    Streams 6 and 2, VMs of 18: one pair of the first takes 12, six are left, which hold two pairs of the second; of
    nine pairs, seven remain, for one new VM that takes eight. All nine on new VMs would take two.
    """
    streams, counts = [6, 2, 0, 0, 0, 0, 0, 0], [1, 9, 0, 0, 0, 0, 0, 0]
    problem = asked(ground, streams, Machine("m", 18, 500, ((None, 0),)))
    packing = cbp.pack(problem, problem.types[0], chosen(counts), cbp.CbpParameters(), 0, None)
    assert portions_of(packing) == [(0, 0, 1), (1, 0, 2), (1, 1, 7)]


def test_steps_are_checked(ground: Problem) -> None:
    """Letters of bcde with b among them; without it, it is ffbp."""
    for steps in ("", "cde", "bx", 7):
        with pytest.raises(InputError, match="bcde"):
            solve(ground, "gsp+cbp", parameters={"steps": steps})
    for steps in ("be", "bce"):
        with pytest.raises(InputError, match="add d"):
            solve(ground, "gsp+cbp", parameters={"steps": steps})
    with pytest.raises(InputError, match="order must be stream or traffic"):
        solve(ground, "gsp+cbp", parameters={"order": "size"})
    with pytest.raises(InputError, match="steps"):
        solve(ground, "gsp+ffbp", parameters={"steps": "b"})


@given(cases(), st.sampled_from(["uniform", "sized"]))
def test_the_default_is_never_more_expensive_than_the_paper(case: Case, kind: str) -> None:
    """joint+level against gsp+cbp, as the registry promises."""
    case = variant(case, kind)
    if best_cost(case) is None:
        return
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        paper = solve(problem, "gsp+cbp", bound="none", verify=False)
        assert solve(problem, bound="none", verify=False).exact.value <= paper.exact.value


# Section II-D reduces Partition: one subscriber per number, who needs its only topic; VMs that carry what half of the
# numbers bring, both ways; bytes are free and a VM costs a micro-dollar. Two VMs do if, and only if, the numbers can be
# parted.


def partition(numbers: Sequence[int]) -> Case:
    topics = {f"t{index}": number for index, number in enumerate(numbers)}
    interests = {f"s{index}": (f"t{index}",) for index in range(len(numbers))}
    machine = Machine("half", sum(numbers), 10, ((None, 0),), ((None, 0),))
    return Case(topics, interests, max(numbers), (machine,), dict.fromkeys(topics, 1))


TWO_VMS = "0.000002"


@pytest.mark.parametrize("numbers", [(1, 1), (3, 1, 1, 2, 2, 1), (5, 5, 4, 3, 2, 1), (7, 3, 2, 2)])
def test_numbers_that_can_be_parted(numbers: tuple[int, ...], tmp_path: Path) -> None:
    """Yes, with a plan: two VMs, each full to the last byte."""
    case = partition(numbers)
    assert best_cost(case) == 2
    problem = case.problem(tmp_path, budget=TWO_VMS)
    result = solve(problem)
    assert result.exact.value == 2
    assert verify(problem, result.plan).ok
    assert [row["used"] for row in result.plan.decisions("vms").to_pylist()] == [sum(numbers)] * 2
    assert not any("undecided" in reason.where for reason in result.reasons)


def test_a_bound_above_the_budget_says_no(tmp_path: Path) -> None:
    """One VM for what fills two: no plan, and the bound is the reason."""
    with pytest.raises(Infeasible, match="no plan costs less") as caught:
        solve(partition((3, 3)).problem(tmp_path, budget="0.000001"))
    (reason,) = caught.value.reasons
    assert (reason.need, reason.have) == (2e-06, 1e-06)
    assert str(reason) == "even the cheapest plan is above the budget by $0.000001 or more"


def test_between_bound_and_plan_it_is_undecided(tmp_path: Path) -> None:
    """4, 3 and 3 cannot be parted, but no bound knows: the plan takes three VMs and says that two are not refuted."""
    case = partition((4, 3, 3))
    assert best_cost(case) == 3
    result = solve(case.problem(tmp_path, budget=TWO_VMS))
    assert result.exact.value == 3
    undecided = [reason for reason in result.reasons if "undecided" in reason.where]
    assert [(reason.need, reason.have) for reason in undecided] == [(3e-06, 2e-06)]
    assert str(undecided[0]) == (
        "the plan costs $0.000003, and the budget is $0.000002; whether a plan can keep it is undecided, as no bound "
        "is above it"
    )


def test_without_a_bound_a_budget_cannot_be_refuted(tmp_path: Path) -> None:
    """The plan is above the budget, and nothing says that none is below."""
    result = solve(partition((3, 3)).problem(tmp_path, budget="0.000001"), bound="none")
    assert [reason.have for reason in result.reasons if "undecided" in reason.where] == [1e-06]


def test_the_example_of_the_paper(tmp_path: Path) -> None:
    """Figure 1 by the model: 70 go out; 60 come in if both topics are on both VMs, 30 if each is on one VM.

    Topics of 20 and 10 events with two and three subscribers, VMs of 70. By topic: 3 x 20 = 60 and 4 x 10 = 40.
    By subscriber: the first VM takes v1's 40 + 20 and v2's 10 of t2, the second v2's 40 of t1 and v3's 20 of t2.
    """
    machine = Machine("m", 70, 10)
    topics = {"t1": 20, "t2": 10}
    interests = {"v1": ("t1", "t2"), "v2": ("t1", "t2"), "v3": ("t2",)}
    problem = Case(topics, interests, 30, (machine,), dict.fromkeys(topics, 1)).problem(tmp_path)
    for method, incoming, used in (("gsp+cbp", 30, [60, 40]), ("gsp+ffbp", 60, [70, 60])):
        plan = solve(problem, method).plan
        (row,) = plan.decisions("types").to_pylist()
        assert (row["incoming"], row["outgoing"]) == (incoming, 70)
        assert plan.decisions("vms")["used"].to_pylist() == used
        # bytes and VMs cost a micro-dollar each
        assert plan.exact.value == incoming + 70 + 2
