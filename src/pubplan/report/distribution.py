"""How often each value occurs, in several plans at once: the share of all, a line per plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pubplan.report.frame import Chart, Table
from pubplan.workload import Int64Array

MAX_FILLED = 300
"""Up to so many values are drawn one by one, whether they occur or not; of more, only those that do."""

TABLE_ROWS = 20

FAR = 80
"""Values beyond this one are drawn on a scale that leaves room for small ones."""

LEGEND_ROWS = 5
TICKS = [0, *(digit * 10**power for power in range(7) for digit in (1, 2, 5))]


@dataclass(frozen=True)
class Limit:
    """A value below which nothing can be, for some of the plans."""

    value: int
    plans: str


def distribution(
    title: str,
    caption: str,
    lines: Mapping[str, Int64Array],
    what: tuple[str, str],
    limits: Sequence[Limit] = (),
) -> list[Chart]:
    """How many of all have each value, from 0 on; nothing where no line has any.

    Args:
        lines: the values of all, by the name of the line.
        what: what the values are, and what has them.
    """
    counts = {name: np.bincount(values) for name, values in lines.items() if len(values)}
    if not counts:
        return []
    points = [point for name, counted in counts.items() for point in _points(name, counted)]
    return [Chart(title, caption, _spec(points, limits, what), _table(counts, what[0]))]


def _points(name: str, counted: Int64Array) -> list[dict[str, Any]]:
    """The values from the smallest to the largest with their share."""
    present = np.flatnonzero(counted)
    shown = np.arange(present[0], present[-1] + 1)
    if len(shown) > MAX_FILLED:
        shown = present
    total = int(counted.sum())
    return [
        {"plan": name, "value": int(value), "number": int(counted[value]), "share": int(counted[value]) / total}
        for value in shown
    ]


def _table(counts: Mapping[str, Int64Array], what: str) -> Table:
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
    return Table([what, *counts], rows)


def _spec(points: Sequence[dict[str, Any]], limits: Sequence[Limit], what: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    names = list(dict.fromkeys(point["plan"] for point in points))
    most = max(point["value"] for point in points)
    ticks = {"values": [tick for tick in TICKS if tick <= most]} if most > FAR else {"tickMinStep": 1, "tickCount": 10}
    scale = alt.Scale(type="symlog" if most > FAR else "linear", domain=[0, most + 0.5], nice=False)
    x = alt.X("value:Q", title=what[0], scale=scale, axis=alt.Axis(format=",d", grid=False, **ticks))
    columns = 1 if len(names) <= LEGEND_ROWS else 2
    lines = (
        alt.Chart(alt.Data(values=list(points)))
        .mark_line(strokeWidth=1.5, point=alt.OverlayMarkDef(size=30))
        .encode(
            x=x,
            y=alt.Y("share:Q", title=f"share of {what[1]}", axis=alt.Axis(format="~%", tickCount=5)),
            color=alt.Color("plan:N", sort=names, legend=alt.Legend(title=None, columns=columns, symbolType="stroke")),
            tooltip=[
                alt.Tooltip("plan:N"),
                alt.Tooltip("value:Q", title=what[0], format=","),
                alt.Tooltip("number:Q", title=what[1], format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    rules = (
        alt.Chart(alt.Data(values=[vars(limit) for limit in limits]))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x=x, tooltip=[alt.Tooltip("value:Q", title="no plan is below", format=","), alt.Tooltip("plans:N")])
    )
    layers = [lines, rules] if limits else [lines]
    spec: dict[str, Any] = alt.layer(*layers).properties(width="container", height=300).to_dict()
    spec.pop("config", None)
    return spec
