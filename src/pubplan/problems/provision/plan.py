"""The decisions: which VMs are rented, and which of them carries which pair."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Certificate, Draft, Exact, Plan, tightest
from pubplan.problems.provision.catalogue import MICROS
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.words import dollars_down
from pubplan.workload import Int32Array, Int64Array, topic_lists

PLACEMENTS, VMS, SPLITS, TYPES = "placements", "vms", "splits", "types"

BUDGET = "budget in dollars"
"""The limit that reasons about the budget name."""

_LIST = pa.list_(pa.field("element", pa.int32(), nullable=False))

PLACEMENTS_SCHEMA = pa.schema([("subscriber", pa.int64()), ("topics", _LIST), ("vms", _LIST)])
"""Every subscriber with the topics it is sent and the VM that sends each, in blocks."""

VMS_SCHEMA = pa.schema(
    [
        ("vm", pa.int32()),
        ("type", pa.string()),
        ("used", pa.int64()),
        ("incoming", pa.int64()),
        ("outgoing", pa.int64()),
        ("topics", pa.int64()),
        ("pairs", pa.int64()),
        ("price", pa.int64()),
    ]
)
"""Every VM: bytes per window, topics and pairs that it carries, and its rent in micro-dollars."""

SPLITS_SCHEMA = pa.schema([("topic", pa.int32()), ("topic_id", pa.string()), ("vm", pa.int32()), ("pairs", pa.int64())])
"""The topics on more than one VM, with their pairs on each."""

TYPES_SCHEMA = pa.schema(
    [
        ("type", pa.string()),
        ("chosen", pa.bool_()),
        ("limit", pa.int64()),
        ("vms", pa.int64()),
        ("incoming", pa.int64()),
        ("outgoing", pa.int64()),
        ("vm_cost", pa.int64()),
        ("incoming_cost", pa.int64()),
        ("outgoing_cost", pa.int64()),
        ("cost", pa.int64()),
        ("refused", pa.string()),
    ]
)
"""What the fleet of each VM type takes and costs (bytes and micro-dollars), or why there is none."""

PRICES_TOPICS, CHARGED = "topics", "charged"

PRICES_SCHEMA = pa.schema([("topic", pa.int32()), ("charged", pa.int64()), ("everybody", pa.int64())])
"""Evidence of the bound ``prices``: by topic, what those pay who share its stream, and what everybody else pays."""

CHARGED_SCHEMA = pa.schema([("topics", _LIST)])
"""Evidence of the bound ``prices``: for every subscriber the topics whose stream it shares, in blocks."""


def chosen_type(plan: Plan) -> dict[str, Any]:
    """The row of the VM type that was chosen: what its fleet takes and costs.

    Raises:
        InputError: the table is damaged.
    """
    chosen = [row for row in plan.decisions(TYPES, TYPES_SCHEMA).to_pylist() if row["chosen"]]
    if len(chosen) != 1:
        raise InputError(f"{plan.path}: the decisions '{TYPES}' are damaged; {len(chosen)} VM types are chosen.")
    return dict(chosen[0])


def placed_pairs(plan: Plan, block: int) -> tuple[Int64Array, Int32Array, Int32Array]:
    """The pairs of a block of subscribers: where each subscriber's begin, their topics and their VMs.

    Raises:
        InputError: the table is damaged.
    """
    table = plan.decisions_block(PLACEMENTS, block, PLACEMENTS_SCHEMA)
    offsets, topics = topic_lists(table)
    vm_offsets, vms = topic_lists(table.select(["vms"]).rename_columns(["topics"]))
    if not np.array_equal(offsets, vm_offsets):
        raise InputError(f"{plan.path}: the decisions '{PLACEMENTS}' are damaged; topics and VMs are not as many.")
    return offsets, topics, vms


def within_budget(problem: Problem, draft: Draft, certificates: tuple[Certificate, ...]) -> Draft:
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
            [Reason(BUDGET, float(bound), problem.budget_micros / problem.scale, "what no plan can be below")],
        )
    undecided = undecided_budget(draft.claimed, problem.budget_micros)
    return replace(draft, reasons=(*draft.reasons, *undecided))


def undecided_budget(cost: Exact, budget_micros: int | None) -> tuple[Reason, ...]:
    """What a plan says of a budget that it exceeds while no bound does; nothing if it keeps it."""
    if budget_micros is None or cost.fraction <= Fraction(budget_micros, MICROS):
        return ()
    return (Reason(BUDGET, float(cost), budget_micros / MICROS, "undecided: no bound is above it"),)
