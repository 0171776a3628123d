"""Lines over a few values, as plans at several thresholds give them: solid, dashed for bounds, diamonds from papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["plan", "bound", "paper"]


@dataclass(frozen=True)
class Mark:
    """One value of the line called ``line``; what a bound or a paper says has the line's colour."""

    line: str
    x: float
    y: float
    kind: Kind = "plan"


@dataclass(frozen=True)
class Axis:
    """What an axis shows, and how its numbers are written; ``domain`` where it must not begin at 0."""

    title: str
    format: str = ","
    domain: tuple[float, float] | None = None
    is_log: bool = False


def lines_spec(marks: Sequence[Mark], x: Axis, y: Axis) -> dict[str, Any]:
    """The chart as Vega-Lite: the values of x side by side, a line per name, values under the pointer."""
    import altair as alt

    names = list(dict.fromkeys(mark.line for mark in marks))
    scale = alt.Scale(zero=True) if y.domain is None else alt.Scale(domain=list(y.domain))
    encoded = {
        "x": alt.X("x:O", title=x.title, axis=alt.Axis(labelAngle=0, format=x.format)),
        "y": alt.Y(
            "y:Q",
            title=y.title,
            axis=alt.Axis(format=y.format, tickCount=6),
            scale=alt.Scale(type="log") if y.is_log else scale,
        ),
        "color": alt.Color("line:N", sort=names, legend=alt.Legend(title=None, columns=1, symbolType="stroke")),
        "tooltip": [
            alt.Tooltip("line:N", title="line"),
            alt.Tooltip("kind:N", title="from"),
            alt.Tooltip("x:Q", title=x.title, format=x.format),
            alt.Tooltip("y:Q", title=y.title, format=y.format),
        ],
    }
    shapes = {
        "bound": {"type": "line", "strokeDash": [6, 4], "strokeWidth": 1.5, "point": {"size": 30}},
        "plan": {"type": "line", "strokeWidth": 2, "point": {"size": 40}},
        "paper": {"type": "point", "shape": "diamond", "size": 130, "strokeWidth": 2, "filled": False, "opacity": 1},
    }
    layers = [
        alt.Chart(alt.Data(values=[vars(mark) for mark in marks if mark.kind == kind]), mark=shape).encode(**encoded)
        for kind, shape in shapes.items()
        if any(mark.kind == kind for mark in marks)
    ]
    spec: dict[str, Any] = alt.layer(*layers).properties(width="container", height=300).to_dict()
    spec.pop("config", None)
    return spec


def share_axis(title: str, marks: Sequence[Mark]) -> Axis:
    """An axis for shares up to 1 that begins at the tenth below the smallest, so that good ones are told apart."""
    lowest = min((mark.y for mark in marks), default=0.0)
    return Axis(title, ".3~f", (min(0.9, math.floor(10 * lowest) / 10), 1.0))
