"""The charts of ``select``: against capacity, by threshold and by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pubplan.errors import InputError
from pubplan.pages.answer import at_thresholds
from pubplan.pages.axes import NUM_TICKS, SHORT_NUMBER
from pubplan.pages.frame import Chart, Entry, Table
from pubplan.pages.lines import Axis, Mark, has_lines, lines_legend, lines_spec, share_axis
from pubplan.planning import Plan, planning_seconds
from pubplan.problems import problem_of
from pubplan.problems.select import Problem
from pubplan.problems.select.classes import satisfaction_by_weight
from pubplan.problems.select.curve import Point, knee_point
from pubplan.problems.select.plan import TRAJECTORY_SCHEMA
from pubplan.problems.select.problem import cost_unit
from pubplan.text import listed, number_down, number_up
from pubplan.workload import Int64Array, Workload

MAX_POINTS = 300
TABLE_ROWS = 10
SATISFIED = "satisfied"
RECEIVED = "mean share received"
NO_PLAN_BEATS = "no plan beats"

Workloads = Mapping[str, Workload]
"""By digest."""


def curves(plans: Sequence[Plan], names: Sequence[str], workloads: Workloads | None = None) -> list[Chart]:
    """A chart for all plans that count costs and subscribers alike: others do not share its axes."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, plan in enumerate(plans):
        groups.setdefault((unit_of_costs(plan), counted_as(plan)), []).append(number)
    return [
        curve(
            [plans[at] for at in group],
            [names[at] for at in group],
            workloads,
            f": {counted.partition(', ')[2] or 'whole ones'}, capacity in {cost}" if len(groups) > 1 else "",
        )
        for (cost, counted), group in groups.items()
    ]


def unit_of_costs(plan: Plan) -> str:
    """What the costs of a plan count."""
    return cost_unit(plan.record["parameters"]["cost"])


def counted_as(plan: Plan) -> str:
    """What a plan's objective counts: whole subscribers, or fractions of them too."""
    unit = str(plan.record["unit"])
    return unit if plan.record["parameters"]["objective"] == "b3m" else f"{unit}, with fractions"


def curve(plans: Sequence[Plan], names: Sequence[str], workloads: Workloads | None = None, group: str = "") -> Chart:
    """Satisfied subscribers after each choice, against the capacity spent until then, with bound and knee.

    The knee is that of the whole curve: it takes the plan's workload, from ``workloads`` by digest.

    Args:
        group: the end of the title, where other plans have a chart of their own.
    """
    cost, satisfied = unit_of_costs(plans[0]), f"satisfied {counted_as(plans[0])}"
    points: list[dict[str, Any]] = []
    bounds: list[dict[str, Any]] = []
    knees: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        trajectory = _Trajectory.read(plan)
        knee = _knee(plan, workloads or {})
        shown = trajectory.spread(MAX_POINTS)
        points += [
            {"plan": name, "cost": int(trajectory.costs[at]), "satisfied": float(trajectory.satisfied[at])}
            for at in shown
        ]
        if plan.record["bound"] is not None:
            bounds += [
                {"plan": name, "cost": int(trajectory.costs[at]), "bound": float(trajectory.bounds[at])} for at in shown
            ]
            bounds.append({"plan": name, "cost": _capacity(plan), "bound": plan.record["bound"]})
        if knee is not None:
            knees.append({"plan": name, "cost": knee.cost, "satisfied": knee.satisfied})
            rows.append([f"{name} (knee)", f"{knee.cost:,}", number_down(knee.satisfied), ""])
        for at in trajectory.spread(TABLE_ROWS):
            bound = "" if plan.record["bound"] is None else number_up(trajectory.bounds[at])
            rows.append([name, f"{trajectory.costs[at]:,}", number_down(trajectory.satisfied[at]), bound])
    caption = (
        "One run answers every capacity up to its own: read off how many subscribers are satisfied when the plan stops "
        "earlier."
    )
    if knees:
        caption += " Diamond: the knee of the whole curve, beyond which capacity brings less than on average."
    return Chart(
        title=f"Satisfied {plans[0].record['unit']} against capacity spent{group}",
        caption=caption,
        spec=curve_spec(points, bounds, knees, names, Axis(cost), Axis(satisfied)),
        table=Table(["plan", cost, "satisfied", NO_PLAN_BEATS], rows),
        legend=_curve_legend(names, bool(bounds), bool(knees)),
    )


def _knee(plan: Plan, workloads: Workloads) -> Point | None:
    """The knee of a plan's curve; None without its workload, or beyond its capacity."""
    workload = workloads.get(plan.record["workload"]["digest"])
    if workload is None:
        return None
    knee = knee_point(cast(Problem, problem_of(plan, workload)), plan.method)
    return knee if knee.cost <= _capacity(plan) else None


