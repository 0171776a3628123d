"""Exports of federate: ids and values instead of numbers and grid lines."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from oracles.federate_example import ASKED, TERABYTE, hub
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.federate import FAMILY, Problem, solve

AROUND = [("east", "hub"), ("hub", "east"), ("hub", "north"), ("hub", "south"), ("north", "hub"), ("south", "hub")]
"""Who forwards to whom in a star around the hub."""


def rows(problem: Problem, plan: Plan, table: str) -> list[tuple]:
    export = FAMILY.exports[table]
    tables = list(export.pieces(problem, plan))
    assert all(each.schema == export.schema for each in tables)
    return [tuple(row.values()) for each in tables for row in each.to_pylist()]


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return Problem(hub(tmp_path / "hub"), routing="steiner", **ASKED)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    return solve(problem, "greedy-packing").plan


def test_every_client_has_a_broker(problem: Problem, plan: Plan) -> None:
    """By their ids, in their order."""
    assert rows(problem, plan, "attachments") == [("ann", "east"), ("bea", "north"), ("cid", "south")]


def test_links_have_messages_and_prices(problem: Problem, plan: Plan) -> None:
    """One TB from every broker to hub, two from hub to every broker."""
    expected = [(a, b, (2 if a == "hub" else 1) * TERABYTE, 10_000) for a, b in AROUND]
    assert rows(problem, plan, "links") == expected


def test_trees_say_who_forwards_to_whom(problem: Problem, plan: Plan) -> None:
    """In both directions where several brokers publish and want a channel."""
    assert rows(problem, plan, "trees") == [(0, None, *edge) for edge in AROUND]


def test_trees_leave_their_origin(tmp_path: Path) -> None:
    """What ann publishes and does not want goes away from east only; the tree may be stored from any other root."""
    changes = {"ann": {"box": [(10, 20)]}, "bea": {"publishes": {}}, "cid": {"publishes": {}}}
    problem = Problem(hub(tmp_path / "hub", changes), routing="steiner", **ASKED)
    assert rows(problem, solve(problem, "greedy-packing").plan, "trees") == [
        (0, "east", "east", "hub"),
        (0, "east", "hub", "north"),
        (0, "east", "hub", "south"),
    ]


def test_one_tree_has_no_channel(tmp_path: Path) -> None:
    """Channel and origin are empty."""
    problem = Problem(hub(tmp_path / "hub"), routing="acyclic", **ASKED)
    assert rows(problem, solve(problem, "greedy-packing").plan, "trees") == [(None, None, *edge) for edge in AROUND]


def test_ranges_are_values(problem: Problem, plan: Plan) -> None:
    """Grid lines 0, 10 and 20 of half a dollar are 0, 5 and 10, without rounding."""
    assert rows(problem, plan, "channels") == [
        (0, "price", "0.0", "5.0", 3 * TERABYTE, 3),
        (1, "price", "5.0", "10.0", 0, 0),
    ]


def test_brokers_have_loads(problem: Problem, plan: Plan) -> None:
    """hub has nobody and forwards six TB."""
    home = (1, 3 * TERABYTE, 9 * TERABYTE, TERABYTE, TERABYTE)
    assert rows(problem, plan, "brokers") == [
        ("east", *home),
        ("hub", 0, 0, 9 * TERABYTE, 0, 6 * TERABYTE),
        ("north", *home),
        ("south", *home),
    ]


def test_damaged_trees_are_refused(problem: Problem, plan: Plan, tmp_path: Path) -> None:
    """A parent that is no broker."""

    def change(table):
        field = table.schema.field("parents")
        wrong = [[9, *row[1:]] for row in table["parents"].to_pylist()]
        return table.set_column(2, field, pa.array(wrong, field.type))

    damaged = forge(plan, tmp_path / "forged", tables={"decisions/trees.parquet": change})
    with pytest.raises(InputError, match="'trees' are damaged"):
        rows(problem, damaged, "trees")
