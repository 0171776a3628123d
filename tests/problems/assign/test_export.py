"""Exports of assign: ids and values instead of numbers and grid lines."""

from __future__ import annotations

from pathlib import Path

from oracles.assign_example import ASKED, example, tree

from pubplan.planning import Plan
from pubplan.problems.assign import FAMILY, Problem, solve
from pubplan.workload import Attribute, Space


def rows(problem: Problem, plan: Plan, table: str) -> list[tuple]:
    export = FAMILY.exports[table]
    tables = list(export.pieces(problem, plan))
    assert all(each.schema == export.schema for each in tables)
    return [tuple(row.values()) for each in tables for row in each.to_pylist()]


def test_every_client_has_a_broker(tmp_path: Path) -> None:
    """By their ids, in their order."""
    problem = Problem(example(tmp_path / "workload"), **ASKED)
    plan = solve(problem, "gr-star").plan
    assert rows(problem, plan, "assignments") == [
        ("ann", "north"),
        ("bob", "north"),
        ("carl", "south"),
        ("dora", "south"),
    ]


def test_corners_are_values(tmp_path: Path) -> None:
    """Grid line k is 10.5 + k x 0.25: 0 to 3 are 10.5 to 11.25, 8 to 12 are 12.5 to 13.5, without rounding."""
    space = Space((Attribute("price", 12, "10.5", "0.25"),))
    problem = Problem(example(tmp_path / "workload", space=space), **ASKED)
    plan = solve(problem, "gr-star").plan
    assert rows(problem, plan, "filters") == [
        ("north", 0, "price", "10.50", "11.25"),
        ("south", 0, "price", "12.50", "13.50"),
    ]


def test_brokers_with_levels(tmp_path: Path) -> None:
    """hub serves nobody itself and may not; its filter is 12 steps."""
    problem = Problem(tree(tmp_path / "workload"), **ASKED)
    plan = solve(problem, "gr-star").plan
    assert rows(problem, plan, "brokers") == [
        ("hub", 1, 0, 0, 12),
        ("north", 2, 2, 2, 3),
        ("south", 2, 2, 2, 4),
    ]
