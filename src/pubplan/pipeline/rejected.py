"""Rejected rows: counted and written by the task that reads them, so that both see the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import read_parquet, write_parquet
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import MALFORMED, REASON_NAMES, Reasons
from pubplan.workload import Block, write_table

_MAX_HELD_ROWS = 1 << 17
_SCHEMA = pa.schema([("source", pa.string()), ("reason", pa.string()), ("row", pa.string())])


class Rejects:
    """Collects the rejected rows of one task and writes them to files."""

    def __init__(self, directory: Path, kind: str, task: int) -> None:
        self.counts: Counter[str] = Counter()
        self._directory, self._kind, self._task = directory, kind, task
        self._held: list[tuple[str, str]] = []
        self._num_files = 0

    def add(self, batch: Batch, reasons: Reasons | None) -> None:
        """The malformed records of a batch, and the rows that have a reason."""
        self.counts[MALFORMED] += len(batch.malformed)
        self._held += [(MALFORMED, raw) for raw in batch.malformed]
        if reasons is not None:
            rows = np.flatnonzero(reasons)
            names = [REASON_NAMES[number - 1] for number in reasons[rows].tolist()]
            self.counts.update(names)
            self._held += zip(names, batch.raw(rows), strict=True)
        if len(self._held) >= _MAX_HELD_ROWS:
            self.write()

    def write(self) -> None:
        """Write what is held; a task that is run again writes the same files again."""
        if not self._held:
            return
        reasons, raws = zip(*self._held, strict=True)
        table = pa.table({"source": [self._kind] * len(raws), "reason": reasons, "row": raws}, schema=_SCHEMA)
        write_parquet(self._directory / f"{self._kind}-{self._task:05d}-{self._num_files:05d}.parquet", table)
        self._held.clear()
        self._num_files += 1


def samples(directory: Path, kind: str, reason: str, number: int) -> list[str]:
    """Some rejected rows, the same ones in every run."""
    rows: list[str] = []
    for path in sorted(directory.glob(f"{kind}-*.parquet")):
        table = read_parquet(path)
        rows += table.filter(pc.equal(table["reason"], reason))["row"].slice(0, number).to_pylist()
        if len(rows) >= number:
            break
    return rows[:number]


def write_rejected(directory: Path, kinds: Sequence[str], counts: Mapping[str, int], target: Path) -> tuple[Block, ...]:
    """The table ``rejected/`` in ``target``: the rows of all sources, in an order that does not depend on the reading.

    Args:
        directory: where tasks wrote them.
        kinds: of the sources.
        counts: how many rows of all sources were rejected, by reason.

    Raises:
        AssertionError: other rows are in the files than were counted.
    """
    files = [path for kind in kinds for path in sorted(directory.glob(f"{kind}-*.parquet"))]
    if not files:
        return ()
    order = [("source", "ascending"), ("reason", "ascending"), ("row", "ascending")]
    table = pa.concat_tables([read_parquet(path) for path in files]).sort_by(order)
    seen = Counter(table["reason"].to_pylist())
    if seen != Counter(counts):
        raise AssertionError(f"{dict(counts)} were rejected, but {dict(seen)} were written")
    return write_table(target, "rejected", table)
