"""Checks the table of VM types, every row of it, and what a plan says of its budget.

The fleet of a type that was not chosen is not in the plan. Of its row everything is recomputed that follows from the
workload and the prices: whether there can be a fleet, the limit, and what the VMs and bytes cost that the row claims;
these must fit each other, and not cost less than the plan's bounds prove for that type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pubplan.errors import Violation
from pubplan.planning import Exact, Plan
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.plan import BUDGET, TYPES, undecided_budget
from pubplan.problems.provision.verifier.costs import MICROS_PER_DOLLAR, Terms
from pubplan.problems.provision.verifier.fleet import Traffic
from pubplan.text import counted, dollars_down, dollars_up
from pubplan.text import traffic as bytes_text

_NUMBERS = ("vms", "incoming", "outgoing", "vm_cost", "incoming_cost", "outgoing_cost", "cost")


def wrong_types(
    terms: Terms, plan: Plan, chosen_traffic: Traffic, num_pairs: int, lacking: list[int], proven: Mapping[str, int]
) -> Iterator[Violation]:
    """Rows that are not as recomputed, and cheaper types than the chosen one.

    Args:
        num_pairs: interests of the workload: no fleet has more VMs, as each carries a pair.
        lacking: for each type the subscribers that cannot be satisfied with the topics that fit its VMs.
        proven: by the name of a type, what no fleet of it can cost less than, in micro-dollars.
    """
    rows = plan.decisions(TYPES).to_pylist()
    for row, vm_type, limit, num_lacking in zip(rows, terms.types, terms.limits, lacking, strict=True):
        where = f"{TYPES}: {vm_type.name}"
        if row["limit"] != limit:
            yield Violation("wrong limit", where, stated=row["limit"], expected=limit)
        can_serve = limit > 0 and num_lacking == 0
        if row["refused"] and can_serve:
            yield Violation("refused VM type that can satisfy every subscriber", where, stated=row["refused"])
        elif not row["refused"] and not can_serve:
            yield Violation("fleet of a VM type that cannot satisfy every subscriber", where)
        elif row["refused"]:
            if any(row[name] for name in _NUMBERS):
                yield Violation("numbers of a fleet for a refused VM type", where)
        else:
            traffic = chosen_traffic if row["chosen"] else Traffic(row["vms"], row["incoming"], row["outgoing"])
            yield from _wrong_row(terms, vm_type, row, traffic, where)
            if not row["chosen"]:
                yield from _impossible(row, traffic, limit, num_pairs, proven.get(vm_type.name, 0), where)
    chosen = next(row for row in rows if row["chosen"])
    cheaper = [row["type"] for row in rows if not row["refused"] and row["cost"] < chosen["cost"]]
    for name in cheaper:
        yield Violation("wrong choice, as another VM type is cheaper", TYPES, stated=chosen["type"], expected=name)


def _wrong_row(
    terms: Terms, vm_type: VmType, row: Mapping[str, Any], traffic: Traffic, where: str
) -> Iterator[Violation]:
    """The numbers of a row follow from its VMs and bytes."""
    if min(traffic.num_vms, traffic.incoming, traffic.outgoing) < 0:
        yield Violation("negative number of VMs or bytes", where)
        return
    costs = terms.costs(vm_type, traffic.num_vms, traffic.incoming, traffic.outgoing)
    expected = (traffic.num_vms, traffic.incoming, traffic.outgoing, *costs, sum(costs))
    for name, value in zip(_NUMBERS, expected, strict=True):
        if row[name] != value:
            yield Violation(f"wrong '{name}'", where, stated=row[name], expected=value)


def _impossible(
    row: Mapping[str, Any], traffic: Traffic, limit: int, num_pairs: int, least_cost: int, where: str
) -> Iterator[Violation]:
    """What no fleet can be: VMs above their limit or without pairs, bytes received and not sent, too low a cost."""
    if traffic.incoming + traffic.outgoing > traffic.num_vms * limit:
        used, most = traffic.incoming + traffic.outgoing, traffic.num_vms * limit
        yield Violation("VMs above their limit", f"{where}, {bytes_text(used)} of {bytes_text(most)}")
    if traffic.num_vms > num_pairs:
        yield Violation("more VMs than pairs", f"{where}, {counted(num_pairs, 'pair')}", stated=traffic.num_vms)
    if traffic.incoming > traffic.outgoing:
        way = f"{bytes_text(traffic.incoming)} in, {bytes_text(traffic.outgoing)} out"
        yield Violation("more bytes received than sent", f"{where}, {way}")
    if row["cost"] < least_cost:
        proven = f"{where}, at least {dollars_down(least_cost)}"
        yield Violation("cost below the bound of the VM type", proven, stated=dollars_up(row["cost"]))


def wrong_budget(terms: Terms, plan: Plan, cost: Exact) -> list[Violation]:
    """A plan is above its budget only if none of its bounds is, and says so."""
    violations = []
    bounds = {name: plan.certificate(name).bound for name in plan.record["bounds"]}
    for name, bound in bounds.items():
        if terms.budget is not None and bound.fraction * MICROS_PER_DOLLAR > terms.budget:
            stated = dollars_down(terms.budget)
            violations.append(Violation("plan for a budget that a bound rules out", name, stated=stated))
    expected = [reason.to_dict() for reason in undecided_budget(cost, terms.budget)]
    recorded = [reason for reason in plan.record["reasons"] if reason["limit"] == BUDGET]
    if recorded != expected:
        fault = "wrong statement about the budget"
        violations.append(Violation(fault, "reasons", stated=str(recorded), expected=str(expected)))
    return violations
