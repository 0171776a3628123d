"""The charts of ``assign``: bandwidth, how full leaves are, delays, boxes over the space of events, and the map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pubplan.pages.assign_tables import Measured, Tables
from pubplan.pages.axes import PLAIN_NUMBER
from pubplan.pages.bars import Bar, Unit, bars_legend, bars_spec
from pubplan.pages.content import corner_axes, heat_layer, space_spec
from pubplan.pages.content_map import network_map
from pubplan.pages.distribution import Limit, distribution
from pubplan.pages.fill import fill_chart
from pubplan.pages.frame import NUM_COLOURS, Chart, Entry, Table
from pubplan.text import counted, digits_up, listed
from pubplan.workload import HeatMap, Int64Array, map_points, overlap_of

MAX_DRAWN_FILTERS = NUM_COLOURS
"""The boxes of at most this many leaves are drawn, each in a colour of its own."""

AVERAGE = Unit(PLAIN_NUMBER, ",.4~r", digits_up)

NO_ASSIGNMENT_IS_BELOW = "no assignment is below"


def bandwidths(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """Brokers per event on average, by level of the tree, and what is proven; nothing without workloads."""
    bars: list[Bar] = []
    rows: list[list[str]] = []
    bounds: dict[str, list[str]] = {}
    for tables, name in zip(read, names, strict=True):
        measured = tables.measured
        if measured is None:
            continue
        by_level = [measured.copies(value) for value in measured.measures.by_level]
        bars += [(name, f"level {level + 1}", value) for level, value in enumerate(by_level)]
        rows.append([name, tables.average(tables.plan.exact.value), tables.bound()])
        if tables.plan.record["bound"] is not None:
            bounds.setdefault(tables.bound(), []).append(name)
    if not bars:
        return []
    for bound, proven in bounds.items():
        whose = f" ({counted(len(proven), 'plan')})" if len(bounds) > 1 else ""
        bars.append((NO_ASSIGNMENT_IS_BELOW + whose, "proven", float(bound.replace(",", ""))))
    return [
        Chart(
            title="Bandwidth",
            caption="Into how many brokers an event goes on average, by their level in the tree: level 1 is fed by the "
            "publisher.",
            spec=bars_spec(bars, "brokers per event on average", AVERAGE),
            table=Table(["plan", "brokers per event", NO_ASSIGNMENT_IS_BELOW], rows),
            legend=bars_legend(bars),
        )
    ]


def fills(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """How full leaves are; nothing where no plan has two."""
    return fill_chart(
        "How full the leaves are",
        "What each leaf serves, as a share of what it may at the largest load factor, the fullest first.",
        {name: tables.fills for tables, name in zip(read, names, strict=True)},
        ("leaf", "leaves"),
    )


def delays(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """How many clients have each delay; nothing without workloads."""
    lines: dict[str, Int64Array] = {}
    limits: dict[int, list[str]] = {}
    for tables, name in zip(read, names, strict=True):
        if tables.measured is None:
            continue
        counts = np.array(tables.measured.measures.delays, dtype=np.int64)
        lines[name] = np.repeat(np.arange(len(counts)), counts)
        delay = tables.plan.record["parameters"]["max_delay"]
        if delay not in (None, "none"):
            limits.setdefault(math.ceil(100 * Fraction(delay)), []).append(name)
    return distribution(
        "Delays",
        "How much longer than the shortest way events take to clients, in percent, rounded up.",
        lines,
        ("delay in percent", "clients"),
        [Limit(value, named) for value, named in limits.items()],
        "longest delay allowed",
    )


def boxes_chart(tables: Tables) -> list[Chart]:
    """The boxes of the leaves with the largest filters over the subscriptions; nothing without the workload."""
    measured = tables.measured
    rows = _largest_leaves(tables)
    if measured is None or not rows:
        return []
    overlap, attributes = overlap_of(measured.workload), measured.workload.space.to_dict()["attributes"]
    drawn, hidden = attributes[: len(overlap.edges)], [each["name"] for each in attributes[len(overlap.edges) :]]
    boxes = _boxes(tables, [row["broker"] for row in rows], measured)
    left_out = int(tables.is_leaf.sum()) - len(rows)
    more = f" {counted(left_out, 'leaf broker')} with smaller filters {_are(left_out)} not drawn." if left_out else ""
    further = f" Boxes also have ranges of {listed(hidden)}." if hidden else ""
    corners = [f"{key}{end}" for key in "ab"[: len(drawn)] for end in (1, 2)]
    header = ["leaf", "box", *(f"{each['name']} {end}" for each in drawn for end in ("from", "to"))]
    cells = [[box["leaf"], f"{box['box']}", *(f"{box[corner]:,.6g}" for corner in corners)] for box in boxes]
    return [
        Chart(
            title=f"Boxes of the filters over {' and '.join(overlap.attributes)}",
            caption="What leaf brokers let through, framed in their colours, over the number of subscriptions in each "
            f"part of the space.{further}{more}",
            spec=_boxes_spec(boxes, overlap, drawn, [row["broker_id"] for row in rows]),
            table=Table(header, cells),
            legend=[Entry(row["broker_id"], number, "bar") for number, row in enumerate(rows)],
        )
    ]


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _largest_leaves(tables: Tables) -> list[dict[str, Any]]:
    """The leaves whose filters let most through, by id."""
    rows = [row for row in tables.brokers.to_pylist() if tables.is_leaf[row["broker"]] and row["volume"]]
    largest = sorted(rows, key=lambda row: (-row["volume"], row["broker"]))[:MAX_DRAWN_FILTERS]
    return sorted(largest, key=lambda row: int(row["broker"]))


def _boxes(tables: Tables, brokers: Sequence[int], measured: Measured) -> list[dict[str, Any]]:
    """The boxes of some brokers in values of the first two attributes."""
    attributes = measured.workload.space.attributes
    keys = {attribute.name: key for attribute, key in zip(attributes, "ab", strict=False)}
    values = {attribute.name: attribute for attribute in attributes}
    boxes: dict[tuple[int, int], dict[str, Any]] = {}
    for row in tables.filters.to_pylist():
        if row["broker"] in brokers and row["attribute"] in keys:
            box = boxes.setdefault((row["broker"], row["box"]), {"leaf": row["broker_id"], "box": row["box"]})
            for end, side in ((1, "low"), (2, "high")):
                box[f"{keys[row['attribute']]}{end}"] = float(values[row["attribute"]].value(row[side]))
    return list(boxes.values())


def _boxes_spec(
    boxes: list[dict[str, Any]], overlap: HeatMap, attributes: Sequence[dict[str, Any]], leaves: Sequence[str]
) -> dict[str, Any]:
    """Frames over a grey heat map: their colours stay apart from it."""
    import altair as alt

    axes: dict[str, Any] = {}
    for axis, (key, attribute) in enumerate(zip("ab", attributes, strict=False)):
        axes |= corner_axes(axis, key, attribute)
    framed = (
        alt.Chart(alt.Data(values=boxes))
        .mark_rect(fillOpacity=0, strokeWidth=2)
        .encode(
            **axes,
            stroke=alt.Stroke("leaf:N", scale=alt.Scale(domain=list(leaves)), legend=None),
            tooltip=[alt.Tooltip("leaf:N"), alt.Tooltip("box:Q", format="d")],
        )
    )
    return space_spec(alt.layer(heat_layer(overlap, attributes, "greys"), framed), overlap)


def serving_map(tables: Tables) -> list[Chart]:
    """Sites and brokers with the clients that they have in the plan; nothing where there are no coordinates."""
    measured = tables.measured
    if measured is None or measured.workload.site_coordinates is None:
        return []
    workload, brokers = measured.workload, measured.workload.brokers
    sites = [workload.client_block(block, "site")["site"].to_numpy() for block in range(workload.num_blocks)]
    per_site = np.bincount(np.concatenate([np.empty(0, np.int32), *sites]), minlength=workload.counts.sites)
    return network_map(
        map_points(workload.site_ids, workload.site_coordinates, per_site),
        map_points(brokers.ids, brokers.coordinates, tables.brokers["clients"].to_numpy(), brokers.is_leaf),
        "it serves",
    )
