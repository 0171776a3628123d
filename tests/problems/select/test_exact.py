"""exact: the best plan, a proof that verify evaluates again, and no word of a floating-point solver taken for one."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.forge import forge
from oracles.select import Case, best_value, cases

from pubplan.engine import read_parquet
from pubplan.errors import InputError
from pubplan.planning import Exact, Plan, gap
from pubplan.problems.select import OBJECTIVES, Problem, hull, solve, verify
from pubplan.problems.select.hull import HullProgram
from pubplan.problems.select.kernels.search import CLOSED, FREE, SERVED, row_worths

ONE = 2**32
TREE = "certificate/search-tree/00000.parquet"
VECTORS = "certificate/search-multipliers/00000.parquet"


def check_best(case: Case, objective: str) -> None:
    """The plan is the best there is (F-B3M: within 10^-8 of it), its bound holds it, and it is not below the greedy."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory), objective)
        result = solve(problem, "exact", bound="none")
        best = best_value(case, objective)
        slack = 0 if objective == "b3m" else best // 10**8
        assert best - slack <= result.exact.value <= best
        assert best <= result.plan.certificate("search").bound.value <= best + slack
        assert result.exact.value >= solve(problem, f"greedy-{objective}", bound="none").exact.value


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(case=cases())
def test_the_search_gives_the_best(case: Case, objective: str) -> None:
    """exact is what trying all sets gives, and its bound meets it."""
    check_best(case, objective)


@st.composite
def tight_cases(draw: st.DrawFn) -> Case:
    """Costs of up to 2^50 of which a set misses the capacity by one or two, and thresholds of up to 2^31 - 1."""
    size = draw(st.sampled_from([10**6, 10**7, 10**9, 10**12, 2**50]))
    topics = [f"t{number}" for number in range(draw(st.integers(2, 6)))]
    largest = draw(st.sampled_from([5, 70_000, 2**31 - 1]))
    rates = {topic: draw(st.integers(0, largest)) for topic in topics}
    interests = {
        f"s{number}": tuple(sorted(draw(st.sets(st.sampled_from(topics), min_size=1))))
        for number in range(draw(st.integers(1, 6)))
    }
    costs = {topic: size * draw(st.integers(1, 4)) + draw(st.integers(-2, 2)) for topic in topics}
    wanted = draw(st.sets(st.sampled_from(topics), min_size=1))
    capacity = max(0, sum(costs[topic] for topic in wanted) - draw(st.integers(0, 2)))
    return Case(rates, interests, draw(st.integers(1, largest)), capacity, costs=costs)


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(case=tight_cases())
def test_large_costs_and_thresholds_are_exact(case: Case, objective: str) -> None:
    """A capacity a billionth below the cost of a set of topics does not hold it; the cost itself does."""
    check_best(case, objective)


def test_a_capacity_just_below_two_topics(make_workload) -> None:
    """t1 and t7 cost 20,000,000 each; 29,999,999 holds one of them, or t0 at 10,000,000, which satisfies two."""
    rates = {"t0": 5_000_000, "t1": 20_000_000, "t7": 20_000_000}
    workload = make_workload(rates, {"a": ["t0"], "b": ["t0"], "c": ["t7"], "d": ["t1"]})
    result = solve(Problem(workload, 29_999_999, 1, "b3m"), "exact")
    assert (result.objective, result.bounds["search"], result.gap) == (2.0, 2.0, 0.0)


@pytest.mark.parametrize(("rate", "threshold"), [(499_998, 1_000_000), (32_768, 65_537)])
def test_one_event_too_few_does_not_satisfy(make_workload, rate: int, threshold: int) -> None:
    """Two topics bring one or four events less than the threshold: it takes three of the four topics."""
    workload = make_workload(dict.fromkeys("abcd", rate), {"x": list("abcd")})
    for capacity, satisfied in ((2 * rate, 0.0), (3 * rate, 1.0), (4 * rate, 1.0)):
        result = solve(Problem(workload, capacity, threshold, "b3m"), "exact", bound="none")
        assert (result.objective, result.bound) == (satisfied, satisfied)


