"""Plans of ``provision`` on the page: what the fleet costs, what was asked, and what every VM carries."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pubplan.pages.answer import (
    assembled,
    digests_of,
    gap_of,
    how_planned,
    label_of_threshold,
    reasons_of,
    sentences_of,
    threshold_of,
    told_apart,
    verdict_of,
    workload_of,
)
from pubplan.pages.frame import Section, Sheet
from pubplan.pages.lists import MAX_ROWS, top
from pubplan.pages.provision_charts import (
    bounds_of,
    by_part,
    by_threshold,
    by_type,
    fill,
    gaps,
    method_with_steps,
    proven,
    tightest,
)
from pubplan.planning import Plan
from pubplan.problems.provision import FAMILY, SPLITS, VMS
from pubplan.problems.provision.listing import exact_dollars
from pubplan.problems.provision.plan import chosen_type
from pubplan.problems.provision.whatif import cost_per_month
from pubplan.text import dollars_up, duration, percent, traffic
from pubplan.workload import TOPIC, TopicWorkload, Workload

ASKED = (
    "threshold",
    "vm_types",
    "peak_factor",
    "headroom",
    "window_seconds",
    "message_bytes",
    "rate_factor",
    "budget",
)
"""The parameters of a plan that are not its method's."""


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """The answer of every plan with charts and lists."""
    names = labels(plans)
    charts = [by_part(plans, names), *gaps(plans, names), *fill(plans, names), *by_threshold(plans)]
    of_plans = [
        section(plan, name, workload_of(plan, workloads, TOPIC), f"provision-{number + 1}")
        for number, (plan, name) in enumerate(zip(plans, names, strict=True))
    ]
    return assembled(FAMILY.question, of_plans, charts)


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan, no two the same."""
    short = [f"{method_with_steps(plan)}, {label_of_threshold(plan)}, {chosen_type(plan)['type']}" for plan in plans]
    return told_apart(short, plans)


def section(plan: Plan, name: str, workload: TopicWorkload | None = None, anchor: str = "") -> Section:
    """What one plan costs, how far from the best it can be, what it is based on, and its VMs."""
    record, chosen = plan.record, chosen_type(plan)
    seconds = Fraction(record["parameters"]["window_seconds"])
    used = chosen["incoming"] + chosen["outgoing"]
    figures = {
        f"cost per {duration(float(seconds))}": dollars_up(chosen["cost"]),
        "cost per month": dollars_up(cost_per_month(chosen["cost"], seconds)),
        "VMs": f"{chosen['vms']:,} of {chosen['type']}",
        "filled": percent(used / (chosen["vms"] * chosen["limit"])) if chosen["vms"] else "no VM is needed",
        "no plan is below": "no bound" if record["bound"] is None else proven(plan, tightest(plan)),
        "gap": gap_of(plan),
        "verdict": verdict_of(plan),
    }
    splits = FAMILY.read_decisions(plan, SPLITS)["topic"].to_numpy()
    facts = {
        "bytes in": f"{traffic(chosen['incoming'])} per window",
        "bytes out": f"{traffic(chosen['outgoing'])} per window",
        "a VM may carry": f"{traffic(chosen['limit'])} per window",
        "topics on several VMs": f"{len(np.unique(splits)):,}",
        **_price_source(plan),
        "a month": "30.4375 days of windows like this one, each paid for by itself",
        "bounds": ", ".join(f"{bound} {proven(plan, value)}" for bound, value in bounds_of(plan).items()) or "none",
        "binding": "; ".join(reasons_of(plan)) or "nothing",
    }
    return Section(
        name,
        sentences_of(plan, workload),
        figures=figures,
        facts=facts,
        is_good=bool(record["verified"]),
        charts=[*by_type(plan), *vms(plan), *topics_on_several_vms(plan)],
        asked=asked(plan),
        digests=digests_of(plan),
        anchor=anchor,
    )


def asked(plan: Plan) -> dict[str, str]:
    """Everything that the plan was asked, as it was given, and how it was planned."""
    parameters = plan.record["parameters"]
    size, budget = parameters["message_bytes"], parameters["budget"]
    return {
        "threshold": threshold_of(plan),
        "VM types": ", ".join(vm_type["name"] for vm_type in parameters["vm_types"]),
        "price": _price(plan),
        "window": duration(float(parameters["window_seconds"])),
        "message size": "each topic's, as in the workload" if size is None else traffic(size),
        "rate factor": f"{parameters['rate_factor']}",
        "peak factor": f"{parameters['peak_factor']}",
        "head-room": f"{parameters['headroom']}",
        "budget": "none" if budget is None else f"${budget} per window",
        **how_planned(plan, ASKED),
    }


def vms(plan: Plan) -> list[Sheet]:
    """What every VM carries, the fullest first."""
    limit = max(1, chosen_type(plan)["limit"])
    rows = sorted(FAMILY.read_decisions(plan, VMS).to_pylist(), key=lambda row: (-int(row["used"]), int(row["vm"])))
    return top(
        "The VMs",
        "What each carries, the fullest first. 'pubplan explain PLAN --vm N' says which topics, for whom.",
        ["VM", "filled", "topics", "pairs", "in", "out", "rent"],
        [_vm_row(row, limit) for row in rows[:MAX_ROWS]],
        len(rows),
    )


def topics_on_several_vms(plan: Plan) -> list[Sheet]:
    """The topics that flow into most VMs; nothing where each is on one."""
    on_vms: dict[str, list[tuple[int, int]]] = {}
    for row in FAMILY.read_decisions(plan, SPLITS).to_pylist():
        on_vms.setdefault(row["topic_id"], []).append((row["vm"], row["pairs"]))
    most = sorted(on_vms.items(), key=lambda entry: -len(entry[1]))[:MAX_ROWS]
    rows = [[name, f"{len(on):,}", f"{sum(pairs for _, pairs in on):,}"] for name, on in most]
    caption = "Topics that flow into more than one VM, those on most of them first."
    return top("Topics on several VMs", caption, ["topic", "VMs", "pairs"], rows, len(on_vms))


def _vm_row(row: dict[str, Any], limit: int) -> list[str]:
    return [
        f"VM {row['vm']}",
        percent(row["used"] / limit),
        f"{row['topics']:,}",
        f"{row['pairs']:,}",
        traffic(row["incoming"]),
        traffic(row["outgoing"]),
        exact_dollars(row["price"]),
    ]


def _price(plan: Plan) -> str:
    """What an hour of the chosen VM type costs, and whose price of when that is if the plan says so."""
    record = _chosen_record(plan)
    origin = record.get("origin") or {}
    words = [origin[key] for key in ("provider", "region", "date") if key in origin]
    price = f"{exact_dollars(record['micros_per_hour'])} per hour of {record['name']}"
    return f"{price} ({', '.join(words)})" if words else price


def _price_source(plan: Plan) -> dict[str, str]:
    """Where the price of the chosen VM type was looked up; nothing where the plan does not say so."""
    source = (_chosen_record(plan).get("origin") or {}).get("source")
    return {"source of the prices": source} if source else {}


def _chosen_record(plan: Plan) -> dict[str, Any]:
    chosen = chosen_type(plan)["type"]
    record: dict[str, Any] = next(
        record for record in plan.record["parameters"]["vm_types"] if record["name"] == chosen
    )
    return record
