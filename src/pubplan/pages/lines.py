"""Lines over a few values, as plans at several thresholds give them: solid, dashed for bounds, diamonds from papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pubplan.pages.axes import NUM_TICKS, PLAIN_NUMBER, PLAIN_SHARE, least_share, log_ticks
from pubplan.pages.frame import Entry

LOG_SCALE_RATIO = 20
"""Values that differ by more than this factor are drawn on a logarithmic scale."""

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

    names = _names(marks)
    encoded = {
        "x": alt.X("x:O", title=x.title, axis=alt.Axis(labelAngle=0, labelOverlap="greedy", format=x.format)),
        "y": _vertical(y, [mark.y for mark in marks]),
        "color": alt.Color("line:N", scale=alt.Scale(domain=names), legend=None),
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


def _vertical(y: Axis, values: Sequence[float]) -> Any:
    """The axis of y: around all values if logarithmic, else from its domain or from 0 to a tick above them."""
    import altair as alt

    if y.is_log and values:
        ticks = log_ticks(min(values), max(values))
        labels = PLAIN_SHARE if y.format.endswith("%") else PLAIN_NUMBER
        scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
        return alt.Y("y:Q", title=y.title, axis=alt.Axis(values=ticks, labelExpr=labels), scale=scale)
    scale = alt.Scale(zero=True, nice=NUM_TICKS) if y.domain is None else alt.Scale(domain=list(y.domain))
    return alt.Y("y:Q", title=y.title, axis=alt.Axis(format=y.format, tickCount=NUM_TICKS), scale=scale)


def lines_legend(
    marks: Sequence[Mark], bound: str = "no plan is below", paper: str = "printed in the paper"
) -> list[Entry]:
    """The lines by colour, dashed those that are bounds only; then what dashes and diamonds stand for."""
    kinds: dict[str, set[Kind]] = {}
    for mark in marks:
        kinds.setdefault(mark.line, set()).add(mark.kind)
    lines = [
        Entry(name, number, "dashed" if kinds[name] == {"bound"} else "line")
        for number, name in enumerate(_names(marks))
    ]
    if any("bound" in of_line and len(of_line) > 1 for of_line in kinds.values()):
        lines.append(Entry(bound, None, "dashed"))
    if any("paper" in of_line for of_line in kinds.values()):
        lines.append(Entry(paper, None, "diamond"))
    return lines


def has_lines(names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether some line has two values of x: without, there is nothing to compare along the axis."""
    return len(set(zip(names, values, strict=True))) > len(set(names))


def are_far_apart(marks: Sequence[Mark]) -> bool:
    """Whether small values would lie on the axis beside large ones, and a logarithmic scale tells them apart."""
    values = [mark.y for mark in marks]
    return bool(values) and min(values) > 0 and max(values) > LOG_SCALE_RATIO * min(values)


def share_axis(title: str, marks: Sequence[Mark]) -> Axis:
    """An axis for shares up to 1 that begins near the smallest, so that good ones differ."""
    return Axis(title, "~%", (least_share([mark.y for mark in marks]), 1.0))


def _names(marks: Sequence[Mark]) -> list[str]:
    return list(dict.fromkeys(mark.line for mark in marks))
