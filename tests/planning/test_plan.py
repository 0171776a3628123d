"""Plan directories: written whole, opened with care."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pubplan
from pubplan.errors import InputError, NotApplicable, StalePlan, VerificationFailed
from pubplan.planning import Exact, Plan, diff_plans, verify_plan
from pubplan.problems import problem_of
from pubplan.problems.select import FAMILY, Problem, solve
from pubplan.workload import Workload

RATES = {"a": 2, "b": 3, "c": 5}
INTERESTS = {"x": ["a", "b"], "y": ["b"], "z": ["c"]}


@pytest.fixture
def workload(make_workload) -> Workload:
    return make_workload(RATES, INTERESTS)


@pytest.fixture
def problem(workload: Workload) -> Problem:
    return Problem(workload, capacity=8, threshold=3)


def test_plan_json_has_the_keys_of_the_contract(problem: Problem, tmp_path: Path) -> None:
    """Others rely on these names, on the parameters in them and on files with hashes."""
    result = solve(problem, out=tmp_path / "plan")
    raw = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert list(raw) == [
        *("format", "family", "method", "parameters", "seed", "workload", "sense", "objective", "bound", "gap", "unit"),
        *("exact", "bounds", "verified", "deterministic", "reasons", "files", "digest"),
    ]
    assert raw["workload"] == {"kind": "topic", "digest": problem.workload.digest}
    assert raw["exact"]["value"] / raw["exact"]["scale"] == raw["objective"] == result.objective
    assert raw["gap"] == pytest.approx(abs(raw["objective"] - raw["bound"]) / raw["bound"])
    assert (raw["sense"], raw["verified"], raw["deterministic"]) == ("max", True, True)
    run = json.loads((tmp_path / "plan" / "run.json").read_text())
    assert run["peak_memory_bytes"] > 10_000_000
    assert {"planning", "reading", "bounding", "verifying", "compiling"} <= set(run["seconds"])
    assert {"pubplan", "pyspark", "python"} <= set(run["versions"])


def test_a_temporary_plan_lives_as_long_as_its_result(problem: Problem) -> None:
    """Without out the plan is on disk all the same, and gone with the last reference."""
    result = solve(problem)
    path = result.plan.path
    assert pubplan.read_plan(path).digest == result.plan.digest
    assert pubplan.select.verify(problem, result.plan).ok
    del result
    assert not path.exists()


def test_a_plan_that_fails_is_not_written(problem: Problem, tmp_path: Path, monkeypatch) -> None:
    """A method that lies about its objective is caught before anything is at the target."""
    from pubplan.problems.select import draft as select_draft

    monkeypatch.setattr(select_draft, "Exact", lambda value, scale: Exact(value + 1, scale))
    with pytest.raises(VerificationFailed, match=r"wrong objective \(exact\)"):
        solve(problem, out=tmp_path / "plan")
    assert list(tmp_path.glob("*plan*")) == []
    assert list(tmp_path.glob(".plan*")) == []
    solve(problem, out=tmp_path / "plan", verify=False)
    written = pubplan.read_plan(tmp_path / "plan")
    assert written.record["verified"] is False
    assert not verify_plan(FAMILY, problem, written).ok


def test_existing_plans_are_kept_unless_replaced(problem: Problem, tmp_path: Path) -> None:
    """A second plan for the same place is refused before any work, or takes its place."""
    solve(problem, out=tmp_path / "plan")
    with pytest.raises(InputError, match="pass replace=True to overwrite"):
        solve(problem, out=tmp_path / "plan")
    solve(problem, parameters={"rule": "gain"}, out=tmp_path / "plan", replace=True)
    assert pubplan.read_plan(tmp_path / "plan").record["parameters"]["rule"] == "gain"


def test_tables_of_decisions_are_listed_and_read(workload: Workload, problem: Problem) -> None:
    """Without a name, the names; tables in blocks are read whole; a wrong name is answered with the nearest one."""
    plan = solve(problem).plan
    assert plan.decisions() == ("served",)
    with pytest.raises(InputError, match=r"no table of decisions 'serve'. Did you mean 'served'"):
        plan.decisions("serve")
    fleet = pubplan.provision.solve(pubplan.provision.Problem(workload, threshold=3, window_seconds=60)).plan
    assert fleet.decisions() == ("placements", "splits", "types", "vms")
    placements = fleet.decisions("placements")
    assert placements["subscriber"].to_pylist() == list(range(workload.counts.subscribers))
    assert placements.equals(fleet.decisions_block("placements", 0))


def test_stale_plans_are_told(problem: Problem, make_workload) -> None:
    """A plan for another workload is stale, not wrong."""
    plan = solve(problem).plan
    changed = Problem(make_workload(RATES | {"a": 1}, INTERESTS), 8, 3)
    with pytest.raises(StalePlan, match="Plan again"):
        pubplan.select.verify(changed, plan)


def test_a_plan_answers_one_problem(problem: Problem, workload: Workload) -> None:
    """The same workload with another capacity or threshold is another problem."""
    plan = solve(problem).plan
    for other in (Problem(workload, 9, 3), Problem(workload, 8, 2)):
        with pytest.raises(InputError, match="another problem"):
            pubplan.select.verify(other, plan)


@pytest.mark.parametrize("name", ["method", "bound", "parameter"])
def test_unknown_names_are_refused(problem: Problem, name: str) -> None:
    """A wrong method, bound or parameter is named with the nearest known one."""
    wrong = {
        "method": {"method": "greedy-fb3"},
        "bound": {"bound": "papr"},
        "parameter": {"parameters": {"rul": "gain"}},
    }
    with pytest.raises(InputError, match="Did you mean"):
        solve(problem, **wrong[name])


def test_methods_refuse_what_they_cannot_answer(workload: Workload) -> None:
    """A method for fractions does not pretend to maximise whole subscribers."""
    with pytest.raises(NotApplicable, match="fb3m"):
        solve(Problem(workload, 8, 3, objective="b3m"), method="greedy-fb3m")


def test_without_a_bound_there_is_no_gap(problem: Problem) -> None:
    """bound="none" leaves bound and gap empty, and the plan still verifies."""
    result = solve(problem, bound="none")
    assert (result.bound, result.gap, result.bounds) == (None, None, {})
    assert pubplan.select.verify(problem, result.plan).ok


@pytest.mark.parametrize("damage", ["missing", "foreign", "format", "key", "json", "not a plan", "nowhere"])
def test_damaged_plans_are_refused(problem: Problem, tmp_path: Path, damage: str) -> None:
    """What is not a complete plan does not open, and the error says why."""
    path = tmp_path / "plan"
    solve(problem, out=path)
    raw = json.loads((path / "plan.json").read_text())
    if damage == "missing":
        (path / "decisions" / "served.parquet").unlink()
    elif damage == "foreign":
        (path / "decisions" / "extra.parquet").touch()
    elif damage == "format":
        (path / "plan.json").write_text(json.dumps({**raw, "format": "pubplan-plan/99"}))
    elif damage == "key":
        (path / "plan.json").write_text(json.dumps({k: v for k, v in raw.items() if k != "gap"}))
    elif damage == "json":
        (path / "plan.json").write_text("{")
    elif damage == "not a plan":
        (path / "plan.json").unlink()
    else:
        shutil.rmtree(path)
    said = {
        "missing": "lacks decisions/served.parquet",
        "foreign": "does not list",
        "format": "pubplan-plan/99",
        "key": "lacks gap",
        "json": "not readable JSON",
        "not a plan": r"no plan\.json",
        "nowhere": "no plan directory",
    }
    with pytest.raises(InputError, match=said[damage]):
        pubplan.read_plan(path)


@pytest.mark.parametrize(
    "broken",
    [
        *({"files": 3}, {"files": {"a": 1}}, {"exact": None}, {"exact": {}}, {"exact": {"value": 1, "scale": 0}}),
        *({"exact": {"value": 1.5, "scale": 1}}, {"parameters": []}, {"workload": {}}, {"bounds": None}),
        *({"workload": {"kind": "topic", "digest": None}}, {"objective": None}, {"gap": "x"}, {"reasons": [1]}),
        *({"reasons": [{"limit": "x"}]}, {"digest": None}, {"verified": "no"}, {"sense": "up"}, {"seed": 1.5}),
        *({"more": 1}, {"method": ["x"]}, {"bound": True}),
    ],
    ids=str,
)
def test_fields_of_other_types_are_refused(problem: Problem, tmp_path: Path, broken: dict[str, object]) -> None:
    """Whatever stands in plan.json, opening it ends in a sentence."""
    path = tmp_path / "plan"
    solve(problem, out=path)
    raw = json.loads((path / "plan.json").read_text())
    (path / "plan.json").write_text(json.dumps({**raw, **broken}))
    with pytest.raises(InputError, match="damaged"):
        pubplan.read_plan(path)


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": Infinity}', '{"a": "\\ud800"}', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"]
)
def test_odd_json_is_refused(problem: Problem, tmp_path: Path, text: str) -> None:
    """NaN, half characters, bottomless nesting and endless numbers are not JSON to us."""
    path = tmp_path / "plan"
    solve(problem, out=path)
    (path / "plan.json").write_text(text)
    with pytest.raises(InputError, match="not readable JSON"):
        pubplan.read_plan(path)


def test_parameters_of_other_types_are_refused(problem: Problem, tmp_path: Path) -> None:
    """A plan whose parameters make no problem is damaged."""
    plan = solve(problem).plan
    for number, parameters in enumerate(({}, {**plan.record["parameters"], "threshold": "x"})):
        forged = Plan(tmp_path / str(number), {**plan.record, "parameters": parameters})
        with pytest.raises(InputError):
            problem_of(forged, problem.workload)


@pytest.mark.parametrize("content", ["[]", '{"bound": {"value": null, "scale": 1}, "evidence": {}}', '{"bound": 3}'])
def test_damaged_certificates_are_refused(problem: Problem, tmp_path: Path, content: str) -> None:
    """A certificate holds an exact bound and its evidence."""
    plan = solve(problem, out=tmp_path / "plan").plan
    (tmp_path / "plan" / "certificate" / "paper.json").write_text(content)
    with pytest.raises(InputError, match=r"paper\.json"):
        pubplan.select.verify(problem, plan)


def test_changes_are_noticed(problem: Problem, tmp_path: Path) -> None:
    """check() compares files and statements with what was written."""
    plan = solve(problem, out=tmp_path / "plan").plan
    pubplan.read_plan(tmp_path / "plan").check()
    raw = json.loads((tmp_path / "plan" / "plan.json").read_text())
    (tmp_path / "plan" / "plan.json").write_text(json.dumps({**raw, "objective": 999.0}))
    with pytest.raises(VerificationFailed, match="changed"):
        pubplan.read_plan(tmp_path / "plan").check()
    assert plan.record["objective"] != 999.0


def test_the_digest_is_about_content(problem: Problem, tmp_path: Path) -> None:
    """The same answer has the same digest wherever and however often it is written; another answer has another."""
    first = solve(problem, out=tmp_path / "a").plan.digest
    assert solve(problem, out=tmp_path / "b", verify=False).plan.digest == first
    assert solve(problem, parameters={"rule": "gain"}).plan.digest != first
    assert solve(problem, seed=1).plan.digest != first
    assert solve(problem, bound="none").plan.digest != first


def test_diff_says_what_changes(workload: Workload) -> None:
    """Statements that differ and the ids that change sides.

    Costs: a 2, b 6, c 5. With 8 deliveries a and b fit, with 5 only c pays as much as a and half of x.
    """
    large, small = solve(Problem(workload, 8, 3)).plan, solve(Problem(workload, 2, 3)).plan
    difference = diff_plans(FAMILY, large, small)
    served = {plan.digest: set(plan.decisions("served")["topic_id"].to_pylist()) for plan in (large, small)}
    assert set(difference.decisions["served"].dropped) == served[large.digest] - served[small.digest]
    assert set(difference.decisions["served"].added) == served[small.digest] - served[large.digest]
    assert difference.statements["parameters.capacity"] == (8, 2)
    assert diff_plans(FAMILY, large, large).is_empty


def test_plans_are_opened_by_absolute_paths(problem: Problem, tmp_path: Path, monkeypatch) -> None:
    """A plan named by a relative path can be read by tasks, which run in other directories."""
    solve(problem, out=tmp_path / "plan")
    monkeypatch.chdir(tmp_path)
    assert pubplan.read_plan("plan").path == tmp_path / "plan"
