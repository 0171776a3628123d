"""docs/reference.md says of every key and column whether ``verify`` recomputes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubplan.planning.record import KEYS
from pubplan.problems import FAMILIES, family_named

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"


def section() -> list[str]:
    """The lines of the tables below "What verify checks"."""
    text = REFERENCE.read_text().split("## What verify checks")[1].split("\n## ")[0]
    return [line for line in text.splitlines() if line.startswith("|")]


def test_every_key_of_a_plan_is_listed() -> None:
    """In the first column of the first table."""
    rows = [line.split("|")[1] for line in section()]
    missing = [key for key in KEYS if not any(f"`{key}`" in row for row in rows)]
    assert missing == []


@pytest.mark.parametrize("name", FAMILIES)
def test_every_column_and_piece_of_evidence_is_listed(name: str) -> None:
    """In a row of its family and table."""
    family = family_named(name)
    tables = {table: schema.names for table, (schema, _) in family.decisions.items()}
    tables |= {table: schema.names for table, schema in family.blocks.items()}
    tables |= {} if family.trajectory is None else {"trajectory": family.trajectory.names}
    for bound in family.bounds.values():
        tables |= {bound.name: list(bound.evidence)}
        tables |= {f"{bound.name}-{table}": layout.schema.names for table, layout in bound.tables.items()}
    rows = [line.split("|") for line in section() if line.split("|")[1].strip() == f"`{name}`"]
    missing = [
        f"{table}.{column}"
        for table, columns in tables.items()
        for column in columns
        if not any(f"`{table}`" in row[2] and f"`{column}`" in "".join(row[3:]) for row in rows)
    ]
    assert missing == []
