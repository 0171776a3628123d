"""The columns of a content workload's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.workload.content.tree import Brokers
from pubplan.workload.tables import INT32_LIST, INT64_LIST, Int32Array, Int64Array

OPTIONAL_CLIENTS = {
    "limit": pa.field("limit", pa.int64(), nullable=False),
    "allowed": pa.field("allowed", INT32_LIST, nullable=False),
    "weight": pa.field("weight", pa.int64(), nullable=False),
    "cells": pa.field("cells", INT32_LIST, nullable=False),
    "counts": pa.field("counts", INT64_LIST, nullable=False),
}
"""The latency that a client accepts in us, the brokers that it may use, how many it stands for, and what it publishes:
cells of the density, ascending, with messages per window.
"""

BROKERS = pa.schema(
    [
        pa.field("broker", pa.int32(), nullable=False),
        pa.field("broker_id", pa.string(), nullable=False),
        pa.field("parent", pa.int32(), nullable=False),
        pa.field("latency", pa.int64(), nullable=False),
        pa.field("share", pa.int64(), nullable=False),
        pa.field("capacity", pa.int64(), nullable=False),
    ]
)

SITES = pa.schema(
    [
        pa.field("site", pa.int32(), nullable=False),
        pa.field("site_id", pa.string(), nullable=False),
        pa.field("latency", INT32_LIST, nullable=False),
    ]
)

LINKS = pa.schema([pa.field("broker", pa.int32(), nullable=False), pa.field("prices", INT64_LIST, nullable=False)])

DENSITY = pa.schema([pa.field("cell", pa.int32(), nullable=False), pa.field("messages", pa.int64(), nullable=False)])


def corner_names(num_dimensions: int) -> tuple[list[str], list[str]]:
    """The columns of the low and of the high corners."""
    return [f"low_{axis}" for axis in range(num_dimensions)], [f"high_{axis}" for axis in range(num_dimensions)]


def coordinate_names(number: int) -> list[str]:
    return [f"x_{axis}" for axis in range(number)]


def clients_schema(num_dimensions: int, optional: tuple[str, ...] = ()) -> pa.Schema:
    corners = [pa.field(name, pa.int32(), nullable=False) for names in corner_names(num_dimensions) for name in names]
    return pa.schema(
        [
            pa.field("client", pa.int64(), nullable=False),
            pa.field("client_id", pa.string(), nullable=False),
            pa.field("site", pa.int32(), nullable=False),
            *corners,
            *(OPTIONAL_CLIENTS[name] for name in OPTIONAL_CLIENTS if name in optional),
        ]
    )


def clients_table(
    first_client: int,
    client_ids: pa.Array,
    sites: Int32Array,
    lows: Int32Array,
    highs: Int32Array,
    optional: Mapping[str, Any] | None = None,
) -> pa.Table:
    """Clients ``first_client`` … as a table; corners are rows of ``lows`` and ``highs``."""
    numbers = np.arange(first_client, first_client + len(sites), dtype=np.int64)
    given = optional or {}
    columns = [
        numbers,
        client_ids,
        sites,
        *lows.T,
        *highs.T,
        *(given[name] for name in OPTIONAL_CLIENTS if name in given),
    ]
    schema = clients_schema(lows.shape[1], tuple(given))
    return pa.Table.from_arrays(
        [_array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def brokers_table(brokers: Brokers) -> pa.Table:
    numbers = np.arange(brokers.num_brokers, dtype=np.int32)
    columns = [numbers, brokers.ids, brokers.parents, brokers.latencies, brokers.shares, brokers.capacities]
    return _with_coordinates(BROKERS, columns, brokers.coordinates)


def sites_table(
    site_ids: pa.Array, latencies: Int32Array, prices: Int32Array | None = None, coordinates: Int64Array | None = None
) -> pa.Table:
    """Sites with rows of latencies, and of prices where there are any, to every broker."""
    numbers = np.arange(len(latencies), dtype=np.int32)
    schema, columns = SITES, [numbers, site_ids, int32_lists(latencies)]
    if prices is not None:
        schema, columns = schema.append(pa.field("price", INT32_LIST, nullable=False)), [*columns, int32_lists(prices)]
    return _with_coordinates(schema, columns, coordinates)


def links_table(prices: Int64Array) -> pa.Table:
    """Brokers with the prices of traffic to every broker."""
    numbers = np.arange(len(prices), dtype=np.int32)
    offsets = np.arange(len(prices) + 1, dtype=np.int64) * len(prices)
    return pa.Table.from_arrays(
        [pa.array(numbers), ragged(offsets, np.ascontiguousarray(prices).reshape(-1), INT64_LIST)], schema=LINKS
    )


def density_table(messages: Int64Array) -> pa.Table:
    """Cells with the messages that are published in them."""
    cells = np.arange(len(messages), dtype=np.int32)
    return pa.Table.from_arrays([pa.array(cells), pa.array(messages)], schema=DENSITY)


def _with_coordinates(schema: pa.Schema, columns: list[Any], coordinates: Int64Array | None) -> pa.Table:
    if coordinates is not None:
        for name, values in zip(coordinate_names(coordinates.shape[1]), coordinates.T, strict=True):
            if len(values) and (values.min() < -(2**31) or values.max() >= 2**31):
                raise InputError("Coordinates are microseconds within 32 bits.")
            schema, columns = schema.append(pa.field(name, pa.int32(), nullable=False)), [*columns, values]
    return pa.Table.from_arrays(
        [_array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def int32_lists(matrix: Int32Array) -> pa.Array:
    """The rows of a matrix as lists."""
    offsets = np.arange(len(matrix) + 1, dtype=np.int32) * np.int32(matrix.shape[1])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix.reshape(-1), pa.int32()), type=INT32_LIST)


def ragged(offsets: Int64Array, values: Any, kind: pa.DataType) -> pa.Array:
    """Lists of a type of this module from offsets and the values of all rows end to end."""
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values, kind.value_type), type=kind)


def _array(column: Any, kind: pa.DataType) -> Any:
    return column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(np.ascontiguousarray(column), kind)
