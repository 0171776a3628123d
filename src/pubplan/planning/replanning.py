"""Making a plan again: whether its method, parameters and seed give what it says."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubplan.errors import Infeasible, InputError, Violation
from pubplan.files import unfinished
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import Plan
from pubplan.planning.record import KEYS
from pubplan.planning.registry import Family, Method, P
from pubplan.planning.solve import plan_into

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def replan(family: Family[P, Any], problem: P, plan: Plan, spark: SparkSession | None = None) -> tuple[Violation, ...]:
    """Run the method that a plan names, with its parameters and seed, and compare everything that comes out.

    This is how statements about the way a plan was made are checked: who made it, from which seed, and why it stopped.
    :func:`~pubplan.planning.verify.verify_plan` says whether the plan is right, however it was made.

    Returns:
        What differs: statements of plan.json, tables and certificates.

    Raises:
        InputError: the plan says that its method need not answer twice alike, or is not one that can be made.
    """
    if not plan.record["deterministic"]:
        raise InputError(f"{plan.path} cannot be made again: its method was stopped by a clock, so it may differ.")
    method = family.method_for(problem, plan.method)
    parameters = parameters_of(method, problem, plan)
    bounds = [family.bounds[name] for name in plan.record["bounds"]]
    with _directory_near(plan.path) as directory:
        try:
            again = plan_into(directory, family, problem, method, parameters, plan.record["seed"], bounds, spark)
        except Infeasible as error:
            return (Violation("the method refuses to plan again", plan.method, expected=error.message),)
        return tuple(_differences(plan, again))


def parameters_of(method: Method[P, Any, Any], problem: P, plan: Plan) -> Any:
    """The parameters of the method that a plan was made with.

    Raises:
        InputError: one is unknown or of another type.
    """
    asked = problem.to_parameters()
    values = {name: value for name, value in plan.record["parameters"].items() if name not in asked}
    return make_parameters(method.parameters, values, f"method {method.name}")


def _differences(plan: Plan, again: Plan) -> Iterator[Violation]:
    for key in KEYS:
        if key not in ("verified", "files", "digest") and plan.record[key] != again.record[key]:
            yield Violation(
                "planning again gives another value", key, stated=str(plan.record[key]), expected=str(again.record[key])
            )
    before, after = plan.table_digests(), again.table_digests()
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            expected, stated = (digests.get(name, "no such table")[:12] for digests in (after, before))
            yield Violation("planning again gives another table", name, stated=stated, expected=expected)
    for name in sorted(plan.record["bounds"].keys() & again.record["bounds"].keys()):
        if plan.certificate(name) != again.certificate(name):
            yield Violation("planning again gives other evidence", f"certificate/{name}.json")


@contextmanager
def _directory_near(path: Path) -> Iterator[Path]:
    """A temporary directory that executors see if they see ``path``; where that cannot be written, the system's."""
    try:
        directory = tempfile.mkdtemp(prefix=".replan-", dir=path.parent)
    except OSError:
        directory = tempfile.mkdtemp(prefix="pubplan-")
    with unfinished(Path(directory)):
        try:
            yield Path(directory)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
