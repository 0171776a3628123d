"""What is checked of every plan, whatever its family: it is whole, it fits the workload, it says what is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from pubplan.engine import stage, working_in
from pubplan.errors import InputError, Reason, StalePlan
from pubplan.planning.contents import wrong_contents
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family
from pubplan.planning.values import Exact, Problem, Verdict, gap, tightest
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def verify_plan(family: Family, problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Evaluate ``plan`` afresh against ``problem``.

    Raises:
        StalePlan: the plan was made for another workload.
        InputError: the plan is of another family, or answers another problem.
    """
    check_answers(family, problem, plan)
    violations = [*_wrong_bounds(family, problem, plan), *_wrong_method(family, problem, plan)]
    if not violations:
        violations = [*wrong_contents(family, problem.workload, plan)]
    if violations:
        return Verdict(plan.exact, tuple(violations))
    with stage("verifying"), working_in(plan.path.parent):
        verdict = family.verify(problem, plan, spark)
    return replace(verdict, violations=(*verdict.violations, *_false_statements(problem, plan, verdict)))


def _wrong_bounds(family: Family, problem: Problem, plan: Plan) -> Iterator[Reason]:
    """Bounds that the family does not know, or that do not hold for such a problem."""
    for name in sorted(plan.record["bounds"]):
        if name not in family.bounds:
            yield Reason("bound is known", ", ".join(family.bounds), name, "bounds")
            continue
        refusal = family.bounds[name].refusal(problem)
        if refusal is not None:
            yield Reason("bound holds for the problem", refusal, name, "bounds")


def check_fresh(plan: Plan, workload: Workload) -> None:
    """Refuse a plan that was made for another workload.

    Raises:
        StalePlan: the digests differ.
    """
    made_for = plan.record["workload"]["digest"]
    if made_for != workload.digest:
        raise StalePlan(
            f"{plan.path} is stale: it was made for workload {made_for[:12]}, but {workload.path} is "
            f"{workload.digest[:12]}. Plan again."
        )


def check_answers(family: Family, problem: Problem, plan: Plan) -> None:
    """Refuse a plan that does not answer ``problem`` at all."""
    if plan.family != family.name:
        raise InputError(f"{plan.path} is a plan of {plan.family}, not of {family.name}.")
    check_fresh(plan, problem.workload)
    asked = problem.to_parameters()
    answered = {name: plan.record["parameters"].get(name) for name in asked}
    if asked != answered:
        names = ", ".join(name for name in asked if asked[name] != answered[name])
        raise InputError(f"{plan.path} answers another problem: {names} differ.")


def _false_statements(problem: Problem, plan: Plan, verdict: Verdict) -> list[Reason]:
    record = plan.record
    found = [Reason("file unchanged", "as written", "other content", name) for name in plan.changed_files()]
    if plan.exact != verdict.objective:
        found.append(Reason("objective as recomputed", float(verdict.objective), float(plan.exact), "exact"))
    if record["objective"] != float(plan.exact):
        found.append(Reason("objective equals exact", float(plan.exact), record["objective"], "objective"))
    bounds = {name: plan.certificate(name).bound for name in record["bounds"]}
    safe = Exact.rounded_up if problem.sense == "max" else Exact.rounded_down
    sign = 1 if problem.sense == "max" else -1
    found += [
        Reason("objective within the bound", float(bound), float(plan.exact), name)
        for name, bound in bounds.items()
        if sign * plan.exact.fraction > sign * bound.fraction
    ]
    best = tightest(bounds, problem.sense)
    said = {
        "bounds": {name: safe(bound) for name, bound in bounds.items()},
        "bound": None if best is None else safe(best),
        "gap": gap(plan.exact, best),
        "sense": problem.sense,
        "unit": problem.unit,
        "workload": {"kind": problem.workload.kind, "digest": problem.workload.digest},
    }
    found += [Reason(f"{k} as recomputed", str(v), str(record[k]), k) for k, v in said.items() if record[k] != v]
    if not found and plan.content_digest() != plan.digest:
        found.append(Reason("digest as recomputed", plan.content_digest()[:12], plan.digest[:12], "digest"))
    return found


def _wrong_method(family: Family, problem: Problem, plan: Plan) -> list[Reason]:
    """The method exists, answers such problems, proves what its name promises, and has the plan's parameters."""
    method = family.methods.get(plan.method)
    if method is None or method.refusal(problem) is not None:
        return [Reason("method answers the problem", ", ".join(family.methods), plan.method, "method")]
    missing = [name for name in method.certificates if name not in plan.record["bounds"]]
    if missing:
        return [Reason("certificates that the method promises", ", ".join(missing), "none", "bounds")]
    asked = problem.to_parameters()
    own = {name: value for name, value in plan.record["parameters"].items() if name not in asked}
    try:
        expected = asdict(make_parameters(method.parameters, own, plan.method))
    except InputError as error:
        return [Reason("parameters of the method", str(error), str(own), "parameters")]
    return [] if expected == own else [Reason("parameters of the method", str(expected), str(own), "parameters")]
