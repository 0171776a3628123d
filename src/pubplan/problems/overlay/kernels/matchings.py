"""Links that join nothing and complete a matching, as MinMax-ODA has them."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import Links
from pubplan.workload import Int32Array


@kernel
def add_neighbours(links: Links, degrees: Int32Array, neighbours: Int32Array) -> None:
    """Enter links into the lists of their nodes: ``neighbours[node, : degrees[node]]``."""
    for link in range(len(links.nodes)):
        node, other = links.nodes[link], links.others[link]
        neighbours[node, degrees[node]] = other
        neighbours[other, degrees[other]] = node
        degrees[node] += 1
        degrees[other] += 1


@kernel
def complete_matching(degrees: Int32Array, degree_limit: int, neighbours: Int32Array) -> None:
    """Link all pairs with fewer than ``degree_limit`` links each that are not linked, nodes ascending: ``neighbours``
    has the links of every node, as many as its degree, and space for ``degree_limit``.
    """
    open_nodes = np.flatnonzero(degrees < degree_limit)
    for slot in range(len(open_nodes)):
        node = open_nodes[slot]
        for other in open_nodes[slot + 1 :]:
            if degrees[node] >= degree_limit:
                break
            if degrees[other] < degree_limit and not np.any(neighbours[node, : degrees[node]] == other):
                neighbours[node, degrees[node]] = other
                neighbours[other, degrees[other]] = node
                degrees[node] += 1
                degrees[other] += 1
