"""The families: one package per question, the same file names in each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pubplan.errors import Infeasible, InputError, unknown_name
from pubplan.planning import Family, Plan, Problem
from pubplan.workload import Workload

FAMILIES = ("select", "provision", "overlay")


def family_named(name: str) -> Family:
    """The family of that name, loaded when first asked for.

    Raises:
        InputError: there is no such family.
    """
    if name not in FAMILIES:
        raise InputError(unknown_name("family", name, FAMILIES))
    family: Family = import_module(f"pubplan.problems.{name}").FAMILY
    return family


def problem_of(plan: Plan, workload: Workload) -> Problem:
    """The problem that ``plan`` answers, on ``workload``.

    Raises:
        InputError: the plan's parameters are damaged: they describe no problem, or one that no plan answers.
    """
    parameters: Mapping[str, Any] = plan.record["parameters"]
    try:
        return family_named(plan.family).restore(workload, parameters)
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{plan.path} is damaged: its parameters are not those of {plan.family} ({error}).") from error
    except Infeasible as error:
        raise InputError(f"{plan.path} is damaged: its parameters ask for what no plan can do. {error}") from error
