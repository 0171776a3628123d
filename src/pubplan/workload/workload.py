"""A workload: what is planned for, as a directory of tables with a manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pubplan.engine import block_name, map_blocks, read_block, stage
from pubplan.errors import InputError
from pubplan.files import digest_table
from pubplan.text import listed
from pubplan.workload.kinds import Kind, W, find_kind
from pubplan.workload.manifest import MANIFEST, Counts, Manifest, Totals, read_manifest
from pubplan.workload.tables import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


class Workload:
    """A workload directory, opened. Nothing but the manifest is read until it is asked for.

    Every kind of workload has a class of its own, which adds what its tables hold.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}: {self.summary()})"

    @property
    def kind(self) -> str:
        return self.manifest.kind

    @property
    def counts(self) -> Counts:
        return self.manifest.counts

    @property
    def totals(self) -> Totals:
        return self.manifest.totals

    @property
    def digest(self) -> str:
        return self.manifest.digest

    @property
    def num_blocks(self) -> int:
        """How many blocks a pass over the workload goes through."""
        return len(self.manifest.blocks[find_kind(self.kind).row_table])

    def summary(self) -> str:
        """The workload in one sentence, without a full stop."""
        return f"a {self.kind} workload"

    def recompute_totals(self) -> Totals:
        """The totals, from the tables.

        Raises:
            InputError: a table cannot be read, or a total leaves 64 bits.
        """
        raise NotImplementedError

    def block(self, table: str, block: int, *columns: str) -> pa.Table:
        """One block of a table: all columns, or those named."""
        return read_block(self.path / table, block, columns or None)

    def column_names(self, table: str) -> frozenset[str]:
        """The columns of a table's first block; none where it has no blocks."""
        if not self.manifest.blocks[table]:
            return frozenset()
        path = self.path / table / block_name(0)
        try:
            return frozenset(pq.read_schema(path).names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error

    def column(self, table: str, column: str) -> Int64Array:
        """An integer column of all blocks of a table."""
        values = [block[column].to_numpy() for block in self.blocks(table, column)]
        return np.concatenate([np.empty(0, np.int64), *values])

    def ids(self, table: str, column: str) -> pa.Array:
        """A column of text of all blocks of a table."""
        chunks = [chunk for block in self.blocks(table, column) for chunk in block[column].chunks]
        return pa.concat_arrays([pa.array([], pa.string()), *chunks])

    def blocks(self, table: str, *columns: str) -> list[pa.Table]:
        """All blocks of a table: all columns, or those named."""
        num_blocks = len(self.manifest.blocks[table])
        return list(map_blocks(lambda block: self.block(table, block, *columns), num_blocks))

    def find_id(self, table: str, column: str, name: str, spark: SparkSession | None = None) -> tuple[int, int] | None:
        """The block and the row there that hold an id, or None."""
        directory = self.path / table

        def find(block: int) -> int:
            return int(pc.index(read_block(directory, block, [column])[column], name).as_py())

        for block, row in enumerate(map_blocks(find, len(self.manifest.blocks[table]), spark)):
            if row >= 0:
                return block, row
        return None

    def check(self, spark: SparkSession | None = None) -> None:
        """Read every table, compare it with its digest, and recompute the totals.

        Raises:
            InputError: a file no longer holds what it held when it was written, or the manifest's totals are false.
        """
        path = self.path
        with stage("checking the workload", sum(map(len, self.manifest.blocks.values()))) as advance:
            for table, entries in self.manifest.blocks.items():

                def digest(block: int, directory: Path = path / table) -> str:
                    return digest_table(read_block(directory, block))

                for block, recomputed in enumerate(map_blocks(digest, len(entries), spark)):
                    advance(1)
                    if recomputed != entries[block].digest:
                        raise InputError(f"{path / table / block_name(block)} was changed since it was written.")
        if self.recompute_totals() != self.totals:
            raise InputError(f"{path / MANIFEST} says other totals than its tables add up to.")


@overload
def read_workload(path: str | Path, kind: Kind[W]) -> W: ...


@overload
def read_workload(path: str | Path, kind: None = None) -> Any: ...


def read_workload(path: str | Path, kind: Kind[Any] | None = None) -> Workload:
    """Open a workload directory: its format, file list and sizes are checked, its tables not yet read.

    It is opened as the class of its kind, which type checkers cannot know unless ``kind`` says it.

    Args:
        path: the workload directory.

    Raises:
        InputError: it is not a workload, of another kind or one that is not known, incomplete, or holds files that do
            not belong to it.

    >>> pubplan.read_workload("workload").counts.topics
    3
    """
    directory = Path(path)
    manifest = read_manifest(directory)
    _check_files(directory, manifest.files())
    if kind is not None and manifest.kind != kind.name:
        raise InputError(f"{directory} is a {manifest.kind} workload, not a {kind.name} workload.")
    workload: Workload = find_kind(manifest.kind).open(Path(os.path.abspath(directory)), manifest)
    return workload  # with an absolute path: tasks run in other directories


def _check_files(directory: Path, expected: Mapping[str, int]) -> None:
    sizes = {
        str(file.relative_to(directory)): file.stat().st_size
        for file in directory.rglob("*")
        if file.is_file() and file != directory / MANIFEST
    }
    missing, foreign = sorted(expected.keys() - sizes.keys()), sorted(sizes.keys() - expected.keys())
    if missing:
        raise InputError(f"{directory} is incomplete: {_some(missing)} missing.")
    if foreign:
        raise InputError(f"{directory} holds files that its manifest does not list: {listed(foreign, 3)}.")
    changed = sorted(name for name in expected if expected[name] != sizes[name])
    if changed:
        raise InputError(f"{directory} was changed: {_some(changed)} no longer the size its manifest lists.")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more are" if len(names) > 3 else " is" if len(names) == 1 else " are"
    return ", ".join(names[:3]) + more
