"""What a plan of ``select`` says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubplan.errors import Reason
from pubplan.planning import Explanation, Result
from pubplan.problems.select.curve import Curve, curve_of
from pubplan.problems.select.facts import facts_of, hints, ruled_out_capacity
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem, counted_cost
from pubplan.text import aligned, ceiling, duration, number_down, percent, percent_up
from pubplan.workload import with_all_events

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def summarise(
    problem: Problem, result: Result, *, satisfy: str | None, with_curve: bool, spark: SparkSession | None
) -> Explanation:
    """What is served, satisfied and proven; with the curve, and the least capacity for a share, where asked for."""
    curve = curve_of(problem, result.plan, spark) if with_curve else None
    lines = _sentences(problem, result)
    if curve is not None:
        lines += _curve_lines(curve)
    if satisfy is not None:
        lines.append(_least_capacity_sentence(problem, result, satisfy))
    lines += [f"Hint: {hint}" for hint in hints(problem)]
    facts: dict[str, Any] = {"summary": facts_of(problem, result, satisfy)}
    if curve is not None:
        facts["curve"] = curve.to_dict()
    return Explanation(facts, tuple(lines))


def _sentences(problem: Problem, result: Result) -> list[str]:
    served = result.plan.decisions(SERVED)
    cost = sum(served["cost"].to_pylist())
    total = problem.total_weight
    share = percent(result.objective / total) if total else "all"
    capacity = counted_cost(problem.capacity_cost, problem.cost)
    lines = [
        f"Serving {served.num_rows:,} of {problem.workload.counts.topics:,} topics satisfies "
        f"{number_down(result.objective)} of {total:,} {problem.unit} ({share}){with_all_events(problem.threshold)}.",
        f"That takes {cost:,} of {capacity}{_per_second(problem)}.",
    ]
    if result.objective == 0 and served.num_rows == len(problem.must_serve) and result.reasons:
        return [*lines, _too_little(problem, result.reasons[0])]
    if result.gap == 0:
        lines.append("No plan satisfies more.")
    elif result.bound is not None and result.gap is not None:
        bound = ceiling(result.bound, result.objective)
        lines.append(f"No plan can satisfy more than {bound}: this one is within {percent_up(result.gap)} of that.")
    return [*lines, *(f"Binding: {reason}." for reason in result.reasons)]


def _too_little(problem: Problem, cheapest: Reason) -> str:
    """Where nothing that would help fits: what the least of it takes."""
    takes = counted_cost(int(cheapest.need), problem.cost)
    return (
        f"No plan satisfies anybody: the cheapest topic that would help takes {takes}, more than is left. Raise the "
        "capacity; to begin with, a share of the total cost such as 10% will do."
    )


def _per_second(problem: Problem) -> str:
    """The capacity as it was asked for, where that was per second."""
    return "" if problem.rate is None else f" ({problem.rate.text} over {duration(float(problem.window_seconds))})"


def _curve_lines(curve: Curve) -> list[str]:
    rows = [["capacity", "satisfied", "no plan satisfies more than"]]
    rows += [
        [f"{point.percent:.1f} %", f"{point.satisfied_percent:.2f} %", percent_up(point.bound_percent / 100)]
        for point in curve.points
    ]
    lines = ["", *aligned(rows)]
    if not curve.has_tight_bounds:
        lines.append("Bounds are those of this plan's capacity: a plan for a smaller one may prove more.")
    knee = curve.knee
    return [
        *lines,
        f"The knee is at {knee.percent:.2f} % ({knee.cost:,}), where {knee.satisfied_percent:.1f} % are satisfied: "
        "beyond it, capacity brings less than on average over the whole curve.",
    ]


def _least_capacity_sentence(problem: Problem, result: Result, share: str) -> str:
    """The capacity that was reached, and below which capacity the bound rules the share out."""
    total, ruled_out = problem.total_cost, ruled_out_capacity(problem, result, share)
    least = f"{share} takes a capacity of {problem.capacity_cost:,}"
    least += f" ({100 * problem.capacity_cost / total:.2f} % of the total cost)" if total else ""
    return f"{least}." if ruled_out is None else f"{least}; no plan does it with {ruled_out:,} or less."
