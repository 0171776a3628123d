"""Plans made again: what they say of how they were made is true, or is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Family, Plan, Problem, replan, solve_problem, verify_plan
from pubplan.problems import overlay, provision, select
from pubplan.workload import Window, Workload

SELECT, PROVISION, OVERLAY = select.FAMILY, provision.FAMILY, overlay.FAMILY


@pytest.fixture
def workload(make_workload) -> Workload:
    rates = {"a": 2, "b": 3, "c": 5, "d": 4}
    interests = {"v": ["a", "b", "c"], "w": ["b", "d"], "x": ["a", "b"], "y": ["b"], "z": ["c", "d"]}
    return make_workload(rates, interests, window=Window(seconds=3600))


def problem_of(family: Family, workload: Workload) -> Problem:
    if family is SELECT:
        return select.Problem(workload, capacity=14, threshold=4)
    return provision.Problem(workload, threshold=4) if family is PROVISION else overlay.Problem(workload)


def wheres(family: Family, problem: Problem, plan: Plan) -> list[str]:
    return [violation.where for violation in replan(family, problem, plan)]


@pytest.mark.parametrize(
    ("family", "method", "bound"),
    [
        (SELECT, "greedy-max", "none"),
        (SELECT, "greedy-fb3m", None),
        (PROVISION, "rsp+ffbp", "mandatory"),
        (PROVISION, "joint+level", None),
        (OVERLAY, "ring-per-topic", "node"),
        (OVERLAY, "dcbr-repair", None),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_plans_come_out_again(workload: Workload, family: Family, method: str, bound: str | None) -> None:
    """With the bounds that they have, and whatever seed they were made with."""
    problem = problem_of(family, workload)
    plan = solve_problem(family, problem, method, bound=bound, seed=7).plan
    assert replan(family, problem, plan) == ()
    assert list(plan.path.parent.glob(".replan*")) == []


@pytest.mark.parametrize(
    ("record", "where"),
    [
        ({"reasons": []}, ["reasons"]),
        ({"reasons": [{"limit": "a lack of luck", "need": 1, "have": 0, "where": "", "sentence": ""}]}, ["reasons"]),
        ({"seed": 1}, []),
    ],
    ids=["no reasons", "other reasons", "other seed"],
)
def test_other_stories_are_named(workload: Workload, tmp_path: Path, record: dict[str, Any], where: list[str]) -> None:
    """verify takes a right plan from anybody; made again, other reasons show, and a seed that changes nothing not."""
    problem = problem_of(SELECT, workload)
    plan = solve_problem(SELECT, problem, "greedy-max", bound="none").plan
    forged = forge(plan, tmp_path / "forged", record=record)
    assert verify_plan(SELECT, problem, forged).ok
    assert wheres(SELECT, problem, forged) == where


def test_a_cheaper_method_is_not_believed(workload: Workload, tmp_path: Path) -> None:
    """A plan of the baseline under the name of the best method is right, but not what that method makes."""
    problem = problem_of(PROVISION, workload)
    plan = solve_problem(PROVISION, problem, "rsp+ffbp").plan
    parameters = {**problem.to_parameters(), "rounds": 1, **level_parameters()}
    forged = forge(plan, tmp_path / "forged", record={"method": "joint+level", "parameters": parameters})
    assert verify_plan(PROVISION, problem, forged).ok
    assert "decisions/vms.parquet" in wheres(PROVISION, problem, forged)


def level_parameters() -> dict[str, Any]:
    """The parameters of joint+level without those of its first stage."""
    values = vars(PROVISION.methods["joint+level"].parameters())
    return {name: value for name, value in values.items() if name != "rounds"}


def test_another_seed_is_named(workload: Workload) -> None:
    """Rings of another seed are other rings."""
    problem = problem_of(OVERLAY, workload)
    plan = solve_problem(OVERLAY, problem, "ring-per-topic").plan
    others = [wheres(OVERLAY, problem, Plan(plan.path, {**plan.record, "seed": seed})) for seed in range(1, 9)]
    assert any("decisions/links.parquet" in names for names in others)


def test_what_a_clock_stopped_is_not_made_again(workload: Workload) -> None:
    """A plan that says so is refused, with the reason."""
    problem = problem_of(SELECT, workload)
    plan = solve_problem(SELECT, problem).plan
    with pytest.raises(InputError, match="cannot be made again"):
        replan(SELECT, problem, Plan(plan.path, {**plan.record, "deterministic": False}))
