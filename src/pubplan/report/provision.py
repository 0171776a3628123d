"""Plans of ``provision`` on the page: what is paid for, how full the VMs are, and what could be saved at most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pubplan.planning import Plan, Reason
from pubplan.problems.provision import FAMILY, SPLITS, TYPES, VMS
from pubplan.problems.provision.catalogue import MICROS
from pubplan.problems.provision.gap import gap_parts
from pubplan.problems.provision.plan import chosen_type
from pubplan.report.frame import Chart, Section, Table, percent_up
from pubplan.report.lines import Axis, Mark, lines_spec
from pubplan.workload import Workload

MAX_POINTS = 300
TABLE_ROWS = 10
PARTS = {"vm_cost": "VMs", "incoming_cost": "bytes in", "outgoing_cost": "bytes out"}
GAP_PARTS = {
    "bound": "no plan is below",
    "vms": "VMs above",
    "incoming": "bytes in above",
    "outgoing": "bytes out above",
}


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each."""
    names = labels(plans)
    charts = [by_part(plans, names), *gaps(plans, names), *fill(plans, names), *by_threshold(plans)]
    found = [section(plan, name) for plan, name in zip(plans, names, strict=True)]
    return [Section(FAMILY.question, charts=charts), *found]


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan; the directory tells apart those that would be called the same."""
    short = [f"{_method(plan)}, {_threshold(plan)}, {chosen_type(plan)['type']}" for plan in plans]
    return [
        name if short.count(name) == 1 else f"{name} ({plan.path.name})"
        for name, plan in zip(short, plans, strict=True)
    ]


def section(plan: Plan, name: str) -> Section:
    """What one plan costs, how far from the best it can be, and what it is based on."""
    record, chosen = plan.record, chosen_type(plan)
    parameters = record["parameters"]
    used = chosen["incoming"] + chosen["outgoing"]
    splits = FAMILY.read_decisions(plan, SPLITS)["topic"].to_numpy()
    figures = {
        "dollars per window": dollars_up(chosen["cost"]),
        "no plan is below": "no bound" if record["bound"] is None else dollars_down(_tightest(plan)),
        "gap": "unknown" if record["gap"] is None else percent_up(record["gap"]),
        "verdict": "verified" if record["verified"] else "not verified",
    }
    facts = {
        "VMs": f"{chosen['vms']:,} x {chosen['type']}",
        "bytes in": f"{chosen['incoming']:,} per window",
        "bytes out": f"{chosen['outgoing']:,} per window",
        "filled": f"{100 * used / (chosen['vms'] * chosen['limit']):.1f} %" if chosen["vms"] else "no VM is needed",
        "topics on several VMs": f"{len(np.unique(splits)):,}",
        "peak factor": f"{parameters['peak_factor']}, head-room {parameters['headroom']}",
        "budget": "none" if parameters["budget"] is None else f"${parameters['budget']}",
        "bounds": ", ".join(f"{bound} {dollars_down(value)}" for bound, value in _bounds(plan).items()) or "none",
        "binding": "; ".join(str(Reason(**reason)) for reason in record["reasons"]) or "nothing",
        "workload": record["workload"]["digest"],
        "plan": record["digest"],
    }
    return Section(name, figures=figures, facts=facts, is_good=bool(record["verified"]), charts=by_type(plan))


def by_part(plans: Sequence[Plan], names: Sequence[str]) -> Chart:
    """The cost of each plan: VMs, bytes in, bytes out. For plans of one problem that is method against method."""
    found = [(name, chosen_type(plan)) for plan, name in zip(plans, names, strict=True)]
    rows = [
        [name, *(dollars_up(row[part]) for part in PARTS), dollars_up(row["cost"]), f"{row['vms']:,}"]
        for name, row in found
    ]
    return Chart(
        title="What is paid for",
        caption="The cost of each plan in a window: rent of the VMs, bytes that flow into them, bytes that they send.",
        spec=_bars([(name, what, row[part] / MICROS) for name, row in found for part, what in PARTS.items()]),
        table=Table(["plan", *PARTS.values(), "together", "number of VMs"], rows),
    )


def gaps(plans: Sequence[Plan], names: Sequence[str]) -> list[Chart]:
    """What lies between each plan and its bound; nothing where no plan has a bound."""
    bars: list[tuple[str, str, float]] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        parts = gap_parts(plan)
        if parts is None:
            continue
        micros = [getattr(parts, part) for part in GAP_PARTS]
        bars += [(name, what, value / MICROS) for what, value in zip(GAP_PARTS.values(), micros, strict=True)]
        share = "unknown" if plan.record["gap"] is None else percent_up(plan.record["gap"])
        rows.append([name, dollars_down(micros[0]), *map(dollars_up, micros[1:]), share])
    if not rows:
        return []
    return [
        Chart(
            title="Where the gap comes from",
            caption="No plan is below the bound. Bytes out above it are topics that somebody is sent beyond the least "
            "traffic that is enough; bytes in above it are topics that flow into more VMs than they would have to; VMs "
            "above it carry these bytes, are not quite full, or are there because VMs are whole. At the prices of the "
            "plan's VM type.",
            spec=_bars(bars),
            table=Table(["plan", *GAP_PARTS.values(), "gap"], rows),
        )
    ]


def fill(plans: Sequence[Plan], names: Sequence[str]) -> list[Chart]:
    """How full the VMs are, the fullest first; nothing where no plan has a VM."""
    points: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        chosen = chosen_type(plan)
        shares = np.sort(FAMILY.read_decisions(plan, VMS)["used"].to_numpy())[::-1] / max(1, chosen["limit"])
        points += [{"plan": name, "vm": at + 1, "share": float(shares[at])} for at in _spread(len(shares), MAX_POINTS)]
        rows += [[name, f"{at + 1:,}", f"{100 * shares[at]:.2f} %"] for at in _spread(len(shares), TABLE_ROWS)]
    if not points:
        return []
    return [
        Chart(
            title="How full the VMs are",
            caption="What each VM receives and sends, as a share of what it may, the fullest first. The limit leaves "
            "room for the peak factor and the head-room.",
            spec=_fill_spec(points),
            table=Table(["plan", "VM", "filled"], rows),
        )
    ]


def by_threshold(plans: Sequence[Plan]) -> list[Chart]:
    """Cost and bound at each threshold, a line per way of planning; nothing for a single threshold."""
    plans = [plan for plan in plans if plan.record["parameters"]["threshold"] is not None]
    thresholds = [plan.record["parameters"]["threshold"] for plan in plans]
    if len(set(thresholds)) < 2:
        return []
    lines = sorted(zip(_lines(plans), thresholds, plans, strict=True), key=lambda entry: entry[:2])
    marks = [Mark(line, threshold, chosen_type(plan)["cost"] / MICROS) for line, threshold, plan in lines]
    marks += [
        Mark(line, threshold, _tightest(plan) / MICROS, "bound")
        for line, threshold, plan in lines
        if plan.record["bound"] is not None
    ]
    rows = [
        [
            line,
            f"{threshold:,}",
            dollars_up(chosen_type(plan)["cost"]),
            "" if plan.record["bound"] is None else dollars_down(_tightest(plan)),
            f"{chosen_type(plan)['vms']:,}",
        ]
        for line, threshold, plan in lines
    ]
    return [
        Chart(
            title="Cost by threshold",
            caption="What satisfying everybody costs, by the events that a subscriber needs. Dashed: no plan is below.",
            spec=lines_spec(marks, Axis("threshold"), Axis("dollars per window", "$,.2~f")),
            table=Table(["", "threshold", "dollars", "no plan is below", "number of VMs"], rows),
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
            *(dollars_up(row[part]) for part in PARTS),
            dollars_up(row["cost"]),
        ]
        for row in feasible
    ]
    rows += [[row["type"], "", "", "", "", row["refused"]] for row in types if row["refused"]]
    refused = [row["type"] for row in types if row["refused"]]
    told = f" Not possible: {', '.join(refused)}; the reasons are with the numbers." if refused else ""
    return [
        Chart(
            title="Other VM types",
            caption=f"The cheapest fleet that was found for each VM type.{told}",
            spec=_bars([(row["type"], what, row[part] / MICROS) for row in feasible for part, what in PARTS.items()]),
            table=Table(["type", "number of VMs", *PARTS.values(), "together"], rows),
        )
    ]


def dollars_up(micros: int) -> str:
    """Micro-dollars as dollars, never less than they are; in cents from a dollar on."""
    return f"${math.ceil(micros / 10**4) / 100:,.2f}" if micros >= MICROS else _small_change(micros)


def dollars_down(micros: int) -> str:
    """Micro-dollars as dollars, never more than they are; in cents from a dollar on."""
    return f"${micros // 10**4 / 100:,.2f}" if micros >= MICROS else _small_change(micros)


def _small_change(micros: int) -> str:
    return f"${micros / MICROS:.6f}" if micros else "$0"


def _bars(bars: Sequence[tuple[str, str, float]]) -> dict[str, Any]:
    """Stacked bars, as Vega-Lite: name, part, dollars."""
    import altair as alt

    names, parts = (list(dict.fromkeys(bar[place] for bar in bars)) for place in (0, 1))
    values = [{"name": name, "part": part, "dollars": value, "order": parts.index(part)} for name, part, value in bars]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("dollars:Q", title="dollars per window", stack="zero", axis=alt.Axis(format="$,~f", tickCount=6)),
            y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=320)),
            color=alt.Color("part:N", sort=parts, legend=alt.Legend(title=None, orient="top")),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("name:N", title="plan"),
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("dollars:Q", format="$,.4~f"),
            ],
        )
    )
    spec: dict[str, Any] = chart.properties(width="container", height=40 + 34 * len(names)).to_dict()
    spec.pop("config", None)
    return spec


def _fill_spec(points: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(size=14))
        .encode(
            x=alt.X("vm:Q", title="VMs, the fullest first", axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1)),
            y=alt.Y("share:Q", title="filled", axis=alt.Axis(format="~%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("plan:N", sort=None, legend=alt.Legend(title=None, columns=1)),
            tooltip=[
                alt.Tooltip("plan:N"),
                alt.Tooltip("vm:Q", title="VM", format=","),
                alt.Tooltip("share:Q", title="filled", format=".2%"),
            ],
        )
    )
    spec: dict[str, Any] = chart.properties(width="container", height=260).to_dict()
    spec.pop("config", None)
    return spec


def _spread(number: int, most: int) -> list[int]:
    """Up to ``most`` of the places below ``number``, first and last included."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64)).tolist() if number else []


