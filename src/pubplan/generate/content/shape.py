"""Shapes of content workloads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import block_range, map_blocks, num_blocks, stage
from pubplan.errors import InputError
from pubplan.generate.content.raw import content_trace
from pubplan.generate.content.traffic import Publications, Traffic, traffic_of
from pubplan.generate.shape import RawTrace, Shape
from pubplan.workload import (
    CONTENT,
    Brokers,
    ClientBlock,
    ContentWorkload,
    Int64Array,
    Kind,
    Sites,
    Space,
    Window,
    WrittenClients,
    finish_content_workload,
    numbered_ids,
    write_clients_block,
)

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

ATTRIBUTES = ("u", "v")
"""What the two attributes of events are called."""

MAX_CLIENTS = 999_999_999
MAX_BROKERS = 10_000


@dataclass(frozen=True)
class ContentShape(Shape[ContentWorkload]):
    """Clients at sites that draw subscriptions, and the brokers that can serve them.

    ``draw(block)`` gives the sites and rectangles of one block of clients, the same ones wherever it runs, and
    ``publish(block)`` what they publish, where they do. Then all brokers have the same capacity: together
    ``capacity_factor`` times what clients send and receive. ``links`` are prices between brokers.

    >>> pubplan.generate.content_adversarial(12, 3).draw(0).sites.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """

    space: Space
    brokers: Brokers
    sites: Sites
    num_clients: int
    draw: Callable[[int], ClientBlock]
    publish: Callable[[int], Publications] | None = None
    capacity_factor: Fraction = Fraction(2)
    links: Int64Array | None = None

    @property
    def kind(self) -> Kind[ContentWorkload]:
        return CONTENT

    @property
    def num_rows(self) -> int:
        return self.num_clients

    def write(self, directory: Path, spark: SparkSession | None) -> None:
        num_clients, draw, publish, space = self.num_clients, self.draw, self.publish, self.space

        def write(block: int) -> tuple[WrittenClients, Traffic | None]:
            drawn, published = draw(block), None if publish is None else publish(block)
            ids = numbered_ids("c", *block_range(block, num_clients))
            columns = None if published is None else published.columns()
            written = write_clients_block(directory, block, ids, drawn.sites, drawn.lows, drawn.highs, columns)
            return written, None if published is None else traffic_of(space, drawn, published)

        written, traffic = [], []
        with stage(f"generating {self.name}", num_blocks(num_clients)) as advance:
            for block, part in map_blocks(write, num_blocks(num_clients), spark):
                written.append(block)
                traffic += [] if part is None else [part]
                advance(1)
        total = Traffic.sum(traffic, space) if traffic else None
        finish_content_workload(
            directory,
            space=space,
            brokers=self.brokers if total is None else self.equip(total),
            sites=self.sites,
            clients=written,
            window=Window(),
            sources=[self.source],
            density=None if total is None else total.messages,
            links=self.links,
        )

    def equip(self, traffic: Traffic) -> Brokers:
        """The brokers with capacities for the traffic of all clients."""
        capacity = math.ceil(self.capacity_factor * traffic.demand / self.brokers.num_brokers)
        return replace(self.brokers, capacities=np.full(self.brokers.num_brokers, capacity, dtype=np.int64))

    def raw_trace(self, *, with_events: bool) -> RawTrace:
        return content_trace(self)


def check_sizes(num_clients: int, num_brokers: int) -> None:
    """Refuse numbers of clients and brokers that cannot be drawn."""
    for option, value, most in (("num_clients", num_clients, MAX_CLIENTS), ("num_brokers", num_brokers, MAX_BROKERS)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(f"{argument(option)} is a whole number from 1 to {most:,}, not {value}.")