def test_a_topic_that_is_always_needed(make_workload) -> None:
    """Threshold 100,001 takes both topics, rates 1 and 100,000; a capacity of 100,000 holds one of them."""
    workload = make_workload({"a": 1, "b": 100_000}, {"x": ["a", "b"]})
    for method, bound in (("exact", "none"), ("greedy-b3m", "search")):
        result = solve(Problem(workload, 100_000, 100_001, "b3m"), method, bound=bound)
        assert (result.objective, result.bounds["search"]) == (0.0, 0.0)


def test_the_best_plan_may_be_in_no_leaf(make_workload) -> None:
    """Tightening cuts away what is not beyond the best plan known; the bound is not below that plan all the same.

    b is free, a costs 2 and satisfies y1 and y2; with b and c, for 2, x1 to x3 are satisfied: 3.
    """
    interests = {"x1": ["b", "c"], "x2": ["b", "c"], "x3": ["b", "c"], "y1": ["a"], "y2": ["a"]}
    workload = make_workload({"a": 2, "b": 8, "c": 4}, interests, costs={"a": 2, "b": 0, "c": 2})
    problem = Problem(workload, 3, 9, "b3m", cost="cost")
    for method, bound in (("exact", "none"), ("greedy-b3m", "search")):
        result = solve(problem, method, bound=bound)
        assert (result.objective, result.bounds["search"]) == (3.0, 3.0)


def test_fixed_point_is_capped_where_it_rounds_up(make_workload) -> None:
    """With a threshold of 2^31 - 1 the slope is 3, and 1.6 x 10^9 events already count for a whole subscriber."""
    topics = list("abcd")
    workload = make_workload(
        dict.fromkeys(topics, 1_600_000_000), {"s0": ["a", "b"], "s1": ["c", "d"]}, costs=dict.fromkeys(topics, 1)
    )
    result = solve(Problem(workload, 1, 2**31 - 1, cost="cost"), "exact", bound="none")
    assert result.objective == 1.0
    assert 1.0 <= result.bound <= 1.0 + 2e-8


def test_large_weights_do_not_trouble_the_solver() -> None:
    """With weights that sum to nearly 10^9 the best plan is the one that trying all sets gives."""
    weights = {"s1": 387_303_781, "s2": 100_049_558, "s4": 425_731_019}
    interests = {"s1": ("t01", "t02"), "s2": ("t02", "t04"), "s4": ("t01", "t04")}
    case = Case(
        {"t01": 3, "t02": 2, "t04": 10},
        interests,
        25,
        209_231,
        thresholds={"s1": 6, "s2": 7, "s4": 9},
        weights=weights,
        costs={"t01": 185_697, "t02": 18_101, "t04": 78_858},
        must_serve=("t02",),
    )
    for objective in OBJECTIVES:
        check_best(case, objective)


