"""What a plan of ``provision`` says, in numbers: the facts behind its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pubplan.planning import Result
from pubplan.problems.provision.plan import SPLITS, TYPES, VMS, chosen_type
from pubplan.problems.provision.problem import Problem
from pubplan.text import duration

WINDOW_MISMATCH_RATIO = 10
"""Windows that differ by this factor or more are not both meant."""


def hints(problem: Problem) -> list[str]:
    """What was probably not meant: a window that is far from the one that the workload's rates are counted over."""
    counted_over = problem.workload.manifest.window.seconds
    if not counted_over:
        return []
    ratio = float(counted_over) / float(problem.seconds)
    if 1 / WINDOW_MISMATCH_RATIO < ratio < WINDOW_MISMATCH_RATIO:
        return []
    speed = f"{ratio:,.0f} times as fast" if ratio > 1 else f"{1 / ratio:,.0f} times as slow"
    return [
        f"The workload's rates are counted over {duration(counted_over)}, but the window is "
        f"{duration(float(problem.seconds))}: events come {speed}. Leave out the window if that is not meant."
    ]


def facts_of(problem: Problem, result: Result) -> dict[str, Any]:
    """The fleet, its cost by part, how full it is, other VM types, and what is proven; bytes are per window."""
    chosen = chosen_type(result.plan)
    types = result.plan.decisions(TYPES).to_pylist()
    bounds = [result.plan.certificate(name).bound.value for name in result.bounds]
    return {
        "vms": chosen["vms"],
        "vm_type": chosen["type"],
        "subscribers": problem.workload.counts.subscribers,
        "window_seconds": float(problem.seconds),
        "cost_microusd": chosen["cost"],
        "vm_cost_microusd": chosen["vm_cost"],
        "incoming_cost_microusd": chosen["incoming_cost"],
        "outgoing_cost_microusd": chosen["outgoing_cost"],
        "incoming_bytes": chosen["incoming"],
        "outgoing_bytes": chosen["outgoing"],
        "limit_bytes": chosen["limit"],
        "fill": _fill(result, chosen["limit"]),
        "split_topics": len(set(result.plan.decisions(SPLITS)["topic"].to_pylist())),
        "bound_microusd": max(bounds, default=None),
        "gap": result.gap,
        "other_types": [_other(row) for row in types if not row["chosen"]],
        "budget": _budget(problem, result),
        "hints": hints(problem),
    }


def _fill(result: Result, limit: int) -> dict[str, float] | None:
    """How full the VMs are, as shares of what each may carry; None without a VM."""
    used = result.plan.decisions(VMS)["used"].to_numpy()
    if not len(used) or not limit:
        return None
    return {"mean": used.mean() / limit, "min": used.min() / limit, "max": used.max() / limit}


def _other(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a VM type that was not chosen would cost, or why it cannot do it."""
    if row["refused"]:
        return {"vm_type": row["type"], "cost_microusd": None, "vms": None, "refused": row["refused"]}
    return {"vm_type": row["type"], "cost_microusd": row["cost"], "vms": row["vms"], "refused": ""}


def _budget(problem: Problem, result: Result) -> dict[str, Any] | None:
    """Whether the plan keeps the budget; a budget that no plan keeps is infeasible, and has no plan."""
    if problem.budget_micros is None:
        return None
    is_kept = result.exact.value <= problem.budget_micros
    return {"budget_microusd": problem.budget_micros, "verdict": "yes" if is_kept else "undecided"}
