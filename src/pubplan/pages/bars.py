"""Bars by part, one under the other, each with its name above it: names take no width from bars."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pubplan.pages.axes import NUM_TICKS
from pubplan.pages.frame import Entry
from pubplan.text import MICROS, dollars_up

CHARACTERS_PER_LINE = 42
"""What fits above a bar on a phone."""

LINE_PIXELS, BAR_PIXELS, SPACE_PIXELS = 16, 18, 10

Bar = tuple[str, str, float]
"""The name of a bar, one of its parts, and how long that is."""


@dataclass(frozen=True)
class Unit:
    """How numbers are written: on the axis as a Vega expression, under the pointer as a format, beside a bar's name."""

    label: str
    format: str
    write: Callable[[float], str]


DOLLARS = Unit(
    "format(datum.value, datum.value % 1 ? '$,.2f' : '$,d')",
    "$,.4~f",
    lambda dollars: dollars_up(round(dollars * MICROS)),
)
"""$0, $0.50, $1,000 on the axis."""


def bars_spec(bars: Sequence[Bar], title: str, unit: Unit = DOLLARS, longest: float | None = None) -> dict[str, Any]:
    """Stacked bars, as Vega-Lite, with values under the pointer.

    Args:
        longest: where the axis ends; None for where the longest bar does.
    """
    import altair as alt

    names, parts = _distinct(bars, 0), _distinct(bars, 1)
    totals = {name: sum(value for other, _, value in bars if other == name) for name in names}
    wrapped = {
        name: textwrap.wrap(f"{name}: {unit.write(totals[name])}", CHARACTERS_PER_LINE, break_on_hyphens=False)
        for name in names
    }
    label_pixels = LINE_PIXELS * max(map(len, wrapped.values()), default=1)
    step = label_pixels + BAR_PIXELS + SPACE_PIXELS
    values = [{"name": name, "part": part, "value": value, "order": parts.index(part)} for name, part, value in bars]
    y = alt.Y("name:N", title=None, sort=names, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    drawn = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(size=BAR_PIXELS, yOffset=(step - BAR_PIXELS) / 2 - SPACE_PIXELS)
        .encode(
            x=alt.X(
                "value:Q",
                title=title,
                stack="zero",
                axis=alt.Axis(labelExpr=unit.label, tickCount=NUM_TICKS),
                **({} if longest is None else {"scale": alt.Scale(domain=[0, longest])}),
            ),
            y=y,
            color=alt.Color("part:N", scale=alt.Scale(domain=parts), legend=None),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("name:N", title="name"),
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("value:Q", title=title, format=unit.format),
            ],
        )
    )
    labels = [{"name": name, "label": "\n".join(lines)} for name, lines in wrapped.items()]
    named = (
        alt.Chart(alt.Data(values=labels))
        .mark_text(align="left", baseline="line-top", lineBreak="\n", fontSize=12, lineHeight=LINE_PIXELS, x=0)
        .encode(y=y, text="label:N")
    )
    named.mark.yOffset = -step / 2
    spec: dict[str, Any] = alt.layer(drawn, named).properties(width="container", height=step * len(names)).to_dict()
    spec.pop("config", None)
    return spec


def bars_legend(bars: Sequence[Bar]) -> list[Entry]:
    """The colours of the parts."""
    return [Entry(part, number, "bar") for number, part in enumerate(_distinct(bars, 1))]


def _distinct(bars: Sequence[Bar], column: int) -> list[str]:
    return list(dict.fromkeys(str(bar[column]) for bar in bars))
