"""Plans and workloads as they are given to functions: opened already, or the paths of their directories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.planning import Family, Plan, Problem, Result, check_answers, check_fresh, read_plan
from pubplan.problems import family_named, problem_of
from pubplan.workload import Workload, read_workload

AnyPlan = Plan | Result | str | Path
"""A plan, the result of planning, or a plan directory."""

AnyWorkload = Workload | str | Path
"""A workload, or its directory."""


@dataclass(frozen=True)
class OpenedPlan:
    """A plan, its family, its workload, and the problem that it answers."""

    plan: Plan
    family: Family[Any, Any]
    workload: Workload
    problem: Problem


def plan_of(given: AnyPlan) -> Plan:
    """The plan that is meant.

    Raises:
        InputError: there is none, or it is damaged.
    """
    if isinstance(given, Result):
        return given.plan
    return given if isinstance(given, Plan) else read_plan(given)


def workload_of(plan: Plan, given: AnyWorkload | None) -> Workload:
    """The workload that was given, or the one where the plan says it was.

    Raises:
        InputError: neither is there.
    """
    if isinstance(given, Workload):
        return given
    path = given or plan.workload_path()
    if path is None:
        raise InputError(f"{plan.path} does not know where its workload is: pass {argument('workload')}.")
    if given is None and not Path(path).exists():
        raise InputError(f"The workload of {plan.path} is no longer at {path}: pass {argument('workload')}.")
    workload: Workload = read_workload(path)
    return workload


def open_plan(plan: Plan, workload: Workload) -> OpenedPlan:
    """A plan on its workload.

    Raises:
        StalePlan: the workload is another one.
        InputError: the plan does not answer a problem of its family.
    """
    family = family_named(plan.family)
    check_fresh(plan, workload)
    problem = problem_of(plan, workload)
    check_answers(family, problem, plan)
    return OpenedPlan(plan, family, workload, problem)
