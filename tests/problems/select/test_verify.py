"""verify finds every lie, also under hashes that fit it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracles.forge import forge

from pubplan.errors import InputError, Violation
from pubplan.planning import Exact, Plan, Verdict, gap
from pubplan.problems.select import Problem, solve, verify
from pubplan.workload import Workload

SERVED, TRAJECTORY = "decisions/served.parquet", "trajectory.parquet"


@pytest.fixture
def problem(make_workload) -> Problem:
    """Costs: a 4, b 3, c 5, d 7. Capacity 7 holds a and b, which satisfy w, x and y but not z."""
    workload = make_workload({"a": 2, "b": 3, "c": 5, "d": 7}, {"w": ["a"], "x": ["a"], "y": ["b"], "z": ["c", "d"]})
    return Problem(workload, 7, 6)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    """Bounded by the paper's bound alone."""
    result = solve(problem, bound="paper")
    assert result.plan.decisions("served")["topic_id"].to_pylist() == ["a", "b"]
    return result.plan


@pytest.fixture
def priced(problem: Problem) -> Plan:
    """The same plan with the Lagrangian bound too."""
    return solve(problem).plan


def served(topics: list[int], ids: list[str], costs: list[int]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: pa.table(
        {"topic": pa.array(topics, pa.int32()), "topic_id": ids, "cost": pa.array(costs, pa.int64())}
    )


def faults(verdict: Verdict) -> set[str]:
    """What is wrong, as the family or as what is common to all families says it."""
    return {entry.fault if isinstance(entry, Violation) else entry.limit for entry in verdict.violations}


def test_an_honest_plan_passes(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Nothing is wrong, also in a copy that went through the forger unchanged."""
    assert verify(problem, plan).ok
    assert verify(problem, forge(plan, tmp_path / "copy")).ok


def test_serving_too_much_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """One topic more breaks the capacity: 4 + 3 + 5 = 12 of 7."""
    forged = forge(plan, tmp_path / "f", tables={SERVED: served([0, 1, 2], ["a", "b", "c"], [4, 3, 5])})
    verdict = verify(problem, forged)
    expected = {"cost above the capacity", "wrong objective", "choices that are not the served topics"}
    assert expected <= faults(verdict)
    assert Violation("cost above the capacity", "decisions", stated=12, expected="at most 7") in verdict.violations


def test_serving_less_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A dropped topic no longer gives the objective."""
    forged = forge(plan, tmp_path / "f", tables={SERVED: served([0], ["a"], [4])})
    assert "wrong objective" in faults(verify(problem, forged))


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (served([0, 9], ["a", "b"], [4, 3]), "topics that do not exist"),
        (served([-1, 1], ["a", "b"], [4, 3]), "topics that do not exist"),
        (served([0, 0, 1], ["a", "a", "b"], [4, 4, 3]), "topics repeated or out of order"),
        (served([1, 0], ["b", "a"], [3, 4]), "topics repeated or out of order"),
        (served([0, 1], ["a", "c"], [4, 3]), "topics under the id of another"),
        (served([0, 1], ["a", "b"], [4, 2]), "costs other than rate x subscribers"),
        (lambda table: table.select(["topic"]), "wrong columns, or nulls in them"),
        (lambda table: table.set_column(1, "topic_id", pa.array(["a", None])), "wrong columns, or nulls in them"),
        (lambda table: table.set_column(0, "topic", pa.array([0.5, 1.9])), "wrong columns, or nulls in them"),
        (lambda table: table.set_column(2, "cost", pa.array([4.0, 3.0])), "wrong columns, or nulls in them"),
        (lambda table: table.append_column("more", pa.array([1, 2])), "wrong columns, or nulls in them"),
    ],
    ids=["beyond", "negative", "twice", "order", "id", "cost", "columns", "null", "float topic", "float cost", "more"],
)
def test_wrong_decisions_are_found(problem: Problem, plan: Plan, tmp_path: Path, table, fault: str) -> None:
    """Topics that do not exist, come twice, are out of order or carry another's name or cost."""
    assert fault in faults(verify(problem, forge(plan, tmp_path / "f", tables={SERVED: table})))


