"""What a plan of ``provision`` says, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pubplan.errors import one_line
from pubplan.planning import Explanation, Result, case_lines
from pubplan.problems.provision.catalogue import Origin, VmType
from pubplan.problems.provision.facts import facts_of, hints
from pubplan.problems.provision.plan import COST_PARTS, SPLITS, TYPES, VMS
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.whatif import Case, cheapest_cases, cost_per_month
from pubplan.text import (
    counted,
    dollars_down,
    dollars_proven,
    dollars_up,
    duration,
    percent,
    percent_up,
    split_dollars,
    traffic,
)
from pubplan.workload import with_all_events

MAX_OTHER_TYPES = 3
"""Up to this many other VM types are named with what they would cost."""


def comparison_lines(cases: Sequence[Case], window_seconds: Fraction) -> list[str]:
    """The cases under each other, with costs per window and per month; those without a fleet say why below."""
    per_window = f"cost per {duration(float(window_seconds))}"
    header = [
        "threshold",
        "rates x",
        "VM type",
        per_window,
        "per month",
        "VMs",
        "bandwidth",
        "no plan below",
        "gap",
        "",
    ]
    cheapest = cheapest_cases(cases)

    def answered(case: Case) -> list[str] | str:
        if case.cost is None or case.vms is None or case.bandwidth is None:
            return case.refused
        bound = "" if case.bound is None else dollars_proven(case.bound, case.cost)
        gap = "" if case.gap is None else percent_up(case.gap)
        costs = [dollars_up(case.cost), dollars_up(cost_per_month(case.cost, window_seconds))]
        mark = "cheapest" if case in cheapest else ""
        return [*costs, f"{case.vms:,}", traffic(case.bandwidth), bound, gap, mark]

    return case_lines(header, ((_asked(case), answered(case)) for case in cases), left=(2, 9))


def _asked(case: Case) -> list[str]:
    threshold = "its own" if case.threshold is None else case.threshold
    return [f"{threshold:,}" if isinstance(threshold, int) else threshold, case.rate_factor, case.vm_type]


def summarise(problem: Problem, result: Result) -> Explanation:
    """What the fleet costs, how full it is, what other VM types would cost, and what is proven."""
    types = result.plan.decisions(TYPES).to_pylist()
    chosen = next(row for row in types if row["chosen"])
    subscribers = problem.workload.counts.subscribers
    rent, paid_in, paid_out, together = split_dollars([chosen[part] for part in COST_PARTS])
    lines = [
        f"{counted(chosen['vms'], 'VM')} of {chosen['type']} {'satisfies' if chosen['vms'] == 1 else 'satisfy'} all "
        f"{counted(subscribers, 'subscriber')}{with_all_events(problem.threshold)} for {together} per "
        f"{duration(float(problem.seconds))}.",
        f"That is {rent} for the VMs, {paid_in} for {traffic(chosen['incoming'])} in and {paid_out} for "
        f"{traffic(chosen['outgoing'])} out.",
    ]
    lines += price_lines(problem.types)
    if chosen["vms"]:
        lines.append(_fill_sentence(result, chosen["limit"]))
    lines += [f"{row['type']} cannot do it: {row['refused']}." for row in types if row["refused"]]
    lines += _other_types([row for row in types if not row["refused"] and not row["chosen"]])
    if result.bound is not None:
        lines.append(_bound_sentence(result))
    if problem.budget_micros is not None:
        lines.append(_budget_sentence(problem.budget_micros, result))
    shown = [reason for reason in result.reasons if not reason.limit.startswith("budget")]
    lines += [f"{'Binding' if reason.limit == 'bytes per VM' else 'Note'}: {reason}." for reason in shown]
    lines += [f"Hint: {hint}" for hint in hints(problem)]
    return Explanation({"summary": facts_of(problem, result)}, tuple(lines))


def _other_types(others: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the fleets of other VM types would cost, each alone if they are few, else the cheapest of them."""
    costs = [f"{row['type']} would cost {dollars_up(row['cost'])} with {counted(row['vms'], 'VM')}." for row in others]
    if len(costs) <= MAX_OTHER_TYPES:
        return costs
    cheapest = min(range(len(others)), key=lambda at: int(others[at]["cost"]))
    return [f"Of {len(others):,} other types the cheapest, {costs[cheapest]}"]


def price_lines(vm_types: Sequence[VmType]) -> list[str]:
    """Where the prices of VM types come from, each origin once; nothing where none is known."""
    catalogues: dict[str, Origin] = {}
    for vm_type in vm_types:
        if vm_type.origin is not None:
            catalogues.setdefault(vm_type.name.partition("/")[0], vm_type.origin)
    if not catalogues:
        return []
    named = "; ".join(f"{origin} ({catalogue})" for catalogue, origin in catalogues.items())
    return [one_line(f"Prices: {named}.", longest=1000)]


def _fill_sentence(result: Result, limit: int) -> str:
    """How full the VMs are, and how many topics are on several of them."""
    fill = result.plan.decisions(VMS)["used"].to_numpy() / limit
    if len(fill) == 1:
        return f"The VM is {percent(fill[0])} full; it may carry {traffic(limit)}."
    num_split = len(set(result.plan.decisions(SPLITS)["topic"].to_pylist()))
    split = {0: "no topic is", 1: "1 topic is"}.get(num_split, f"{num_split:,} topics are")
    return (
        f"The VMs are {percent(fill.mean())} full, from {percent(fill.min())} to {percent(fill.max())} of the "
        f"{traffic(limit)} that each may carry; {split} on several VMs."
    )


def _bound_sentence(result: Result) -> str:
    if _least(result) == result.exact.value:
        return "No cheaper plan exists."
    near = "" if result.gap is None else f": this one is within {percent_up(result.gap)} of that"
    return f"No plan costs less than {dollars_down(_least(result))}{near}."


def _least(result: Result) -> int:
    """The best bound, in micro-dollars."""
    return max(result.plan.certificate(name).bound.value for name in result.bounds)


def _budget_sentence(budget: int, result: Result) -> str:
    cost, limit = dollars_up(result.exact.value), dollars_down(budget)
    if result.exact.value <= budget:
        return f"Yes: this plan costs {cost}, within the budget of {limit}."
    if result.bound is None:
        return f"Undecided: this plan costs {cost}, above the budget of {limit}, and no bound was asked for."
    return (
        f"Undecided: this plan costs {cost}, above the budget of {limit}, but only plans below "
        f"{dollars_down(_least(result))} are ruled out."
    )
