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
    return _in_unit_square(positions)


def _in_unit_square(positions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not len(positions):
        return positions
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
    has_room = f"width * {HEIGHT_PIXELS} >= {PIXELS_PER_NAME * len(nodes)}"
    names = base.mark_text(dy=-14, fontSize=11, opacity=alt.ExprRef(f"{has_room} ? 1 : 0")).encode(text="node:N")
    layered = alt.layer(lines, dots, names).properties(width="container", height=HEIGHT_PIXELS)
    spec: dict[str, Any] = layered.to_dict()
    spec.pop("config", None)
    return spec


def _legend(alt: Any, most: int) -> Any:
    return alt.Legend(title="links", format=",d", tickCount=min(5, max(1, most)))
