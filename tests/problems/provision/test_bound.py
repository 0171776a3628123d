"""The bounds: below every plan, each at least as good as the one before, and caught when forged."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.forge import forge
from oracles.provision import Case, Machine, best_cost, cases, faults, placements_of, rows_into, stated_for, variant

from pubplan.errors import InputError, NotApplicable, VerificationFailed
from pubplan.planning import Exact, Plan, gap
from pubplan.problems.provision import FAMILY, Problem, solve, verify
from pubplan.problems.provision import bound as bound_module

PRICES, CHARGED = "certificate/prices-topics/00000.parquet", "certificate/prices-charged/00000.parquet"


@given(cases(), st.sampled_from(["uniform", "sized"]))
def test_each_bound_is_at_least_the_one_before(case: Case, kind: str) -> None:
    """paper <= outgoing <= mandatory <= prices <= the best plan."""
    case = variant(case, kind)
    best = best_cost(case)
    if best is None:
        return
    with tempfile.TemporaryDirectory() as directory:
        result = solve(case.problem(Path(directory)))
        names = [name for name in FAMILY.bounds if name in result.bounds]
        bounds = [result.plan.certificate(name).bound.value for name in names]
        assert names[-3:] == ["outgoing", "mandatory", "prices"]
        assert bounds == sorted(bounds)
        assert bounds[-1] <= best


def test_the_papers_number(tmp_path: Path) -> None:
    """Theorem A.1: 5 events for x, whose smallest topic has 3, and 4 for y, who asks for 2 but gets 4 or nothing.

    9 events of 2 bytes at a micro-dollar a byte, and one VM of 3 micro-dollars that carries 40. The smallest sum that
    gives x 5 events is 3 + 4 = 7: 22 bytes. Both of its topics are mandatory and flow in: 14 more.
    """
    machine = Machine("m", 40, 30)
    case = Case({"a": 3, "b": 4}, {"x": ("a", "b"), "y": ("b",)}, 5, (machine,), {"a": 1, "b": 1}, 2, {"x": 5, "y": 2})
    result = solve(case.problem(tmp_path))
    bounds = {name: result.plan.certificate(name).bound.value for name in result.bounds}
    assert bounds == {"paper": 18 + 3, "outgoing": 22 + 3, "mandatory": 36 + 3, "prices": 36 + 3}
    assert result.exact.value == 39 == best_cost(case)


def test_mandatory_pairs_that_fill_vms_pay_streams(tmp_path: Path) -> None:
    """Seven pairs of a stream of 4 on VMs of 16, which take three: three VMs, three streams."""
    case = Case({"a": 4}, {f"s{n}": ("a",) for n in range(7)}, 9, (Machine("m", 16, 1000),), {"a": 1})
    result = solve(case.problem(tmp_path))
    assert result.plan.certificate("outgoing").bound.value == 28 + 2 * 100
    assert result.plan.certificate("mandatory").bound.value == 28 + 12 + 3 * 100 == result.exact.value


def test_theorem_a1_needs_one_size(tmp_path: Path) -> None:
    """Where sizes differ it counts nothing, and says so; it is left out where it is not named."""
    case = Case({"a": 3, "b": 4}, {"x": ("a", "b")}, 3, (Machine("m", 40, 30),), {"a": 1, "b": 2}, None)
    problem = case.problem(tmp_path)
    with pytest.raises(NotApplicable, match=r"Theorem A\.1"):
        solve(problem, bound="paper")
    assert set(solve(problem).bounds) == {"outgoing", "mandatory", "prices"}


def test_prices_are_refused_where_they_would_take_too_long(make_workload) -> None:
    """Interests times threshold; the other bounds still hold."""
    topics = [f"t{number:03}" for number in range(200)]
    workload = make_workload(dict.fromkeys(topics, 2**22), {"x": topics}, message_bytes=1)
    problem = Problem(workload, [Machine("m", 2**40, 1).vm_type], 2**30, window_seconds=8)
    assert 200 * 2**30 > 2 * 10**11
    with pytest.raises(NotApplicable, match="interests times threshold"):
        solve(problem, bound="prices")
    assert set(solve(problem, "gsp+cbp").bounds) == {"paper", "outgoing", "mandatory"}


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    """Sixteen subscribers of nine topics, none of which a subscriber needs: prices are what the bound is made of."""
    random = Random(3)
    topics = {f"t{number}": random.randint(3, 9) for number in range(9)}
    interests = {f"s{number:02}": tuple(sorted(random.sample(sorted(topics), 5))) for number in range(16)}
    machine = Machine("m", 100, 70, ((None, 8),), ((None, 4),))
    return Case(topics, interests, 9, (machine,), dict.fromkeys(topics, 1)).problem(tmp_path)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    plan = solve(problem).plan
    bounds = {name: plan.certificate(name).bound.value for name in plan.record["bounds"]}
    assert bounds["prices"] > bounds["mandatory"]
    return plan


def claim(plan: Plan, name: str, value: int) -> dict[str, Any]:
    """Changes with which a plan claims another bound, consistently."""
    bound = Exact(value, 10**6)
    bounds = {**plan.record["bounds"], name: bound.rounded_down()}
    highest = max((plan.certificate(other).bound for other in bounds if other != name), key=lambda b: b.fraction)
    best = max(bound, highest, key=lambda b: b.fraction)
    return {
        "record": {"bounds": bounds, "bound": best.rounded_down(), "gap": gap(plan.exact, best)},
        "certificates": {name: lambda raw: {**raw, "bound": bound.to_dict()}},
    }


@pytest.mark.parametrize("name", ["paper", "outgoing", "mandatory", "prices"])
def test_a_higher_claim_is_detected(problem: Problem, plan: Plan, tmp_path: Path, name: str) -> None:
    """One micro-dollar more than is proven; one less is a weaker claim and true."""
    value = plan.certificate(name).bound.value
    forged = forge(plan, tmp_path / "more", **claim(plan, name, value + 1))
    assert faults(verify(problem, forged)) == {"wrong bound"}
    assert verify(problem, forge(plan, tmp_path / "less", **claim(plan, name, value - 1))).ok


def prices(change: Callable[[list[dict[str, int]]], None]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        change(rows)
        return rows_into(tuple(row.values()) for row in rows)(table)

    return changed


def test_raised_prices_are_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Those who take a topic are charged its stream at most, all together."""

    def raise_all(rows: list[dict[str, int]]) -> None:
        for row in rows:
            row["price_if_charged"] *= 2
            row["price_otherwise"] += 1

    forged = forge(plan, tmp_path / "f", tables={PRICES: prices(raise_all)})
    assert faults(verify(problem, forged)) == {"topics priced above their stream"}


