"""Properties that hold for every method of every family, read from the registry."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.forge import forge
from properties.families import ORACLES

from pubplan.engine import read_parquet
from pubplan.errors import Infeasible, NotApplicable
from pubplan.planning import Exact, Family, Plan, Problem, Result, solve_problem, verify_plan
from pubplan.problems import FAMILIES, family_named

MUTATIONS = 4
"""How many of a family's mutations are tried on one plan."""

EXAMPLES = max(12, settings.default.max_examples // 2)
SOME = settings(max_examples=EXAMPLES)
"""Every example takes all methods of a family, so that half as many as elsewhere are plenty."""

FEWER = settings(max_examples=EXAMPLES // 3)
"""For properties whose every example makes several plans with each method."""


def variants() -> list[object]:
    """Every family and variant."""
    return [
        pytest.param(family, variant, id=f"{family.name}-{variant}")
        for family in map(family_named, FAMILIES)
        for variant in ORACLES[family.name].variants
    ]


def same(name: str) -> str:
    return name


def answer(family: Family, problem: Problem, method: str, *, is_feasible: bool = True) -> Result | None:
    """The method's result without bounds but its own, or None where it refuses the problem by name, or where there is
    no plan, which it says.
    """
    if family.methods[method].refusal(problem) is not None:
        with pytest.raises(NotApplicable, match=re.escape(method)):
            solve_problem(family, problem, method)
        return None
    if not is_feasible:
        with pytest.raises(Infeasible) as caught:
            solve_problem(family, problem, method, bound="none")
        assert caught.value.reasons
        return None
    return solve_problem(family, problem, method, bound="none")


def test_every_family_has_an_oracle() -> None:
    """A new family brings its instances and its brute force along."""
    assert set(ORACLES) == set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_method_answers_something(name: str, tmp_path: Path) -> None:
    """No method refuses every variant of its family, so the properties below are never about nothing."""
    family, oracle = family_named(name), ORACLES[name]
    problems = [oracle.problem(oracle.plain, tmp_path / variant, same, variant) for variant in oracle.variants]
    for method in family.methods:
        assert any(answer(family, problem, method) for problem in problems), method


@pytest.mark.parametrize(("family", "variant"), variants())
def test_promises(family: Family, variant: str) -> None:
    """Every method's plan verifies, says the verdict's objective, keeps its guarantee, and repeats itself; and every
    method that answers the variant meets instances that are not trivial.
    """
    oracle = ORACLES[family.name]
    num_telling: Counter[str] = Counter()

    @SOME
    @given(oracle.cases)
    def check(case: Any) -> None:
        with tempfile.TemporaryDirectory() as directory:
            problem = oracle.problem(case, Path(directory), same, variant)
            best = oracle.best(case, problem)
            for method in family.methods:
                result = answer(family, problem, method, is_feasible=best is not None)
                if result is not None and best is not None:
                    check_promises(family, problem, result, best)
                    num_telling[method] += oracle.is_telling(problem, best)

    check()
    with tempfile.TemporaryDirectory() as directory:
        plain = oracle.problem(oracle.plain, Path(directory), same, variant)
        answering = [name for name, method in family.methods.items() if method.refusal(plain) is None]
    assert {name: num_telling[name] for name in answering if num_telling[name] < EXAMPLES // 4} == {}


def check_promises(family: Family, problem: Problem, result: Result, best: Exact) -> None:
    """What one plan promises, against the best plan."""
    verdict = verify_plan(family, problem, result.plan)
    assert verdict.ok, verdict.violations
    assert verdict.objective == result.exact
    method = result.plan.method
    sign = 1 if problem.sense == "max" else -1
    is_within_limits = not {reason.limit for reason in result.reasons} & family.methods[method].may_break
    if is_within_limits:  # a plan that says which limits it breaks may be better than all that keep them
        assert sign * result.exact.fraction <= sign * best.fraction, method
    assert result.bound is None or sign * best.fraction <= sign * result.bound, method
    ratio = family.methods[method].ratio
    if ratio is not None:
        assert sign * float(result.exact) >= sign * ratio * float(best), method
    again = answer(family, problem, method)
    assert again is not None
    assert again.plan.digest == result.plan.digest, method


@pytest.mark.parametrize(("family", "variant"), variants())
@SOME
@given(data=st.data())
def test_bounds_hold(family: Family, variant: str, data: st.DataObject) -> None:
    """No plan beats a bound, the plan that carries it verifies, and a bound computed again is the same."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        best = oracle.best(case, problem)
        for bound in family.bounds:
            if best is None:
                with pytest.raises(Infeasible):
                    solve_problem(family, problem, bound=bound)
            elif family.bounds[bound].refusal(problem) is not None:
                with pytest.raises(NotApplicable, match=bound):
                    solve_problem(family, problem, bound=bound)
            else:
                result = solve_problem(family, problem, bound=bound)
                sign = 1 if problem.sense == "max" else -1
                for name in result.bounds:
                    assert sign * best.fraction <= sign * result.plan.certificate(name).bound.fraction, name
                assert verify_plan(family, problem, result.plan).ok, bound
                assert solve_problem(family, problem, bound=bound).plan.digest == result.plan.digest, bound


def tables_of(plan: Plan) -> dict[str, pa.Table]:
    """All tables of decisions, block by block."""
    return {name: read_parquet(plan.path / name) for name in plan.record["files"] if name.startswith("decisions/")}


def rename(name: str) -> str:
    return f"é\n<{name}>"


def renamed_value(value: object, column: str) -> object:
    """A value under the new names: an id, or a text that quotes one."""
    if not isinstance(value, str):
        return value
    return rename(value) if column.endswith("_id") else re.sub(r"'(.*?)'", lambda id_: repr(rename(id_[1])), value)


@pytest.mark.parametrize(("family", "variant"), variants())
@FEWER
@given(data=st.data())
def test_names_do_not_matter(family: Family, variant: str, data: st.DataObject) -> None:
    """An order-preserving renaming of all ids renames the decisions and changes nothing else."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        problem = oracle.problem(case, Path(first), same, variant)
        other = oracle.problem(case, Path(second), rename, variant)
        is_feasible = oracle.best(case, problem) is not None
        for method in family.methods:
            plain = answer(family, problem, method, is_feasible=is_feasible)
            renamed = answer(family, other, method, is_feasible=is_feasible)
            assert (plain is None) == (renamed is None), method
            if plain is None or renamed is None:
                continue
            assert plain.exact == renamed.exact, method
            new = {name: table.to_pylist() for name, table in tables_of(renamed.plan).items()}
            assert new == {
                name: [
                    {column: renamed_value(value, column) for column, value in row.items()} for row in table.to_pylist()
                ]
                for name, table in tables_of(plain.plan).items()
            }, method


@pytest.mark.parametrize(("family", "variant"), variants())
@FEWER
@given(data=st.data())
def test_mutations_are_caught(family: Family, variant: str, data: st.DataObject) -> None:
    """Every change of the decisions that breaks a promise is found, under hashes that fit the change."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        is_feasible = oracle.best(case, problem) is not None
        for method in family.methods:
            result = answer(family, problem, method, is_feasible=is_feasible)
            if result is None:
                continue
            for name in data.draw(st.permutations(list(oracle.mutations)))[:MUTATIONS]:
                changes = oracle.mutations[name](case, result.plan)
                if changes is None:
                    continue
                forged = forge(result.plan, Path(directory) / f"{method} {name}", **changes)
                assert not verify_plan(family, problem, forged).ok, (method, name)