def clique_problem(make_workload, num_topics: int = 8) -> Problem:
    """Every pair of topics has a subscriber who needs both; the capacity holds half of the topics."""
    topics = [f"t{number}" for number in range(num_topics)]
    interests = {f"{one}{other}": [one, other] for one, other in combinations(topics, 2)}
    workload = make_workload(dict.fromkeys(topics, 1), interests, costs=dict.fromkeys(topics, 1))
    return Problem(workload, num_topics // 2, 2, "b3m", cost="cost")


def test_a_proof_takes_more_than_its_root(make_workload) -> None:
    """4 of 8 topics of a clique satisfy 6 pairs, any 4 do; the relaxation serves all by halves: 14."""
    result = solve(clique_problem(make_workload), "exact", bound="none")
    assert (result.objective, result.bound) == (6.0, 6.0)
    assert read_parquet(result.plan.path / TREE).num_rows > 10


def test_a_stopped_search_says_how_far_it_came(make_workload) -> None:
    """After a few nodes the plan is the best met so far, its bound holds, and a reason names the limit."""
    problem = clique_problem(make_workload)
    result = solve(problem, "exact", parameters={"search_nodes": 3}, bound="none")
    assert result.objective <= 6.0 < result.bound <= 14.0
    assert [reason.have for reason in result.reasons if reason.where == "exact"] == ["stopped by its limit"]
    assert result.plan.record["deterministic"] is True


def test_a_time_limit_makes_a_plan_of_this_machine(make_workload) -> None:
    """Which the plan says, also when the search ended before the limit and proves its answer."""
    workload = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]})
    result = solve(Problem(workload, 6, 3), "exact", parameters={"time_limit": 60}, bound="none")
    assert result.plan.record["deterministic"] is False
    assert "search" in result.bounds


def test_a_search_without_time_still_bounds(make_workload) -> None:
    """Out of time before the first linear program is solved, the plan is the greedy's and its bound is true."""
    problem = clique_problem(make_workload)
    result = solve(problem, "exact", parameters={"time_limit": 1e-9}, bound="none")
    assert result.objective == solve(problem, "improved-b3m", bound="none").objective
    assert 6.0 <= result.bound <= 28.0
    assert [reason.have for reason in result.reasons if reason.where == "exact"] == ["stopped by its limit"]


def forge_bound(plan: Plan, target: Path, bound: Exact, **changes: Any) -> Plan:
    return forge(
        plan,
        target,
        record={"bound": bound.rounded_up(), "bounds": {"search": bound.rounded_up()}, "gap": gap(plan.exact, bound)},
        certificates={"search": lambda raw: {**raw, "bound": bound.to_dict()}},
        **changes,
    )


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Problem, Plan]:
    """The clique, planned by a greedy that reaches 6 as well, with the bound of the search."""
    import pubplan

    def make(*arguments, **options):
        return pubplan.build_workload(tmp_path_factory.mktemp("clique") / "workload", *arguments, **options)

    problem = clique_problem(make)
    return problem, solve(problem, "greedy-b3m", bound="search").plan


def test_exact_carries_its_proof(make_workload, tmp_path: Path) -> None:
    """A greedy plan under the name of exact, or an exact one without its tree, is refused."""
    problem = clique_problem(make_workload)
    greedy = solve(problem, "greedy-b3m", bound="none").plan
    record = {"method": "exact", "parameters": {**greedy.record["parameters"], "search_nodes": 9, "time_limit": None}}
    assert is_refused(problem, forge(greedy, tmp_path / "renamed", record=record))
    exact = solve(problem, "exact", bound="none").plan
    bare = {"bound": None, "bounds": {}, "gap": None, "files": dict.fromkeys(greedy.record["files"], "")}
    shutil.copytree(exact.path, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "certificate")
    assert is_refused(problem, forge(replace(exact, path=tmp_path / "copy"), tmp_path / "bare", record=bare))


def test_a_bound_below_the_best_is_refused(proven: tuple[Problem, Plan], tmp_path: Path) -> None:
    """A stored bound of 5 does not follow from the tree, which proves 6; 7 does."""
    problem, plan = proven
    assert not verify(problem, forge_bound(plan, tmp_path / "low", Exact(5))).ok
    assert verify(problem, forge_bound(plan, tmp_path / "high", Exact(7))).ok


def is_refused(problem: Problem, plan: Plan) -> bool:
    """Whether a plan fails, or its files cannot be read."""
    try:
        return not verify(problem, plan).ok
    except InputError:
        return True


def rows_of(table: pa.Table, change) -> pa.Table:
    rows = table.to_pylist()
    change(rows)
    return pa.Table.from_pylist(rows, schema=table.schema)


