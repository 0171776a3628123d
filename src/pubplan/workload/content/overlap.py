"""Where in the space of events subscriptions overlap: how many reach into each cell of two attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pubplan.workload.content.space import Space
from pubplan.workload.tables import Int32Array, Int64Array

MAX_CELLS_PER_AXIS = 64


@dataclass(frozen=True)
class HeatMap:
    """Counts over a grid of cells: subscriptions that have events in common with each, whatever further attributes are.

    Attributes:
        attributes: the first two of the space, or its only one.
        edges: the grid lines between the cells of each.
        counts: a row per cell of the first attribute, with a number per cell of the second, or one.
    """

    attributes: Sequence[str]
    edges: Sequence[Sequence[int]]
    counts: Sequence[Sequence[int]]

    @property
    def most(self) -> int:
        return max((max(row, default=0) for row in self.counts), default=0)


def cell_edges(space: Space) -> list[Int64Array]:
    """The grid lines between up to 64 cells along the first two attributes, as equal as whole steps allow."""
    edges = []
    for steps in space.extents[:2]:
        number = min(MAX_CELLS_PER_AXIS, steps)
        edges.append(np.arange(number + 1, dtype=np.int64) * steps // number)
    return edges


def count_overlap(lows: Int32Array, highs: Int32Array, edges: Sequence[Int64Array]) -> Int64Array:
    """How many of the boxes, given as rows of corners, reach into each cell."""
    firsts, lasts = [], []
    for axis, lines in enumerate(edges):
        firsts.append(np.searchsorted(lines, lows[:, axis], side="right") - 1)
        lasts.append(np.searchsorted(lines, highs[:, axis], side="left"))
    if len(edges) == 1:
        firsts.append(np.zeros(len(lows), dtype=np.int64))
        lasts.append(np.ones(len(lows), dtype=np.int64))
    shape = [len(lines) for lines in edges] + [2] * (2 - len(edges))
    # A box adds 1 from its first cell on and takes it back behind its last one, along both axes.
    changes = np.zeros(shape, dtype=np.int64)
    for rows, columns, sign in (
        (firsts[0], firsts[1], 1),
        (firsts[0], lasts[1], -1),
        (lasts[0], firsts[1], -1),
        (lasts[0], lasts[1], 1),
    ):
        numbers = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
        changes += sign * numbers.reshape(shape)
    return changes.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]


def heat_map(space: Space, edges: Sequence[Int64Array], counts: Iterable[Int64Array]) -> HeatMap:
    """The counts of all blocks together."""
    names = [attribute.name for attribute in space.attributes[: len(edges)]]
    shape = (len(edges[0]) - 1, len(edges[1]) - 1 if len(edges) > 1 else 1)
    total = sum(counts, np.zeros(shape, dtype=np.int64))
    return HeatMap(names, [lines.tolist() for lines in edges], total.tolist())
