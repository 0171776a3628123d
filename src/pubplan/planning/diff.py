"""What changes from one plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family


@dataclass(frozen=True)
class TableDiff:
    """The ids decided in only one of two plans, in order, and how many are in both."""

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    kept: int


@dataclass(frozen=True)
class Diff:
    """From an old plan to a new one: statements that changed as (old, new), and decisions that changed."""

    statements: Mapping[str, tuple[Any, Any]]
    decisions: Mapping[str, TableDiff]

    @property
    def is_empty(self) -> bool:
        return not self.statements and not any(table.added or table.dropped for table in self.decisions.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "statements": {name: {"old": old, "new": new} for name, (old, new) in self.statements.items()},
            "decisions": {name: asdict(table) for name, table in self.decisions.items()},
        }


def diff_plans(family: Family, old: Plan, new: Plan) -> Diff:
    """Compare by ids, so that plans for different workloads can be compared too.

    Raises:
        InputError: the plans are of different families.
    """
    if old.family != new.family:
        raise InputError(f"{old.path} is a plan of {old.family} and {new.path} of {new.family}: nothing to compare.")
    before, after = _statements(old), _statements(new)
    statements = {
        name: (before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }
    decisions = {
        table: _diff_ids(family.read_decisions(old, table)[key], family.read_decisions(new, table)[key])
        for table, (_, key) in family.decisions.items()
    }
    return Diff(statements, decisions)


def _statements(plan: Plan) -> dict[str, Any]:
    record = plan.record
    plain = {name: record[name] for name in ("method", "seed", "objective", "bound", "gap", "verified")}
    parameters = {f"parameters.{name}": value for name, value in record["parameters"].items()}
    return {**plain, **parameters, "workload": record["workload"]["digest"]}


def _diff_ids(old: pa.ChunkedArray, new: pa.ChunkedArray) -> TableDiff:
    added = new.filter(pc.invert(pc.is_in(new, value_set=old)))
    dropped = old.filter(pc.invert(pc.is_in(old, value_set=new)))
    return TableDiff(tuple(added.to_pylist()), tuple(dropped.to_pylist()), len(old) - len(dropped))
