"""A content workload: clients at sites that subscribe to rectangles of the space of events, and a tree of brokers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import exact_sum, map_blocks
from pubplan.errors import InputError
from pubplan.text import counted
from pubplan.workload.content.space import Space, volumes
from pubplan.workload.content.tables import OPTIONAL_CLIENTS, corner_names
from pubplan.workload.content.totals import ContentCounts, ContentTotals
from pubplan.workload.content.tree import Brokers
from pubplan.workload.manifest import MANIFEST, Manifest
from pubplan.workload.tables import Int32Array, Int64Array, list_column
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

    def find_client(self, client_id: str, spark: SparkSession | None = None) -> tuple[int, int]:
        """The block of a client, and its row there.

        Raises:
            InputError: there is no such client.
        """
        row = self.find_id("clients", "client_id", client_id, spark)
        if row is None:
            raise InputError(f"{self.path} has no client {client_id!r}.")
        return row

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
            published = 0
            if "counts" in self.optional_columns:
                published = exact_sum(
                    self.client_block(block, "counts")["counts"].combine_chunks().flatten().to_numpy()
                )
            return exact_sum(volumes(clients.lows, clients.highs)), published

        return total_of(map_blocks(add, self.num_blocks), self.density)

    def check(self, spark: SparkSession | None = None) -> None:
        """As for every workload, and that the manifest counts the leaves of the tree."""
        super().check(spark)
        if len(self.brokers.leaves) != self.counts.leaves:
            raise InputError(f"{self.path / MANIFEST} counts other leaves than its brokers have.")

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
