"""A content workload: clients at sites that subscribe to rectangles of the space of events, and a tree of brokers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import BLOCK_ROWS, exact_sum, map_blocks
from pubplan.errors import InputError
from pubplan.text import counted
from pubplan.workload.content.links import check_metric
from pubplan.workload.content.publications import check_published, sum_by_cell
from pubplan.workload.content.space import Space, volumes
from pubplan.workload.content.tables import OPTIONAL_CLIENTS, corner_names
from pubplan.workload.content.totals import ContentCounts, ContentTotals
from pubplan.workload.content.tree import Brokers
from pubplan.workload.manifest import MANIFEST, Manifest
from pubplan.workload.tables import Int32Array, Int64Array, int64_list_column, list_column
from pubplan.workload.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class ClientBlock:
    """Clients in memory: their sites, and the corners of their rectangles as rows."""

    sites: Int32Array
    lows: Int32Array
    highs: Int32Array


class ContentWorkload(Workload):
    """A workload of clients, sites and brokers, opened."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        super().__init__(path, manifest)
        try:
            self.space = Space.from_dict(manifest.details["space"])
        except (AttributeError, InputError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path / MANIFEST} is damaged: its space is not one. {error}") from error

    @property
    def counts(self) -> ContentCounts:
        counts = self.manifest.counts
        assert isinstance(counts, ContentCounts)
        return counts

    @property
    def totals(self) -> ContentTotals:
        totals = self.manifest.totals
        assert isinstance(totals, ContentTotals)
        return totals

    def summary(self) -> str:
        """Clients, sites, brokers and the space."""
        counts, space = self.counts, self.space
        attributes = " x ".join(f"{attribute.name} ({attribute.steps:,} steps)" for attribute in space.attributes)
        return (
            f"{counted(counts.clients, 'client')} at {counted(counts.sites, 'site')}, "
            f"{counted(counts.brokers, 'broker')} (leaves: {counts.leaves:,}); events in {attributes}"
        )

    @cached_property
    def optional_columns(self) -> frozenset[str]:
        """Which optional columns the clients have."""
        return self.column_names("clients") & frozenset(OPTIONAL_CLIENTS)

    @cached_property
    def brokers(self) -> Brokers:
        """All brokers.

        Raises:
            InputError: the table cannot be read or is not a tree of brokers.
        """
        columns = ("parent", "latency", "share", "capacity")
        parents, latencies, shares, capacities = (self.column("brokers", name) for name in columns)
        brokers = Brokers(
            self.ids("brokers", "broker_id"),
            parents.astype(np.int32),
            latencies,
            shares,
            capacities,
            self._coordinates("brokers"),
        )
        brokers.check()
        return brokers

    @cached_property
    def site_ids(self) -> pa.Array:
        return self.ids("sites", "site_id")

    @cached_property
    def site_latencies(self) -> Int32Array:
        """Microseconds from every site (row) to every broker (column)."""
        return self._matrix("latency")

    @cached_property
    def site_prices(self) -> Int32Array | None:
        """What traffic from every site (row) to every broker (column) costs; None where that is not known."""
        return self._matrix("price") if "price" in self.column_names("sites") else None

    @cached_property
    def site_coordinates(self) -> Int64Array | None:
        """Where sites are in the network space; None where that is not known."""
        return self._coordinates("sites")

    @cached_property
    def density(self) -> Int64Array | None:
        """Messages published per window by cell, with an axis per attribute; None where they were not counted."""
        if self.space.cells is None:
            return None
        messages = self.column("density", "messages")
        if len(messages) != self.space.num_cells or (len(messages) and messages.min() < 0):
            raise InputError(f"{self.path}/density does not hold a number of messages for each cell of the space.")
        return messages.reshape(self.space.cells)

    @cached_property
    def link_prices(self) -> Int64Array | None:
        """What traffic between every two brokers costs; None where that is not known.

        Raises:
            InputError: there is not one price from 0 for every two brokers, the same in both directions, or traffic
                between two brokers would be cheaper over a third.
        """
        if "links" not in self.manifest.blocks:
            return None
        number, rows = self.counts.brokers, []
        for table in self.blocks("links", "prices"):
            offsets, values = int64_list_column(table, "prices")
            if (np.diff(offsets) != number).any():
                raise InputError(f"{self.path}/links has no price to each of the {number} brokers.")
            rows.append(values.reshape(-1, number))
        prices = np.concatenate([np.empty((0, number), np.int64), *rows])
        check_metric(prices, self.brokers.ids)
        return prices

    def client_block(self, block: int, *columns: str) -> pa.Table:
        """One block of the clients: all columns, or those named."""
        return self.block("clients", block, *columns)

    def read_clients(self, block: int) -> ClientBlock:
        """The sites and rectangles of one block of clients.

        Raises:
            InputError: a site does not exist, or a rectangle is empty or leaves the space.
        """
        low_names, high_names = corner_names(self.space.num_dimensions)
        table = self.client_block(block, "site", *low_names, *high_names)
        sites = table["site"].to_numpy()
        lows, highs = (np.column_stack([table[name].to_numpy() for name in names]) for names in (low_names, high_names))
        if len(sites) and (sites.min() < 0 or sites.max() >= self.counts.sites):
            raise InputError(f"Block {block} of {self.path}/clients names sites that do not exist.")
        if ((lows < 0) | (lows >= highs) | (highs > np.array(self.space.extents))).any():
            raise InputError(f"Block {block} of {self.path}/clients has rectangles that are empty or leave the space.")
        return ClientBlock(sites, lows, highs)

    def read_publications(self, block: int) -> tuple[Int64Array, Int32Array, Int64Array]:
        """What one block of clients publishes, as CSR: offsets by client, cells of the density, messages per window.

        Clients of a workload that does not say what they publish have no cells.

        Raises:
            InputError: cells are outside of the space or not ascending, or have no number of messages from 0 each.
        """
        if "cells" not in self.optional_columns:
            num_rows = self.manifest.blocks["clients"][block].rows
            return np.zeros(num_rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        if "counts" not in self.optional_columns:
            raise InputError(f"{self.path}/clients has cells in which clients publish, but no numbers of messages.")
        table = self.client_block(block, "cells", "counts")
        (offsets, cells), (ends, counts) = list_column(table, "cells"), int64_list_column(table, "counts")
        if not np.array_equal(offsets, ends) or (len(counts) and counts.min() < 0):
            raise InputError(
                f"Block {block} of {self.path}/clients has no number of messages from 0 for each cell of its clients."
            )
        if len(cells) and (cells.min() < 0 or cells.max() >= self.space.num_cells):
            raise InputError(f"Block {block} of {self.path}/clients names cells that the space does not have.")
        is_first = np.zeros(len(cells) + 1, dtype=np.bool_)
        is_first[offsets] = True
        if (np.diff(cells) <= 0)[~is_first[1:-1]].any():
            raise InputError(f"Block {block} of {self.path}/clients has cells that are not in ascending order.")
        return offsets, cells, counts

    def find_client(self, client_id: str, spark: SparkSession | None = None) -> tuple[int, int]:
        """The block of a client, and its row there.

        Raises:
            InputError: there is no such client.
        """
        row = self.find_id("clients", "client_id", client_id, spark)
        if row is None:
            raise InputError(f"{self.path} has no client {client_id!r}.")
        return row

    def client_id(self, client: int) -> str:
        """The id of a client, by its number."""
        block, row = divmod(client, BLOCK_ROWS)
        name: str = self.client_block(block, "client_id")["client_id"][row].as_py()
        return name

    def broker_number(self, broker_id: str) -> int:
        """The number of a broker.

        Raises:
            InputError: there is no such broker.
        """
        row = self.find_id("brokers", "broker_id", broker_id)
        if row is None:
            raise InputError(f"{self.path} has no broker {broker_id!r}.")
        return row[1]

    def recompute_totals(self) -> ContentTotals:
        def add(block: int) -> tuple[int, int]:
            clients = self.read_clients(block)
            return exact_sum(volumes(clients.lows, clients.highs)), exact_sum(self.read_publications(block)[2])

        return total_of(map_blocks(add, self.num_blocks), self.density)

    def published(self, spark: SparkSession | None = None) -> Int64Array:
        """Messages per window by cell that some client publishes, of all clients together."""

        def add(block: int) -> Int64Array:
            _, cells, counts = self.read_publications(block)
            return sum_by_cell(cells, counts, self.space.num_cells)

        every_cell = np.arange(self.space.num_cells, dtype=np.int32)
        messages = [np.zeros(len(every_cell), np.int64), *map_blocks(add, self.num_blocks, spark)]
        return sum_by_cell(np.tile(every_cell, len(messages)), np.concatenate(messages), len(every_cell))

    def check(self, spark: SparkSession | None = None) -> None:
        """As for every workload, and that leaves, links and what clients publish agree with the other tables.

        The density holds what clients publish, and messages whose publisher is not known.
        """
        super().check(spark)
        if len(self.brokers.leaves) != self.counts.leaves:
            raise InputError(f"{self.path / MANIFEST} counts other leaves than its brokers have.")
        _ = self.link_prices, self.site_prices  # raise what is wrong with them
        if "cells" in self.optional_columns:
            check_published(self.published(spark), self.density)

    def _matrix(self, column: str) -> Int32Array:
        num_brokers = self.counts.brokers
        rows = []
        for table in self.blocks("sites", column):
            offsets, values = list_column(table, column)
            if (np.diff(offsets) != num_brokers).any() or (len(values) and values.min() < 0):
                raise InputError(
                    f"{self.path}/sites has no {column} of at least 0 to each of the {num_brokers} brokers."
                )
            rows.append(values.reshape(-1, num_brokers))
        return np.concatenate([np.empty((0, num_brokers), np.int32), *rows])

    def _coordinates(self, table: str) -> Int64Array | None:
        names = sorted(
            (name for name in self.column_names(table) if name.startswith("x_")), key=lambda name: int(name[2:])
        )
        return np.column_stack([self.column(table, name) for name in names]).astype(np.int64) if names else None


def total_of(blocks: Iterable[tuple[int, int]], density: Int64Array | None) -> ContentTotals:
    """The totals, from the volume and the messages of every block; a density counts the messages by itself."""
    sums = [sum(values) for values in zip(*blocks, strict=True)] or [0, 0]
    return ContentTotals(volume=sums[0], rate=sums[1] if density is None else exact_sum(density.reshape(-1)))
