"""The raw tables of content shapes, with ids instead of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, num_blocks, random_stream
from pubplan.generate.shape import RawTable, RawTrace
from pubplan.workload import PUBLISHER, Int64Array, numbered_ids
from pubplan.workload.content.tables import coordinate_names

if TYPE_CHECKING:
    from pubplan.generate.content.shape import ContentShape

LATENCIES_PER_FILE = 1 << 22


def content_trace(shape: ContentShape) -> RawTrace:
    """Clients and brokers, and sites where they have coordinates; otherwise latencies between sites and brokers."""
    attributes = shape.space.attributes
    columns = ", ".join(f'"{each.name}={each.name}_low:{each.name}_high"' for each in attributes)
    grids = ", ".join(f'"{each.name}={each.origin}:{each.step}:{each.steps}"' for each in attributes)
    network = _latencies(shape) if shape.sites.coordinates is None else _sites(shape)
    return RawTrace((_clients(shape), _brokers(shape), network), (f"attribute = [{columns}]", f"grid = [{grids}]"))


def _clients(shape: ContentShape) -> RawTable:
    """Rows of client, site, and both ends of each attribute; steps have the length 1, so grid lines are values."""
    names = [attribute.name for attribute in shape.space.attributes]
    name, seed, draw = shape.name, _seed(shape), shape.draw
    num_clients, site_ids = shape.num_clients, shape.sites.ids

    def make(block: int) -> pa.Table:
        first, last = block_range(block, num_clients)
        order, drawn = random_stream(seed, f"{name}/raw/clients", block).permutation(last - first), draw(block)
        columns = {
            "client": numbered_ids("c", first, last).take(pa.array(order)),
            "site": site_ids.take(pa.array(drawn.sites[order])),
        }
        for axis, attribute in enumerate(names):
            columns[f"{attribute}_low"] = pa.array(drawn.lows[order, axis])
            columns[f"{attribute}_high"] = pa.array(drawn.highs[order, axis])
        return pa.table(columns)

    return RawTable("clients", num_blocks(num_clients), make)


def _brokers(shape: ContentShape) -> RawTable:
    """Rows of broker, parent (none where the publisher is), latency, share, capacity and coordinates."""
    brokers = shape.brokers
    parents = pa.array(brokers.parents, mask=brokers.parents == PUBLISHER)
    columns = {
        "broker": brokers.ids,
        "parent": brokers.ids.take(parents),
        "latency": pa.array(brokers.latencies),
        "share": pa.array(brokers.shares),
        "capacity": pa.array(brokers.capacities),
        **_coordinates(brokers.coordinates),
    }
    order = random_stream(_seed(shape), f"{shape.name}/raw/brokers").permutation(brokers.num_brokers)
    table = pa.table(columns).take(pa.array(order))
    return RawTable("brokers", 1, lambda _: table)


def _sites(shape: ContentShape) -> RawTable:
    """Rows of site and coordinates; latencies are distances from the brokers' coordinates."""
    columns = {"site": shape.sites.ids, **_coordinates(shape.sites.coordinates)}
    order = random_stream(_seed(shape), f"{shape.name}/raw/sites").permutation(len(shape.sites.ids))
    table = pa.table(columns).take(pa.array(order))
    return RawTable("sites", 1, lambda _: table)


def _latencies(shape: ContentShape) -> RawTable:
    """Rows of site, broker, latency, one for each two."""
    matrix, site_ids, broker_ids = shape.sites.latencies, shape.sites.ids, shape.brokers.ids
    num_brokers = matrix.shape[1]
    rows_per_file = max(1, LATENCIES_PER_FILE // num_brokers)

    def make(file: int) -> pa.Table:
        some = np.arange(file * rows_per_file, min(len(matrix), (file + 1) * rows_per_file))
        return pa.table(
            {
                "site": site_ids.take(pa.array(np.repeat(some, num_brokers))),
                "broker": broker_ids.take(pa.array(np.tile(np.arange(num_brokers), len(some)))),
                "latency": pa.array(matrix[some].reshape(-1)),
            }
        )

    return RawTable("latencies", -(-len(matrix) // rows_per_file), make)


def _coordinates(points: Int64Array | None) -> dict[str, pa.Array]:
    if points is None:
        return {}
    return {name: pa.array(values) for name, values in zip(coordinate_names(points.shape[1]), points.T, strict=True)}


def _seed(shape: ContentShape) -> int:
    """The seed of the order of rows; a shape without random choices has none."""
    return int(shape.parameters.get("seed", 0))
