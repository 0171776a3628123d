"""The data pipeline of content workloads: from clients, brokers, sites and messages, as a list of named steps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pubplan.arguments import argument
from pubplan.engine import LazySpark, interruptible, stage, started
from pubplan.errors import InputError
from pubplan.files import atomic_directory
from pubplan.pipeline.accounts import RowCounts, RowTotals, describe_source, total_rows
from pubplan.pipeline.clean import TimeWindow, iso
from pubplan.pipeline.content.clean import (
    Clean,
    ClientCleaner,
    MessageCleaner,
    clean_brokers,
    clean_latencies,
    clean_sites,
)
from pubplan.pipeline.content.clients import (
    Extent,
    Publications,
    client_ids,
    sort_clients,
    survey_clients,
    survey_messages,
    write_clients,
)
from pubplan.pipeline.content.collect import StoredPart, collect, store
from pubplan.pipeline.content.grid import (
    Grid,
    default_steps,
    derived_grid,
    most_cells,
)
from pubplan.pipeline.content.job import ContentIngest
from pubplan.pipeline.content.messages import (
    add_densities,
    count_messages,
    publications,
    sort_publications,
    write_ids,
)
from pubplan.pipeline.content.network import (
    make_brokers,
    sites_by_coordinates,
    sites_by_matrix,
    sites_without_latencies,
)
from pubplan.pipeline.content.prices import clean_links, clean_prices, link_matrix, price_sites
from pubplan.pipeline.parts import Part
from pubplan.pipeline.reader import Reader, open_source
from pubplan.pipeline.refusals import check_rejected
from pubplan.pipeline.rejected import write_rejected
from pubplan.pipeline.source import Source
from pubplan.workload import (
    CONTENT,
    MANIFEST,
    Brokers,
    Closure,
    ContentWorkload,
    Int64Array,
    Sites,
    Space,
    Window,
    close_links,
    finish_content_workload,
    read_workload,
)
from pubplan.workload.content.links import check_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ingest_content(
    spark: SparkSession | LazySpark, job: ContentIngest, out: str | Path, *, replace: bool = False
) -> ContentWorkload:
    """Read raw tables, clean, number and write them as a content workload.

    1. Read the brokers, the sites with their latencies, and prices.
    2. Where a grid is not given, look at the extent of its attribute.
    3. Clean the clients, sort them by id, and number them.
    4. Count the messages per cell, and per client where they name it.
    5. Write the clients block by block, the rejected rows with their reasons, and the rest.

    Raises:
        InputError: a source cannot be read, or changes meanwhile; brokers are not a tree, or a latency or price is
            missing; the grid is too fine; or more rows of a source are rejected than ``max_rejected`` allows.
    """
    target = Path(os.path.abspath(out))
    with atomic_directory(target, marker=MANIFEST, replace=replace) as staging, interruptible():
        run = _Run(spark, job, staging / "scratch")
        with stage("looking at the sources"):
            run.open()
        with stage("reading brokers and sites"):
            brokers = run.read_brokers()
            sites = run.read_prices(run.read_sites(brokers), brokers)
            links = run.read_links(brokers)
        if not all(reader.is_small for reader in run.readers.values()):
            started(spark)
        extent = run.survey(brokers, needs_sites=sites is None)
        if sites is None:
            sites = sites_without_latencies(extent.sites, brokers)
        grids = run.grids(extent)
        with stage("cleaning clients"):
            stored = run.clean_clients(brokers, sites, grids)
        with stage("sorting clients"):
            parts = run.sort_clients(stored)
        space = job.space(grids)
        density, published = run.read_messages(space, grids, parts)
        clients = write_clients(parts, staging, space.num_dimensions, run.every_leaf(brokers), published, spark)
        with stage("keeping rejected rows"):
            total = total_rows(run.rows.values())
            rejected = write_rejected(run.rejected, [source.kind for source in job.sources], total["rejected"], staging)
        shutil.rmtree(run.scratch)
        finish_content_workload(
            staging,
            space=space,
            brokers=brokers,
            sites=sites,
            clients=clients,
            window=_window(job.window),
            sources=run.descriptions(grids),
            density=density,
            rows=total,
            rejected=rejected,
            links=links,
        )
    return read_workload(out, CONTENT)


class _Run:
    """One ingest: its open sources, its directories inside the unfinished output, and what became of the rows."""

    def __init__(self, spark: SparkSession | LazySpark, job: ContentIngest, scratch: Path) -> None:
        self.spark, self.job, self.scratch = spark, job, scratch
        self.rejected, self.clients, self.messages = (scratch / name for name in ("rejected", "clients", "messages"))
        for directory in (scratch, self.rejected, self.clients, self.messages):
            directory.mkdir()
        self.readers: dict[str, Reader] = {}
        self.totals: dict[str, RowTotals] = {}
        self.rows: dict[str, RowCounts] = {}
        self.conflicts = 0
        self.closure: Closure | None = None

    def open(self) -> None:
        """All sources, local ones first: what is wrong with them is said before Spark starts."""
        for source in sorted(self.job.sources, key=lambda source: not source.is_local):
            self.readers[source.kind] = open_source(self.spark, source)

    def read_brokers(self) -> Brokers:
        rows = self._collect(self.job.brokers, clean_brokers(self.job.digits))
        brokers = make_brokers(rows, self.job.brokers.path)
        self._account(self.job.brokers, brokers.num_brokers)
        return brokers

    def read_sites(self, brokers: Brokers) -> Sites | None:
        """The sites; None where only the clients name them."""
        source, digits = self.job.network, self.job.digits
        if source is None:
            return None
        if source.kind == "sites":
            sites = sites_by_coordinates(self._collect(source, clean_sites(digits)), brokers, source.path)
            self._account(source, len(sites.ids))
            return sites
        rows = self._collect(source, clean_latencies(brokers.ids, digits))
        sites, copies = sites_by_matrix(rows, brokers, source.path, self.totals[source.kind].rejected)
        self._account(source, rows.num_rows - copies)
        return sites

    def read_prices(self, sites: Sites | None, brokers: Brokers) -> Sites | None:
        """The sites with their prices; None where only the clients name them."""
        source, rates = self.job.prices, self.job.price_per_us
        if rates is not None:
            assert sites is not None  # a job with such prices has sites
            return rates.of_sites(sites, brokers)
        if source is None:
            return sites
        known = None if sites is None else sites.ids
        rows = self._collect(source, clean_prices(brokers.ids, known, self.job.price_digits))
        priced, copies = price_sites(rows, sites, brokers, source.path)
        self._account(source, rows.num_rows - copies)
        return priced

    def read_links(self, brokers: Brokers) -> Int64Array | None:
        """Prices between brokers, made a metric; None where there are none."""
        source, rates = self.job.links, self.job.price_per_us
        if source is None and rates is None:
            return None
        check_number(brokers.num_brokers)
        if source is None:
            return None if rates is None else rates.of_links(brokers)
        rows = self._collect(source, clean_links(brokers.ids, self.job.price_digits))
        matrix, copies = link_matrix(rows, brokers, source.path)
        self._account(source, rows.num_rows - copies)
        closed, self.closure = close_links(matrix, brokers.ids)
        return closed

    def survey(self, brokers: Brokers, *, needs_sites: bool) -> Extent:
        """What has to be known of clients and messages before they are read."""
        wanted = frozenset(self.job.derived)
        if not wanted and not needs_sites:
            return Extent.merge([])
        with stage("looking at the extent of the data"):
            cleaner = ClientCleaner(self.job.attributes, brokers.ids, self.job.digits, {}, pa.array([], pa.string()))
            extents = self.readers["clients"].run(self.spark, survey_clients(cleaner, wanted))
            if wanted and self.job.messages is not None:
                extents += self.readers["messages"].run(self.spark, survey_messages(wanted))
        return Extent.merge(extents)

    def grids(self, extent: Extent) -> dict[str, Grid]:
        """The given grids, and those that follow from the extent of the data.

        Raises:
            InputError: no client has a value of an attribute.
        """
        job, derived = self.job, {}
        for name in job.derived:
            if name not in extent.spans:
                raise InputError(
                    f"No client of {job.clients.path} has readable values of {name}: name the columns with "
                    f"{argument('attribute', f'{name}=LOW:HIGH')}, or give a grid with {argument('grid')}."
                )
            most = default_steps([grid.steps for grid in job.grids.values()], len(job.derived))
            cells = 1 if job.messages is None else job.cells.get(name, min(most, most_cells(len(job.attributes))))
            derived[name] = derived_grid(*extent.spans[name], most, cells)
        grids = {**job.grids, **derived}
        return {each.name: grids[each.name] for each in job.attributes}

    def clean_clients(self, brokers: Brokers, sites: Sites, grids: Mapping[str, Grid]) -> list[StoredPart]:
        cleaner = ClientCleaner(self.job.attributes, brokers.ids, self.job.digits, grids, sites.ids)
        stored = self.readers["clients"].run(self.spark, store(cleaner, "clients", self.clients, self.rejected))
        self._settle(self.job.clients, [part.totals for part in stored])
        return stored

    def sort_clients(self, stored: list[StoredPart]) -> list[Part]:
        num_rows, num_axes = self.totals["clients"].kept, len(self.job.attributes)
        given = frozenset[str]().union(*(part.given for part in stored))
        files = [file for part in stored for file in part.files]
        parts = sort_clients(files, given, num_rows, num_axes, self.scratch / "parts", self.spark)
        self.conflicts = sum(part.counts["conflicts"] for part in parts)
        self._account(self.job.clients, sum(part.num_rows for part in parts))
        return parts

    def read_messages(
        self, space: Space, grids: Mapping[str, Grid], parts: list[Part]
    ) -> tuple[Int64Array | None, Publications | None]:
        """Messages per cell, and what clients publish; None where that is not known."""
        source = self.job.messages
        if source is None or space.cells is None:
            return None, None
        with stage("counting messages"):
            clients = write_ids(self.scratch / "client-ids.parquet", client_ids(parts))
            cleaner = MessageCleaner(grids, space.cells, clients)
            counting = count_messages(cleaner, space.num_cells, self.messages, self.rejected)
            counted = self.readers["messages"].run(self.spark, counting)
            self._settle(source, [part.totals for part in counted])
            self._account(source)
            density = add_densities(counted, space.num_cells)
            published = sort_publications(counted, self.scratch / "publications", self.spark)
            return density, publications(published) if published else None

    def every_leaf(self, brokers: Brokers) -> str:
        return ";".join(map(str, brokers.leaves.tolist()))

    def descriptions(self, grids: Mapping[str, Grid]) -> list[dict[str, Any]]:
        """The entries of the sources in the manifest."""
        job = self.job
        further: dict[str, Any] = {
            "derived_grids": [grids[name].option(name) for name in job.derived],
            "derived_sites": job.network is None,
            "conflicts": self.conflicts,
        }
        entries = []
        for source in job.sources:
            kind = source.kind
            entry = describe_source(source, self.readers[kind], self.totals[kind], self.rows[kind])
            if kind == "links" and self.closure is not None:
                entry["links_closed"] = self.closure.to_dict()
            entries.append(entry | (further if kind == "clients" else {}))
        return entries

    def _collect(self, source: Source, clean: Clean) -> pa.Table:
        parts = self.readers[source.kind].run(self.spark, collect(clean, source.kind, self.rejected))
        self._settle(source, [part.totals for part in parts])
        tables = [table for part in parts for table in part.tables]
        if not tables:
            raise InputError(f"{source.path} has no rows; expected {source.kind}.")
        return pa.concat_tables(tables, promote_options="default").combine_chunks()

    def _settle(self, source: Source, parts: list[RowTotals]) -> RowTotals:
        """Add up what tasks counted, and refuse a source that changed, or of which too much is rejected."""
        self.readers[source.kind].finish()
        totals = RowTotals.sum(parts)
        totals.check(source)
        check_rejected(source, totals.rejected, totals.rows, self.job.max_rejected, self.rejected)
        self.totals[source.kind] = totals
        return totals

    def _account(self, source: Source, kept: int | None = None) -> None:
        self.rows[source.kind] = self.totals[source.kind].counts(kept)


def _window(window: TimeWindow) -> Window:
    if window.start is None or window.end is None:
        return Window()
    return Window(iso(window.start), iso(window.end), (window.end - window.start) / 1e6)