def test_a_boasting_objective_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """One unit more than the truth, in exact or in float, is caught."""
    exact = {"value": plan.exact.value + 1, "scale": plan.exact.scale}
    assert "wrong objective" in faults(verify(problem, forge(plan, tmp_path / "a", record={"exact": exact})))
    forged = forge(plan, tmp_path / "b", record={"objective": plan.record["objective"] + 0.5})
    assert "wrong objective" in faults(verify(problem, forged))


@pytest.mark.parametrize("key", ["bound", "gap", "bounds", "sense", "unit", "workload"])
def test_other_false_statements_are_found(problem: Problem, plan: Plan, tmp_path: Path, key: str) -> None:
    """Every number in plan.json is compared with what follows from the files."""
    lies: dict[str, Any] = {"bound": 3.0, "gap": 0.0, "bounds": {"paper": 3.0}, "sense": "min", "unit": "topics"}
    lies["workload"] = {**plan.record["workload"], "kind": "content"}
    assert f"wrong {key}" in faults(verify(problem, forge(plan, tmp_path / "f", record={key: lies[key]})))


def test_other_methods_and_parameters_are_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A method that does not exist, a parameter it does not have, and a value it refuses."""
    forged = forge(plan, tmp_path / "method", record={"method": "magic"})
    assert faults(verify(problem, forged)) == {"unknown method"}
    for number, method_parameters in enumerate(({"rule": "luck"}, {"rule": "best", "more": 1}, {})):
        asked = {name: value for name, value in plan.record["parameters"].items() if name != "rule"}
        forged = forge(plan, tmp_path / f"p{number}", record={"parameters": {**asked, **method_parameters}})
        assert faults(verify(problem, forged)) == {"wrong parameters of the method"}


def test_an_invented_bound_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Only bounds that can be checked count, wherever their names point."""
    for number, name in enumerate(("magic", "../../plan")):
        record = {"bounds": {name: 3.0}, "bound": 3.0, "gap": 0.0}
        forged = Plan(forge(plan, tmp_path / f"f{number}").path, {**plan.record, **record})
        assert faults(verify(problem, forged)) == {"unknown bound"}


@pytest.mark.parametrize("cut", [0, -1, 1.5, "6", True, [], 10**30])
def test_evidence_that_is_no_weight_is_found(make_workload, tmp_path: Path, cut: object) -> None:
    """A cut of 0 would forget the subscribers who are satisfied with nothing, and prove too low a bound.

    Five subscribers want nothing and are satisfied; z cannot be. The true bound is 6; the forged one says 1.
    """
    interests = {**{f"idle{n}": [] for n in range(5)}, "z": ["a"]}
    problem = Problem(make_workload({"a": 5, "b": 1}, interests), 1, 5)
    plan = solve(problem, bound="paper").plan
    bound = Exact(2**32 + 4, 2**32)
    forged = forge(
        plan,
        tmp_path / "f",
        record={"bound": float(bound), "bounds": {"paper": float(bound)}, "gap": gap(plan.exact, bound)},
        certificates={"paper": lambda raw: {"bound": bound.to_dict(), "evidence": {"cut_need": cut, "cut_weight": 1}}},
    )
    assert {"cut item that is not positive", "objective better than the bound"} <= faults(verify(problem, forged))