def _lines(plans: Sequence[Plan]) -> list[str]:
    """How each plan was made but for its threshold: what the plans differ in, after the method and the VM types."""
    told = ("peak_factor", "headroom", "rate_factor", "message_bytes", "window_seconds")
    varied = [name for name in told if len({str(plan.record["parameters"][name]) for plan in plans}) > 1]
    workloads = {plan.record["workload"]["digest"] for plan in plans}

    def line(plan: Plan) -> str:
        parameters = plan.record["parameters"]
        parts = [_method(plan), " or ".join(vm_type["name"] for vm_type in parameters["vm_types"])]
        parts += [f"{name.replace('_', ' ')} {parameters[name]}" for name in varied]
        if len(workloads) > 1:
            parts.append(f"workload {plan.record['workload']['digest'][:8]}")
        return ", ".join(parts)

    return [line(plan) for plan in plans]


def _method(plan: Plan) -> str:
    """The method, with the steps of ``cbp`` where not all are in force."""
    steps = plan.record["parameters"].get("steps", "bcde")
    return plan.method if set(steps) == set("bcde") else f"{plan.method} ({steps})"


def _threshold(plan: Plan) -> str:
    threshold = plan.record["parameters"]["threshold"]
    return "own thresholds" if threshold is None else f"threshold {threshold}"


def _bounds(plan: Plan) -> dict[str, int]:
    """Micro-dollars by name of the bound."""
    return {name: plan.certificate(name).bound.value for name in plan.record["bounds"]}


def _tightest(plan: Plan) -> int:
    return max(_bounds(plan).values())
