"""Plans of ``select`` on the page: satisfied subscribers against capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pubplan.planning import Plan, Reason
from pubplan.problems.select import FAMILY, SERVED
from pubplan.report.frame import Chart, Section, Table, number_down, number_up

MAX_POINTS = 300
TABLE_ROWS = 10


def sections(plans: Sequence[Plan]) -> list[Section]:
    """One chart for all plans, then a section for each."""
    names = labels(plans)
    return [
        Section(FAMILY.question, charts=[curve(plans, names)]),
        *(section(plan, name) for plan, name in zip(plans, names, strict=True)),
    ]


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
        "gap": "unknown" if record["gap"] is None else f"{100 * record['gap']:.1f} %",
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
    """Satisfied subscribers after each choice, against the capacity spent until then, with each plan's bound."""
    points: list[dict[str, Any]] = []
    bounds: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for plan, name in zip(plans, names, strict=True):
        spent, satisfied = _thinned(plan)
        points += [{"plan": name, "cost": int(c), "satisfied": float(s)} for c, s in zip(spent, satisfied, strict=True)]
        if plan.record["bound"] is not None:
            bounds.append({"plan": name, "bound": plan.record["bound"]})
        picked = np.unique(np.linspace(0, max(0, len(spent) - 1), min(len(spent), TABLE_ROWS)).astype(int))
        rows += [[name, f"{spent[at]:,}", number_down(satisfied[at])] for at in picked]
    return Chart(
        title="Satisfied subscribers against capacity spent",
        caption="One run answers every capacity up to its own: read off how many subscribers are satisfied when the "
        "plan stops earlier. Dashed: what no plan can beat at full capacity.",
        spec=curve_spec(points, bounds),
        table=Table(["plan", "deliveries per window", "satisfied"], rows),
    )


def curve_spec(points: list[dict[str, Any]], bounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The chart as Vega-Lite: steps for the plans, dashed rules for their bounds, values under the pointer."""
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
    rules = (
        alt.Chart(alt.Data(values=bounds))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="bound:Q", color=colour, tooltip=[alt.Tooltip("plan:N"), alt.Tooltip("bound:Q", format=",.1f")])
    )
    spec: dict[str, Any] = alt.layer(lines, rules, dots).properties(width="container", height=340).to_dict()
    spec.pop("config", None)
    return spec


def _threshold(plan: Plan) -> str:
    threshold = plan.record["parameters"]["threshold"]
    return "own thresholds" if threshold is None else f"threshold {threshold}"


def _thinned(plan: Plan) -> tuple[Any, Any]:
    """The trajectory at up to MAX_POINTS places, evenly spread over the cost, first and last included."""
    trajectory = plan.trajectory()
    if trajectory is None or trajectory.num_rows == 0:
        return np.empty(0, np.int64), np.empty(0)
    spent, satisfied = trajectory["cost"].to_numpy(), trajectory["satisfied"].to_numpy()
    wanted = np.linspace(spent[0], spent[-1], MAX_POINTS)
    picked = np.unique(np.minimum(np.searchsorted(spent, wanted), len(spent) - 1))
    return spent[picked], satisfied[picked]