@pytest.mark.parametrize(
    ("key", "value"), [("price_if_charged", -1), ("price_otherwise", -1), ("topic", 9), ("topic", -1)], ids=str
)
def test_impossible_prices_are_detected(problem: Problem, plan: Plan, tmp_path: Path, key: str, value: int) -> None:
    """Negative ones, or of topics that do not exist."""
    forged = forge(plan, tmp_path / "f", tables={PRICES: prices(lambda rows: rows[0].update({key: value}))})
    assert "evidence of a bound that cannot be used" in faults(verify(problem, forged))


def test_a_topic_priced_twice_is_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Every topic has one price at most."""

    def again(rows: list[dict[str, int]]) -> None:
        rows.append({**rows[0], "price_if_charged": 5 * rows[0]["price_if_charged"] + 10**6})

    assert not verify(problem, forge(plan, tmp_path / "f", tables={PRICES: prices(again)})).ok


@pytest.mark.parametrize(
    "evidence",
    [{"weights": [1, 1, 1]}, {"weights": [0, 1]}, {"weights": "11"}, {"unit": 0}, {"unit": 1.5}, {"unit": None}, {}],
    ids=str,
)
def test_damaged_evidence_is_detected(
    problem: Problem, plan: Plan, tmp_path: Path, evidence: dict[str, object]
) -> None:
    """Weights and the unit are whole numbers; without them nothing is proven."""

    def change(raw: dict[str, Any]) -> dict[str, Any]:
        return {**raw, "evidence": {**raw["evidence"], **evidence} if evidence else {}}

    forged = forge(plan, tmp_path / "f", certificates={"prices": change})
    assert faults(verify(problem, forged)) & {"evidence of a bound that cannot be used", "wrong keys of the evidence"}


def test_charged_strangers_are_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Only who wants a topic shares its stream: the more there are, the less each pays, but not in truth."""

    def charge_all(table: pa.Table) -> pa.Table:
        return rows_into([(list(range(9)),)] * table.num_rows)(table)

    def charge_twice(table: pa.Table) -> pa.Table:
        return rows_into([(2 * row["topics"],) for row in table.to_pylist()])(table)

    for name, change in (("all", charge_all), ("twice", charge_twice), ("fewer", lambda table: table.slice(1))):
        forged = forge(plan, tmp_path / name, tables={CHARGED: change})
        assert "blocks that charge for other topics than interests" in faults(verify(problem, forged)), name


def test_unknown_bounds_are_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    forged = Plan(plan.path, {**plan.record, "bounds": {**plan.record["bounds"], "magic": 1.0}})
    assert faults(verify(problem, forged)) == {"unknown bound"}


FREE = Case(
    {"a": 1, "b": 1},
    {"x": ("a",), "y": ("b",)},
    1,
    (Machine("m", 400, 30),),
    {"a": 10, "b": 60},
    None,
    {"x": 1, "y": 0},
)
"""x needs a, 10 bytes in and 10 out; y needs nothing, whatever it wants: 3 for the VM and 20 for bytes."""


