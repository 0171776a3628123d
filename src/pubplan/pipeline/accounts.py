"""What became of the rows of a source: every one is kept, rejected or a duplicate, and counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import Reasons
from pubplan.pipeline.rejected import Rejects
from pubplan.pipeline.source import Source

if TYPE_CHECKING:
    from pubplan.pipeline.reader import Reader


@dataclass
class RowTotals:
    """What became of the rows some tasks read.

    ``records`` are physical ones; ``rows`` are more where a record lists topics, or names them by a wildcard:
    ``wildcards`` such subscriptions were ``expanded`` to that many.
    """

    records: int = 0
    rows: int = 0
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    wildcards: int = 0
    expanded: int = 0

    @classmethod
    def sum(cls, parts: Iterable[RowTotals]) -> RowTotals:
        total = cls()
        for part in parts:
            total.records += part.records
            total.rows += part.rows
            total.kept += part.kept
            total.rejected += part.rejected
            total.wildcards += part.wildcards
            total.expanded += part.expanded
        return total

    def add(self, batch: Batch, reasons: Reasons | None, rejects: Rejects) -> None:
        """Count a batch in which every record is one row, and hand on the rows that have a reason."""
        rejects.add(batch, reasons)
        self.records += batch.num_records
        self.rows += batch.num_rows + len(batch.malformed)
        self.kept += batch.num_rows - (0 if reasons is None else int(np.count_nonzero(reasons)))

    def check(self, source: Source) -> None:
        """Every physical record must be a row that is kept or rejected; lists and wildcards make more rows of one.

        Raises:
            InputError: they are not.
        """
        if self.rows < self.records or self.kept + self.rejected.total() != self.rows:
            raise InputError(
                f"{source.path} has {self.records:,} records, but {self.rows:,} rows were read, of which "
                f"{self.kept:,} are kept and {self.rejected.total():,} rejected."
            )

    def counts(self, kept: int | None = None) -> RowCounts:
        """All rows, of which ``kept`` are left once duplicates are dropped."""
        kept = self.kept if kept is None else kept
        rejected = {reason: number for reason, number in sorted(self.rejected.items()) if number}
        return RowCounts(self.rows, kept, rejected, self.kept - kept)


@dataclass(frozen=True)
class RowCounts:
    """What became of a source's rows: rows in = kept + rejected + duplicates."""

    rows_in: int
    kept: int
    rejected: Mapping[str, int]
    duplicates: int

    def __post_init__(self) -> None:
        accounted = self.kept + sum(self.rejected.values()) + self.duplicates
        if accounted != self.rows_in:
            raise AssertionError(f"{self.rows_in} rows came in, {accounted} are accounted for")


def describe_source(source: Source, reader: Reader, totals: RowTotals, rows: RowCounts) -> dict[str, Any]:
    """The entry of a source in the manifest."""
    return {
        "kind": source.kind,
        "path": source.path,
        "format": reader.format,
        "columns": dict(source.columns),
        "records": totals.records,
        "rows_in": rows.rows_in,
        "kept": rows.kept,
        "rejected": dict(rows.rejected),
        "duplicates": rows.duplicates,
    }


def total_rows(sources: Iterable[RowCounts]) -> dict[str, Any]:
    """The rows of all sources, as the manifest counts them."""
    sources = list(sources)
    reasons = sorted({reason for rows in sources for reason in rows.rejected})
    return {
        "rows_in": sum(rows.rows_in for rows in sources),
        "kept": sum(rows.kept for rows in sources),
        "rejected": {reason: sum(rows.rejected.get(reason, 0) for rows in sources) for reason in reasons},
        "duplicates": sum(rows.duplicates for rows in sources),
    }
