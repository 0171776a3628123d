"""Sites and brokers on a map of the network: the first two coordinates, in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pubplan.pages.frame import Chart, Entry, Table
from pubplan.workload import MapPoint

RASTER = 64
"""Points that fall into one of 64 x 64 cells are one dot: they would hide each other."""

TABLE_ROWS = 20
MICROS_PER_MILLI = 1000

SITES, LEAVES, INNER = "sites with clients", "brokers that serve clients", "brokers that feed brokers"


def network_map(sites: Sequence[MapPoint], brokers: Sequence[MapPoint], whose: str) -> list[Chart]:
    """Sites, brokers and how many clients they have; nothing where there are no coordinates.

    Args:
        whose: which clients are those of a broker: "the ones that" …
    """
    if not sites or not brokers:
        return []
    leaves = [broker for broker in brokers if broker.is_leaf]
    inner = [broker for broker in brokers if not broker.is_leaf]
    everything = [*sites, *brokers]
    dots = {
        SITES: _dots([site for site in sites if site.clients], everything, "sites"),
        LEAVES: _dots(leaves, everything, "brokers"),
        INNER: _dots(inner, everything, "brokers"),
    }
    legend = [Entry(SITES, 0, "bar"), Entry(LEAVES, 1, "diamond"), *([Entry(INNER, 2, "diamond")] if inner else [])]
    busiest = sorted(leaves, key=lambda broker: (-broker.clients, broker.id))[:TABLE_ROWS]
    rows = [
        [each.id, *(f"{value / MICROS_PER_MILLI:,.1f}" for value in (each.x, each.y)), f"{each.clients:,}"]
        for each in busiest
    ]
    caption = (
        "Sites and brokers by their first two coordinates, in milliseconds. Larger dots have more clients: those of a "
        f"broker are the ones that {whose}."
    )
    header = ["broker", "first coordinate, ms", "second, ms", "clients"]
    return [Chart("Map of sites and brokers", caption, _spec(dots), Table(header, rows), legend)]


def _dots(points: Sequence[MapPoint], everything: Sequence[MapPoint], noun: str) -> list[dict[str, Any]]:
    """A dot per cell of the raster with points in it, in their middle."""
    left, top = min(each.x for each in everything), min(each.y for each in everything)
    width = max(1, max(each.x for each in everything) - left)
    height = max(1, max(each.y for each in everything) - top)
    cells: dict[tuple[int, int], list[MapPoint]] = {}
    for point in points:
        cell = (point.x - left) * (RASTER - 1) // width, (point.y - top) * (RASTER - 1) // height
        cells.setdefault(cell, []).append(point)
    return [
        {
            "x": round(sum(each.x for each in members) / len(members) / MICROS_PER_MILLI, 2),
            "y": round(sum(each.y for each in members) / len(members) / MICROS_PER_MILLI, 2),
            "name": members[0].id if len(members) == 1 else f"{len(members):,} {noun}",
            "clients": sum(each.clients for each in members),
        }
        for members in cells.values()
    ]


def _spec(dots: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    import altair as alt

    x, y = (
        alt.X("x:Q", title="first coordinate, ms", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
        alt.Y("y:Q", title="second coordinate, ms", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
    )
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("clients:Q", format=",")]
    colours = alt.Color("kind:N", scale=alt.Scale(domain=list(dots)), legend=None)
    layers = []
    for kind, points in dots.items():
        if not points:
            continue
        largest = max(point["clients"] for point in points)
        sizes = alt.Size("clients:Q", scale=alt.Scale(domain=[0, max(1, largest)], range=[12, 180]), legend=None)
        values = [{**point, "kind": kind} for point in points]
        chart, is_site = alt.Chart(alt.Data(values=values)), kind == SITES
        marked = chart.mark_point(filled=is_site, opacity=0.8, shape="circle" if is_site else "diamond")
        layers.append(marked.encode(x=x, y=y, color=colours, size=sizes, tooltip=[alt.Tooltip("kind:N"), *tooltip]))
    layered = alt.layer(*layers).resolve_scale(size="independent")
    spec: dict[str, Any] = layered.properties(width="container", height=340).to_dict()
    spec.pop("config", None)
    return spec
