"""What a method hands over: the leaf of every client, and the boxes of every broker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.errors import Reason
from pubplan.workload import Int32Array, Int64Array


@dataclass(frozen=True)
class Assignment:
    """Clients on leaves, and filters.

    Attributes:
        brokers: the leaf of every client.
        boxes: the boxes of all brokers end to end, as rows of low and then high corners.
        box_offsets: ``boxes[box_offsets[broker] : box_offsets[broker + 1]]`` are those of a broker.
        reasons: limits that bind, and limits that are broken by methods that may break them.
        deterministic: whether the same input gives the same answer.
    """

    brokers: Int32Array
    boxes: Int64Array
    box_offsets: Int64Array
    reasons: tuple[Reason, ...] = ()
    deterministic: bool = True

    def boxes_of(self, broker: int) -> Int64Array:
        return self.boxes[self.box_offsets[broker] : self.box_offsets[broker + 1]]


def loads_of(brokers: Int32Array, weights: Int64Array, num_brokers: int) -> Int64Array:
    """What the clients of every broker weigh together."""
    loads: Int64Array = np.zeros(num_brokers, dtype=np.int64)
    np.add.at(loads, brokers, weights)
    return loads