@pytest.mark.parametrize("name", ["outgoing", "mandatory", "prices"])
def test_what_no_subscriber_needs_proves_nothing(tmp_path: Path, name: str) -> None:
    """A plan that sends 60 bytes to a subscriber who needs nothing may cost more, but no bound rises by it."""
    problem = FREE.problem(tmp_path)
    plan = solve(problem).plan
    assert (placements_of(plan), plan.exact.value) == ([[(0, 0)], []], 23)
    generous = forge(plan, tmp_path / "generous", **stated_for(FREE, plan, [[(0, 0)], [(1, 0)]]))
    record = {"gap": gap(generous.exact, max(map(bound_of(plan), plan.record["bounds"]), key=lambda b: b.fraction))}
    generous = forge(generous, tmp_path / "gap", record=record)
    assert (verify(problem, generous).violations, generous.exact.value) == ((), 143)
    forged = forge(generous, tmp_path / "forged", **claim(generous, name, plan.certificate(name).bound.value + 1))
    assert faults(verify(problem, forged)) == {"wrong bound"}


def bound_of(plan: Plan) -> Callable[[str], Exact]:
    return lambda name: plan.certificate(name).bound


def test_bounds_that_do_not_hold_are_refused(tmp_path: Path) -> None:
    """Theorem A.1 counts events: where message sizes differ it says nothing, also in a forged plan."""
    problem = FREE.problem(tmp_path)
    plan = solve(problem, bound="outgoing").plan
    forged = forge(plan, tmp_path / "forged", added={"paper": {"bound": Exact(1).to_dict(), "evidence": {}}})
    assert faults(verify(problem, forged)) == {"bound that does not hold for this problem"}


@pytest.mark.parametrize("bound", ["paper", "outgoing", "mandatory", "prices"])
def test_subscribers_who_need_nothing_are_planned_for(tmp_path: Path, bound: str) -> None:
    """Thresholds of 0 among others, also at either end and for who wants nothing, with every bound."""
    case = Case(
        {"a": 1000, "b": 1, "c": 3},
        {"u": ("b",), "v": ("a", "b"), "w": ("c",), "x": (), "y": ("a", "c"), "z": ("b",)},
        0,
        (Machine("m", 9000, 30),),
        dict.fromkeys("abc", 1),
        1,
        {"u": 0, "v": 1000, "w": 0, "x": 0, "y": 2, "z": 0},
    )
    result = solve(case.problem(tmp_path), bound=bound)
    # v needs a and y is sent a or c: a to both takes 1000 in and 2000 out, c to y 3 + 3 in place of 1000.
    assert result.exact.value == 3 + 2000 + 6 == best_cost(case)
    assert verify(result.problem, result.plan).ok


def test_the_verifier_does_not_repeat_a_bounds_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cost of traffic that is a micro-dollar too high is noticed: the verifier computes it separately."""
    problem = FREE.problem(tmp_path)
    right = bound_module.least_fleet_cost
    monkeypatch.setattr(bound_module, "least_fleet_cost", lambda *arguments: right(*arguments) + 1)
    with pytest.raises(VerificationFailed, match="wrong bound"):
        solve(problem)


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        (PRICES, "topic", pa.array([None], pa.int32())),
        (PRICES, "topic", pa.array([0.5])),
        (PRICES, "price_if_charged", pa.array(["1"])),
        (CHARGED, "topics", pa.array([None, []], pa.list_(pa.int32()))),
        (CHARGED, "topics", pa.array([[None], []], pa.list_(pa.int32()))),
        (CHARGED, "subjects", pa.array([[0], [1]], pa.list_(pa.int32()))),
    ],
    ids=["null", "fraction", "text", "no list", "null in a list", "other name"],
)
def test_damaged_tables_of_evidence_are_refused(tmp_path: Path, table: str, column: str, values: pa.Array) -> None:
    """Columns of another name or type, and nulls, end in a sentence."""
    problem = FREE.problem(tmp_path)
    plan = solve(problem).plan

    def change(old: pa.Table) -> pa.Table:
        others = {name: old[name].combine_chunks() for name in old.column_names if name not in (column, "topics")}
        length = min([len(values), *map(len, others.values())])
        return pa.table({column: values[:length], **{name: other[:length] for name, other in others.items()}})

    forged = forge(plan, tmp_path / "f", tables={table: change})
    try:
        assert "evidence of a bound that cannot be used" in faults(verify(problem, forged))
    except InputError as error:
        assert "is damaged" in str(error)  # noqa: PT017


def test_charges_for_topics_that_do_not_exist_are_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A topic beyond the last one is not the first one of the next subscriber."""
    num_topics = problem.workload.counts.topics
    for number, topic in enumerate((num_topics, -1)):

        def stray(table: pa.Table, topic: int = topic) -> pa.Table:
            return rows_into([([topic],), *((row["topics"],) for row in table.to_pylist()[1:])])(table)

        forged = forge(plan, tmp_path / str(number), tables={CHARGED: stray})
        assert "blocks that charge for other topics than interests" in faults(verify(problem, forged))


def test_weights_beyond_64_bits_are_detected(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Weights, units and prices whose products would wrap are not evidence of anything."""

    def huge(raw: dict[str, Any]) -> dict[str, Any]:
        return {**raw, "evidence": {"weights": [2**19, 2**19], "unit": 2**19}}

    def expensive(rows: list[dict[str, int]]) -> None:
        rows[0]["price_if_charged"] = 2**50

    forged = forge(plan, tmp_path / "f", tables={PRICES: prices(expensive)}, certificates={"prices": huge})
    assert "evidence of a bound that cannot be used" in faults(verify(problem, forged))
