"""What drawn clients publish and receive, counted in the cells of the space."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pubplan.engine import exact_dot, exact_sum
from pubplan.workload import ClientBlock, Int32Array, Int64Array, Space
from pubplan.workload.content.publications import sum_by_cell
from pubplan.workload.content.tables import ragged
from pubplan.workload.tables import INT32_LIST, INT64_LIST


class Publications(NamedTuple):
    """What the clients of a block publish, as CSR: offsets by client, cells, and messages per window."""

    offsets: Int64Array
    cells: Int32Array
    counts: Int64Array

    def columns(self) -> dict[str, pa.Array]:
        """The optional columns of clients."""
        return {
            "cells": ragged(self.offsets, self.cells, INT32_LIST),
            "counts": ragged(self.offsets, self.counts, INT64_LIST),
        }


@dataclass(frozen=True)
class Traffic:
    """Traffic of some clients.

    Attributes:
        messages: that they publish, by cell.
        subscribers: how many of them have a subscription that touches the cell, by cell.
        num_self_matches: messages inside of the subscriptions of their publishers, to whom nobody delivers them.
    """

    messages: Int64Array
    subscribers: Int64Array
    num_self_matches: int

    @classmethod
    def sum(cls, parts: Iterable[Traffic], space: Space) -> Traffic:
        total = [np.zeros(space.num_cells, dtype=np.int64) for _ in range(2)]
        num_self_matches = 0
        for part in parts:
            total[0] += part.messages
            total[1] += part.subscribers
            num_self_matches += part.num_self_matches
        return cls(total[0], total[1], num_self_matches)

    @property
    def demand(self) -> int:
        """What all clients send, and receive from each other, per window."""
        return exact_sum(self.messages) + exact_dot(self.messages, self.subscribers) - self.num_self_matches


def traffic_of(space: Space, clients: ClientBlock, published: Publications) -> Traffic:
    """The traffic of one block of clients, without a loop over them."""
    assert space.cells is not None
    widths = np.array(space.cell_widths, dtype=np.int64)
    firsts, ends = clients.lows // widths, -(-clients.highs // widths)
    owners = np.repeat(np.arange(len(firsts)), np.diff(published.offsets))
    is_match = np.ones(len(owners), dtype=np.bool_)
    for axis, coordinates in enumerate(np.unravel_index(published.cells, space.cells)):
        is_match &= (coordinates >= firsts[owners, axis]) & (coordinates < ends[owners, axis])
    return Traffic(
        sum_by_cell(published.cells, published.counts, space.num_cells),
        _touching(firsts, ends, space.cells),
        exact_sum(published.counts[is_match]),
    )


def _touching(firsts: Int64Array, ends: Int64Array, cells: tuple[int, ...]) -> Int64Array:
    """How many boxes of cells, from ``firsts`` to before ``ends``, hold each cell."""
    # A box adds 1 from its first cell on and takes it back behind its last one, along every axis.
    shape = tuple(number + 1 for number in cells)
    changes: Int64Array = np.zeros(shape, dtype=np.int64)
    for corner in itertools.product((False, True), repeat=len(cells)):
        where = np.where(corner, ends, firsts)
        counts = np.bincount(np.ravel_multi_index(tuple(where.T), shape), minlength=changes.size).reshape(shape)
        changes += -counts if sum(corner) % 2 else counts
    for axis in range(len(cells)):
        changes = changes.cumsum(axis=axis)
    inside: Int64Array = changes[tuple(slice(-1) for _ in cells)].reshape(-1)
    return inside
