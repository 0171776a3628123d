"""Shapes of content workloads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pubplan.arguments import argument
from pubplan.engine import block_range, map_blocks, num_blocks, stage
from pubplan.errors import InputError
from pubplan.generate.content.raw import content_trace
from pubplan.generate.shape import RawTrace, Shape
from pubplan.workload import (
    CONTENT,
    Brokers,
    ClientBlock,
    ContentWorkload,
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

    ``draw(block)`` gives the sites and rectangles of one block of clients, the same ones wherever it runs.

    >>> pubplan.generate.content_adversarial(12, 3).draw(0).sites.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """

    space: Space
    brokers: Brokers
    sites: Sites
    num_clients: int
    draw: Callable[[int], ClientBlock]

    @property
    def kind(self) -> Kind[ContentWorkload]:
        return CONTENT

    @property
    def num_rows(self) -> int:
        return self.num_clients

    def write(self, directory: Path, spark: SparkSession | None) -> None:
        num_clients, draw = self.num_clients, self.draw

        def write(block: int) -> WrittenClients:
            drawn = draw(block)
            ids = numbered_ids("c", *block_range(block, num_clients))
            return write_clients_block(directory, block, ids, drawn.sites, drawn.lows, drawn.highs)

        written = []
        with stage(f"generating {self.name}", num_blocks(num_clients)) as advance:
            for block in map_blocks(write, num_blocks(num_clients), spark):
                written.append(block)
                advance(1)
        finish_content_workload(
            directory,
            space=self.space,
            brokers=self.brokers,
            sites=self.sites,
            clients=written,
            window=Window(),
            sources=[self.source],
        )

    def raw_trace(self, *, with_events: bool) -> RawTrace:
        return content_trace(self)


def check_sizes(num_clients: int, num_brokers: int) -> None:
    """Refuse numbers of clients and brokers that cannot be drawn."""
    for option, value, most in (("num_clients", num_clients, MAX_CLIENTS), ("num_brokers", num_brokers, MAX_BROKERS)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(f"{argument(option)} is a whole number from 1 to {most:,}, not {value}.")
