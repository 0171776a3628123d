"""Writing a content workload: clients block by block, by whatever makes them; then the rest and the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range, exact_sum
from pubplan.errors import InputError
from pubplan.workload.content.kind import CONTENT
from pubplan.workload.content.links import check_metric
from pubplan.workload.content.space import Space, volumes
from pubplan.workload.content.tables import brokers_table, clients_table, density_table, links_table, sites_table
from pubplan.workload.content.tree import Brokers
from pubplan.workload.content.workload import total_of
from pubplan.workload.manifest import Block, Manifest, Window
from pubplan.workload.tables import Int32Array, Int64Array
from pubplan.workload.writer import finish, write_table, write_table_block

UNITS = {"latency": "us", "price": "micro-dollars per GB"}

MAX_SITES = 2**31 - 1


@dataclass(frozen=True)
class Sites:
    """Where clients are: latencies in us (rows) to every broker (columns), and where known prices and coordinates."""

    ids: pa.Array
    latencies: Int32Array
    prices: Int32Array | None = None
    coordinates: Int64Array | None = None

    def check(self, num_brokers: int) -> None:
        """Refuse a matrix that is incomplete or has negative numbers.

        Raises:
            InputError: says which.
        """
        for noun, matrix in (("latencies", self.latencies), ("prices", self.prices)):
            if matrix is None:
                continue
            if matrix.shape != (len(self.ids), num_brokers):
                raise InputError(
                    f"The {noun} are {matrix.shape[0]:,} x {matrix.shape[1]:,} numbers; {len(self.ids):,} sites and "
                    f"{num_brokers:,} brokers need one for each site and broker."
                )
            if matrix.size and matrix.min() < 0:
                site = int(np.argmin(matrix.min(axis=1)))
                raise InputError(f"The {noun} of the site {self.ids[site].as_py()!r} must not be negative.")


@dataclass(frozen=True)
class WrittenClients:
    """A block of clients on disk: its entry for the manifest, its volume and what it publishes."""

    entry: Block
    volume: int
    published: int


def write_clients_block(
    directory: Path,
    block: int,
    client_ids: pa.Array,
    sites: Int32Array,
    lows: Int32Array,
    highs: Int32Array,
    optional: Mapping[str, Any] | None = None,
) -> WrittenClients:
    """Write one block of clients; corners are rows of ``lows`` and ``highs``."""
    first, _ = block_range(block, MAX_INT64)
    table = clients_table(first, client_ids, sites, lows, highs, optional)
    entry = write_table_block(directory / "clients", block, table)
    published = (
        exact_sum(table["counts"].combine_chunks().flatten().to_numpy()) if "counts" in table.column_names else 0
    )
    return WrittenClients(entry, exact_sum(volumes(lows, highs)), published)


def finish_content_workload(
    directory: Path,
    *,
    space: Space,
    brokers: Brokers,
    sites: Sites,
    clients: Sequence[WrittenClients],
    window: Window,
    sources: Iterable[Mapping[str, Any]],
    density: Int64Array | None = None,
    rows: Mapping[str, Any] | None = None,
    rejected: Sequence[Block] = (),
    links: Int64Array | None = None,
) -> Manifest:
    """Write brokers, sites, links, density and the manifest next to clients that are written already.

    Args:
        density: messages per cell of the space, in its order or with an axis per attribute.
        rows: ``rows_in``, ``kept``, ``rejected`` and ``duplicates`` where rows were read.
        links: the price of traffic between every two brokers, a metric.

    Raises:
        InputError: the brokers are not a tree, a matrix is incomplete, the links are not a metric, or the density is
            not that of the space or has fewer messages than clients publish.
    """
    brokers.check()
    if len(sites.ids) > MAX_SITES:
        raise InputError(f"{len(sites.ids):,} sites are more than the {MAX_SITES:,} that pubplan can number.")
    sites.check(brokers.num_brokers)
    tables = {
        "brokers": brokers_table(brokers),
        "sites": sites_table(sites.ids, sites.latencies, sites.prices, sites.coordinates),
    }
    messages = None if density is None else np.asarray(density, dtype=np.int64).reshape(-1)
    if (0 if messages is None else len(messages)) != space.num_cells:
        raise InputError(
            "A density holds a number of messages for each cell of its space, and a space without cells none."
        )
    if messages is not None:
        if messages.min() < 0:
            raise InputError("Messages per cell must not be negative.")
        tables["density"] = density_table(messages)
    if sum(each.published for each in clients) > (0 if messages is None else exact_sum(messages)):
        raise InputError("Clients publish more messages than the density of the space has.")
    if links is not None:
        check_metric(links, brokers.ids)
        tables["links"] = links_table(links)
    blocks = {"clients": [each.entry for each in clients]}
    blocks |= {name: list(write_table(directory, name, table)) for name, table in tables.items()}
    if rejected:
        blocks["rejected"] = list(rejected)
    num_clients = sum(each.entry.rows for each in clients)
    return finish(
        directory,
        CONTENT,
        blocks=blocks,
        totals=total_of(((each.volume, each.published) for each in clients), messages),
        window=window,
        sources=sources,
        rows={"rows_in": num_clients, "kept": num_clients} | dict(rows or {}) | {"leaves": len(brokers.leaves)},
        details={"space": space.to_dict(), "units": UNITS},
    )
