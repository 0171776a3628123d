"""Brokers are a tree, latencies a whole matrix or exact distances."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import InputError
from pubplan.pipeline.content.network import make_brokers, sites_by_coordinates, sites_by_matrix
from pubplan.workload import Brokers

COLUMNS = ("broker_id", "parent_id", "latency", "share", "capacity")
TYPES = pa.schema(
    [("broker_id", pa.string()), ("parent_id", pa.string()), *((name, pa.int64()) for name in COLUMNS[2:])]
)


def brokers_of(*rows: tuple[object, ...], points: list[list[int]] | None = None) -> Brokers:
    padded = [dict(zip(COLUMNS, (*row, *[None] * 5), strict=False)) for row in rows]
    table = pa.Table.from_pylist(padded, schema=TYPES)
    for axis, values in enumerate(points or []):
        table = table.append_column(f"x_{axis}", pa.array(values))
    return make_brokers(table, "brokers.csv")


def test_numbers_and_defaults() -> None:
    """Brokers are numbered by id; a leaf without a share has 1, inner ones have 0, as have latencies not given."""
    brokers = brokers_of(("b", "a", 7), ("c", "a", None, 5, 9), ("a", None, 3))
    assert brokers.ids.to_pylist() == ["a", "b", "c"]
    assert brokers.parents.tolist() == [-1, 0, 0]
    assert brokers.latencies.tolist() == [3, 7, 0]
    assert brokers.shares.tolist() == [0, 1, 5]
    assert brokers.capacities.tolist() == [0, 0, 9]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("a", "z")], "The broker 'a' is fed by 'z', which is not a broker of brokers.csv"),
        ([("a", "b"), ("b", "a")], "feed each other in a circle"),
        ([("a", "a")], "feed each other in a circle"),
        ([("a", None, 0, 0)], "No broker has a share"),
        ([("a", None, 0, 2), ("b", "a")], "'a' feeds other brokers, so it serves no clients"),
        ([("a", None, 1), ("a", None, 2)], "several rows for 'a' that differ. Keep one row for each broker"),
        ([], "has 1 to 1,048,576 brokers, not 0"),
    ],
)
def test_broken_trees_are_refused(rows: list[tuple[object, ...]], sentence: str) -> None:
    """With a sentence that names the broker."""
    with pytest.raises(InputError, match=sentence):
        brokers_of(*rows)


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9)), min_size=1, max_size=8))
def test_distances_are_rounded_up_exactly(points: list[tuple[int, int]]) -> None:
    """Against integer square roots."""
    brokers = brokers_of(("b", None), ("c", None), points=[[3, -4], [-(10**6), 7]])
    rows = {"site_id": [f"s{number}" for number in range(len(points))]}
    rows |= {f"x_{axis}": [point[axis] for point in points] for axis in (0, 1)}
    sites = sites_by_coordinates(pa.table(rows), brokers, "sites.csv")
    for row, (x, y) in enumerate(points):
        squares = [(x - a) ** 2 + (y - b) ** 2 for a, b in ((3, -(10**6)), (-4, 7))]
        assert sites.latencies[row].tolist() == [math.isqrt(square - 1) + 1 if square else 0 for square in squares]


def test_distances_of_squares() -> None:
    """Where the root is whole it stays, one more or less makes the next integer."""
    edge = 2**31 - 1
    brokers = brokers_of(("b", None), points=[[0]])
    table = pa.table({"site_id": ["a", "b"], "x_0": [edge, -edge]})
    assert sites_by_coordinates(table, brokers, "s").latencies.tolist() == [[edge], [edge]]
    with pytest.raises(InputError, match="farther than 2,147,483,647 us"):
        sites_by_coordinates(pa.table({"site_id": ["a"], "x_0": [edge + 1]}), brokers, "s")


def test_coordinates_that_do_not_match() -> None:
    """Sites and brokers need the same ones, in every row."""
    sites = pa.table({"site_id": ["a"], "x_0": [1], "x_1": [2]})
    with pytest.raises(InputError, match="2 coordinates per site, but the brokers have 0"):
        sites_by_coordinates(sites, brokers_of(("b", None)), "sites.csv")
    with pytest.raises(InputError, match="but the brokers have 1"):
        sites_by_coordinates(sites, brokers_of(("b", None), points=[[5]]), "sites.csv")
    with pytest.raises(InputError, match="not in every row"):
        brokers_of(("b", None), ("c", None), points=[[5, None]])


def matrix(*rows: tuple[str, int, int]) -> pa.Table:
    sites, brokers, latencies = zip(*rows, strict=True)
    return pa.table({"site_id": sites, "broker": pa.array(brokers, pa.int32()), "latency": latencies})


def test_a_matrix_is_used_as_it_is() -> None:
    """Rows in any order; the same row twice is a copy."""
    brokers = brokers_of(("b", None), ("c", None))
    sites, copies = sites_by_matrix(
        matrix(("z", 1, 4), ("y", 0, 1), ("z", 0, 3), ("y", 1, 2), ("y", 1, 2)), brokers, "l.csv"
    )
    assert sites.ids.to_pylist() == ["y", "z"]
    assert np.array_equal(sites.latencies, [[1, 2], [3, 4]])
    assert copies == 1


def test_incomplete_and_contradicting_matrices_are_refused() -> None:
    """Naming a pair, and how many latencies are missing."""
    brokers = brokers_of(("b", None), ("c", None))
    with pytest.raises(
        InputError, match="no latency from the site 'y' to the broker 'c'; 2 of 4 latencies are missing"
    ):
        sites_by_matrix(matrix(("y", 0, 1), ("z", 1, 1)), brokers, "l.csv")
    with pytest.raises(InputError, match="several latencies from the site 'y' to the broker 'c': 5, 6 us"):
        sites_by_matrix(matrix(("y", 0, 1), ("y", 1, 6), ("y", 1, 5)), brokers, "l.csv")
