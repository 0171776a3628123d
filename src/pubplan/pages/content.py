"""A content workload on the page: subscriptions in the space of events, candidates, and the map."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pubplan.pages.content_map import network_map
from pubplan.pages.frame import Chart, Section, Table
from pubplan.pages.workload import ccdf
from pubplan.text import counted, factor_up
from pubplan.workload import PRICE_NAMES, ContentDescription, HeatMap, quantile_sentence

TABLE_PARTS = 8
"""The table of the heat map has this many rows and columns, each the largest of several cells."""

SPACE_PIXELS, STRIP_PIXELS = 340, 60
"""The height of charts over the space of events: of two attributes and of one."""


def content_section(name: str, description: ContentDescription) -> Section:
    """The numbers of a content workload with its charts."""
    counts, totals, delay = description.counts, description.totals, description.max_delay
    within = "within their limits" if delay is None else f"within a max delay of {delay}"
    figures = {
        "clients": f"{counts['clients']:,}",
        "sites": f"{counts['sites']:,}",
        "brokers": f"{counts['brokers']:,}",
        "of them leaves": f"{counts['leaves']:,}",
    }
    facts = {
        "attributes": ", ".join(_span(each) for each in description.attributes),
        "mean subscription": f"{description.volumes.mean / 10_000:.3g} % of the space",
        "subscriptions, in millionths of the space": quantile_sentence(description.volumes),
        f"leaves per client {within}": f"{description.candidates.mean:,.1f} on average; "
        + quantile_sentence(description.candidates),
        "clients per site": quantile_sentence(description.clients_per_site),
        f"least load factor {within}": "none" if description.least_load is None else factor_up(description.least_load),
    }
    if description.num_unserved:
        facts[f"clients that no leaf may serve {within}"] = f"{description.num_unserved:,}"
    if totals["rate"]:
        facts["messages per window"] = f"{totals['rate']:,}"
    if description.published is not None:
        facts["clients that publish"] = f"{description.published.num_publishers:,}"
        facts["messages whose publisher is not known"] = f"{description.published.num_unnamed:,}"
    for between, prices in description.prices.items():
        facts[PRICE_NAMES[between]] = f"{prices.mean:,.1f} on average, at most {prices.largest:,}"
    return Section(
        f"Workload {name}",
        figures=figures,
        charts=[
            overlap_chart(description.overlap, description.attributes),
            ccdf(
                "Volume of subscriptions",
                "The share of clients whose subscription has at least that many millionths of the space.",
                {"millionths of the space": description.volumes},
            ),
            ccdf(
                "Leaves that may serve a client",
                f"The share of clients that at least that many leaves may serve {within}.",
                {"leaves per client": description.candidates},
            ),
            ccdf(
                "Clients per site and per leaf",
                "The share of sites with at least that many clients, and of leaves that would have as many if each "
                "client took the nearest.",
                {"clients per site": description.clients_per_site, "clients per leaf": description.nearest_loads},
            ),
            *_traffic_charts(description),
            *network_map(description.sites, description.brokers, "it is nearest to"),
        ],
        facts=facts,
    )


def _traffic_charts(description: ContentDescription) -> list[Chart]:
    """What clients publish and what traffic costs, where that is known."""
    charts = []
    if description.published is not None:
        charts.append(
            ccdf(
                "Messages that clients publish",
                "The share of clients that publish at least that many messages per window.",
                {"messages per client": description.published.messages},
            )
        )
    if description.prices:
        charts.append(
            ccdf(
                "Prices of traffic",
                "The share of sites and brokers, and of all pairs of brokers, between which a GB costs as much.",
                {PRICE_NAMES[name]: prices for name, prices in description.prices.items()},
            )
        )
    return charts


def _span(attribute: dict[str, Any]) -> str:
    first, last = _value(attribute, 0), _value(attribute, attribute["steps"])
    return f"{attribute['name']} from {first} to {last} in steps of {attribute['step']}"


def _value(attribute: dict[str, Any], line: int) -> str:
    """The value on a grid line."""
    return f"{Decimal(attribute['origin']) + line * Decimal(attribute['step']):,f}"


def overlap_chart(overlap: HeatMap, attributes: Sequence[dict[str, Any]]) -> Chart:
    """A heat map: how many subscriptions have events in each part of the first two attributes."""
    names = " and ".join(overlap.attributes)
    parts = " x ".join(str(len(edges) - 1) for edges in overlap.edges)
    caption = (
        f"How many subscriptions have events in each of {parts} equal parts of {names}: at most "
        f"{counted(overlap.most, 'subscription')}."
    )
    spec = space_spec(heat_layer(overlap, attributes), overlap)
    return Chart(f"Subscriptions over {names}", caption, spec, _heat_table(overlap, attributes))


def _heat_table(overlap: HeatMap, attributes: Sequence[dict[str, Any]]) -> Table:
    """Eight rows and columns, or fewer: the largest number of the cells in each."""
    rows = _runs(len(overlap.counts))
    columns = _runs(len(overlap.counts[0]))
    first, second = attributes[0], attributes[1] if len(overlap.edges) > 1 else None

    def label(axis: int, attribute: dict[str, Any], run: range) -> str:
        return f"{attribute['name']} from {_value(attribute, overlap.edges[axis][run[0]])}"

    header = ["most subscriptions of a part", *(label(1, second, run) if second else "" for run in columns)]
    body = [
        [label(0, first, run), *(f"{max(overlap.counts[i][j] for i in run for j in across):,}" for across in columns)]
        for run in rows
    ]
    return Table(header, body)


def _runs(number: int) -> list[range]:
    """Cells 0 … ``number`` - 1 in eight runs, or in as many as there are."""
    parts = min(TABLE_PARTS, number)
    return [range(number * part // parts, number * (part + 1) // parts) for part in range(parts)]


def heat_layer(overlap: HeatMap, attributes: Sequence[dict[str, Any]], scheme: str = "yelloworangered") -> Any:
    """Coloured cells as a layer of a chart; the page computes where they are from their numbers."""
    import altair as alt

    cells = [
        {"a": row, "b": column, "n": number}
        for row, numbers in enumerate(overlap.counts)
        for column, number in enumerate(numbers)
        if number
    ]
    chart = alt.Chart(alt.Data(values=cells))
    axes: dict[str, Any] = {}
    for axis, key in enumerate(("a", "b")[: len(overlap.edges)]):
        attribute, number = attributes[axis], len(overlap.edges[axis]) - 1
        origin = float(attribute["origin"])
        width = float(attribute["step"]) * attribute["steps"] / number
        chart = chart.transform_calculate(
            **{f"{key}1": f"{origin} + datum.{key} * {width}", f"{key}2": f"{origin} + (datum.{key} + 1) * {width}"}
        )
        axes |= corner_axes(axis, key, attribute)
    axes["color"] = alt.Color(
        "n:Q",
        title="subscriptions",
        scale=alt.Scale(type="log", scheme=scheme, domain=[1, max(2, overlap.most)]),
        legend=alt.Legend(format="~s", tickCount=3),
    )
    tooltip = [
        alt.Tooltip(f"{key}1:Q", title=f"{each['name']} from", format=",.6~g")
        for key, each in zip("ab", attributes[: len(overlap.edges)], strict=False)
    ]
    return chart.mark_rect(stroke=None).encode(
        **axes, tooltip=[*tooltip, alt.Tooltip("n:Q", title="subscriptions", format=",")]
    )


def corner_axes(axis: int, key: str, attribute: dict[str, Any]) -> dict[str, Any]:
    """Encodings of the fields ``key``1 and ``key``2 as ranges of an attribute, over all of its values."""
    import altair as alt

    first = float(attribute["origin"])
    last = first + float(attribute["step"]) * attribute["steps"]
    scale = alt.Scale(domain=[first, last], nice=False)
    channel, other = (alt.X, alt.X2) if axis == 0 else (alt.Y, alt.Y2)
    short = alt.Axis(format="~s", tickCount=5, grid=False)
    return {
        "xy"[axis]: channel(f"{key}1:Q", title=attribute["name"], scale=scale, axis=short),
        "xy"[axis] + "2": other(f"{key}2:Q"),
    }


def space_spec(chart: Any, overlap: HeatMap) -> dict[str, Any]:
    """A chart over the space of events as Vega-Lite: a strip where events have one attribute."""
    height = SPACE_PIXELS if len(overlap.edges) > 1 else STRIP_PIXELS
    spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    spec.pop("config", None)
    return spec
