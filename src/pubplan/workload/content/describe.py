"""How subscriptions, clients, sites and leaves are distributed. Everything is counted exactly, block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.engine import exact_dot, exact_sum, map_blocks, stage
from pubplan.text import aligned, counted, factor_up, html_table
from pubplan.workload.content.balance import least_load_factor
from pubplan.workload.content.groups import Groups, candidates_of, read_groups
from pubplan.workload.content.overlap import HeatMap, cell_edges, count_overlap, heat_map
from pubplan.workload.content.space import volumes
from pubplan.workload.content.traffic import Published, describe_prices, describe_published
from pubplan.workload.content.workload import ContentWorkload
from pubplan.workload.describe import Description
from pubplan.workload.distribution import (
    EDGES,
    NUM_BINS,
    QUANTILE_HEADER,
    Distribution,
    bin_counts,
    distribution,
    distribution_of,
    one_in,
    quantile_rows,
)
from pubplan.workload.tables import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

USUAL_DELAY = "0.3"
"""The max delay of clients that have no limits of their own."""

PRICE_NAMES = {
    "sites": "prices between sites and brokers, in micro-dollars per GB",
    "links": "prices between brokers, in micro-dollars per GB",
}

_FARTHEST = 2**31 - 1


@dataclass(frozen=True)
class MapPoint:
    """A site or a broker on the map: its first two coordinates in us, and how many clients it has.

    The clients of a leaf are those to which it is the nearest; other brokers have none.
    """

    id: str
    x: int
    y: int
    clients: int
    is_leaf: bool


@dataclass(frozen=True, repr=False)
class ContentDescription(Description):
    """A content workload in numbers.

    Attributes:
        attributes: name, origin, step and number of steps of each.
        volumes: of subscriptions, in millionths of the space, rounded up.
        overlap: where subscriptions overlap, over the first two attributes.
        max_delay: the delay for which candidates are counted; None where clients have limits.
        candidates: how many leaves may serve a client.
        num_unserved: clients that no leaf may serve.
        clients_per_site: how many clients the sites have.
        nearest_loads: clients per leaf if each took the nearest of those that it may use, by the last hop.
        least_load: the least load factor that any assignment reaches; None where no leaf may serve some client.
        sites: all sites, where they have coordinates.
        brokers: all brokers, where they have coordinates.
        published: what clients publish; None where that is not known.
        prices: of traffic, in micro-dollars per GB: of ``sites`` to every broker, and of ``links`` between brokers.
    """

    attributes: Sequence[dict[str, Any]]
    volumes: Distribution
    overlap: HeatMap
    max_delay: str | None
    candidates: Distribution
    num_unserved: int
    clients_per_site: Distribution
    nearest_loads: Distribution
    least_load: Fraction | None
    sites: Sequence[MapPoint]
    brokers: Sequence[MapPoint]
    published: Published | None = None
    prices: Mapping[str, Distribution] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "least_load": None if self.least_load is None else factor_value(self.least_load)}

    def __repr__(self) -> str:
        return f"ContentDescription({self._sizes()})"

    def __str__(self) -> str:
        spans = [f"{each['name']} ({each['steps']:,} steps of {each['step']})" for each in self.attributes]
        lines = [self._sizes(), f"Events in {' x '.join(spans)}"]
        if self.totals["rate"]:
            lines.append(self._messages())
        lines += ["", *aligned([QUANTILE_HEADER, *self._distributions()], left=(0,)), "", *self._findings()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The distributions as a table, for notebooks."""
        findings = "".join(f"<p>{sentence}</p>" for sentence in self._findings())
        return f"<p>{self._sizes()}</p>{html_table(self._distributions(), header=QUANTILE_HEADER)}{findings}"

    def _messages(self) -> str:
        text = f"{self.totals['rate']:,} messages published per window"
        if self.published is None:
            return f"{text}; by which clients is not known"
        publishers = f"by {self.published.num_publishers:,} of {counted(self.counts['clients'], 'client')}"
        unnamed = self.published.num_unnamed
        return f"{text}, {publishers}" + (f"; of {unnamed:,} the client is not known" if unnamed else "")

    def _sizes(self) -> str:
        counts = self.counts
        return (
            f"{counted(counts['clients'], 'client')} at {counted(counts['sites'], 'site')}, "
            f"{counted(counts['brokers'], 'broker')}, of which {counts['leaves']:,} serve clients"
        )

    @property
    def _within(self) -> str:
        return "in the limits of clients" if self.max_delay is None else f"with a max delay of {self.max_delay}"

    def _distributions(self) -> list[list[str]]:
        named = {} if self.published is None else {"messages per client": self.published.messages}
        named |= {PRICE_NAMES[name]: prices for name, prices in self.prices.items()}
        return quantile_rows(
            {
                "subscriptions, in millionths of the space": self.volumes,
                f"leaves per client {self._within}": self.candidates,
                "clients per site": self.clients_per_site,
                "clients per leaf if each took the nearest": self.nearest_loads,
                **named,
            }
        )

    def _findings(self) -> list[str]:
        cells = " x ".join(str(len(edges) - 1) for edges in self.overlap.edges)
        names = " and ".join(self.overlap.attributes)
        lines = [f"At most {counted(self.overlap.most, 'subscription')} share one of {cells} equal parts of {names}."]
        if self.least_load is None:
            return [*lines, f"No leaf may serve {counted(self.num_unserved, 'client')} {self._within}."]
        return [*lines, f"The least load factor of any assignment {self._within}: {factor_up(self.least_load)}."]


