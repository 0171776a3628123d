"""A workload on which filling brokers greedily, clients with the fewest candidates first, goes wrong by orders of
magnitude: the difficult workload of Yu, Agarwal, Yang, *Subscriber Assignment for Wide-Area Content-Based
Publish/Subscribe* (section VI, Table III).

For n brokers and filters of a boxes there are (a + 1) n unit squares on the diagonal; from square i to the next it
is 10^((i mod a) + 1) along each attribute. Whoever wants square i > a n may use any broker, all others one of two. With
a load factor of 1 the best plan gives every broker a + 1 squares that follow each other, the nearest two in one box.

The printed construction has more clients than fit, and its formula does not give its Table III. Here squares have
m / ((a + 1) n) clients each, the formula has i - 1 for i, and its second case has B_1, or B_2 where B_1 is the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import block_range
from pubplan.errors import InputError
from pubplan.generate.content.shape import ATTRIBUTES, ContentShape, check_sizes
from pubplan.workload import (
    MAX_VOLUME,
    PUBLISHER,
    Brokers,
    ClientBlock,
    Int32Array,
    Int64Array,
    Sites,
    numbered_ids,
    unit_space,
)

NAME = "content-adversarial"
MAX_BOXES = 5
NEAR_LATENCY, FAR_LATENCY = 100, 200
"""Microseconds to brokers that a client may use and to all others: any delay below 1 keeps them apart."""


def content_adversarial(num_clients: int, num_brokers: int, boxes: int = 3) -> ContentShape:
    """Clients of the squares, in the order of the squares; nothing is drawn at random.

    Args:
        num_clients: a multiple of the squares.
        num_brokers: how many there are, all fed by the publisher.
        boxes: per filter, that it is made to be difficult for.

    Raises:
        InputError: a size is out of range, clients do not divide by squares, or the squares take too much space.

    >>> pubplan.generate.content_adversarial(12, 3).num_clients
    12
    """
    check_sizes(num_clients, num_brokers)
    if isinstance(boxes, bool) or not isinstance(boxes, int) or not 2 <= boxes <= MAX_BOXES:
        raise InputError(f"{argument('boxes')} is a whole number from 2 to {MAX_BOXES}, not {boxes}.")
    if num_brokers < 2:
        raise InputError(f"{argument('num_brokers')} must be at least 2: a single broker leaves nothing to choose.")
    num_squares = (boxes + 1) * num_brokers
    if num_clients % num_squares:
        raise InputError(
            f"{argument('num_clients')} must be a multiple of {num_squares:,}, not {num_clients:,}: "
            f"{num_brokers:,} brokers and {boxes} boxes make {num_squares:,} squares of as many clients each."
        )
    corners = _corners(num_squares, boxes)
    extent = int(corners[-1]) + 1
    if extent**2 > MAX_VOLUME:
        raise InputError(f"{num_brokers:,} brokers with {boxes} boxes need a space that is too large: ask for fewer.")
    brokers = Brokers(
        numbered_ids("b", 0, num_brokers),
        np.full(num_brokers, PUBLISHER, dtype=np.int32),
        np.zeros(num_brokers, dtype=np.int64),
        np.ones(num_brokers, dtype=np.int64),
        np.zeros(num_brokers, dtype=np.int64),
    )
    sites = Sites(numbered_ids("site", 0, num_squares), _latencies(num_squares, num_brokers, boxes))
    drawing = _Drawing(num_clients, num_clients // num_squares, corners)
    parameters = {"clients": num_clients, "brokers": num_brokers, "boxes": boxes}
    return ContentShape(
        NAME, parameters, unit_space(extent, extent, names=ATTRIBUTES), brokers, sites, num_clients, drawing.draw
    )


def _corners(num_squares: int, boxes: int) -> Int64Array:
    """The low corner of every square, the same along both attributes."""
    gaps = [10 ** (square % boxes + 1) for square in range(1, num_squares)]
    return np.cumsum([0, *gaps])


def _latencies(num_squares: int, num_brokers: int, boxes: int) -> Int32Array:
    """The clients of each square have a site of their own, near to the brokers that they may use."""
    latencies = np.full((num_squares, num_brokers), FAR_LATENCY, dtype=np.int32)
    latencies[boxes * num_brokers :] = NEAR_LATENCY
    squares = np.arange(boxes * num_brokers)
    first, second = squares // (boxes + 1), squares % num_brokers
    second = np.where(first != second, second, np.where(first == 0, 1, 0))
    latencies[squares, first] = latencies[squares, second] = NEAR_LATENCY
    return latencies


@dataclass(frozen=True)
class _Drawing:
    num_clients: int
    clients_per_square: int
    corners: Int64Array

    def draw(self, block: int) -> ClientBlock:
        squares = np.arange(*block_range(block, self.num_clients)) // self.clients_per_square
        lows = np.repeat(self.corners[squares, None], 2, axis=1).astype(np.int32)
        return ClientBlock(squares.astype(np.int32), lows, lows + np.int32(1))
