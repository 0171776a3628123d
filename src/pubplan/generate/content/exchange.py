"""Clients that publish and subscribe among each other, and brokers that charge by distance: the networks of Zhao, Wu,
*On the Construction of the Minimum Cost Content-Based Publish/Subscribe Overlays* (section VI).

Sites and brokers are points of a square, drawn evenly; latencies and prices are distances, rounded up, which keeps
prices a metric. Every client publishes by a random quadratic, clipped at 0 and sampled in the middle of the cells of
the space, and subscribes to a random interval. All brokers have the same capacity; together it is a multiple of what
all clients send and receive.

The paper says neither how quadratics are drawn nor into how many channels the space is cut. Here coefficients are even
in [-1, 1] on a space from -1 to 1 along each attribute; a quadratic that makes no messages is taken with the other
sign.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import block_range, random_stream
from pubplan.errors import InputError
from pubplan.generate.content.network import MAX_LATENCIES
from pubplan.generate.content.shape import ContentShape, check_sizes
from pubplan.generate.content.traffic import Publications
from pubplan.quantities import plain_number, share_fraction, share_hint, share_text
from pubplan.workload import (
    PUBLISHER,
    Attribute,
    Brokers,
    ClientBlock,
    Int32Array,
    Int64Array,
    Sites,
    Space,
    numbered_ids,
)
from pubplan.workload.content.distances import distance_prices, distances

NAME = "content-exchange"
ATTRIBUTES = ("u", "v", "w")
USUAL_CELLS = {1: 200, 2: 14, 3: 5}
"""Cells per attribute: about 200 in all, whatever the number of attributes."""

MAX_CELLS = 10_000
MAX_BROKERS = 2_000
USUAL_SITES = 10_000
STEPS_PER_CELL = 100
SIDE_US = 100_000
"""The side of the square, in microseconds."""

SIDE_PRICE = 10_000
"""The price of traffic between brokers along a side of the square."""

MAX_PRICE_RATIO = 100_000
"""Prices of sites have 32 bits."""

COEFFICIENT = 1_000
"""Coefficients are whole thousandths."""

MESSAGES = 20
"""Messages per window in a cell where the quadratic is 1."""

VALUES_AT_ONCE = 1 << 22


def content_exchange(
    num_clients: int,
    num_brokers: int,
    seed: int = 0,
    *,
    price_ratio: str | int = "1",
    niche: str | None = None,
    groups: int | None = None,
    dimensions: int = 1,
    cells: int | None = None,
    capacity_factor: str | int = "2",
    num_sites: int | None = None,
) -> ContentShape:
    """Clients that each draw a quadratic and a subscription, at sites of their own as long as there are enough.

    Args:
        num_clients: how many there are.
        num_brokers: how many there are, all fed by a publisher in the middle of the square.
        seed: of everything that is drawn.
        price_ratio: of traffic between sites and brokers to traffic between brokers, over the same distance.
        niche: the width of all subscriptions as a share of each attribute, such as 2%; None draws both ends.
        groups: how many different subscriptions there are; None draws one for each client.
        dimensions: attributes of the space, 1 to 3; subscriptions to several are boxes.
        cells: per attribute, in which messages are counted; None is 200, with two attributes 14, with three 5.
        capacity_factor: what all brokers can take together, as a multiple of what clients send and receive.
        num_sites: where clients can be; None is one per client, at most 10,000.

    Raises:
        InputError: a size is out of range.

    >>> pubplan.generate.content_exchange(20, 4).space.cells
    (200,)
    """
    parameters = {"clients": num_clients, "brokers": num_brokers, "seed": seed} | _unusual(
        price_ratio=str(price_ratio),
        niche=niche,
        groups=groups,
        dimensions=dimensions,
        cells=cells,
        capacity_factor=str(capacity_factor),
        sites=num_sites,
    )
    check_sizes(num_clients, num_brokers)
    num_sites = min(num_clients, USUAL_SITES) if num_sites is None else num_sites
    _check_whole("num_brokers", num_brokers, MAX_BROKERS)
    _check_whole("num_sites", num_sites, MAX_LATENCIES // num_brokers)
    _check_whole("dimensions", dimensions, len(ATTRIBUTES))
    cells = USUAL_CELLS[dimensions] if cells is None else cells
    _check_whole("cells", cells, round(MAX_CELLS ** (1 / dimensions)))
    if groups is not None:
        _check_whole("groups", groups, num_clients)
    ratio, factor = _positive("price_ratio", price_ratio), _positive("capacity_factor", capacity_factor)
    rate = Fraction(SIDE_PRICE, SIDE_US)
    if ratio > MAX_PRICE_RATIO:
        raise InputError(f"{argument('price_ratio')} is at most {MAX_PRICE_RATIO:,}, not {price_ratio}.")
    steps = cells * STEPS_PER_CELL
    drawing = _Drawing(seed, num_clients, num_sites, (cells,) * dimensions, _width(niche, steps), groups)
    broker_points, site_points = _points(seed, "brokers", num_brokers), _points(seed, "sites", num_sites)
    return ContentShape(
        NAME,
        parameters,
        Space(tuple(Attribute(name, steps) for name in ATTRIBUTES[:dimensions]), (cells,) * dimensions),
        _brokers(broker_points),
        Sites(
            numbered_ids("site", 0, num_sites),
            distances(site_points, broker_points).astype(np.int32),
            distance_prices(site_points, broker_points, ratio * rate).astype(np.int32),
            site_points,
        ),
        num_clients,
        drawing.draw,
        publish=drawing.publish,
        capacity_factor=factor,
        links=distance_prices(broker_points, broker_points, rate),
    )


def _unusual(**given: Any) -> dict[str, Any]:
    """What the manifest records beside sizes and seed."""
    usual = {"price_ratio": "1", "dimensions": 1, "capacity_factor": "2"}
    return {name: value for name, value in given.items() if value is not None and value != usual.get(name)}


def _check_whole(option: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(f"{argument(option)} is a whole number from 1 to {most:,}, not {value}.")


def _positive(option: str, value: str | int) -> Fraction:
    """A decimal number above 0."""
    try:
        number = Fraction(Decimal(plain_number(str(value))))
    except ValueError:
        number = Fraction(0)
    if number <= 0:
        raise InputError(f"{argument(option)} is a decimal number above 0, not '{value}'.")
    return number


def _width(niche: str | None, steps: int) -> int | None:
    """The grid steps of a share of an attribute, at least 1."""
    if niche is None:
        return None
    share = share_text(niche)
    if share is None or not 0 < share_fraction(share) <= 1:
        raise InputError(f"{argument('niche')} is a share of the space such as 2%, not '{niche}'.{share_hint(niche)}")
    return max(1, round(share_fraction(share) * steps))


def _points(seed: int, noun: str, number: int) -> Int64Array:
    return random_stream(seed, f"{NAME}/{noun}").integers(0, SIDE_US + 1, (number, 2))


def _brokers(points: Int64Array) -> Brokers:
    """Brokers at points, fed from the middle of the square; their capacities follow from the clients."""
    number = len(points)
    middle = np.full((1, 2), SIDE_US // 2, dtype=np.int64)
    return Brokers(
        numbered_ids("b", 0, number),
        np.full(number, PUBLISHER, dtype=np.int32),
        distances(points, middle)[:, 0],
        np.ones(number, dtype=np.int64),
        np.zeros(number, dtype=np.int64),
        points,
    )


@dataclass(frozen=True)
class _Drawing:
    seed: int
    num_clients: int
    num_sites: int
    cells: tuple[int, ...]
    width: int | None
    groups: int | None

    def draw(self, block: int) -> ClientBlock:
        first, last = block_range(block, self.num_clients)
        generator = random_stream(self.seed, f"{NAME}/clients", block)
        sites = np.arange(first, last)
        if self.num_sites != self.num_clients:
            sites = generator.integers(0, self.num_sites, last - first)
        if self.groups is None:
            lows, highs = self._boxes(generator, last - first)
        else:
            chosen = generator.integers(0, self.groups, last - first)
            every_group = self._boxes(random_stream(self.seed, f"{NAME}/groups"), self.groups)
            lows, highs = (corners[chosen] for corners in every_group)
        return ClientBlock(sites.astype(np.int32), lows, highs)

    def _boxes(self, generator: np.random.Generator, number: int) -> tuple[Int32Array, Int32Array]:
        """Boxes between two different grid lines along each attribute, or of one width."""
        shape, steps = (number, len(self.cells)), self.cells[0] * STEPS_PER_CELL
        if self.width is not None:
            lows = generator.integers(0, steps - self.width + 1, shape).astype(np.int32)
            return lows, lows + np.int32(self.width)
        one, other = generator.integers(0, steps + 1, shape), generator.integers(0, steps, shape)
        other += other >= one  # all pairs of different lines are equally likely
        return np.minimum(one, other).astype(np.int32), np.maximum(one, other).astype(np.int32)

    def publish(self, block: int) -> Publications:
        """Quadratics at the middles of cells, as whole numbers: nothing is rounded before the last division."""
        first, last = block_range(block, self.num_clients)
        terms = self._terms()
        generator = random_stream(self.seed, f"{NAME}/publications", block)
        coefficients = generator.integers(-COEFFICIENT, COEFFICIENT + 1, (last - first, len(terms)))
        unit = COEFFICIENT * self.cells[0] ** 2
        lengths, cells, counts = [], [], []
        rows_at_once = max(1, VALUES_AT_ONCE // terms.shape[1])
        for start in range(0, last - first, rows_at_once):
            values = coefficients[start : start + rows_at_once] @ terms
            values[values.max(axis=1) * MESSAGES < unit] *= -1
            messages = np.maximum(values, 0) * MESSAGES // unit
            rows, columns = np.nonzero(messages)
            lengths.append(np.bincount(rows, minlength=len(messages)))
            cells.append(columns.astype(np.int32))
            counts.append(messages[rows, columns])
        offsets = np.concatenate([[0], *lengths]).cumsum()
        return Publications(offsets, np.concatenate(cells), np.concatenate(counts))

    def _terms(self) -> Int64Array:
        """1, every x and every product of two (rows) at every cell (columns), times the number of cells squared.

        x is -1 to 1 along an attribute, a multiple of 1 / cells in the middle of a cell.
        """
        number, middles = self.cells[0], np.indices(self.cells).reshape(len(self.cells), -1) * 2 + 1 - self.cells[0]
        squares = [one * other for one, other in itertools.combinations_with_replacement(middles, 2)]
        return np.array([np.full(middles.shape[1], number**2), *(number * middles), *squares], dtype=np.int64)
