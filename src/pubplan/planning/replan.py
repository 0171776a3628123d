"""Making a plan again: whether its method, parameters and seed give what it says."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import Plan
from pubplan.planning.record import KEYS
from pubplan.planning.registry import Family
from pubplan.planning.solve import plan_into
from pubplan.planning.values import Problem

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def replan(family: Family, problem: Problem, plan: Plan, spark: SparkSession | None = None) -> tuple[Reason, ...]:
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
    asked = problem.to_parameters()
    values = {name: value for name, value in plan.record["parameters"].items() if name not in asked}
    parameters: Any = make_parameters(method.parameters, values, f"method {method.name}")
    bounds = [family.bounds[name] for name in plan.record["bounds"]]
    with _directory_near(plan.path) as directory:
        try:
            again = plan_into(directory, family, problem, method, parameters, plan.record["seed"], bounds, spark)
        except Infeasible as error:
            return (Reason("as made again", "a plan", error.message, plan.method),)
        return tuple(_differences(plan, again))


def _differences(plan: Plan, again: Plan) -> Iterator[Reason]:
    for key in KEYS:
        if key not in ("verified", "files", "digest") and plan.record[key] != again.record[key]:
            yield Reason("as made again", str(again.record[key]), str(plan.record[key]), key)
    before, after = plan.table_digests(), again.table_digests()
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            need, have = (digests.get(name, "no such table")[:12] for digests in (after, before))
            yield Reason("as made again", need, have, name)
    for name in sorted(plan.record["bounds"].keys() & again.record["bounds"].keys()):
        if plan.certificate(name) != again.certificate(name):
            yield Reason("as made again", "the same evidence", "other evidence", f"certificate/{name}.json")


@contextmanager
def _directory_near(path: Path) -> Iterator[Path]:
    """A temporary directory that executors see if they see ``path``; where that cannot be written, the system's."""
    try:
        directory = tempfile.mkdtemp(prefix=".replan-", dir=path.parent)
    except OSError:
        directory = tempfile.mkdtemp(prefix="pubplan-")
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