def factor_value(factor: Fraction) -> dict[str, Any]:
    """A load factor for JSON: as a number, and exactly."""
    return {"factor": float(factor), "exact": str(factor)}


@dataclass(frozen=True)
class _BlockCounts:
    """What one block adds: bins, the largest and the sum of volumes, the volumes, and subscriptions per cell."""

    volumes: Int64Array
    largest_volume: int
    total_volume: int
    volume_each: Int64Array
    overlap: Int64Array


def describe_content(workload: ContentWorkload, spark: SparkSession | None = None) -> ContentDescription:
    """Describe a content workload; clients are counted block by block, in this process or on Spark.

    Rows of clients count once, whatever they weigh; loads and the load factor count weights.

    Raises:
        InputError: a table cannot be read.
    """
    edges = cell_edges(workload.space)
    blocks: list[_BlockCounts] = []
    with stage("describing", workload.num_blocks) as advance:
        for block in map_blocks(_block_counter(workload, edges), workload.num_blocks, spark):
            blocks.append(block)
            advance(1)
    max_delay = None if "limit" in workload.optional_columns else USUAL_DELAY
    groups = read_groups(workload, max_delay, spark=spark)
    candidates = candidates_of(workload, groups)
    clients, num_candidates = np.bincount(groups.of_client, minlength=groups.num_groups), np.diff(candidates.offsets)
    num_unserved = int(clients[num_candidates == 0].sum())
    per_site = np.bincount(groups.sites[groups.of_client], minlength=workload.counts.sites)
    brokers, loads = workload.brokers, _nearest_loads(workload, groups)
    factor = None if num_unserved else least_load_factor(candidates, groups.weights, brokers.shares)
    return ContentDescription(
        counts=workload.counts.sizes,
        totals=asdict(workload.totals),
        window=asdict(workload.manifest.window),
        attributes=workload.space.to_dict()["attributes"],
        volumes=_add_volumes(blocks, workload.counts.clients),
        overlap=heat_map(workload.space, edges, [block.overlap for block in blocks]),
        max_delay=max_delay,
        candidates=_distribution_by_group(num_candidates, clients),
        num_unserved=num_unserved,
        clients_per_site=distribution_of(per_site),
        nearest_loads=distribution_of(loads[brokers.leaves]),
        least_load=factor,
        sites=map_points(workload.site_ids, workload.site_coordinates, per_site),
        brokers=map_points(brokers.ids, brokers.coordinates, loads, brokers.is_leaf),
        published=describe_published(workload, spark),
        prices=describe_prices(workload),
    )


def overlap_of(workload: ContentWorkload) -> HeatMap:
    """Where the subscriptions of a workload overlap, over its first two attributes."""
    edges = cell_edges(workload.space)

    def count(block: int) -> Int64Array:
        clients = workload.read_clients(block)
        return count_overlap(clients.lows, clients.highs, edges)

    return heat_map(workload.space, edges, map_blocks(count, workload.num_blocks))


