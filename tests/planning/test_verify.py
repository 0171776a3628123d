"""What is checked of every plan, whatever its family."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from oracles.forge import forge, relisted

from pubplan.errors import InputError
from pubplan.planning import Plan, Verdict, read_plan, verify_plan
from pubplan.problems.select import FAMILY, Problem, solve


@pytest.fixture
def problem(make_workload) -> Problem:
    workload = make_workload({"a": 2, "b": 3, "c": 5}, {"x": ["a", "b"], "y": ["b"], "z": ["c"]})
    return Problem(workload, capacity=8, threshold=3)


@pytest.fixture
def plan(problem: Problem, tmp_path: Path) -> Plan:
    return solve(problem, out=tmp_path / "plan").plan


def faults(verdict: Verdict) -> set[str]:
    return {violation.fault for violation in verdict.violations}


@pytest.mark.parametrize("name", ["notes.txt", "decisions/more.json", "certificate/search.json", "decisions/plan.json"])
def test_files_that_no_plan_has_are_refused(problem: Problem, plan: Plan, name: str) -> None:
    """Also if plan.json lists them, and whatever they are called."""
    (plan.path / name).write_text("{}")
    with pytest.raises(InputError, match="does not list"):
        read_plan(plan.path)
    (violation,) = verify_plan(FAMILY, problem, relisted(plan.path, [*plan.record["files"], name])).violations
    assert (violation.fault, violation.where) == ("file that plans of this family do not have", name)


@pytest.mark.parametrize("name", ["trajectory.parquet", "certificate/lagrangian-multipliers/00000.parquet"])
def test_files_that_every_plan_has_are_missed(problem: Problem, plan: Plan, name: str) -> None:
    """A plan without its order of choice, or without the evidence of its bound, is incomplete."""
    (plan.path / name).unlink()
    (violation,) = verify_plan(FAMILY, problem, relisted(plan.path, set(plan.record["files"]) - {name})).violations
    assert (violation.fault, violation.where) == ("file missing", name)


def test_blocks_of_evidence_are_numbered_without_gaps(problem: Problem, plan: Plan) -> None:
    """A table of as many blocks as the evidence takes has block 0, 1, 2 … and nothing else."""
    folder = "certificate/lagrangian-multipliers"
    lagrangian = FAMILY.bounds["lagrangian"]
    tables = {name: replace(layout, by="evidence") for name, layout in lagrangian.tables.items()}
    family = replace(FAMILY, bounds={**FAMILY.bounds, "lagrangian": replace(lagrangian, tables=tables)})
    assert verify_plan(family, problem, plan).ok
    (plan.path / folder / "00000.parquet").rename(plan.path / folder / "00001.parquet")
    names = [name.replace(f"{folder}/00000", f"{folder}/00001") for name in plan.record["files"]]
    wrong = verify_plan(family, problem, relisted(plan.path, names)).violations
    assert [violation.where for violation in wrong] == [f"{folder}/00000.parquet", f"{folder}/00001.parquet"]


def test_evidence_with_other_keys_is_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """What nobody reads nobody checks."""
    change = lambda raw: {**raw, "evidence": {**raw["evidence"], "note": "trust me"}}  # noqa: E731
    forged = forge(plan, tmp_path / "forged", certificates={"lagrangian": change})
    (violation,) = verify_plan(FAMILY, problem, forged).violations
    assert (violation.fault, violation.stated) == ("wrong keys of the evidence", "note, price")


def test_a_method_carries_what_its_name_promises(problem: Problem, plan: Plan) -> None:
    """A plan under the name of a method that promises a certificate is refused without it."""
    missing = "certificates missing that the method promises"
    for certificates, expected in ((("lagrangian",), set()), (("search",), {missing})):
        method = replace(FAMILY.methods[plan.method], certificates=certificates)
        family = replace(FAMILY, methods={**FAMILY.methods, plan.method: method})
        assert faults(verify_plan(family, problem, plan)) == expected


@pytest.mark.parametrize(
    ("key", "text"), [("exact", '{"value": 1' + "0" * 400 + ', "scale": 1}'), ("parameters", '{"capacity": 1e999}')]
)
def test_numbers_without_end_are_refused(plan: Plan, key: str, text: str) -> None:
    """Before anything is made of them."""
    raw = json.loads((plan.path / "plan.json").read_text())
    (plan.path / "plan.json").write_text(json.dumps({**raw, key: "?"}).replace('"?"', text))
    with pytest.raises(InputError, match="not readable JSON"):
        read_plan(plan.path)
