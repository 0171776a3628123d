"""Brokers, sites and the latencies between them, from the rows of their sources."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.clean import REASONS
from pubplan.pipeline.source import COORDINATES
from pubplan.text import counted
from pubplan.workload import PUBLISHER, Brokers, Int32Array, Int64Array, Sites
from pubplan.workload.content.distances import distances

MAX_MATRIX = 1 << 30
"""Latencies of all sites and brokers together: 4 GB."""


def make_brokers(rows: pa.Table, path: str) -> Brokers:
    """The tree of brokers, by number: the order of their ids.

    A broker without a latency is fed at once, a leaf without a share has the share 1, other brokers have none.

    Raises:
        InputError: a parent does not exist, rows of one broker differ, or the brokers are not a tree with a leaf that
            serves clients.
    """
    rows = _distinct(rows, "broker_id", path)
    names, shares = rows["broker_id"].combine_chunks(), _filled(rows, "share")
    parents = rows["parent_id"].combine_chunks()
    numbers = pc.index_in(parents, value_set=names).fill_null(PUBLISHER)
    unknown = pc.and_(parents.is_valid(), pc.equal(numbers, PUBLISHER))
    if pc.any(unknown).as_py():
        row = int(np.flatnonzero(np.asarray(unknown))[0])
        raise InputError(
            f"The broker {names[row].as_py()!r} is fed by {parents[row].as_py()!r}, which is not a broker of {path}."
        )
    brokers = Brokers(
        names,
        np.asarray(numbers, dtype=np.int32),
        _filled(rows, "latency"),
        shares,
        _filled(rows, "capacity"),
        _coordinates(rows, "brokers", path),
    )
    shares[np.asarray(rows["share"].is_null()) & brokers.is_leaf] = 1
    brokers.check()
    return brokers


def _filled(rows: pa.Table, name: str) -> Int64Array:
    """A column with 0 for nulls, as a copy that may be changed."""
    values: Int64Array = np.asarray(rows[name].fill_null(0)).astype(np.int64)
    return values


def sites_by_coordinates(rows: pa.Table, brokers: Brokers, path: str) -> Sites:
    """Sites whose latency to a broker is their distance, rounded up.

    Raises:
        InputError: brokers have no coordinates, or others than the sites; or rows of one site differ.
    """
    rows = _distinct(rows, "site_id", path)
    coordinates = _coordinates(rows, "sites", path)
    assert coordinates is not None  # the first one is a required column
    if brokers.coordinates is None or brokers.coordinates.shape[1] != coordinates.shape[1]:
        number = 0 if brokers.coordinates is None else brokers.coordinates.shape[1]
        raise InputError(
            f"{path} has {counted(coordinates.shape[1], 'coordinate')} per site, but the brokers have {number}. "
            "Latencies are distances: give brokers the same columns, "
            f"{', '.join(COORDINATES[: coordinates.shape[1]])}, or give {argument('latencies')}."
        )
    _check_size(len(coordinates), brokers.num_brokers)
    # Broker by broker: the matrix may take gigabytes.
    latencies = np.column_stack([distances(coordinates, point[None]).astype(np.int32) for point in brokers.coordinates])
    return Sites(rows["site_id"].combine_chunks(), latencies, coordinates=coordinates)


def sites_by_matrix(
    rows: pa.Table, brokers: Brokers, path: str, rejected: Mapping[str, int] | None = None
) -> tuple[Sites, int]:
    """Sites with the latencies of a table, and how many rows of it are copies of others.

    Args:
        rejected: by reason, how many rows of the table were bad: they may be why a latency is missing.

    Raises:
        InputError: two rows of one site and broker differ, or a site lacks the latency to a broker.
    """
    names, matrix, copies = site_matrix(rows, "latency", "us", brokers, path, rejected=rejected)
    return Sites(names, matrix), copies


def site_matrix(
    rows: pa.Table,
    column: str,
    unit: str,
    brokers: Brokers,
    path: str,
    names: pa.Array | None = None,
    rejected: Mapping[str, int] | None = None,
) -> tuple[pa.Array, Int32Array, int]:
    """The sites of a table, its numbers from sites (rows) to brokers (columns), and how many rows are copies of others.

    Args:
        names: the sites in number order; None where the table says which there are.
        rejected: by reason, how many rows of the table were bad: they may be why a number is missing.

    Raises:
        InputError: two rows of one site and broker differ, or a site lacks the number to a broker.
    """
    if names is None:
        names = pc.unique(rows["site_id"]).cast(pa.string())
        names = names.take(pc.sort_indices(names.cast(pa.binary())))
    _check_size(len(names), brokers.num_brokers)
    sites = np.asarray(pc.index_in(rows["site_id"], value_set=names), dtype=np.int64)
    keys = sites * brokers.num_brokers + np.asarray(rows["broker"], dtype=np.int64)
    values, noun = np.asarray(rows[column], dtype=np.int64), {"latency": "latencies", "price": "prices"}[column]
    matrix = np.full(len(names) * brokers.num_brokers, -1, dtype=np.int32)
    matrix[keys] = values

    def pair(key: int) -> str:
        site, broker = divmod(int(key), brokers.num_brokers)
        return f"from the site {names[site].as_py()!r} to the broker {brokers.ids[broker].as_py()!r}"

    differing = keys[matrix[keys] != values]
    if len(differing):
        given = sorted(set(values[keys == differing.min()].tolist()))
        raise InputError(
            f"{path} has several {noun} {pair(differing.min())}: {', '.join(f'{value:,}' for value in given)} {unit}. "
            "Keep one row for each site and broker."
        )
    missing = np.flatnonzero(matrix < 0)
    if len(missing):
        raise InputError(
            f"{path} has no {column} {pair(missing[0])}; {len(missing):,} of {len(matrix):,} {noun} are missing. "
            f"Every site needs one to every broker.{_rejected_sentence(rejected or {})}"
        )
    return names, matrix.reshape(len(names), brokers.num_brokers), len(keys) - len(matrix)


def _rejected_sentence(rejected: Mapping[str, int]) -> str:
    counts = [
        f"{counted(count, 'row')} with {reason} ({REASONS[reason]})" for reason, count in rejected.items() if count
    ]
    return f" Rejected: {'; '.join(counts)}." if counts else ""


def sites_without_latencies(names: pa.Array, brokers: Brokers) -> Sites:
    """Sites that are at no distance from anything, where no latencies are known."""
    _check_size(len(names), brokers.num_brokers)
    return Sites(names, np.zeros((len(names), brokers.num_brokers), dtype=np.int32))


def _check_size(num_sites: int, num_brokers: int) -> None:
    if num_sites * num_brokers > MAX_MATRIX:
        raise InputError(
            f"{num_sites:,} sites and {num_brokers:,} brokers have more than {MAX_MATRIX:,} latencies. Give clients "
            "that are close to each other the same site."
        )


def _distinct(rows: pa.Table, name: str, path: str) -> pa.Table:
    """One row per id, in the order of the ids' bytes.

    Raises:
        InputError: rows of one id differ.
    """
    order = pc.sort_indices(rows[name].cast(pa.binary()))
    rows = rows.take(order)
    names = rows[name]
    is_copy = np.append(False, np.asarray(pc.equal(names[1:], names[:-1]))) if len(names) else np.zeros(0, dtype=bool)
    for row in np.flatnonzero(is_copy).tolist():
        if rows.slice(row, 1).to_pylist() != rows.slice(row - 1, 1).to_pylist():
            raise InputError(
                f"{path} has several rows for {names[row].as_py()!r} that differ. Keep one row for each "
                f"{name.removesuffix('_id')}."
            )
    return rows.take(pa.array(np.flatnonzero(~is_copy)))


def _coordinates(rows: pa.Table, noun: str, path: str) -> Int64Array | None:
    given = [name for name in COORDINATES if name in rows.column_names]
    if not given:
        return None
    if given != list(COORDINATES[: len(given)]) or any(rows[name].null_count for name in given):
        raise InputError(
            f"The {noun} of {path} have the coordinates {', '.join(given)}, but not in every row. Give all of them "
            f"{COORDINATES[0]}, {COORDINATES[1]} and so on."
        )
    return np.column_stack([np.asarray(rows[name], dtype=np.int64) for name in given])