def least_load(workload: ContentWorkload, max_delay: str, spark: SparkSession | None = None) -> Fraction:
    """The least load factor that any assignment reaches within a delay.

    Raises:
        InputError: no leaf may serve some client.
    """
    groups = read_groups(workload, max_delay, spark=spark)
    return least_load_factor(candidates_of(workload, groups), groups.weights, workload.brokers.shares)


def _block_counter(workload: ContentWorkload, edges: Sequence[Int64Array]) -> Callable[[int], _BlockCounts]:
    whole = workload.space.volume

    def count(block: int) -> _BlockCounts:
        clients = workload.read_clients(block)
        parts = millionths(volumes(clients.lows, clients.highs), whole)
        overlap = count_overlap(clients.lows, clients.highs, edges)
        return _BlockCounts(bin_counts(parts), int(parts.max(initial=0)), exact_sum(parts), parts, overlap)

    return count


def millionths(volumes: Int64Array, whole: int) -> Int64Array:
    """Volumes in millionths of the whole, rounded up; long division keeps every product within 64 bits."""
    thousandths, rest = np.divmod(volumes * 1000, whole)
    further, rest = np.divmod(rest * 1000, whole)
    parts: Int64Array = thousandths * 1000 + further + (rest > 0)
    return parts


def _add_volumes(blocks: Sequence[_BlockCounts], num_clients: int) -> Distribution:
    bins = sum((block.volumes for block in blocks), np.zeros(NUM_BINS, dtype=np.int64))
    total = sum(block.total_volume for block in blocks)
    reached = one_in(np.concatenate([np.empty(0, dtype=np.int64), *(block.volume_each for block in blocks)]))
    return distribution(bins, total, reached, num_clients, max((block.largest_volume for block in blocks), default=0))


def _distribution_by_group(values: Int64Array, numbers: Int64Array) -> Distribution:
    """The distribution of values of which each occurs as often as its number says."""
    bins: Int64Array = np.zeros(NUM_BINS, dtype=np.int64)
    np.add.at(bins, np.searchsorted(EDGES, values, side="right"), numbers)
    largest = int(values[numbers > 0].max(initial=0))
    return distribution(bins, exact_dot(values, numbers), one_in(values, numbers), exact_sum(numbers), largest)


def _nearest_loads(workload: ContentWorkload, groups: Groups) -> Int64Array:
    """What every broker would serve if each client took the nearest leaf that it may use; the first of equals."""
    brokers = workload.brokers
    leaves = brokers.leaves[brokers.shares[brokers.leaves] > 0]
    last_hops = workload.site_latencies[:, leaves]
    # Groups at one site with the same allowed brokers, whatever their limits.
    keys, key_of = np.unique(np.column_stack([groups.sites, groups.masks]), axis=0, return_inverse=True)
    weights: Int64Array = np.zeros(len(keys), dtype=np.int64)
    np.add.at(weights, key_of.reshape(-1), groups.weights)
    loads: Int64Array = np.zeros(brokers.num_brokers, dtype=np.int64)
    for (site, mask), weight in zip(keys.tolist(), weights.tolist(), strict=True):
        is_allowed = groups.allowed[mask, leaves] if mask >= 0 else np.ones(len(leaves), dtype=np.bool_)
        if is_allowed.any():
            nearest = np.argmin(np.where(is_allowed, last_hops[site], _FARTHEST))
            loads[leaves[nearest]] += weight
    return loads


def map_points(
    ids: pa.Array, coordinates: Int64Array | None, clients: Int64Array, is_leaf: npt.NDArray[np.bool_] | None = None
) -> list[MapPoint]:
    """Sites or brokers with their first two coordinates and clients; nothing where there are no coordinates."""
    if coordinates is None:
        return []
    flat = coordinates if coordinates.shape[1] > 1 else np.column_stack([coordinates, np.zeros_like(coordinates)])
    leaves = np.zeros(len(ids), dtype=np.bool_) if is_leaf is None else is_leaf
    columns = (ids.to_pylist(), flat[:, 0].tolist(), flat[:, 1].tolist(), clients.tolist(), leaves.tolist())
    return [MapPoint(*row) for row in zip(*columns, strict=True)]
