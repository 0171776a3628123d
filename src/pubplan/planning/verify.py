"""What is checked of every plan, whatever its family: it is whole, it fits the workload, it says what is true."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pubplan.engine import file_sha256, stage
from pubplan.errors import InputError, Reason, StalePlan
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family
from pubplan.planning.values import Exact, Problem, Verdict, gap, tightest

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def verify_plan(family: Family, problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Evaluate ``plan`` afresh against ``problem``.

    Raises:
        StalePlan: the plan was made for another workload.
        InputError: the plan is of another family, or answers another problem.
    """
    check_answers(family, problem, plan)
    with stage("verifying"):
        verdict = family.verify(problem, plan, spark)
    return replace(verdict, violations=(*verdict.violations, *_false_statements(problem, plan, verdict)))


def check_answers(family: Family, problem: Problem, plan: Plan) -> None:
    """Refuse a plan that does not answer ``problem`` at all."""
    if plan.family != family.name:
        raise InputError(f"{plan.path} is a plan of {plan.family}, not of {family.name}.")
    made_for = plan.record["workload"]["digest"]
    if made_for != problem.workload.digest:
        raise StalePlan(
            f"{plan.path} is stale: it was made for workload {made_for[:12]}, but {problem.workload.path} is "
            f"{problem.workload.digest[:12]}. Plan again."
        )
    asked = problem.to_parameters()
    answered = {name: plan.record["parameters"].get(name) for name in asked}
    if asked != answered:
        names = ", ".join(name for name in asked if asked[name] != answered[name])
        raise InputError(f"{plan.path} answers another problem: {names} differ.")


def _false_statements(problem: Problem, plan: Plan, verdict: Verdict) -> list[Reason]:
    record = plan.record
    found = []
    for name, expected in record["files"].items():
        if file_sha256(plan.path / name) != expected:
            found.append(Reason("file unchanged", expected[:12], "other content", name))
    if plan.exact != verdict.objective:
        found.append(Reason("objective as recomputed", float(verdict.objective), float(plan.exact), "exact"))
    if record["objective"] != float(plan.exact):
        found.append(Reason("objective equals exact", float(plan.exact), record["objective"], "objective"))
    bounds = {name: plan.certificate(name).bound for name in record["bounds"]}
    safe = Exact.rounded_up if problem.sense == "max" else Exact.rounded_down
    best = tightest(bounds, problem.sense)
    said = {
        "bounds": {name: safe(bound) for name, bound in bounds.items()},
        "bound": None if best is None else safe(best),
        "gap": gap(plan.exact, best),
        "sense": problem.sense,
        "unit": problem.unit,
    }
    found += [Reason(f"{k} as recomputed", str(v), str(record[k]), k) for k, v in said.items() if record[k] != v]
    if not found and plan.content_digest() != plan.digest:
        found.append(Reason("digest as recomputed", plan.content_digest()[:12], plan.digest[:12], "digest"))
    return found
