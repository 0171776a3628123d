"""How often each whole number occurs, in several plans at once: the share of all as bars, side by side or in rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pubplan.pages.axes import NUM_TICKS, whole_ticks
from pubplan.pages.frame import Chart, Entry, Table
from pubplan.workload import Int64Array

MAX_BARS, MAX_PLANS_SIDE_BY_SIDE = 60, 3
"""Up to this many bars have room side by side on a phone, and up to this many of a value are told apart."""

ROW_PIXELS, NAME_SHARE = 76, 0.3
"""The height of a plan's row, and the share of it that its name takes."""

HALF_BAR = 0.4

TABLE_ROWS = 20

NO_PLAN_IS_BELOW = "no plan is below"

MAX_LINEAR_VALUE = 80
"""Where values are larger than this, the scale is logarithmic, so that small ones stay apart."""

TICKS = [0, *(digit * 10**power for power in range(7) for digit in (1, 2, 5))]


@dataclass(frozen=True)
class Limit:
    """A value that no plan goes beyond, for some of the plans."""

    value: int
    plans: Sequence[str]


def distribution(
    title: str,
    caption: str,
    lines: Mapping[str, Int64Array],
    nouns: tuple[str, str],
    limits: Sequence[Limit] = (),
    limit_name: str = NO_PLAN_IS_BELOW,
) -> list[Chart]:
    """How many of all have each value, from 0 on; nothing where no line has any.

    Args:
        lines: the values of all, by the name of the plan.
        nouns: what the values are, and what has them.
        limit_name: what the limits say, for the legend.
    """
    counts = {name: np.bincount(values) for name, values in lines.items() if len(values)}
    if not counts:
        return []
    points = [point for name, counted in counts.items() for point in _points(name, counted)]
    is_grouped = _is_grouped(points)
    legend = [Entry(name, number, "bar") for number, name in enumerate(counts)] if is_grouped else []
    if limits:
        legend.append(Entry(limit_name, None, "dashed"))
    draw = _grouped_spec if is_grouped else _rows_spec
    spec = draw(points, limits, limit_name, nouns)
    return [Chart(title, caption, spec, _table(counts, nouns[0]), legend)]


def _points(name: str, counted: Int64Array) -> list[dict[str, Any]]:
    """The values that occur with their share: where none has a value, nothing is drawn."""
    total = int(counted.sum())
    return [
        {"plan": name, "value": int(value), "number": int(counted[value]), "share": int(counted[value]) / total}
        for value in np.flatnonzero(counted)
    ]


def _table(counts: Mapping[str, Int64Array], noun: str) -> Table:
    """A row per value, or per range of values if there are many; a column per line."""
    occurring = np.unique(np.concatenate([np.flatnonzero(counted) for counted in counts.values()]))
    ranges = np.array_split(occurring, min(len(occurring), TABLE_ROWS))
    rows = [
        [
            f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}",
            *(f"{counted[values[0] : values[-1] + 1].sum():,}" for counted in counts.values()),
        ]
        for values in ranges
    ]
    return Table([noun, *counts], rows)


def _is_grouped(points: Sequence[dict[str, Any]]) -> bool:
    """Whether a bar of each plan has room beside the others at every value; otherwise each plan has a row."""
    values: list[int] = [point["value"] for point in points]
    num_plans = len({point["plan"] for point in points})
    if max(values) > MAX_LINEAR_VALUE or num_plans > MAX_PLANS_SIDE_BY_SIDE:
        return False
    return num_plans * (max(values) - min(values) + 1) <= MAX_BARS


def _grouped_spec(
    points: Sequence[dict[str, Any]], limits: Sequence[Limit], limit_name: str, nouns: tuple[str, str]
) -> dict[str, Any]:
    """Bars side by side: every whole number has its column, whether it occurs or not."""
    import altair as alt

    names = _plans(points)
    values = [point["value"] for point in points] + [limit.value for limit in limits]
    scale = alt.Scale(domain=list(range(min(values), max(values) + 1)), paddingInner=0.2)
    axis = alt.Axis(format=",d", labelAngle=0, values=whole_ticks(min(values), max(values)), ticks=False)
    x = alt.X("value:O", title=nouns[0], scale=scale, axis=axis)
    share = alt.Axis(format="~%", tickCount=NUM_TICKS)
    bars = (
        alt.Chart(alt.Data(values=list(points)))
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y("share:Q", title=f"share of {nouns[1]}", axis=share, scale=alt.Scale(nice=NUM_TICKS)),
            color=alt.Color("plan:N", scale=alt.Scale(domain=names), legend=None),
            tooltip=_tooltip(nouns),
        )
    )
    if len(names) > 1:
        bars = bars.encode(xOffset=alt.XOffset("plan:N", sort=names))
    rules = (
        alt.Chart(alt.Data(values=[{"value": limit.value, "plans": ", ".join(limit.plans)} for limit in limits]))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x=x, tooltip=[alt.Tooltip("value:Q", title=limit_name, format=","), alt.Tooltip("plans:N")])
    )
    return _as_spec(alt.layer(*([bars, rules] if limits else [bars])), 240)