def _curve_legend(names: Sequence[str], has_bounds: bool, has_knees: bool) -> list[Entry]:
    lines = [Entry(name, number) for number, name in enumerate(names)]
    lines += [Entry(f"{NO_PLAN_BEATS}, at that capacity", None, "dashed")] if has_bounds else []
    return [*lines, Entry("the knee", None, "diamond")] if has_knees else lines


def curve_spec(
    points: list[dict[str, Any]],
    bounds: list[dict[str, Any]],
    knees: list[dict[str, Any]],
    names: Sequence[str],
    cost: Axis,
    satisfied: Axis,
) -> dict[str, Any]:
    """The chart as Vega-Lite: steps for the plans, dashed lines for bounds, diamonds, values under the pointer."""
    import altair as alt

    colour = alt.Color("plan:N", scale=alt.Scale(domain=list(names)), legend=None)
    tooltip = [
        alt.Tooltip("plan:N"),
        alt.Tooltip("cost:Q", title=cost.title, format=","),
        alt.Tooltip("satisfied:Q", title="satisfied", format=",.1f"),
    ]
    x = alt.X("cost:Q", title=cost.title, axis=alt.Axis(labelExpr=SHORT_NUMBER, tickCount=NUM_TICKS))
    y = alt.Y(
        "satisfied:Q",
        title=satisfied.title,
        axis=alt.Axis(labelExpr=SHORT_NUMBER, tickCount=NUM_TICKS),
        scale=alt.Scale(nice=NUM_TICKS),
    )
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
    # A layer without values has no extent, which Vega complains about.
    layers = [lines, *([dashed] if bounds else []), dots, *([diamonds] if knees else [])]
    spec: dict[str, Any] = alt.layer(*layers).properties(width="container", height=300).to_dict()
    spec.pop("config", None)
    return spec


def by_threshold(plans: Sequence[Plan]) -> list[Chart]:
    """How good plans are and how long planning took at each threshold; nothing where no line has two of them."""
    plans = at_thresholds(plans)
    thresholds = [plan.record["parameters"]["threshold"] for plan in plans]
    names = _lines(plans)
    if not has_lines(names, thresholds):
        return []
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
                share_axis("share of the bound", shares),
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
    spec, table = lines_spec(marks, Axis("threshold"), y), Table(["line", "threshold", y.title], rows)
    return Chart(title, caption, spec, table, lines_legend(marks))


def _lines(plans: Sequence[Plan]) -> list[str]:
    """Method and objective of each plan; what else was asked, and the workload, where the plans have several."""
    shown = ("capacity", "cost", "must_serve", "must_not_serve")
    varied = [name for name in shown if len({str(plan.record["parameters"][name]) for plan in plans}) > 1]
    workloads = {plan.record["workload"]["digest"] for plan in plans}

    def name(plan: Plan) -> str:
        parameters = plan.record["parameters"]
        words = [plan.method, parameters["objective"]]
        for key in varied:
            value = parameters[key]
            if value:
                words.append(f"{key.replace('_', ' ')} {listed(value, 2) if isinstance(value, list) else value}")
        if len(workloads) > 1:
            words.append(f"workload {plan.record['workload']['digest'][:8]}")
        return ", ".join(words)

    return [name(plan) for plan in plans]


def by_weight(plan: Plan, workload: Workload) -> Chart:
    """The share of subscribers that a plan satisfies, and what they receive, by weight."""
    import altair as alt

    problem = cast(Problem, problem_of(plan, workload))
    classes = satisfaction_by_weight(problem, plan)
    bars: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for each in classes:
        lightest, heaviest = each.min_weight, each.max_weight
        weight = f"{lightest:,}" if lightest == heaviest else f"{lightest:,} to {heaviest:,}"
        satisfied = each.satisfied / each.subscribers
        bars.append({"weight": weight, "measure": SATISFIED, "share": satisfied, "subscribers": each.subscribers})
        bars.append({"weight": weight, "measure": RECEIVED, "share": each.mean_share, "subscribers": each.subscribers})
        shares = (f"{100 * share:.1f} %" for share in (satisfied, each.mean_share))
        rows.append([weight, f"{each.subscribers:,}", *shares])
    encoded = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=None, axis=alt.Axis(format="~%", tickCount=5), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("weight:N", title="weight", sort=None),
            yOffset=alt.YOffset("measure:N", sort=[SATISFIED, RECEIVED]),
            color=alt.Color("measure:N", scale=alt.Scale(domain=[SATISFIED, RECEIVED]), legend=None),
            tooltip=[
                alt.Tooltip("weight:N"),
                alt.Tooltip("measure:N"),
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
        legend=[Entry(SATISFIED, 0, "bar"), Entry(RECEIVED, 1, "bar")],
    )


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
        return [int(position) for position in np.unique([*picked, len(self.costs) - 1])]
