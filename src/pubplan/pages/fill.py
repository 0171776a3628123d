"""How full each of many is, the fullest first, in several plans at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.pages.axes import NUM_TICKS, least_share, whole_ticks
from pubplan.pages.frame import Chart, Entry, Table

MAX_POINTS = 300
TABLE_ROWS = 10

HEADROOM = 1.05
"""Where something is fuller than it may be, the axis ends a little above that."""


def fill_chart(
    title: str, caption: str, shares: Mapping[str, npt.NDArray[np.float64]], nouns: tuple[str, str]
) -> list[Chart]:
    """Shares of what is allowed as a line per plan; nothing where no plan has two of them.

    Args:
        shares: by the name of the plan, in any order; above 1 is fuller than allowed, and the limit is drawn then.
        nouns: what is filled, in the singular and in the plural.
    """
    points: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for name, unordered in shares.items():
        ordered = np.sort(unordered)[::-1]
        points += [
            {"plan": name, "at": at + 1, "share": float(ordered[at])} for at in _spread(len(ordered), MAX_POINTS)
        ]
        rows += [[name, f"{at + 1:,}", f"{100 * ordered[at]:.2f} %"] for at in _spread(len(ordered), TABLE_ROWS)]
    if len(points) < 2 or max(point["at"] for point in points) < 2:
        return []
    most = max(point["share"] for point in points)
    least = least_share([point["share"] for point in points])
    legend = [Entry(name, number) for number, name in enumerate(dict.fromkeys(p["plan"] for p in points))]
    if most > 1:
        legend.append(Entry("as full as allowed", None, "dashed"))
    return [
        Chart(
            title=title,
            caption=f"{caption} The axis begins at {100 * least:g} %." if least else caption,
            spec=_spec(points, (least, max(1.0, most * HEADROOM if most > 1 else 1.0)), nouns),
            table=Table(["plan", nouns[0], "filled"], rows),
            legend=legend,
        )
    ]


def _spec(points: list[dict[str, Any]], domain: tuple[float, float], nouns: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    most = max(point["at"] for point in points)
    names = list(dict.fromkeys(point["plan"] for point in points))
    share = alt.Y(
        "share:Q", title="filled", axis=alt.Axis(format="~%", tickCount=NUM_TICKS), scale=alt.Scale(domain=list(domain))
    )
    chart: Any = (
        alt.Chart(alt.Data(values=points))
        .mark_line(interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(size=14))
        .encode(
            x=alt.X(
                "at:Q",
                title=f"{nouns[1]}, the fullest first",
                axis=alt.Axis(format=",d", values=whole_ticks(1, most)),
                scale=alt.Scale(domain=[1, most], nice=False),
            ),
            y=share,
            color=alt.Color("plan:N", scale=alt.Scale(domain=names), legend=None),
            tooltip=[
                alt.Tooltip("plan:N"),
                alt.Tooltip("at:Q", title=nouns[0], format=","),
                alt.Tooltip("share:Q", title="filled", format=".2%"),
            ],
        )
    )
    if domain[1] > 1:
        limit = alt.Chart(alt.Data(values=[{"share": 1}])).mark_rule(strokeDash=[6, 4], strokeWidth=1.5).encode(y=share)
        chart = alt.layer(chart, limit)
    spec: dict[str, Any] = chart.properties(width="container", height=260).to_dict()
    spec.pop("config", None)
    return spec


def _spread(number: int, most: int) -> list[int]:
    """Up to ``most`` of the numbers below ``number``, first and last included."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64)).tolist() if number else []
