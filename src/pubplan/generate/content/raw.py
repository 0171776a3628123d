"""The raw tables of content shapes, with ids instead of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, map_blocks, num_blocks, random_stream
from pubplan.generate.content.traffic import Publications, Traffic, traffic_of
from pubplan.generate.shape import RawTable, RawTrace
from pubplan.workload import PUBLISHER, Int32Array, Int64Array, numbered_ids
from pubplan.workload.content.tables import coordinate_names

if TYPE_CHECKING:
    from pubplan.generate.content.shape import ContentShape

ROWS_PER_FILE = 1 << 22


def content_trace(shape: ContentShape) -> RawTrace:
    """Clients and brokers, and sites where they have coordinates; otherwise latencies between sites and brokers.

    Prices, links and messages where the shape has any.
    """
    attributes = shape.space.attributes
    columns = ", ".join(f'"{each.name}={each.name}_low:{each.name}_high"' for each in attributes)
    grids = ", ".join(f'"{each.name}={each.origin}:{each.step}:{each.steps}"' for each in attributes)
    network = _latencies(shape) if shape.sites.coordinates is None else _sites(shape)
    tables, options = [_clients(shape), _brokers(shape), network], [f"attribute = [{columns}]", f"grid = [{grids}]"]
    if shape.sites.prices is not None:
        tables.append(_site_rows(shape, "prices", "price", shape.sites.prices))
    if shape.links is not None:
        tables.append(_links(shape, shape.links))
    if shape.publish is not None and shape.space.cells is not None:
        tables.append(_messages(shape, shape.publish))
        cells = zip(attributes, shape.space.cells, strict=True)
        options.append("cells = [" + ", ".join(f'"{each.name}={number}"' for each, number in cells) + "]")
    return RawTrace(tables, options)


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

    def make(_: int) -> pa.Table:
        brokers = shape.brokers if shape.publish is None else shape.equip(_traffic(shape, shape.publish))
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
        return pa.table(columns).take(pa.array(order))

    return RawTable("brokers", 1, make)


def _sites(shape: ContentShape) -> RawTable:
    """Rows of site and coordinates; latencies are distances from the brokers' coordinates."""
    columns = {"site": shape.sites.ids, **_coordinates(shape.sites.coordinates)}
    order = random_stream(_seed(shape), f"{shape.name}/raw/sites").permutation(len(shape.sites.ids))
    table = pa.table(columns).take(pa.array(order))
    return RawTable("sites", 1, lambda _: table)


def _traffic(shape: ContentShape, publish: Callable[[int], Publications]) -> Traffic:
    def count(block: int) -> Traffic:
        return traffic_of(shape.space, shape.draw(block), publish(block))

    return Traffic.sum(map_blocks(count, num_blocks(shape.num_clients)), shape.space)


def _latencies(shape: ContentShape) -> RawTable:
    return _site_rows(shape, "latencies", "latency", shape.sites.latencies)


def _site_rows(shape: ContentShape, name: str, column: str, matrix: Int32Array) -> RawTable:
    """Rows of site, broker and a number, one for each two."""
    site_ids, broker_ids = shape.sites.ids, shape.brokers.ids
    num_brokers = matrix.shape[1]
    rows_per_file = max(1, ROWS_PER_FILE // num_brokers)

    def make(file: int) -> pa.Table:
        some = np.arange(file * rows_per_file, min(len(matrix), (file + 1) * rows_per_file))
        return pa.table(
            {
                "site": site_ids.take(pa.array(np.repeat(some, num_brokers))),
                "broker": broker_ids.take(pa.array(np.tile(np.arange(num_brokers), len(some)))),
                column: pa.array(matrix[some].reshape(-1)),
            }
        )

    return RawTable(name, -(-len(matrix) // rows_per_file), make)


def _links(shape: ContentShape, links: Int64Array) -> RawTable:
    """Rows of broker, other broker and price, one for each two, in no order."""
    one, other = np.triu_indices(len(links), 1)
    order = random_stream(_seed(shape), f"{shape.name}/raw/links").permutation(len(one))
    columns = {"broker": shape.brokers.ids.take(pa.array(one)), "other": shape.brokers.ids.take(pa.array(other))}
    table = pa.table(columns | {"price": pa.array(links[one, other])}).take(pa.array(order))
    return RawTable("links", 1, lambda _: table)


def _messages(shape: ContentShape, publish: Callable[[int], Publications]) -> RawTable:
    """Rows of client, the low end of a cell along each attribute, and how many messages it published there."""
    name, seed, space, num_clients = shape.name, _seed(shape), shape.space, shape.num_clients
    assert space.cells is not None
    cells = space.cells

    def make(block: int) -> pa.Table:
        first, last = block_range(block, num_clients)
        published = publish(block)
        order = random_stream(seed, f"{name}/raw/messages", block).permutation(len(published.cells))
        owners = np.repeat(np.arange(last - first), np.diff(published.offsets))[order]
        columns = {"client": numbered_ids("c", first, last).take(pa.array(owners))}
        coordinates = np.unravel_index(published.cells[order], cells)
        for attribute, width, along in zip(space.attributes, space.cell_widths, coordinates, strict=True):
            columns[attribute.name] = pa.array(along * width)
        return pa.table(columns | {"count": pa.array(published.counts[order])})

    return RawTable("messages", num_blocks(num_clients), make)


def _coordinates(points: Int64Array | None) -> dict[str, pa.Array]:
    if points is None:
        return {}
    return {name: pa.array(values) for name, values in zip(coordinate_names(points.shape[1]), points.T, strict=True)}


def _seed(shape: ContentShape) -> int:
    """The seed of the order of rows; a shape without random choices has none."""
    return int(shape.parameters.get("seed", 0))
