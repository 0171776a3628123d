"""Numbers of an overlay at a glance, also of a plan that was changed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from oracles.forge import forge
from oracles.overlay import Case

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.overlay import measures_of, solve


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A path a, b, c of two topics of two nodes each, in two parts."""
    case = Case({"a": ("x",), "b": ("x", "y"), "c": ("y",)})
    return solve(case.problem(tmp_path), "dcbr-m", parameters={"parts": 2}).plan


def test_degrees_are_counted(plan: Plan) -> None:
    """Two ends with one link, one node with two, none without."""
    measures = measures_of(plan)
    assert (measures.degrees, measures.links, measures.maximum_degree, measures.parts) == ((0, 2, 1), 2, 2, 2)


@pytest.mark.parametrize("degree", [-1, 3, 2**31 - 1])
def test_degrees_beyond_the_nodes_are_damage(plan: Plan, tmp_path: Path, degree: int) -> None:
    """Nothing is made as large as a number in a table."""

    def change(table: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([row | {"degree": degree} for row in table.to_pylist()], schema=table.schema)

    forged = forge(plan, tmp_path / "forged", tables={"decisions/nodes.parquet": change})
    with pytest.raises(InputError, match="'nodes' are damaged"):
        measures_of(forged)


def test_two_divisions_are_damage(plan: Plan, tmp_path: Path) -> None:
    """Nodes are divided once."""
    twice = {"decisions/division.parquet": lambda table: pa.concat_tables([table, table])}
    with pytest.raises(InputError, match="'division' are damaged"):
        measures_of(forge(plan, tmp_path / "forged", tables=twice))
