"""The families: one package per question, the same rooms in each.

``FAMILIES`` is the only list of them: commands, public names, reproductions and benchmarks are made from it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pubplan.errors import Infeasible, InputError, unknown_name

if TYPE_CHECKING:
    from pubplan.planning import Family, Plan, Problem
    from pubplan.workload import Workload

FAMILIES = ("select", "provision", "overlay", "assign", "federate")


def family_named(name: str) -> Family[Any, Any]:
    """The family of that name, loaded when first asked for.

    Raises:
        InputError: there is no such family.
    """
    if name not in FAMILIES:
        raise InputError(unknown_name("family", name, FAMILIES))
    family: Family[Any, Any] = import_module(f"pubplan.problems.{name}.family").FAMILY
    return family


def problem_of(plan: Plan, workload: Workload) -> Problem:
    """The problem that ``plan`` answers, on ``workload``.

    Raises:
        InputError: the plan's parameters are damaged: they describe no problem, or one that no plan answers.
    """
    try:
        problem: Problem = family_named(plan.family).request.from_plan(plan.record["parameters"]).problem(workload)
        problem.check()
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{plan.path} is damaged: its parameters are not those of {plan.family} ({error}).") from error
    except Infeasible as error:
        raise InputError(f"{plan.path} is damaged: its parameters ask for what no plan can do. {error}") from error
    return problem