def test_a_bound_that_does_not_follow_is_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A bound one unit below what its evidence proves is caught, with consistent numbers all around.

    w, x, y, z need 2, 2, 3, 6 deliveries: 7 hold the first three and none of z. Fixed point may add
    3 * ceil(2^32 / 3) - 2^32 = 2 units for y and 6 * ceil(2^32 / 6) - 2^32 = 2 for z: 3 * 2^32 + 4 is proven.
    """
    assert plan.certificate("paper").evidence == {"cut_need": 6, "cut_weight": 1}
    proven = 3 * 2**32 + 4
    for value, is_proven in ((proven, True), (proven - 1, False), (2 * 2**32, False)):
        bound = value / 2**32
        forged = forge(
            plan,
            tmp_path / f"f{value}",
            record={"bound": bound, "bounds": {"paper": bound}, "gap": gap(plan.exact, Exact(value, 2**32))},
            certificates={"paper": lambda raw, value=value: {**raw, "bound": {"value": value, "scale": 2**32}}},
        )
        seen = faults(verify(problem, forged))
        assert seen == set() if is_proven else "bound below what its certificate proves" in seen


def test_other_evidence_gives_another_bound(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Every cut proves some bound; one that proves less than was claimed is not accepted."""
    change = lambda raw: {"bound": {"value": 3 * 2**32, "scale": 2**32}, "evidence": {"cut_need": 2, "cut_weight": 1}}  # noqa: E731
    record = {"bound": 3.0, "bounds": {"paper": 3.0}, "gap": 0.0}
    forged = forge(plan, tmp_path / "f", record=record, certificates={"paper": change})
    # At cut 2: sum of max(0, 1 - c/2) + 7/2 = 3.5 > 3.
    assert faults(verify(problem, forged)) == {"bound below what its certificate proves"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda t: t.slice(0, 1), "choices that are not the served topics"),
        (lambda t: t.take([1, 0]), "costs that differ from the choices replayed"),
        (lambda t: t.set_column(1, "cost", pa.array([3, 7])), "costs that differ from the choices replayed"),
        (
            lambda t: t.set_column(2, "satisfied", pa.array([1.5, 3.0])),
            "objectives that differ from the choices replayed",
        ),
        (
            lambda t: t.set_column(2, "satisfied", pa.array([float("nan"), 3.0])),
            "objectives that differ from the choices replayed",
        ),
        (lambda t: t.set_column(1, "cost", pa.array([None, 7], pa.int64())), "wrong columns, or nulls in them"),
        (lambda t: t.append_column("more", pa.array([1, 2])), "wrong columns, or nulls in them"),
        (lambda t: t.set_column(3, "bound", pa.array([2.0, 2.9])), "bounds that no certificate proves"),
        (
            lambda t: t.set_column(3, "bound", pa.array([float("nan"), 4.0])),
            "bounds that no certificate proves",
        ),
    ],
    ids=["shorter", "order", "cost", "satisfied", "nan", "null", "more", "bound", "nan bound"],
)
def test_a_false_trajectory_is_found(problem: Problem, plan: Plan, tmp_path: Path, change, fault: str) -> None:
    """Every choice is replayed: a costs 4 and satisfies two, then b costs 3 and satisfies one more."""
    chosen = plan.trajectory().drop_columns(["bound"]).to_pydict()
    assert chosen == {"topic": [0, 1], "cost": [4, 7], "satisfied": [2.0, 3.0]}
    assert fault in faults(verify(problem, forge(plan, tmp_path / "f", tables={TRAJECTORY: change})))


def test_changed_files_and_digests_are_found(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """Without the forger's help a changed file or digest is caught by its hash."""
    forged = forge(plan, tmp_path / "f")
    other = Plan(forged.path, {**forged.record, "digest": "0" * 64})
    assert faults(verify(problem, other)) == {"wrong digest"}
    path = forged.path / "certificate" / "paper.json"
    path.write_text(path.read_text() + "\n")
    assert "file changed since it was written" in faults(verify(problem, forged))


def test_blocks_on_spark_say_the_same(spotify: Workload, spark) -> None:
    """Two blocks verified as Spark tasks give the verdict of one process."""
    problem = Problem(spotify, "10%", 27)
    plan = solve(problem).plan
    assert verify(problem, plan, spark) == verify(problem, plan)
    assert verify(problem, plan, spark).ok


def test_whole_subscribers_are_counted_for_b3m(make_workload, tmp_path: Path) -> None:
    """The same decisions under b3m count only those who receive all they need.

    a alone: x has 2 of 4, y has 2 of 2: one of two subscribers.
    """
    workload = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["a"]})
    fractions = solve(Problem(workload, 4, 4), bound="paper")
    assert fractions.objective == 1.5
    forged = forge(
        fractions.plan,
        tmp_path / "f",
        record={
            "parameters": {**fractions.plan.record["parameters"], "objective": "b3m"},
            "objective": 1.0,
            "exact": {"value": 1, "scale": 1},
            "bound": 1.0,
            "bounds": {"paper": 1.0},
            "gap": 0.0,
        },
        tables={TRAJECTORY: lambda table: table.set_column(2, "satisfied", pa.array([1.0]))},
        certificates={"paper": lambda raw: {**raw, "bound": {"value": 1, "scale": 1}}},
    )
    verdict = verify(Problem(workload, 4, 4, objective="b3m"), forged)
    assert verdict.objective.value == 1
    assert faults(verdict) == {"unknown method"}  # greedy-fb3m does not maximise b3m


