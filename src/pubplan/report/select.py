"""Plans of ``select`` on the page: against capacity, by threshold and by weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pubplan.errors import InputError
from pubplan.planning import Plan, Reason, planning_seconds
from pubplan.problems import problem_of
from pubplan.problems.select import FAMILY, SERVED, Problem
from pubplan.problems.select.classes import satisfaction_by_weight
from pubplan.problems.select.curve import knee_of
from pubplan.problems.select.plan import TRAJECTORY_SCHEMA
from pubplan.report.frame import Chart, Section, Table, number_down, number_up, percent_up
from pubplan.report.lines import Axis, Mark, lines_spec, share_axis
from pubplan.workload import Int64Array, Workload

MAX_POINTS = 300
TABLE_ROWS = 10
SATISFIED = "satisfied"
RECEIVED = "mean share received"


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each; those made for one of ``workloads`` also by weight."""
    names = labels(plans)
    opened = {workload.digest: workload for workload in workloads}
    charts = [curve(plans, names), *by_threshold(plans)]
    found = [section(plan, name) for plan, name in zip(plans, names, strict=True)]
    for place, plan in enumerate(plans):
        workload = opened.get(plan.record["workload"]["digest"])
        if workload is not None and "weight" in workload.optional_columns:
            found[place] = replace(found[place], charts=[by_weight(plan, workload)])
    return [Section(FAMILY.question, charts=charts), *found]


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan; the directory tells apart those that would be called the same."""
    short = [f"{plan.method}, {_threshold(plan)}, capacity {plan.record['parameters']['capacity']}" for plan in plans]
    return [
        name if short.count(name) == 1 else f"{name} ({plan.path.name})"
        for name, plan in zip(short, plans, strict=True)
    ]


def section(plan: Plan, name: str) -> Section:
    """What one plan achieves, how far from the best it can be, and what it is based on."""
    record = plan.record
    served = FAMILY.read_decisions(plan, SERVED)
    cost = sum(served["cost"].to_pylist())
    capacity = record["parameters"]["capacity_cost"]
    figures = {
        "satisfied": number_down(record["objective"]),
        "no plan beats": "no bound" if record["bound"] is None else number_up(record["bound"]),
        "gap": "unknown" if record["gap"] is None else percent_up(record["gap"]),
        "verdict": "verified" if record["verified"] else "not verified",
    }
    facts = {
        "topics served": f"{served.num_rows:,}",
        "capacity used": f"{cost:,} of {capacity:,} deliveries per window",
        "objective": record["parameters"]["objective"],
        "bounds": ", ".join(f"{bound} {number_up(value)}" for bound, value in record["bounds"].items()) or "none",
        "binding": "; ".join(str(Reason(**reason)) for reason in record["reasons"]) or "nothing",
        "workload": record["workload"]["digest"],
        "plan": record["digest"],
    }
    return Section(name, figures=figures, facts=facts, is_good=bool(record["verified"]))


def curve(plans: Sequence[Plan], names: Sequence[str]) -> Chart:
    """Satisfied subscribers after each choice, against the capacity spent until then, with bound and knee."""
    points: list[dict[str, Any]] = []
    bounds: list[dict[str, Any]] = []
    knees: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        found = _Trajectory.read(plan)
        knee = knee_of(found.costs, found.satisfied) if len(found.costs) else None
        shown = found.spread(MAX_POINTS)
        points += [
            {"plan": name, "cost": int(found.costs[at]), "satisfied": float(found.satisfied[at])} for at in shown
        ]
        if plan.record["bound"] is not None:
            bounds += [{"plan": name, "cost": int(found.costs[at]), "bound": float(found.bounds[at])} for at in shown]
            bounds.append({"plan": name, "cost": _capacity(plan), "bound": plan.record["bound"]})
        if knee is not None:
            knees.append({"plan": name, "cost": int(found.costs[knee]), "satisfied": float(found.satisfied[knee])})
        for at in sorted({*found.spread(TABLE_ROWS), *(() if knee is None else (knee,))}):
            bound = "" if plan.record["bound"] is None else number_up(found.bounds[at])
            told = f"{name} (knee)" if at == knee else name
            rows.append([told, f"{found.costs[at]:,}", number_down(found.satisfied[at]), bound])
    return Chart(
        title="Satisfied subscribers against capacity spent",
        caption="One run answers every capacity up to its own: read off how many subscribers are satisfied when the "
        "plan stops earlier. Dashed: what no plan of that capacity can beat. Diamond: the knee, where more capacity "
        "begins to bring less.",
        spec=curve_spec(points, bounds, knees),
        table=Table(["plan", "deliveries per window", "satisfied", "no plan beats"], rows),
    )


def curve_spec(
    points: list[dict[str, Any]], bounds: list[dict[str, Any]], knees: list[dict[str, Any]]
) -> dict[str, Any]:
    """The chart as Vega-Lite: steps for the plans, dashed lines for bounds, diamonds, values under the pointer."""
    import altair as alt

    colour = alt.Color("plan:N", legend=alt.Legend(title=None, columns=1))
    tooltip = [
        alt.Tooltip("plan:N"),
        alt.Tooltip("cost:Q", title="deliveries per window", format=","),
        alt.Tooltip("satisfied:Q", title="satisfied", format=",.1f"),
    ]
    x = alt.X("cost:Q", title="deliveries per window", axis=alt.Axis(format="~s", tickCount=6))
    y = alt.Y("satisfied:Q", title="satisfied subscribers", axis=alt.Axis(format="~s"))
    base = alt.Chart(alt.Data(values=points))
    lines = base.mark_line(interpolate="step-after", strokeWidth=2).encode(x=x, y=y, color=colour)
    hover = alt.selection_point(nearest=True, on="pointerover", encodings=["x"], empty=False)
    dots = (
        base.mark_point(filled=True, size=60)
        .encode(x=x, y=y, color=colour, tooltip=tooltip, opacity=alt.condition(hover, alt.value(1), alt.value(0)))
        .add_params(hover)
    )
    dashed = (
        alt.Chart(alt.Data(values=bounds))
        .mark_line(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x=x, y=alt.Y("bound:Q"), color=colour)
    )
    diamonds = (
        alt.Chart(alt.Data(values=knees))
        .mark_point(shape="diamond", filled=True, size=120, opacity=1)
        .encode(x=x, y=y, color=colour, tooltip=tooltip)
    )
    spec: dict[str, Any] = alt.layer(lines, dashed, dots, diamonds).properties(width="container", height=340).to_dict()
    spec.pop("config", None)
    return spec


def by_threshold(plans: Sequence[Plan]) -> list[Chart]:
    """How good plans are and how long planning took at each threshold; nothing for a single threshold."""
    plans = [plan for plan in plans if plan.record["parameters"]["threshold"] is not None]
    thresholds = [plan.record["parameters"]["threshold"] for plan in plans]
    if len(set(thresholds)) < 2:
        return []
    names = _lines(plans)
    shares, seconds = [], []
    for plan, name, threshold in sorted(zip(plans, names, thresholds, strict=True), key=lambda entry: entry[1:]):
        if plan.record["bound"]:
            shares.append(Mark(name, threshold, plan.record["objective"] / plan.record["bound"]))
        taken = planning_seconds(plan)
        if taken is not None:
            seconds.append(Mark(name, threshold, taken))
    charts = []
    if shares:
        charts.append(
            _threshold_chart(
                "Share of the bound by threshold",
                "What a plan satisfies, as a share of what no plan can beat: the best plan lies between that and 1.",
                shares,
                share_axis("objective / bound", shares),
            )
        )
    if seconds:
        charts.append(
            _threshold_chart(
                "Planning time by threshold",
                "Seconds that the method took, without reading the workload, bounding and verifying.",
                seconds,
                Axis("seconds", ",.3~f"),
            )
        )
    return charts


def _threshold_chart(title: str, caption: str, marks: list[Mark], y: Axis) -> Chart:
    rows = [[mark.line, f"{mark.x:,}", f"{mark.y:.3f}"] for mark in marks]
    return Chart(title, caption, lines_spec(marks, Axis("threshold"), y), Table(["", "threshold", y.title], rows))


def _lines(plans: Sequence[Plan]) -> list[str]:
    """Method and objective of each plan; capacity and workload where the plans have several."""
    capacities = {plan.record["parameters"]["capacity"] for plan in plans}
    workloads = {plan.record["workload"]["digest"] for plan in plans}

    def name(plan: Plan) -> str:
        parts = [plan.method, plan.record["parameters"]["objective"]]
        if len(capacities) > 1:
            parts.append(f"capacity {plan.record['parameters']['capacity']}")
        if len(workloads) > 1:
            parts.append(f"workload {plan.record['workload']['digest'][:8]}")
        return ", ".join(parts)

    return [name(plan) for plan in plans]


def by_weight(plan: Plan, workload: Workload) -> Chart:
    """The share of subscribers that a plan satisfies, and what they receive, by weight."""
    import altair as alt

    problem = cast(Problem, problem_of(plan, workload))
    classes = satisfaction_by_weight(problem, plan)
    bars: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for each in classes:
        weight = f"{each.least:,}" if each.least == each.most else f"{each.least:,} to {each.most:,}"
        satisfied = each.satisfied / each.subscribers
        bars.append({"weight": weight, "what": SATISFIED, "share": satisfied, "subscribers": each.subscribers})
        bars.append({"weight": weight, "what": RECEIVED, "share": each.mean_share, "subscribers": each.subscribers})
        shares = (f"{100 * share:.1f} %" for share in (satisfied, each.mean_share))
        rows.append([weight, f"{each.subscribers:,}", *shares])
    encoded = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=None, axis=alt.Axis(format="~%", tickCount=5), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("weight:N", title="weight", sort=None),
            yOffset=alt.YOffset("what:N", sort=[SATISFIED, RECEIVED]),
            color=alt.Color("what:N", sort=[SATISFIED, RECEIVED], legend=alt.Legend(title=None, columns=1)),
            tooltip=[
                alt.Tooltip("weight:N"),
                alt.Tooltip("what:N"),
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("subscribers:Q", format=","),
            ],
        )
    )
    spec: dict[str, Any] = encoded.properties(width="container", height=40 + 34 * len(classes)).to_dict()
    spec.pop("config", None)
    return Chart(
        title="Satisfaction by weight",
        caption="The share of subscribers of each weight who receive what satisfies them, and the mean share of it "
        "that they receive.",
        spec=spec,
        table=Table(["weight", "subscribers", SATISFIED, RECEIVED], rows),
    )


def _threshold(plan: Plan) -> str:
    threshold = plan.record["parameters"]["threshold"]
    return "own thresholds" if threshold is None else f"threshold {threshold}"


def _capacity(plan: Plan) -> int:
    return int(plan.record["parameters"]["capacity_cost"])


@dataclass(frozen=True)
class _Trajectory:
    """A plan's choices: cost, objective and bound after each."""

    costs: Int64Array
    satisfied: npt.NDArray[np.float64]
    bounds: npt.NDArray[np.float64]

    @classmethod
    def read(cls, plan: Plan) -> _Trajectory:
        table = plan.trajectory()
        if table is None:
            table = TRAJECTORY_SCHEMA.empty_table()
        if not table.schema.equals(TRAJECTORY_SCHEMA):
            raise InputError(f"{plan.path}: the trajectory is damaged; its columns are {table.column_names}.")
        return cls(*(table[name].to_numpy() for name in ("cost", "satisfied", "bound")))

    def spread(self, number: int) -> list[int]:
        """Up to ``number`` choices, evenly spread over the cost, first and last included."""
        if not len(self.costs):
            return []
        wanted = np.linspace(self.costs[0], self.costs[-1], number)[:-1]
        picked = np.searchsorted(self.costs, wanted, side="right") - 1
        return [int(place) for place in np.unique([*picked, len(self.costs) - 1])]
