"""What changes from one plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow.compute as pc

from pubplan.errors import InputError
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family
from pubplan.planning.values import Explanation


@dataclass(frozen=True)
class TableDiff:
    """The ids decided in only one of two plans, in order, and how many are in both.

    ``measures`` has, for each id that changes sides, what its decision costs and brings in the plan that has it.
    """

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    kept: int
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Diff:
    """From an old plan to a new one: statements that changed as (old, new), and decisions that changed.

    ``further`` is what only the family knows to compare, or None if that is the same.
    """

    statements: Mapping[str, tuple[Any, Any]]
    decisions: Mapping[str, TableDiff]
    further: Explanation | None = None

    @property
    def is_empty(self) -> bool:
        decisions = any(table.added or table.dropped for table in self.decisions.values())
        return not self.statements and not decisions and self.further is None

    def to_dict(self) -> dict[str, Any]:
        return {
            "statements": {name: {"old": old, "new": new} for name, (old, new) in self.statements.items()},
            "decisions": {name: asdict(table) for name, table in self.decisions.items()},
            "further": {} if self.further is None else dict(self.further.facts),
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
        table: _diff_table(family, table, key, old, new)
        for table, (_, key) in family.decisions.items()
        if key is not None
    }
    return Diff(statements, decisions, family.compare(old, new))


def _statements(plan: Plan) -> dict[str, Any]:
    record = plan.record
    plain = {name: record[name] for name in ("method", "seed", "objective", "bound", "gap", "verified")}
    parameters = {f"parameters.{name}": value for name, value in record["parameters"].items()}
    return {**plain, **parameters, "workload": record["workload"]["digest"]}


def _diff_table(family: Family, table: str, key: str, old: Plan, new: Plan) -> TableDiff:
    before, after = family.read_decisions(old, table)[key], family.read_decisions(new, table)[key]
    is_added = pc.invert(pc.is_in(after, value_set=before))
    is_dropped = pc.invert(pc.is_in(before, value_set=after))
    added, dropped = after.filter(is_added).to_pylist(), before.filter(is_dropped).to_pylist()
    measures: dict[str, dict[str, Any]] = {name: {} for name in (*added, *dropped)}
    for plan, names, chosen in ((new, added, is_added), (old, dropped, is_dropped)):
        for measure, values in family.measures(plan, table).items():
            for name, value in zip(names, values.filter(chosen).to_pylist(), strict=True):
                measures[name][measure] = value
    return TableDiff(tuple(added), tuple(dropped), len(before) - len(dropped), measures)
