"""From fleets to the draft of a plan: the cheapest one, and its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import BlockTable, Certificate, Draft, Exact, tightest
from pubplan.problems.provision.catalogue import MICROS, VmType
from pubplan.problems.provision.cost import fleet_costs
from pubplan.problems.provision.packing import Packing, placer, total_cost
from pubplan.problems.provision.plan import (
    BUDGET,
    PLACEMENTS,
    PLACEMENTS_SCHEMA,
    SPLITS,
    SPLITS_SCHEMA,
    TYPES,
    TYPES_SCHEMA,
    VMS,
    VMS_SCHEMA,
    undecided_budget,
)
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection
from pubplan.text import counted, dollars_down, traffic
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Fleet:
    """The fleet of one VM type: a packing of a selection, or why there is none."""

    vm_type: VmType
    selection: Selection | None = None
    packing: Packing | None = None
    refusals: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class FleetDraft(Draft):
    """A draft of a fleet. ``selection`` has its pairs, from which bounds can take prices; it is not written."""

    selection: Selection | None = None


def draft_of(problem: Problem, fleets: Sequence[Fleet], stage1: str, spark: SparkSession | None) -> FleetDraft:
    """A draft of the cheapest fleet, with a row for each of the others; says so if its pairs are not those of
    ``stage1``.

    Raises:
        Infeasible: no VM type can satisfy every subscriber.
        InputError: a fleet costs more than can be written.
    """
    feasible = [(fleet, fleet.selection, fleet.packing) for fleet in fleets if fleet.packing and fleet.selection]
    if not feasible:
        refusals = [reason for fleet in fleets for reason in fleet.refusals]
        raise Infeasible("No VM type can satisfy every subscriber.", refusals)
    best, selection, packing = min(feasible, key=lambda candidate: total_cost(problem, candidate[2]))
    _check_costs(problem, [packed for _, _, packed in feasible])
    cost = total_cost(problem, packing)
    decisions = {
        PLACEMENTS: _placements(problem, packing, selection, spark),
        VMS: _vms(problem, packing),
        SPLITS: _splits(problem, packing),
        TYPES: pa.Table.from_pylist([_type(problem, fleet, best) for fleet in fleets], schema=TYPES_SCHEMA),
    }
    reasons = (*_binding(problem, packing), *_notes(problem, selection, stage1))
    return FleetDraft(decisions, Exact(cost, MICROS), reasons=reasons, selection=selection)


def _check_costs(problem: Problem, packings: Sequence[Packing]) -> None:
    for packing in packings:
        cost = total_cost(problem, packing)
        if cost > MAX_INT64:
            raise InputError(
                f"A fleet of {packing.vm_type.name} costs {cost} micro-dollars, and a plan states at most {MAX_INT64}: "
                "check its prices and the length of the window."
            )


def _placements(problem: Problem, packing: Packing, selection: Selection, spark: SparkSession | None) -> BlockTable:
    read, num_subscribers = placer(problem, packing, selection, spark), problem.workload.counts.subscribers

    def make(block: int) -> pa.Table:
        pairs, vms = read(block)
        first, last = block_range(block, num_subscribers)
        offsets = np.zeros(last - first + 1, dtype=np.int32)
        np.cumsum(pairs.lengths, out=offsets[1:])
        lists = [_lists(offsets, values) for values in (pairs.topics, vms)]
        return pa.Table.from_arrays([np.arange(first, last), *lists], schema=PLACEMENTS_SCHEMA)

    return BlockTable(problem.workload.num_blocks, make)


def _lists(offsets: Int32Array, values: Int32Array) -> pa.ListArray:
    kind = PLACEMENTS_SCHEMA.field("topics").type
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, pa.int32()), type=kind)


def _vms(problem: Problem, packing: Packing) -> pa.Table:
    streams = packing.streams[packing.topics]
    incoming, outgoing = packing.by_vm(streams), packing.by_vm(packing.pairs * streams)
    numbers: Int64Array = np.arange(packing.num_vms)
    price = fleet_costs(problem, packing.vm_type, 1, 0, 0)[0]
    columns = [
        numbers.astype(np.int32),
        pa.array([packing.vm_type.name] * packing.num_vms, pa.string()),
        incoming + outgoing,
        incoming,
        outgoing,
        packing.by_vm(np.ones_like(packing.pairs)),
        packing.by_vm(packing.pairs),
        np.full(packing.num_vms, price, dtype=np.int64),
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=VMS_SCHEMA)


def _splits(problem: Problem, packing: Packing) -> pa.Table:
    parts_of = np.bincount(packing.topics, minlength=1)
    is_split = parts_of[packing.topics] > 1
    topics = packing.topics[is_split].astype(np.int32)
    topic_ids = problem.workload.topics("topic_id")["topic_id"].take(pa.array(topics)).combine_chunks()
    vms = packing.vms[is_split].astype(np.int32)
    order = np.lexsort((vms, topics))
    table = pa.table([topics, topic_ids, vms, packing.pairs[is_split]], schema=SPLITS_SCHEMA)
    return table.take(pa.array(order))


def _type(problem: Problem, fleet: Fleet, best: Fleet) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(TYPES_SCHEMA.names, 0)
    row |= {"type": fleet.vm_type.name, "chosen": fleet is best, "limit": problem.limit(fleet.vm_type)}
    packing = fleet.packing
    if packing is None:
        return row | {"refused": "; ".join(str(reason) for reason in fleet.refusals)}
    costs = fleet_costs(problem, fleet.vm_type, packing.num_vms, packing.incoming, packing.outgoing)
    return row | {
        "vms": packing.num_vms,
        "incoming": packing.incoming,
        "outgoing": packing.outgoing,
        "vm_cost": costs[0],
        "incoming_cost": costs[1],
        "outgoing_cost": costs[2],
        "cost": sum(costs),
        "refused": "",
    }


def _binding(problem: Problem, packing: Packing) -> tuple[Reason, ...]:
    """What keeps the fleet from being smaller: one VM less would have to carry more than it may."""
    if packing.num_vms == 0:
        return ()
    used, fewer = packing.incoming + packing.outgoing, packing.num_vms - 1
    have, vms = fewer * problem.limit(packing.vm_type), counted(fewer, "VM")
    if have >= used:
        sentence = f"{vms} could carry the {traffic(used)} if they were packed without gaps"
    elif fewer:
        sentence = f"{vms} {'carries' if fewer == 1 else 'carry'} {traffic(have)}; {traffic(used)} are needed"
    else:
        sentence = f"one VM is needed to carry {traffic(used)}"
    return (Reason("bytes per VM", used, have, vms, sentence),)


def _notes(problem: Problem, selection: Selection, stage1: str) -> tuple[Reason, ...]:
    """Where the pairs are not what the method's name promises."""
    notes = []
    if selection.name != stage1:
        sentence = f"the pairs are those of {selection.name}, which cost less once packed than those of {stage1}"
        notes.append(Reason("pairs chosen by", stage1, selection.name, "", sentence))
    if selection.num_inexact:
        all_subscribers = problem.workload.counts.subscribers
        sentence = (
            f"{selection.num_inexact:,} of {counted(all_subscribers, 'subscriber')} have too many topics for their "
            "threshold to find a cover of least cost; theirs is greedy"
        )
        exact = all_subscribers - selection.num_inexact
        notes.append(Reason("covers of least cost", all_subscribers, exact, "", sentence))
    return tuple(notes)


def within_budget(problem: Problem, draft: FleetDraft, certificates: tuple[Certificate, ...]) -> FleetDraft:
    """Refuse what no plan can do for the budget; say so where that is not decided.

    Raises:
        Infeasible: a bound is above the budget.
    """
    if problem.budget_micros is None:
        return draft
    bound = tightest({certificate.name: certificate.bound for certificate in certificates}, "min")
    if bound is not None and bound.value > problem.budget_micros:
        raise Infeasible(
            f"No: no plan costs less than {dollars_down(bound.value)}, and the budget is "
            f"{dollars_down(problem.budget_micros)}.",
            [
                Reason(
                    BUDGET,
                    float(bound),
                    problem.budget_micros / problem.scale,
                    "",
                    _above(bound, problem.budget_micros),
                )
            ],
        )
    undecided = undecided_budget(draft.claimed, problem.budget_micros)
    return replace(draft, reasons=(*draft.reasons, *undecided))


def _above(bound: Exact, budget_micros: int) -> str:
    excess = math.ceil(bound.fraction * MICROS) - budget_micros
    return f"even the cheapest plan is above the budget by {dollars_down(excess)} or more"
