"""What changes from one plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow.compute as pc

from pubplan.errors import InputError, one_line
from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family
from pubplan.planning.values import Explanation
from pubplan.text import ceiling, counted, decimals_down, decimals_up, html_table, number, number_down, percent_up

SHOWN = 10
"""Decisions that change and are shown, of each table and side."""

_NONE = "none"

LEADING_STATEMENTS = ("objective", "bound", "gap", "verified", "workload")
"""Statements that come first, in this order; what was asked follows."""


@dataclass(frozen=True)
class TableDiff:
    """The ids decided in only one of two plans, in order, and how many are in both.

    ``measures`` has, for each id that changes sides, what its decision costs and brings in the plan that has it.
    """

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    kept: int
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def summary(self) -> str:
        """How many decisions change, in half a line."""
        return f"{len(self.added):,} added, {len(self.dropped):,} dropped, {self.kept:,} kept"

    def sentences(self, shown: int | None, hint: str = "") -> list[str]:
        """A line per decision that changes, of each side the ``shown`` weightiest, or all for None.

        ``hint`` says how to see the others.
        """
        lines = []
        for sign, ids in (("+", self.added), ("-", self.dropped)):
            ordered = sorted(ids, key=lambda name: _weight(self.measures.get(name, {})), reverse=True)
            lines += [f"  {sign} {one_line(name)}{_measured(self.measures.get(name, {}))}" for name in ordered[:shown]]
            if shown is not None and len(ids) > shown:
                lines.append(f"  {sign} … and {len(ids) - shown:,} more{hint}")
        return lines


@dataclass(frozen=True, repr=False)
class Diff:
    """From an old plan to a new one.

    Attributes:
        statements: what the plans say differently, as (old, new): objective, bound, parameters …
        decisions: by table, the ids that are decided in only one of them.
        further: what only the family knows to compare, or None if that is the same.
        units: what the objectives of both count.
        asked: what was asked of the plans differently, as (old, new), in the words of pages.
        amounts: objective and bound of both, rounded like in the plans' own sentences.
    """

    statements: Mapping[str, tuple[Any, Any]]
    decisions: Mapping[str, TableDiff]
    further: Explanation | None = None
    units: tuple[str, str] = ("", "")
    asked: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    amounts: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        if self.is_empty:
            return "Diff(the plans are the same)"
        tables = [f"{name}: {table.summary()}" for name, table in self.decisions.items()]
        return f"Diff({'; '.join([counted(len(self.statements), 'statement') + ' changed', *tables])})"

    def _repr_html_(self) -> str:
        """The statements before and after, and how many decisions change, for notebooks."""
        said = [(name, *(one_line(value) for value in values)) for name, values in self._said().items()]
        decided = [
            (name, f"{table.kept + len(table.dropped):,}", f"{table.kept + len(table.added):,}: {table.summary()}")
            for name, table in self.decisions.items()
        ]
        return html_table([*said, *decided], header=("", "old", "new"))

    def sentences(self, shown: int | None = SHOWN, hint: str = "") -> list[str]:
        """What changes, a line each; of the decisions of a table the ``shown`` weightiest, or all for None.

        ``hint`` says how to see the others.
        """
        if self.is_empty:
            return ["The plans are the same."]
        said = [self._statement(name, *values) for name, values in self._said().items()]
        lines = [one_line(line, longest=400) for line in (*said, *self._parameters())]
        for name, table in self.decisions.items():
            lines += [f"{name}: {table.summary()}", *table.sentences(shown, hint)]
        if self.further is not None:
            lines += [one_line(line, longest=400) for line in self.further.sentences]
        return lines

    def _said(self) -> dict[str, tuple[str, str]]:
        """What the plans say differently, old and new, for people: statements, then what was asked."""
        important = {name: self.statements[name] for name in LEADING_STATEMENTS if name in self.statements}
        said = {name: (_shown(name, old), _shown(name, new)) for name, (old, new) in important.items()}
        amounts = {name: amounts for name, amounts in self.amounts.items() if name in said}
        return {**said, **amounts, **self.asked}

    def _parameters(self) -> list[str]:
        """A line that names parameters which differ, where no words of pages tell them apart."""
        others = [name for name in self.statements if name not in LEADING_STATEMENTS]
        if not others or self.asked:
            return []
        return [f"asked otherwise: {', '.join(name.removeprefix('parameters.').replace('_', ' ') for name in others)}"]

    def _statement(self, name: str, old: str, new: str) -> str:
        """What changed in a line; what counts something says what."""
        if name not in ("objective", "bound"):
            return f"{name}: {old} -> {new}"
        if self.units[0] == self.units[1]:
            return f"{name}: {old} -> {new} {self.units[0]}"
        return f"{name}: {old} {self.units[0]} -> {new} {self.units[1]}"

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


def diff_plans(family: Family[Any, Any], old: Plan, new: Plan) -> Diff:
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
    (old_objective, old_bound), (new_objective, new_bound) = _amounts(old), _amounts(new)
    return Diff(
        statements,
        decisions,
        family.compare(old, new),
        (old.record["unit"], new.record["unit"]),
        amounts={"objective": (old_objective, new_objective), "bound": (old_bound, new_bound)},
    )


def _amounts(plan: Plan) -> tuple[str, str]:
    """Objective and bound for people: what is reached never looks better, what is ruled out never more than it is."""
    objective, bound = plan.record["objective"], plan.record["bound"]
    if plan.record["sense"] == "max":
        return number_down(objective), _NONE if bound is None else ceiling(bound, objective)
    reached = decimals_up(objective)
    return reached, _NONE if bound is None else reached if bound == objective else decimals_down(bound)


def _statements(plan: Plan) -> dict[str, Any]:
    record = plan.record
    plain = {name: record[name] for name in ("method", "seed", "objective", "bound", "gap", "verified")}
    parameters = {f"parameters.{name}": value for name, value in record["parameters"].items()}
    return {**plain, **parameters, "workload": record["workload"]["digest"]}


def _diff_table(family: Family[Any, Any], table: str, key: str, old: Plan, new: Plan) -> TableDiff:
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


def _shown(name: str, value: Any) -> str:
    """A value for people."""
    if value is None:
        return _NONE
    if name == "gap":
        return percent_up(value)
    if name == "workload":
        return str(value)[:12]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value)


def _weight(measures: Mapping[str, Any]) -> tuple[float, float]:
    """What decisions are ordered by: what they bring, then what they cost."""
    return measures.get("brings") or 0.0, measures.get("cost") or 0.0


def _measured(measures: Mapping[str, Any]) -> str:
    """What a decision costs and brings, behind its name."""
    known = [f"{name} {number(value)}" for name, value in measures.items() if value is not None]
    return f"  ({', '.join(known)})" if known else ""
