"""Properties that hold for every method of every family, read from the registry."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.forge import forge
from properties.families import ORACLES

from pubplan.errors import NotApplicable
from pubplan.planning import Family, Problem, Result, solve_problem, verify_plan
from pubplan.problems import FAMILIES, family_named


def combinations() -> list[object]:
    """Every family, method and variant."""
    return [
        pytest.param(family, method, variant, id=f"{family.name}-{method}-{variant}")
        for family in map(family_named, FAMILIES)
        for method in family.methods
        for variant in ORACLES[family.name].variants
    ]


def same(name: str) -> str:
    return name


def answer(family: Family, problem: Problem, method: str) -> Result | None:
    """The method's result without bounds but its own, or None where it refuses the problem by name."""
    if family.methods[method].refusal(problem) is not None:
        with pytest.raises(NotApplicable, match=method):
            solve_problem(family, problem, method)
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


@pytest.mark.parametrize(("family", "method", "variant"), combinations())
@given(data=st.data())
def test_promises(family: Family, method: str, variant: str, data: st.DataObject) -> None:
    """The plan verifies, says the verdict's objective, keeps its guarantee, and repeats itself."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        result = answer(family, problem, method)
        if result is None:
            return
        verdict = verify_plan(family, problem, result.plan)
        assert verdict.ok, verdict.violations
        assert verdict.objective == result.exact

        best = oracle.best(case, problem).fraction
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
    """Every family, bound and variant."""
    return [
        pytest.param(family, bound, variant, id=f"{family.name}-{bound}-{variant}")
        for family in map(family_named, FAMILIES)
        for bound in family.bounds
        for variant in ORACLES[family.name].variants
    ]


@pytest.mark.parametrize(("family", "bound", "variant"), bounds_of_families())
@given(data=st.data())
def test_bounds_hold(family: Family, bound: str, variant: str, data: st.DataObject) -> None:
    """No plan beats a bound, the plan that carries it verifies, and a bound computed again is the same."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        if family.bounds[bound].refusal(problem) is not None:
            with pytest.raises(NotApplicable, match=bound):
                solve_problem(family, problem, bound=bound)
            return
        result = solve_problem(family, problem, bound=bound)
        sign = 1 if problem.sense == "max" else -1
        best = oracle.best(case, problem).fraction
        assert sign * best <= sign * result.plan.certificate(bound).bound.fraction
        assert verify_plan(family, problem, result.plan).ok
        assert solve_problem(family, problem, bound=bound).plan.digest == result.plan.digest


@pytest.mark.parametrize(("family", "method", "variant"), combinations())
@given(data=st.data())
def test_names_do_not_matter(family: Family, method: str, variant: str, data: st.DataObject) -> None:
    """An order-preserving renaming of all ids renames the decisions and changes nothing else."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)

    def rename(name: str) -> str:
        return f"é\n<{name}>"

    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        plain = answer(family, oracle.problem(case, Path(first), same, variant), method)
        renamed = answer(family, oracle.problem(case, Path(second), rename, variant), method)
        assert (plain is None) == (renamed is None)
        if plain is None or renamed is None:
            return
        assert plain.exact == renamed.exact
        for table, (_, key) in family.decisions.items():
            old, new = plain.plan.decisions(table), renamed.plan.decisions(table)
            assert [rename(name) for name in old[key].to_pylist()] == new[key].to_pylist()
            assert old.drop_columns([key]).equals(new.drop_columns([key]))


@pytest.mark.parametrize(("family", "method", "variant"), combinations())
@given(data=st.data())
def test_mutations_are_caught(family: Family, method: str, variant: str, data: st.DataObject) -> None:
    """Every change of the decisions that breaks a promise is found, under hashes that fit the change."""
    oracle = ORACLES[family.name]
    case = data.draw(oracle.cases)
    with tempfile.TemporaryDirectory() as directory:
        problem = oracle.problem(case, Path(directory), same, variant)
        result = answer(family, problem, method)
        if result is None:
            return
        for name, (table, mutate) in oracle.mutations.items():
            mutated = mutate(case, result.plan.decisions(table))
            if mutated is None:
                continue
            change = {f"decisions/{table}.parquet": lambda _, mutated=mutated: mutated}
            forged = forge(result.plan, Path(directory) / name, tables=change)
            assert not verify_plan(family, problem, forged).ok, name
