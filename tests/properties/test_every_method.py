"""Properties that hold for every method of every family, read from the registry."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.forge import forge
from properties.families import ORACLES

from pubplan.engine import read_parquet
from pubplan.errors import Infeasible, NotApplicable
from pubplan.planning import Family, Plan, Problem, Result, solve_problem, verify_plan
from pubplan.problems import FAMILIES, family_named

MUTATIONS = 4
"""So many are tried on one plan."""


def groups(names: Iterable[str], size: int) -> list[tuple[str, ...]]:
    """Names in groups, each of which shares the examples of a test."""
    every = list(names)
    return [tuple(every[first : first + size]) for first in range(0, len(every), size)]


def combinations() -> list[object]:
    """Every family, group of methods and variant."""
    return [
        pytest.param(family, methods, variant, id=f"{family.name}-{','.join(methods)}-{variant}")
        for family in map(family_named, FAMILIES)
        for methods in groups(family.methods, ORACLES[family.name].together)
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


@pytest.mark.parametrize(("family", "methods", "variant"), combinations())
@given(data=st.data())
def test_promises(family: Family, methods: tuple[str, ...], variant: str, data: st.DataObject) -> None:
    """The plan verifies, says the verdict's objective, keeps its guarantee, and repeats itself."""
    oracle = ORACLES[family.name]
    case, method = data.draw(oracle.cases), data.draw(st.sampled_from(methods))
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        found = oracle.best(case, problem)
        result = answer(family, problem, method, is_feasible=found is not None)
        if result is None or found is None:
            return
        verdict = verify_plan(family, problem, result.plan)
        assert verdict.ok, verdict.violations
        assert verdict.objective == result.exact

        best = found.fraction
        sign = 1 if problem.sense == "max" else -1
        assert sign * result.exact.fraction <= sign * best
        assert result.bound is None or sign * best <= sign * result.bound
        ratio = family.methods[method].ratio
        if ratio is not None:
            assert sign * float(result.exact) >= sign * ratio * float(best)

        again = answer(family, problem, method)
        assert again is not None
        assert again.plan.digest == result.plan.digest


def bounds_of_families() -> list[object]:
    """Every family, group of bounds and variant."""
    return [
        pytest.param(family, bounds, variant, id=f"{family.name}-{','.join(bounds)}-{variant}")
        for family in map(family_named, FAMILIES)
        for bounds in groups(family.bounds, 2 if ORACLES[family.name].together > 1 else 1)
        for variant in ORACLES[family.name].variants
    ]


@pytest.mark.parametrize(("family", "bounds", "variant"), bounds_of_families())
@given(data=st.data())
def test_bounds_hold(family: Family, bounds: tuple[str, ...], variant: str, data: st.DataObject) -> None:
    """No plan beats a bound, the plan that carries it verifies, and a bound computed again is the same."""
    oracle = ORACLES[family.name]
    case, bound = data.draw(oracle.cases), data.draw(st.sampled_from(bounds))
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        if family.bounds[bound].refusal(problem) is not None:
            with pytest.raises(NotApplicable, match=bound):
                solve_problem(family, problem, bound=bound)
            return
        best = oracle.best(case, problem)
        if best is None:
            with pytest.raises(Infeasible):
                solve_problem(family, problem, bound=bound)
            return
        result = solve_problem(family, problem, bound=bound)
        sign = 1 if problem.sense == "max" else -1
        for name in result.bounds:
            assert sign * best.fraction <= sign * result.plan.certificate(name).bound.fraction
        assert verify_plan(family, problem, result.plan).ok
        assert solve_problem(family, problem, bound=bound).plan.digest == result.plan.digest


def tables_of(plan: Plan) -> dict[str, pa.Table]:
    """All tables of decisions, block by block."""
    return {name: read_parquet(plan.path / name) for name in plan.record["files"] if name.startswith("decisions/")}


@pytest.mark.parametrize(("family", "methods", "variant"), combinations())
@given(data=st.data())
def test_names_do_not_matter(family: Family, methods: tuple[str, ...], variant: str, data: st.DataObject) -> None:
    """An order-preserving renaming of all ids renames the decisions and changes nothing else."""
    oracle = ORACLES[family.name]
    case, method = data.draw(oracle.cases), data.draw(st.sampled_from(methods))

    def rename(name: str) -> str:
        return f"é\n<{name}>"

    def retold(value: object, column: str) -> object:
        """A value under the new names: an id, or a text that quotes one."""
        if not isinstance(value, str):
            return value
        return rename(value) if column.endswith("_id") else re.sub(r"'(.*?)'", lambda id_: repr(rename(id_[1])), value)

    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        problem = oracle.problem(case, Path(first), same, variant)
        other = oracle.problem(case, Path(second), rename, variant)
        is_feasible = oracle.best(case, problem) is not None
        plain = answer(family, problem, method, is_feasible=is_feasible)
        renamed = answer(family, other, method, is_feasible=is_feasible)
        assert (plain is None) == (renamed is None)
        if plain is None or renamed is None:
            return
        assert plain.exact == renamed.exact
        new = {name: table.to_pylist() for name, table in tables_of(renamed.plan).items()}
        assert new == {
            name: [{column: retold(value, column) for column, value in row.items()} for row in table.to_pylist()]
            for name, table in tables_of(plain.plan).items()
        }


@pytest.mark.parametrize(("family", "methods", "variant"), combinations())
@given(data=st.data())
def test_mutations_are_caught(family: Family, methods: tuple[str, ...], variant: str, data: st.DataObject) -> None:
    """Every change of the decisions that breaks a promise is found, under hashes that fit the change."""
    oracle = ORACLES[family.name]
    case, method = data.draw(oracle.cases), data.draw(st.sampled_from(methods))
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        result = answer(family, problem, method, is_feasible=oracle.best(case, problem) is not None)
        if result is None:
            return
        for name in data.draw(st.permutations(list(oracle.mutations)))[:MUTATIONS]:
            changes = oracle.mutations[name](case, result.plan)
            if changes is None:
                continue
            forged = forge(result.plan, Path(directory) / name, **changes)
            assert not verify_plan(family, problem, forged).ok, name
