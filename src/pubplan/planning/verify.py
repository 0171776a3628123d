"""What is checked of every plan, whatever its family: it is whole, it fits the workload, it says what is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pubplan.engine import stage, stores_below
from pubplan.errors import InputError, StalePlan, Violation
from pubplan.planning.contents import wrong_contents
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family, P
from pubplan.planning.values import Exact, Problem, Verdict, gap, tightest
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def verify_plan(family: Family[P, Any], problem: P, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Evaluate ``plan`` afresh against ``problem``.

    Args:
        problem: what the plan answers.
        plan: a plan of this family.
        spark: a session to run passes over the workload on; None runs them in this process.

    Returns:
        The objective recomputed and every promise that is broken; ``ok`` if there is none.

    Raises:
        StalePlan: the plan was made for another workload.
        InputError: the plan is of another family, or answers another problem, or one that cannot be planned for.
        Infeasible: it answers a problem that no plan can answer.

    >>> pubplan.select.verify(problem, plan).ok
    True
    """
    check_answers(family, problem, plan)
    problem.check()
    violations = [*_wrong_bounds(family, problem, plan), *_wrong_method(family, problem, plan)]
    if not violations:
        violations = [*wrong_contents(family, problem.workload, plan)]
    if violations:
        return Verdict(plan.exact, tuple(violations))
    with stage("verifying"), stores_below(plan.path.parent):
        verdict = family.verify(problem, plan, spark)
    return replace(verdict, violations=(*verdict.violations, *_false_statements(problem, plan, verdict)))


def _wrong_bounds(family: Family[P, Any], problem: P, plan: Plan) -> Iterator[Violation]:
    """Bounds that the family does not know, or that do not hold for such a problem."""
    for name in sorted(plan.record["bounds"]):
        if name not in family.bounds:
            yield Violation("unknown bound", "bounds", stated=name, expected=", ".join(family.bounds))
            continue
        refusal = family.bounds[name].refusal(problem)
        if refusal is not None:
            yield Violation("bound that does not hold for this problem", f"{name}: {refusal.rstrip('.')}")


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


def check_answers(family: Family[P, Any], problem: P, plan: Plan) -> None:
    """Refuse a plan that does not answer ``problem`` at all."""
    if plan.family != family.name:
        raise InputError(f"{plan.path} is a plan of {plan.family}, not of {family.name}.")
    check_fresh(plan, problem.workload)
    asked = problem.to_parameters()
    answered = {name: plan.record["parameters"].get(name) for name in asked}
    if asked != answered:
        names = ", ".join(name for name in asked if asked[name] != answered[name])
        raise InputError(f"{plan.path} answers another problem: {names} differ.")


def _false_statements(problem: Problem, plan: Plan, verdict: Verdict) -> list[Violation]:
    record = plan.record
    violations = [Violation("file changed since it was written", name) for name in plan.changed_files()]
    if plan.exact != verdict.objective:
        violations.append(
            Violation("wrong objective", "exact", stated=float(plan.exact), expected=float(verdict.objective))
        )
    if record["objective"] != float(plan.exact):
        violations.append(
            Violation("wrong objective", "objective", stated=record["objective"], expected=float(plan.exact))
        )
    bounds = {name: plan.certificate(name).bound for name in record["bounds"]}
    safe = Exact.rounded_up if problem.sense == "max" else Exact.rounded_down
    sign = 1 if problem.sense == "max" else -1
    violations += [
        Violation("objective better than the bound", name, stated=float(plan.exact), expected=float(bound))
        for name, bound in bounds.items()
        if sign * plan.exact.fraction > sign * bound.fraction
    ]
    best = tightest(bounds, problem.sense)
    recomputed = {
        "bounds": {name: safe(bound) for name, bound in bounds.items()},
        "bound": None if best is None else safe(best),
        "gap": gap(plan.exact, best),
        "sense": problem.sense,
        "unit": problem.unit,
        "workload": {"kind": problem.workload.kind, "digest": problem.workload.digest},
    }
    violations += [
        Violation(f"wrong {key}", key, stated=str(record[key]), expected=str(value))
        for key, value in recomputed.items()
        if record[key] != value
    ]
    if not violations and plan.content_digest() != plan.digest:
        violations.append(
            Violation("wrong digest", "digest", stated=plan.digest[:12], expected=plan.content_digest()[:12])
        )
    return violations


def _wrong_method(family: Family[P, Any], problem: P, plan: Plan) -> list[Violation]:
    """The method exists, answers such problems, keeps and proves what it promises, and has the plan's parameters."""
    method = family.methods.get(plan.method)
    if method is None or method.refusal(problem) is not None:
        return [Violation("unknown method", "method", stated=plan.method, expected=", ".join(family.methods))]
    missing = [name for name in method.certificates if name not in plan.record["bounds"]]
    if missing:
        return [Violation("certificates missing that the method promises", "bounds", expected=", ".join(missing))]
    broken = {reason["limit"] for reason in plan.record["reasons"]} & family.breakable - method.may_break
    if broken:
        return [
            Violation("limits broken that the method promises to keep", "reasons", stated=", ".join(sorted(broken)))
        ]
    asked = problem.to_parameters()
    given = {name: value for name, value in plan.record["parameters"].items() if name not in asked}
    try:
        expected = asdict(make_parameters(method.parameters, given, plan.method))
    except InputError as error:
        return [Violation("wrong parameters of the method", "parameters", stated=str(given), expected=str(error))]
    if expected == given:
        return []
    return [Violation("wrong parameters of the method", "parameters", stated=str(given), expected=str(expected))]
