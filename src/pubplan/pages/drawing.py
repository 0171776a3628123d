"""Small graphs as pictures: positions of the nodes, the same for the same graph, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.workload import Int64Array

ROUNDS = 300
DECIMALS = 4
PULL_TO_THE_MIDDLE = 0.3

PIXELS_PER_NAME = 8000
"""Names are in the picture where every node has this much room for its own."""

HEIGHT_PIXELS = 520

LINE_PIXELS = (0.5, 14)
"""The width of a line for no traffic, and for the most."""


def spring_layout(num_nodes: int, node: Int64Array, other: Int64Array) -> npt.NDArray[np.float64]:
    """Places of all nodes, x and y from 0 to 1: links pull their nodes together, all nodes push each other away.

    T. Fruchterman, E. Reingold: Graph Drawing by Force-directed Placement (1991), from nodes on a circle, with a pull
    to the middle, so that nodes without links stay in sight.
    """
    angles = 2 * np.pi * np.arange(num_nodes) / max(1, num_nodes)
    positions = np.column_stack([np.cos(angles), np.sin(angles)]) * np.sqrt(num_nodes)
    linked = np.zeros((num_nodes, num_nodes))
    linked[node, other] = linked[other, node] = 1
    for step in np.linspace(np.sqrt(num_nodes) / 4, 0.01, ROUNDS):
        apart = positions[:, None, :] - positions[None, :, :]
        distances = np.maximum(np.sqrt((apart**2).sum(axis=2)), 0.01)
        strengths = distances**-2 - linked * distances
        moves = (apart * strengths[:, :, None]).sum(axis=1) - PULL_TO_THE_MIDDLE * positions
        lengths = np.maximum(np.sqrt((moves**2).sum(axis=1)), 1e-9)
        positions += moves * (np.minimum(lengths, step) / lengths)[:, None]
    return in_unit_square(positions)


def in_unit_square(positions: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Points scaled along each axis so that they reach from 0 to 1."""
    if not len(positions):
        return positions.astype(np.float64)
    least, spans = positions.min(axis=0), np.ptp(positions, axis=0)
    scaled: npt.NDArray[np.float64] = np.where(spans > 0, (positions - least) / np.where(spans > 0, spans, 1), 0.5)
    return scaled.round(DECIMALS)


def drawing_spec(nodes: Sequence[dict[str, Any]], links: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A graph as Vega-Lite: nodes with ``x``, ``y``, ``node``, ``links`` and ``topics``; links from ``x``, ``y`` to
    ``x2``, ``y2`` with ``link``, ``topics`` and ``trees``.
    """
    import altair as alt

    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)
    x, y = alt.X("x:Q", axis=None, scale=scale), alt.Y("y:Q", axis=None, scale=scale)
    lines = (
        alt.Chart(alt.Data(values=links))
        .mark_rule(color="#8a94a0", strokeWidth=1.2, opacity=0.6)
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            tooltip=[
                alt.Tooltip("link:N"),
                alt.Tooltip("topics:Q", title="common topics", format=","),
                alt.Tooltip("trees:Q", title="trees", format=","),
            ],
        )
    )
    most = max((node["links"] for node in nodes), default=0)
    base = alt.Chart(alt.Data(values=nodes)).encode(x=x, y=y)
    dots = base.mark_circle(size=170, opacity=1, stroke="#5a6472", strokeWidth=0.8).encode(
        color=alt.Color(
            "links:Q", scale=alt.Scale(scheme="yelloworangered", domain=[0, max(1, most)]), legend=_legend(alt, most)
        ),
        tooltip=[
            alt.Tooltip("node:N"),
            alt.Tooltip("links:Q", format=","),
            alt.Tooltip("topics:Q", format=","),
        ],
    )
    return _layered([lines, dots, _names(base, len(nodes), "node")])


def traffic_spec(nodes: Sequence[dict[str, Any]], links: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Brokers and the traffic between them as Vega-Lite: nodes with ``x``, ``y``, ``broker``, ``clients`` and ``load``;
    links from ``x``, ``y`` to ``x2``, ``y2`` with ``link``, ``messages`` and ``cost``. Traffic is the width of lines.
    """
    import altair as alt

    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)
    x, y = alt.X("x:Q", axis=None, scale=scale), alt.Y("y:Q", axis=None, scale=scale)
    most_messages = max((link["messages"] for link in links), default=0)
    lines = (
        alt.Chart(alt.Data(values=links))
        .mark_rule(color="#8a94a0", opacity=0.6, strokeCap="round")
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            strokeWidth=alt.StrokeWidth(
                "messages:Q", scale=alt.Scale(domain=[0, max(1, most_messages)], range=list(LINE_PIXELS)), legend=None
            ),
            tooltip=[
                alt.Tooltip("link:N"),
                alt.Tooltip("messages:Q", title="messages per window", format=","),
                alt.Tooltip("cost:N", title="cost per window"),
            ],
        )
    )
    most_clients = max((node["clients"] for node in nodes), default=0)
    base = alt.Chart(alt.Data(values=nodes)).encode(x=x, y=y)
    dots = base.mark_circle(opacity=1, color="#e8743b", stroke="#5a6472", strokeWidth=0.8).encode(
        size=alt.Size("clients:Q", scale=alt.Scale(domain=[0, max(1, most_clients)], range=[40, 320]), legend=None),
        tooltip=[
            alt.Tooltip("broker:N"),
            alt.Tooltip("clients:Q", format=","),
            alt.Tooltip("load:Q", title="messages of its clients", format=","),
        ],
    )
    return _layered([lines, dots, _names(base, len(nodes), "broker")])


def _names(base: Any, number: int, column: str) -> Any:
    """Names above nodes, where every node has room for its own."""
    import altair as alt

    has_room = f"width * {HEIGHT_PIXELS} >= {PIXELS_PER_NAME * number}"
    return base.mark_text(dy=-14, fontSize=11, opacity=alt.ExprRef(f"{has_room} ? 1 : 0")).encode(text=f"{column}:N")


def _layered(layers: Sequence[Any]) -> dict[str, Any]:
    import altair as alt

    spec: dict[str, Any] = alt.layer(*layers).properties(width="container", height=HEIGHT_PIXELS).to_dict()
    spec.pop("config", None)
    return spec


def _legend(alt: Any, most: int) -> Any:
    return alt.Legend(title="links", format=",d", tickCount=min(5, max(1, most)))
