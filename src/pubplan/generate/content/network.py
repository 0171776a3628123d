"""A network of sites in three regions, and brokers placed like the sites.

Coordinates are whole microseconds in five dimensions; the latency between two points is their Euclidean distance,
rounded up. Asia, North America and Europe have sites as 4 : 1 : 4. The publisher is in North America. Sites lie around
cities, cities around the centre of their region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import random_stream
from pubplan.errors import InputError
from pubplan.generate.content.draws import spread
from pubplan.workload import Int32Array, Int64Array, Sites, numbered_ids
from pubplan.workload.content.distances import distances, rounded_up_roots

NUM_DIMENSIONS = 5
NUM_CITIES = 75
MAX_SITES = 100_000
MAX_LATENCIES = 1 << 27
"""The most latencies between sites and brokers: half a gigabyte."""

REGIONS = {"Asia": 4, "North America": 1, "Europe": 4}
CENTRES = np.array([[-50_000, 60_000, 0, 0, 0], [0, 0, 0, 0, 0], [45_000, 0, 0, 0, 0]], dtype=np.int64)
PUBLISHER = np.array([0, 0, 12_000, 0, 0], dtype=np.int64)
CITY_SPREAD, SITE_SPREAD = 4_000, 1_000
"""Microseconds: about 80 ms from the publisher to Asia and 45 ms to Europe, 12 ms between cities, 3 ms inside one."""


@dataclass(frozen=True)
class Network:
    """Sites by number, those of a region one after another, neighbours near each other.

    Attributes:
        regions: the region of each site, 0 … 2.
        publisher: its coordinates.
    """

    coordinates: Int64Array
    regions: Int32Array
    publisher: Int64Array

    @property
    def num_sites(self) -> int:
        return len(self.regions)

    def sites(self, brokers: Int64Array) -> Sites:
        """The sites with their latencies to brokers at these coordinates."""
        return Sites(
            numbered_ids("site", 0, self.num_sites),
            distances(self.coordinates, brokers).astype(np.int32),
            coordinates=self.coordinates,
        )


def make_network(num_sites: int, seed: int) -> Network:
    """Draw ``num_sites`` sites.

    Raises:
        InputError: there would be fewer than one site per region, or too many.
    """
    if isinstance(num_sites, bool) or not isinstance(num_sites, int) or not len(REGIONS) <= num_sites <= MAX_SITES:
        raise InputError(
            f"{argument('num_sites')} is a whole number from {len(REGIONS)} to {MAX_SITES:,}, not {num_sites}."
        )
    generator = random_stream(seed, "content/network")
    city_numbers = apportion(NUM_CITIES, list(REGIONS.values()))
    site_numbers = apportion(num_sites, list(REGIONS.values()))
    points = []
    for centre, num_cities, number in zip(CENTRES, city_numbers, site_numbers, strict=True):
        cities = centre + spread(generator, CITY_SPREAD, (num_cities, NUM_DIMENSIONS))
        around = cities[generator.integers(0, num_cities, number)]
        region = around + spread(generator, SITE_SPREAD, (number, NUM_DIMENSIONS))
        points.append(region[neighbour_order(region)])
    regions = np.repeat(np.arange(len(REGIONS), dtype=np.int32), site_numbers)
    return Network(np.concatenate(points), regions, PUBLISHER)


def apportion(number: int, weights: list[int]) -> list[int]:
    """Divide ``number`` in proportion to the weights, at least 1 each; the largest remainders are rounded up."""
    total = sum(weights)
    shares = [max(1, number * weight // total) for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda index: (-(number * weights[index] % total), index))
    for index in by_remainder[: max(0, number - sum(shares))]:
        shares[index] += 1
    while sum(shares) > number:
        shares[shares.index(max(shares))] -= 1
    return shares


def neighbour_order(points: Int64Array) -> Int64Array:
    """An order in which points that follow each other are near: halves along the widest axis, again and again."""
    order = np.arange(len(points))
    waiting = [(0, len(points))]
    while waiting:
        first, last = waiting.pop()
        if last - first < 3:
            continue
        here = points[order[first:last]]
        axis = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
        order[first:last] = order[first:last][np.argsort(here[:, axis], kind="stable")]
        middle = (first + last) // 2
        waiting += [(first, middle), (middle, last)]
    return order


def hop_latencies(points: Int64Array, others: Int64Array) -> Int64Array:
    """The latency from each point to the other of its row."""
    return rounded_up_roots(((points - others) ** 2).sum(axis=1))