def _leaf(rows: list[dict[str, Any]]) -> int:
    """A node whose bound matters: the last leaf."""
    parents = {row["parent"] for row in rows}
    return max(number for number in range(len(rows)) if number not in parents)


def _no_children(rows: list[dict[str, Any]]) -> None:
    parents = {row["parent"] for row in rows}
    del rows[min(parents - {-1}) + 1 :]


DAMAGE = {
    "a subtree is cut off": _no_children,
    "a child is missing": lambda rows: rows.pop(_leaf(rows)),
    "both children serve the topic": lambda rows: rows[_leaf(rows)].update(served=not rows[_leaf(rows)]["served"]),
    "children divide by different topics": lambda rows: rows[_leaf(rows)].update(topic=rows[_leaf(rows)]["topic"] ^ 1),
    "a leaf has no multipliers": lambda rows: rows[_leaf(rows)].update(vector=-1),
    "a vector does not exist": lambda rows: rows[_leaf(rows)].update(vector=2**31 - 1),
    "a topic does not exist": lambda rows: rows[_leaf(rows)].update(topic=99),
    "a price is negative": lambda rows: rows[_leaf(rows)].update(payment=-1),
    "a price divides by zero": lambda rows: rows[_leaf(rows)].update(cost=0),
    "a parent comes after its child": lambda rows: rows[1].update(parent=len(rows) - 1),
    "the root has a parent": lambda rows: rows[0].update(parent=0),
    "there is no node": lambda rows: rows.clear(),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_tree_proves_nothing(proven: tuple[Problem, Plan], tmp_path: Path, name: str) -> None:
    """Whatever is taken out of the tree or put into it, the bound no longer follows."""
    problem, plan = proven
    forged = forge(plan, tmp_path / "f", tables={TREE: lambda table: rows_of(table, DAMAGE[name])})
    assert is_refused(problem, forged)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(0, table.num_rows - 1),
        lambda table: rows_of(table, lambda rows: [row["multipliers"].pop() for row in rows]),
        lambda table: table.rename_columns(["interests", "prices"]),
        lambda table: table.set_column(1, "multipliers", pa.array([[0.5]] * table.num_rows)),
        lambda table: rows_of(table, lambda rows: [row["interests"].reverse() for row in rows]),
    ],
    ids=["a vector less", "shorter vectors", "another column", "another type", "interests that descend"],
)
def test_damaged_multipliers_prove_nothing(proven: tuple[Problem, Plan], tmp_path: Path, change) -> None:
    """Vectors that are missing, too short or of another type are said to be so."""
    problem, plan = proven
    assert is_refused(problem, forge(plan, tmp_path / "f", tables={VECTORS: change}))


