"""``pubplan diff``: what changes from one plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Json, PlanPath, Quiet

if TYPE_CHECKING:
    from pubplan.planning import Diff

SHOWN = 10


def diff(
    old: PlanPath,
    new: Annotated[Path, typer.Argument(metavar="OTHER", help="The plan to compare it with.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare two plans of one family: what they say, and which decisions change."""
    from pubplan.cli.show import answer
    from pubplan.planning import diff_plans, read_plan
    from pubplan.problems import family_named

    before, after = read_plan(old), read_plan(new)
    before.check()
    after.check()
    found = diff_plans(family_named(before.family), before, after)
    answer(found.to_dict(), _sentences(found), json)


def _sentences(found: Diff) -> str:
    from pubplan.errors import one_line

    if found.is_empty:
        return "The plans are the same."
    lines = [
        one_line(f"{name}: {_shown(old, new)} -> {_shown(new, old)}", longest=400)
        for name, (old, new) in found.statements.items()
    ]
    for table, change in found.decisions.items():
        lines.append(f"{table}: {len(change.added):,} added, {len(change.dropped):,} dropped, {change.kept:,} kept")
        for sign, ids in (("+", change.added), ("-", change.dropped)):
            lines += [f"  {sign} {one_line(name)}{_measured(change.measures.get(name, {}))}" for name in ids[:SHOWN]]
            if len(ids) > SHOWN:
                lines.append(f"  {sign} … and {len(ids) - SHOWN:,} more")
    if found.further is not None:
        lines += [one_line(line, longest=400) for line in found.further.sentences]
    return "\n".join(lines)


def _shown(value: Any, other: Any) -> Any:
    """A statement; lists of things that have names are told by these, unless only the things behind them differ."""
    names, others = ([entry.get("name") for entry in one] if _is_named(one) else None for one in (value, other))
    return ", ".join(map(str, names)) if names is not None and names != others else value


def _is_named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) and "name" in entry for entry in value)


def _measured(measures: Mapping[str, Any]) -> str:
    """What a decision costs and brings, behind its name."""
    known = [f"{name} {value:,.6g}" for name, value in measures.items() if value is not None]
    return f"  ({', '.join(known)})" if known else ""