MULTIPLIERS = "certificate/lagrangian-multipliers/00000.parquet"


@pytest.mark.parametrize("price", [-1.0, "1", None, 1, True])
def test_a_price_that_is_none_is_found(problem: Problem, priced: Plan, tmp_path: Path, price: object) -> None:
    """The price per cost is a number that is not negative."""
    forged = forge(
        priced, tmp_path / "f", certificates={"lagrangian": lambda raw: {**raw, "evidence": {"price": price}}}
    )
    assert "price per cost that is not a number from 0 on" in faults(verify(problem, forged))


def test_other_multipliers_give_another_bound(problem: Problem, priced: Plan, tmp_path: Path) -> None:
    """Multipliers of 0 prove only that all subscribers may be satisfied; negative ones prove nothing."""
    for number, (value, fault) in enumerate(
        ((0, "bound below what its certificate proves"), (-5, "negative multipliers"))
    ):
        change = lambda table, value=value: pa.table(  # noqa: E731
            [pa.array([value] * table.num_rows, pa.int32())], schema=table.schema
        )
        forged = forge(priced, tmp_path / f"f{number}", tables={MULTIPLIERS: change})
        assert fault in faults(verify(problem, forged))


def test_multipliers_must_be_one_per_interest(problem: Problem, priced: Plan, tmp_path: Path) -> None:
    """A table with a row too few is damaged."""
    forged = forge(priced, tmp_path / "f", tables={MULTIPLIERS: lambda table: table.slice(1)})
    with pytest.raises(InputError, match="one per interest"):
        verify(problem, forged)


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.int64(), pa.list_(pa.int32())], ids=str)
def test_multipliers_of_another_type_are_refused(
    problem: Problem, priced: Plan, tmp_path: Path, kind: pa.DataType
) -> None:
    """Text, fractions and lists end in a sentence."""
    value = {pa.string(): "1", pa.float64(): 0.5, pa.int64(): 1}.get(kind, [1])
    change = lambda table: pa.table({"multiplier": pa.array([value] * table.num_rows, kind)})  # noqa: E731
    forged = forge(priced, tmp_path / "f", tables={MULTIPLIERS: change})
    with pytest.raises(InputError, match="'lagrangian-multipliers' is damaged"):
        verify(problem, forged)


def test_a_lower_lagrangian_bound_is_found(problem: Problem, priced: Plan, tmp_path: Path) -> None:
    """One unit of 2^-20 less than the multipliers prove is caught, with consistent numbers all around."""
    stored = priced.certificate("lagrangian").bound
    lower = Exact(stored.value - 2**12, stored.scale)
    forged = forge(
        priced,
        tmp_path / "f",
        record={
            "bound": lower.rounded_up(),
            "bounds": {**priced.record["bounds"], "lagrangian": lower.rounded_up()},
            "gap": gap(priced.exact, lower),
        },
        certificates={"lagrangian": lambda raw: {**raw, "bound": lower.to_dict()}},
    )
    assert "bound below what its certificate proves" in faults(verify(problem, forged))


def test_lists_are_checked(make_workload, tmp_path: Path) -> None:
    """A plan that leaves out what must be served, or serves what must not be, fails."""
    workload = make_workload({"a": 1, "b": 1, "c": 1}, {"x": ["a"], "y": ["b"], "z": ["c"]})
    plain = solve(Problem(workload, 2, 1), bound="none").plan
    assert plain.decisions("served")["topic_id"].to_pylist() == ["a", "b"]
    for number, lists in enumerate(({"must_serve": ["c"]}, {"must_not_serve": ["a"]})):
        forged = forge(plain, tmp_path / f"f{number}", record={"parameters": {**plain.record["parameters"], **lists}})
        fault = "topics not served that must be" if "must_serve" in lists else "topics served that must not be"
        assert fault in faults(verify(Problem(workload, 2, 1, **lists), forged))