def test_other_multipliers_prove_less(proven: tuple[Problem, Plan], tmp_path: Path) -> None:
    """Any multipliers give a true bound, but not every one gives 6: with none paid, all 28 pairs are satisfied."""
    problem, plan = proven

    def unpaid(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["multipliers"] = [0] * len(row["multipliers"])

    forged = forge(plan, tmp_path / "f", tables={VECTORS: lambda table: rows_of(table, unpaid)})
    assert not verify(problem, forged).ok


def naive_worth(case: dict[str, Any], is_whole: bool) -> int:
    """The best of all sets of free topics, by definition."""
    need, best = case["need"], 0
    free = [topic for topic, state in enumerate(case["state"]) if state == FREE]
    sure = sum(rate for rate, state in zip(case["rates"], case["state"], strict=True) if state == SERVED)
    for size in range(len(free) + 1):
        for chosen in combinations(free, size):
            received = min(need, sure + sum(case["rates"][topic] for topic in chosen))
            satisfied = ONE if received >= need else 0 if is_whole else -(-ONE // need) * received
            best = max(best, satisfied - sum(case["multipliers"][topic] for topic in chosen))
    return best


@pytest.mark.kernel
@pytest.mark.parametrize("is_whole", [False, True])
@given(data=st.data())
def test_rows_are_worth_the_best_set(data: st.DataObject, is_whole: bool) -> None:
    """The kernel equals the best of all sets: by enumeration, and for 13 free topics and small needs on the grid."""
    size = data.draw(st.sampled_from([0, 1, 3, 6, 13]))
    case = {
        "rates": data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)),
        "need": data.draw(st.integers(1, 40)),
        "multipliers": data.draw(st.lists(st.integers(0, ONE - 1), min_size=size, max_size=size)),
        "state": data.draw(
            st.lists(st.sampled_from([FREE] if size == 13 else [FREE, SERVED, CLOSED]), min_size=size, max_size=size)
        ),
    }
    worths, taken, payments = np.empty(1, np.int64), np.empty(size, bool), np.zeros(size, np.int64)
    row_worths(
        np.array([0, size]),
        np.arange(size, dtype=np.int32),
        np.array(case["rates"], dtype=np.int64),
        np.array([case["need"]]),
        np.zeros(1, np.int64),
        np.array([3]),
        np.array(case["state"], dtype=np.int8),
        np.array(case["multipliers"], dtype=np.int64),
        is_whole,
        worths,
        taken,
        payments,
    )
    assert worths[0] == naive_worth(case, is_whole)
    # With what it takes served and the rest closed, the row is worth as much and what it paid.
    state = [SERVED if takes else CLOSED if s == FREE else s for takes, s in zip(taken, case["state"], strict=True)]
    paid = sum(price for price, takes in zip(case["multipliers"], taken, strict=True) if takes)
    assert naive_worth({**case, "state": state}, is_whole) == worths[0] + paid


@pytest.mark.kernel
@given(data=st.data())
def test_serving_a_topic_is_worth_at_most_its_multiplier(data: st.DataObject) -> None:
    """Also on the grid: what is fixed further down a tree never raises a value that was evaluated above it."""
    size, is_whole = data.draw(st.integers(1, 16)), data.draw(st.booleans())
    rates = np.array(data.draw(st.lists(st.integers(1, 9000), min_size=size, max_size=size)))
    multipliers = np.array(data.draw(st.lists(st.integers(0, ONE // 4), min_size=size, max_size=size)))
    need, topic = data.draw(st.integers(1, 60_000)), data.draw(st.integers(0, size - 1))
    values = []
    for state in (FREE, SERVED):
        states, worths = np.full(size, FREE, np.int8), np.empty(1, np.int64)
        states[topic] = state
        row_worths(
            *(np.array([0, size]), np.arange(size, dtype=np.int32), rates, np.array([need]), np.zeros(1, np.int64)),
            *(np.ones(1, np.int64), states, multipliers, is_whole, worths, np.empty(size, bool)),
            np.zeros(size, np.int64),
        )
        values.append(int(worths[0]))
    assert values[1] <= values[0] + multipliers[topic]


def test_a_solver_without_answers_is_done_without(make_workload, monkeypatch) -> None:
    """Where HiGHS gives up on every linear program, branching alone finds the best plan and proves it."""

    def no_answer(*arguments: object) -> None:
        raise hull.NoAnswer

    monkeypatch.setattr(hull, "_solved_duals", no_answer)
    result = solve(clique_problem(make_workload, 6), "exact", bound="none")
    assert (result.objective, result.bound) == (3.0, 3.0)


def test_the_solver_is_not_believed(make_workload, monkeypatch) -> None:
    """A linear program that answers nonsense costs time and a tight bound, never the truth."""
    problem = clique_problem(make_workload, 6)
    real = HullProgram.solve

    def nonsense(program: HullProgram):
        answer = real(program)
        answer.multipliers[:] = ONE - 1
        answer.served[:] = 1.0
        return answer

    monkeypatch.setattr(HullProgram, "solve", nonsense)
    result = solve(problem, "exact", bound="none")
    assert (result.objective, result.bound) == (3.0, 3.0)
