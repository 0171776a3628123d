"""The charts of ``provision``: what is paid for, where the gap comes from, how full VMs are, and other VM types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pubplan.pages.answer import at_thresholds
from pubplan.pages.bars import Bar, bars_legend, bars_spec
from pubplan.pages.fill import fill_chart
from pubplan.pages.frame import Chart, Table
from pubplan.pages.lines import Axis, Mark, has_lines, lines_legend, lines_spec
from pubplan.planning import Plan
from pubplan.problems.provision import FAMILY, TYPES, VMS
from pubplan.problems.provision.catalogue import MICROS
from pubplan.problems.provision.gap import gap_breakdown
from pubplan.problems.provision.plan import chosen_type
from pubplan.text import dollars_proven, dollars_up, listed, percent_up, split_above, split_dollars

COST_LABELS = {"vm_cost": "VMs", "incoming_cost": "bytes in", "outgoing_cost": "bytes out"}
GAP_LABELS = {"vms": "VMs above", "incoming": "bytes in above", "outgoing": "bytes out above"}
PER_WINDOW = "dollars per window"


def by_part(plans: Sequence[Plan], names: Sequence[str]) -> Chart:
    """The cost of each plan: VMs, bytes in, bytes out. For plans of one problem that is method against method."""
    chosen = [(name, chosen_type(plan)) for plan, name in zip(plans, names, strict=True)]
    rows = [[name, *split_dollars([row[part] for part in COST_LABELS]), f"{row['vms']:,}"] for name, row in chosen]
    bars = _bars_by_part([(name, row) for name, row in chosen])
    return Chart(
        title="What is paid for",
        caption="The cost of each plan in a window: rent of the VMs, bytes that flow into them, bytes that they send.",
        spec=bars_spec(bars, PER_WINDOW),
        table=Table(["plan", *COST_LABELS.values(), "together", "number of VMs"], rows),
        legend=bars_legend(bars),
    )


def gaps(plans: Sequence[Plan], names: Sequence[str]) -> list[Chart]:
    """What each plan pays above its bound, by part; nothing where no plan has a bound, or none is above it."""
    bars: list[Bar] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        parts = gap_breakdown(plan)
        if parts is None:
            continue
        micros = [getattr(parts, part) for part in GAP_LABELS]
        bars += [(name, what, value / MICROS) for what, value in zip(GAP_LABELS.values(), micros, strict=True)]
        share = "unknown" if plan.record["gap"] is None else percent_up(plan.record["gap"])
        rows.append([name, *split_above(parts.bound, micros), share])
    if not any(dollars for _, _, dollars in bars):
        return []
    return [
        Chart(
            title="Where the gap comes from",
            caption="What each plan pays above what no plan is below, at the prices of its VM type.",
            spec=bars_spec(bars, f"{PER_WINDOW} above the bound"),
            table=Table(["plan", "no plan is below", *GAP_LABELS.values(), "together", "gap"], rows),
            legend=bars_legend(bars),
            notes=[
                "Bytes out above it are topics that subscribers are sent beyond the least traffic that is enough.",
                "Bytes in above it are topics that flow into more VMs than they would have to.",
                "VMs above it carry these bytes, are not quite full, or are there because VMs are whole.",
            ],
        )
    ]


def fill(plans: Sequence[Plan], names: Sequence[str]) -> list[Chart]:
    """How full the VMs are, the fullest first; nothing where no plan has two VMs."""
    shares = {
        name: FAMILY.read_decisions(plan, VMS)["used"].to_numpy() / max(1, chosen_type(plan)["limit"])
        for plan, name in zip(plans, names, strict=True)
    }
    caption = (
        "What each VM receives and sends, as a share of what it may, the fullest first. The limit leaves room for the "
        "peak factor and the head-room."
    )
    return fill_chart("How full the VMs are", caption, shares, ("VM", "VMs"))


def by_threshold(plans: Sequence[Plan]) -> list[Chart]:
    """Cost and bound at each threshold, a line per way of planning; nothing where no line has two thresholds."""
    plans = at_thresholds(plans)
    thresholds = [plan.record["parameters"]["threshold"] for plan in plans]
    names = _lines(plans)
    if not has_lines(names, thresholds):
        return []
    lines = sorted(zip(names, thresholds, plans, strict=True), key=lambda entry: entry[:2])
    marks = [Mark(line, threshold, chosen_type(plan)["cost"] / MICROS) for line, threshold, plan in lines]
    marks += [
        Mark(line, threshold, tightest(plan) / MICROS, "bound")
        for line, threshold, plan in lines
        if plan.record["bound"] is not None
    ]
    rows = [
        [
            line,
            f"{threshold:,}",
            dollars_up(chosen_type(plan)["cost"]),
            "" if plan.record["bound"] is None else proven(plan, tightest(plan)),
            f"{chosen_type(plan)['vms']:,}",
        ]
        for line, threshold, plan in lines
    ]
    return [
        Chart(
            title="Cost by threshold",
            caption="What satisfying every subscriber costs, by the events that one needs. Dashed: no plan is below.",
            spec=lines_spec(marks, Axis("threshold"), Axis(PER_WINDOW, "$,.2~f")),
            legend=lines_legend(marks),
            table=Table(["line", "threshold", "dollars", "no plan is below", "number of VMs"], rows),
        )
    ]


def by_type(plan: Plan) -> list[Chart]:
    """What the fleet of each VM type costs; nothing where the plan had no choice."""
    types = FAMILY.read_decisions(plan, TYPES).to_pylist()
    if len(types) < 2:
        return []
    feasible = sorted((row for row in types if not row["refused"]), key=lambda row: int(row["cost"]))
    rows = [
        [
            f"{row['type']} (chosen)" if row["chosen"] else row["type"],
            f"{row['vms']:,}",
            *split_dollars([row[part] for part in COST_LABELS]),
        ]
        for row in feasible
    ]
    rows += [[row["type"], "", "", "", "", row["refused"]] for row in types if row["refused"]]
    refused = [row["type"] for row in types if row["refused"]]
    bars = _bars_by_part([(row["type"], row) for row in feasible])
    impossible = f" Not possible: {', '.join(refused)}; the reasons are with the numbers." if refused else ""
    return [
        Chart(
            title="Other VM types",
            caption=f"The cheapest fleet planned for each VM type.{impossible}",
            spec=bars_spec(bars, PER_WINDOW),
            table=Table(["type", "number of VMs", *COST_LABELS.values(), "together"], rows),
            legend=bars_legend(bars),
        )
    ]


def _bars_by_part(costs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Bar]:
    """What is paid for VMs, bytes in and bytes out, by name."""
    return [(name, what, row[part] / MICROS) for name, row in costs for part, what in COST_LABELS.items()]


def _lines(plans: Sequence[Plan]) -> list[str]:
    """How each plan was made but for its threshold: what the plans differ in, after the method and the VM types."""
    shown = ("peak_factor", "headroom", "rate_factor", "message_bytes", "window_seconds")
    varied = [name for name in shown if len({str(plan.record["parameters"][name]) for plan in plans}) > 1]
    workloads = {plan.record["workload"]["digest"] for plan in plans}

    def line(plan: Plan) -> str:
        parameters = plan.record["parameters"]
        parts = [method_with_steps(plan), listed([vm_type["name"] for vm_type in parameters["vm_types"]], 2)]
        parts += [f"{name.replace('_', ' ')} {parameters[name]}" for name in varied]
        if len(workloads) > 1:
            parts.append(f"workload {plan.record['workload']['digest'][:8]}")
        return ", ".join(parts)

    return [line(plan) for plan in plans]


def method_with_steps(plan: Plan) -> str:
    """The method, with the steps of ``cbp`` where not all are in force."""
    steps = plan.record["parameters"].get("steps", "bcde")
    return plan.method if set(steps) == set("bcde") else f"{plan.method} ({steps})"


def bounds_of(plan: Plan) -> dict[str, int]:
    """Micro-dollars by name of the bound."""
    return {name: plan.certificate(name).bound.value for name in plan.record["bounds"]}


def tightest(plan: Plan) -> int:
    return max(bounds_of(plan).values())


def proven(plan: Plan, bound: int) -> str:
    """A bound, written so that it is not above the cost that is shown."""
    return dollars_proven(bound, chosen_type(plan)["cost"])
