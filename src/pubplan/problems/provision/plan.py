"""The decisions: which VMs are rented, and which of them carries which pair."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.errors import InputError, Reason
from pubplan.planning import Exact, Plan
from pubplan.problems.provision.catalogue import MICROS
from pubplan.text import dollars_down, dollars_up
from pubplan.workload import Int32Array, Int64Array, list_column

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

COST_PARTS = ("vm_cost", "incoming_cost", "outgoing_cost")
"""The columns that add up to ``cost``."""

PRICES_TOPICS, CHARGED = "topics", "charged"

PRICES_SCHEMA = pa.schema([("topic", pa.int32()), ("price_if_charged", pa.int64()), ("price_otherwise", pa.int64())])
"""Evidence of the bound ``prices``: by topic, what a subscriber pays who shares its stream, and what any other pays."""

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
    offsets, topics = list_column(table, "topics")
    vm_offsets, vms = list_column(table, "vms")
    if not np.array_equal(offsets, vm_offsets):
        raise InputError(f"{plan.path}: the decisions '{PLACEMENTS}' are damaged; topics and VMs are not as many.")
    return offsets, topics, vms


def undecided_budget(cost: Exact, budget_micros: int | None) -> tuple[Reason, ...]:
    """What a plan says of a budget that it exceeds while no bound does; nothing if it keeps it."""
    if budget_micros is None or cost.fraction <= Fraction(budget_micros, MICROS):
        return ()
    sentence = (
        f"the plan costs {dollars_up(math.ceil(cost.fraction * MICROS))}, and the budget is "
        f"{dollars_down(budget_micros)}; whether a plan can keep it is undecided, as no bound is above it"
    )
    return (Reason(BUDGET, float(cost), budget_micros / MICROS, "undecided", sentence),)
