"""What a plan of ``assign`` says, in sentences."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from pubplan.planning import Explanation, Result
from pubplan.problems.assign.measures import Measures, copies, measures_of
from pubplan.problems.assign.plan import LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.problem import NO_LIMIT, Problem
from pubplan.text import counted, digits_down, digits_up, factor_up, percent, percent_up

LARGE_GAP = 1.0
"""From twice the bound on, sentences say how many times the bound a plan needs, not how many percent more."""


def summarise(problem: Problem, result: Result) -> Explanation:
    """Bandwidth and its bound, loads, delays, and what binds or is broken."""
    measures = measures_of(problem, result.plan)
    facts: dict[str, Any] = {
        "summary": {
            "copies_per_event": copies(problem, measures.bandwidth),
            "brokers": problem.workload.counts.brokers,
            **measures.to_dict(),
        }
    }
    return Explanation(facts, tuple(_sentences(problem, result, measures)))


def _sentences(problem: Problem, result: Result, measures: Measures) -> list[str]:
    event = "A message" if problem.workload.space.cells else "An event anywhere in the space"
    are = "is" if measures.clients == 1 else "are"
    lines = [
        f"{counted(measures.clients, 'client')} {are} served by {used_leaves(measures)} leaf brokers.",
        f"{event} goes into {digits_up(copies(problem, measures.bandwidth))} of "
        f"{counted(problem.workload.counts.brokers, 'broker')} on average "
        f"({result.objective:,.0f} {problem.unit}).",
    ]
    if result.gap == 0:
        lines.append("No assignment needs less bandwidth.")
    elif result.bound is not None and result.gap is not None:
        bound = digits_down(copies(problem, result.bound * measures.scale))
        lines.append(f"No assignment stays below {bound} on average: this one {_distance(result.gap)}.")
    if measures.clients:
        lines += [load_sentence(problem, measures), delay_sentence(problem, measures)]
    is_broken = {LATENCY_BROKEN, LOAD_BROKEN}
    return [
        *lines,
        *(f"{'Broken' if reason.limit in is_broken else 'Binding'}: {reason}." for reason in result.reasons),
    ]


def used_leaves(measures: Measures) -> str:
    """How many leaves serve anybody, of all."""
    return f"{sum(load > 0 for load in measures.loads):,} of {measures.leaves:,}"


def _distance(gap: float) -> str:
    if gap < LARGE_GAP:
        return f"is within {percent_up(gap)} of that"
    return f"is at most {math.ceil(10 * (1 + gap)) / 10:,.1f} times that"


def load_sentence(problem: Problem, measures: Measures) -> str:
    """The load factor, and what was asked for."""
    return (
        f"The busiest leaf serves {factor_up(measures.load_factor)} times its share of the clients; at most "
        f"{problem.load} was wanted, at most {problem.max_load} is allowed."
    )


def delay_sentence(problem: Problem, measures: Measures) -> str:
    """How much longer than necessary events take, and what was asked for."""
    if problem.max_delay is None:
        asked = "each client's own limit is allowed"
    elif problem.max_delay == NO_LIMIT:
        asked = "any delay is allowed"
    else:
        asked = f"at most {percent(float(Fraction(str(problem.max_delay))))} is allowed"
    way = "shortest way" if problem.hop == "path" else "shortest last hop"
    return (
        f"Events take up to {percent(measures.largest_delay)} longer than the {way}, "
        f"{percent(measures.rms_delay)} in the root mean square; {asked}."
    )
