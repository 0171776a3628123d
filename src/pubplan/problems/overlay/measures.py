"""The numbers of an overlay at a glance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.overlay.plan import (
    DIVISION,
    DIVISION_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    NODES,
    NODES_SCHEMA,
    TOPICS,
    TOPICS_SCHEMA,
)


@dataclass(frozen=True)
class Measures:
    """Numbers of a plan.

    Attributes:
        degrees: how many nodes have 0, 1, 2 … links.
        eta: nodes with more topics were bulk; this and what follows is None where nodes were not divided.
        representative_share: representatives per light node, |R| / |L|.
        known_share: the most nodes that one has to know about, over all nodes: the potential neighbour ratio.
        mean_diameter: over the topics with at least two nodes whose diameter was computed; None if there are none.
        unmeasured: topics whose diameter was too much to compute.

    >>> overlay = pubplan.overlay.solve(pubplan.overlay.Problem(workload))
    >>> pubplan.overlay.measures_of(overlay.plan).links
    2
    """

    nodes: int
    links: int
    maximum_degree: int
    mean_degree: float
    degrees: tuple[int, ...]
    mean_diameter: float | None
    worst_diameter: int | None
    unmeasured: int
    eta: int | None = None
    coverage: int | None = None
    parts: int | None = None
    bulk: int | None = None
    light: int | None = None
    representatives: int | None = None
    representative_share: float | None = None
    known_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measures_of(plan: Plan) -> Measures:
    """The measures of a plan, from its tables.

    Raises:
        InputError: a table is damaged.

    >>> overlay = pubplan.overlay.solve(pubplan.overlay.Problem(workload))
    >>> pubplan.overlay.measures_of(overlay.plan).maximum_degree
    2
    """
    degrees = plan.decisions(NODES, NODES_SCHEMA)["degree"].to_numpy()
    if len(degrees) and not 0 <= degrees.min() <= degrees.max() < len(degrees):
        raise InputError(f"{plan.path}: the decisions '{NODES}' are damaged; a node has links to other nodes alone.")
    topics = plan.decisions(TOPICS, TOPICS_SCHEMA)
    diameters = topics["diameter"].to_numpy()[topics["nodes"].to_numpy() > 1]
    measured = diameters[diameters >= 0]
    return Measures(
        nodes=len(degrees),
        links=plan.decisions(LINKS, LINKS_SCHEMA).num_rows,
        maximum_degree=int(degrees.max(initial=0)),
        mean_degree=float(degrees.mean()) if len(degrees) else 0.0,
        degrees=tuple(np.bincount(degrees).tolist()),
        mean_diameter=float(measured.mean()) if len(measured) else None,
        worst_diameter=int(measured.max()) if len(measured) else None,
        unmeasured=len(diameters) - len(measured),
        **_division(plan, len(degrees)),
    )


def _division(plan: Plan, num_nodes: int) -> dict[str, Any]:
    rows = plan.decisions(DIVISION, DIVISION_SCHEMA).to_pylist()
    if not rows:
        return {}
    if len(rows) > 1:
        raise InputError(
            f"{plan.path}: the decisions '{DIVISION}' are damaged; nodes are divided once, not {len(rows)} times."
        )
    (row,) = rows
    names = ("eta", "parts", "bulk", "light")
    has_representatives = row["coverage"] > 0
    return {name: row[name] for name in names} | {
        "coverage": row["coverage"] if has_representatives else None,
        "representatives": row["representatives"] if has_representatives else None,
        "representative_share": row["representatives"] / row["light"] if has_representatives and row["light"] else None,
        "known_share": row["known"] / num_nodes if num_nodes else None,
    }
