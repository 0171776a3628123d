"""Checks the table of VM types, every row of it, and what a plan says of its budget.

The fleet of a type that was not chosen is not in the plan. Of its row everything is recomputed that follows from the
workload and the prices: whether there can be a fleet, the limit, and what the VMs and bytes cost that the row claims;
these must fit each other, and not cost less than the plan's bounds prove for that type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pubplan.errors import Reason
from pubplan.planning import Exact, Plan
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.plan import BUDGET, TYPES, undecided_budget
from pubplan.problems.provision.verify_costs import MICROS_PER_DOLLAR, Terms
from pubplan.problems.provision.verify_fleet import Traffic

_NUMBERS = ("vms", "incoming", "outgoing", "vm_cost", "incoming_cost", "outgoing_cost", "cost")


def wrong_types(
    terms: Terms, plan: Plan, chosen_traffic: Traffic, num_pairs: int, lacking: list[int], proven: Mapping[str, int]
) -> Iterator[Reason]:
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
            yield Reason("limit as recomputed", limit, row["limit"], where)
        can_serve = limit > 0 and num_lacking == 0
        if bool(row["refused"]) == can_serve:
            need = "a fleet, as its VMs can satisfy everybody" if can_serve else f"why {num_lacking} go without"
            yield Reason("types are refused that cannot satisfy everybody", need, row["refused"] or "a fleet", where)
        elif row["refused"]:
            if any(row[name] for name in _NUMBERS):
                yield Reason("a refused type has no fleet", "0 in every column", "others", where)
        else:
            traffic = chosen_traffic if row["chosen"] else Traffic(row["vms"], row["incoming"], row["outgoing"])
            yield from _wrong_row(terms, vm_type, row, traffic, where)
            if not row["chosen"]:
                yield from _impossible(row, traffic, limit, num_pairs, proven.get(vm_type.name, 0), where)
    chosen = next(row for row in rows if row["chosen"])
    cheaper = [row["type"] for row in rows if not row["refused"] and row["cost"] < chosen["cost"]]
    yield from (Reason("the cheapest VM type is chosen", name, chosen["type"], TYPES) for name in cheaper)


def _wrong_row(terms: Terms, vm_type: VmType, row: Mapping[str, Any], traffic: Traffic, where: str) -> Iterator[Reason]:
    """The numbers of a row follow from its VMs and bytes."""
    if min(traffic.num_vms, traffic.incoming, traffic.outgoing) < 0:
        yield Reason("VMs and bytes are counts", "0 or more", "negative numbers", where)
        return
    costs = terms.costs(vm_type, traffic.num_vms, traffic.incoming, traffic.outgoing)
    expected = (traffic.num_vms, traffic.incoming, traffic.outgoing, *costs, sum(costs))
    for name, value in zip(_NUMBERS, expected, strict=True):
        if row[name] != value:
            yield Reason(f"{name} as recomputed", value, row[name], where)


def _impossible(
    row: Mapping[str, Any], traffic: Traffic, limit: int, num_pairs: int, least_cost: int, where: str
) -> Iterator[Reason]:
    """What no fleet can be: VMs above their limit or without pairs, bytes received and not sent, too low a cost."""
    if traffic.incoming + traffic.outgoing > traffic.num_vms * limit:
        yield Reason("bytes per VM", traffic.incoming + traffic.outgoing, traffic.num_vms * limit, where)
    if traffic.num_vms > num_pairs:
        yield Reason("VMs carry at least one pair each", num_pairs, traffic.num_vms, where)
    if traffic.incoming > traffic.outgoing:
        yield Reason("a stream that is received is sent", traffic.incoming, traffic.outgoing, where)
    if row["cost"] < least_cost:
        yield Reason("cost within the bound of the type", least_cost, row["cost"], where)


def wrong_budget(terms: Terms, plan: Plan, cost: Exact) -> list[Reason]:
    """A plan is above its budget only if none of its bounds is, and says so."""
    violations = []
    bounds = {name: plan.certificate(name).bound for name in plan.record["bounds"]}
    for name, bound in bounds.items():
        if terms.budget is not None and bound.fraction * MICROS_PER_DOLLAR > terms.budget:
            have = terms.budget / MICROS_PER_DOLLAR
            violations.append(Reason("no plan is written for a budget below a bound", float(bound), have, name))
    expected = [reason.to_dict() for reason in undecided_budget(cost, terms.budget)]
    stated = [reason for reason in plan.record["reasons"] if reason["limit"] == BUDGET]
    if stated != expected:
        violations.append(Reason("what reasons say of the budget", str(expected), str(stated), "reasons"))
    return violations