def _rows_spec(
    points: Sequence[dict[str, Any]], limits: Sequence[Limit], limit_name: str, nouns: tuple[str, str]
) -> dict[str, Any]:
    """A row of bars per plan, below its name, all over one axis: what is far to the right stays in sight."""
    import altair as alt

    names = _plans(points)
    values = [point["value"] for point in points] + [limit.value for limit in limits]
    highest = max(point["share"] for point in points)
    bars: list[dict[str, Any]] = [
        {
            **point,
            "from": point["value"] - HALF_BAR,
            "to": point["value"] + HALF_BAR,
            "base": names.index(point["plan"]) + 1,
            "top": names.index(point["plan"]) + 1 - (1 - NAME_SHARE) * point["share"] / highest,
        }
        for point in points
    ]
    titles = []
    for row, name in enumerate(names):
        usual = max((point for point in points if point["plan"] == name), key=lambda point: float(point["share"]))
        titles.append(
            {"row": row, "base": row + 1, "title": f"{name}: most often {usual['value']:,} ({usual['share']:.0%})"}
        )
    scale = alt.Scale(domain=[len(names), 0], nice=False)
    x, y = _row_axis(min(values), max(values), nouns[0]), alt.Y("base:Q", axis=None, scale=scale)
    drawn = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar(strokeWidth=1)
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="top:Q",
            color=alt.Color("plan:N", scale=alt.Scale(domain=names), legend=None),
            stroke=alt.Stroke("plan:N", scale=alt.Scale(domain=names), legend=None),
            tooltip=_tooltip(nouns),
        )
    )
    based = alt.Chart(alt.Data(values=titles))
    lines = based.mark_rule(opacity=0.4).encode(y=y)
    named = based.mark_text(align="left", baseline="top", fontSize=12, x=2, dy=6).encode(
        y=alt.Y("row:Q", axis=None, scale=scale), text="title:N"
    )
    layers = [drawn, lines, named]
    proven = [
        {"from": limit.value, "base": names.index(name) + 1, "top": names.index(name) + NAME_SHARE}
        for limit in limits
        for name in limit.plans
        if name in names
    ]
    if proven:
        dashed = alt.Chart(alt.Data(values=proven)).mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        tooltip = [alt.Tooltip("from:Q", title=limit_name, format=",")]
        layers.append(dashed.encode(x=x, y=y, y2="top:Q", tooltip=tooltip))
    return _as_spec(alt.layer(*layers), ROW_PIXELS * len(names))


def _row_axis(least: int, most: int, noun: str) -> Any:
    """Around all values; logarithmic and from 0 on where they are large."""
    import altair as alt

    is_linear = most <= MAX_LINEAR_VALUE
    first = least if is_linear else 0
    ticks = whole_ticks(first, most) if is_linear else [tick for tick in TICKS if tick <= most]
    scale = alt.Scale(type="linear" if is_linear else "symlog", domain=[first - 0.5, most + 0.5], nice=False)
    return alt.X("from:Q", title=noun, scale=scale, axis=alt.Axis(format=",d", grid=False, values=ticks))


def _tooltip(nouns: tuple[str, str]) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("plan:N"),
        alt.Tooltip("value:Q", title=nouns[0], format=","),
        alt.Tooltip("number:Q", title=nouns[1], format=","),
        alt.Tooltip("share:Q", format=".1%"),
    ]


def _plans(points: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(point["plan"] for point in points))


def _as_spec(layered: Any, height: int) -> dict[str, Any]:
    spec: dict[str, Any] = layered.properties(width="container", height=height).to_dict()
    spec.pop("config", None)
    return spec
