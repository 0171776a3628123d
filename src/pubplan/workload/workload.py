"""A workload: what is planned for, as a directory of tables with a manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pubplan.engine import block_name, digest_table, map_blocks, read_block, stage
from pubplan.errors import InputError, unknown_name
from pubplan.workload.csr import Interests, read_csr
from pubplan.workload.manifest import MANIFEST, Block, Counts, Manifest, Totals, read_manifest
from pubplan.workload.tables import OPTIONAL_INTERESTS, OPTIONAL_TOPICS, TOPICS, Int64Array
from pubplan.workload.totals import add_totals

if TYPE_CHECKING:
    from pubplan.engine import DataFrame, SparkSession


class Workload:
    """A workload directory, opened. Nothing but the manifest is read until it is asked for."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def __repr__(self) -> str:
        counts = self.counts
        return f"Workload({str(self.path)!r}: {counts.topics} topics, {counts.subscribers} subscribers)"

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
    def interests_blocks(self) -> tuple[Block, ...]:
        return self.manifest.blocks["interests"]

    @cached_property
    def optional_columns(self) -> frozenset[str]:
        """Which of ``threshold`` and ``weight`` the interests have."""
        return self._column_names("interests") & frozenset(OPTIONAL_INTERESTS)

    @cached_property
    def optional_topic_columns(self) -> frozenset[str]:
        """Which optional columns the topics have: ``cost`` or none."""
        return self._column_names("topics") & frozenset(OPTIONAL_TOPICS)

    def _column_names(self, table: str) -> frozenset[str]:
        """The columns of a table's first block; none where it has no blocks."""
        if not self.manifest.blocks[table]:
            return frozenset()
        path = self.path / table / block_name(0)
        try:
            return frozenset(pq.read_schema(path).names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error

    def topics(self, *columns: str) -> pa.Table:
        """The topics in ascending order: all columns, or those named.

        Raises:
            InputError: there is no such column; says which there are.
        """
        directory, num_blocks = self.path / "topics", len(self.manifest.blocks["topics"])
        schema = pa.schema([*TOPICS, *(OPTIONAL_TOPICS[name] for name in sorted(self.optional_topic_columns))])
        names = columns or schema.names
        for name in names:
            if name not in schema.names:
                raise InputError(unknown_name(f"column of {directory}", name, schema.names))
        tables = map_blocks(lambda block: read_block(directory, block, names), num_blocks)
        try:
            return pa.concat_tables([schema.empty_table().select(names), *tables])
        except pa.ArrowInvalid as error:
            raise InputError(f"{directory} has other columns than a workload: {error}") from error

    def topic_array(self, column: str) -> Int64Array:
        """One integer column of the topics, by topic."""
        return np.asarray(self.topics(column)[column], dtype=np.int64)

    def subscriber_array(self, column: str) -> Int64Array:
        """One integer column of the interests, by subscriber."""
        directory, num_blocks = self.path / "interests", len(self.interests_blocks)
        tables = map_blocks(lambda block: read_block(directory, block, [column]), num_blocks)
        parts = [table[column].to_numpy() for table in tables]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def subscriber_ids(self) -> pa.Array:
        """The ids of all subscribers, by number."""
        directory, num_blocks = self.path / "interests", len(self.interests_blocks)
        tables = map_blocks(lambda block: read_block(directory, block, ["subscriber_id"]), num_blocks)
        return pa.concat_arrays([pa.array([], pa.string()), *(chunk for t in tables for chunk in t.column(0).chunks)])

    def topic_number(self, topic_id: str) -> int:
        """The dense number of a topic.

        Raises:
            InputError: there is no such topic.
        """
        place = int(pc.index(self.topics("topic_id")["topic_id"], topic_id).as_py())
        if place < 0:
            raise InputError(f"{self.path} has no topic {topic_id!r}.")
        return place

    def subscriber_place(self, subscriber_id: str, spark: SparkSession | None = None) -> tuple[int, int]:
        """The block of a subscriber, and its row there.

        Raises:
            InputError: there is no such subscriber.
        """
        directory = self.path / "interests"

        def find(block: int) -> int:
            ids = read_block(directory, block, ["subscriber_id"])["subscriber_id"]
            return int(pc.index(ids, subscriber_id).as_py())

        for block, row in enumerate(map_blocks(find, len(self.interests_blocks), spark)):
            if row >= 0:
                return block, row
        raise InputError(f"{self.path} has no subscriber {subscriber_id!r}.")

    def interests_block(self, block: int, *columns: str) -> pa.Table:
        """One block of the interests: all columns, or those named."""
        return read_block(self.path / "interests", block, columns or None)

    def csr(self) -> Interests:
        """Both directions of the interests as NumPy arrays.

        Raises:
            EngineError: they do not fit into memory; says how much they need.
        """
        return read_csr(self.path, self.manifest, self.topic_array("subscribers"))

    def interests_frame(self, spark: SparkSession) -> DataFrame:
        """The interests as a Spark DataFrame."""
        return spark.read.parquet(str(self.path.resolve() / "interests"))

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

                for block, found in enumerate(map_blocks(digest, len(entries), spark)):
                    advance(1)
                    if found != entries[block].digest:
                        raise InputError(f"{path / table / block_name(block)} was changed since it was written.")
        totals = add_totals(*map(self.topic_array, ("rate", "subscribers", "message_bytes")))
        if totals != self.totals:
            raise InputError(f"{path / MANIFEST} says other totals than its topics add up to.")


def read_workload(path: str | Path) -> Workload:
    """Open a workload directory: its format, file list and sizes are checked, its tables not yet read.

    Raises:
        InputError: it is no workload, incomplete, or holds files that do not belong to it.
    """
    directory = Path(path)
    manifest = read_manifest(directory)
    _check_files(directory, manifest.files())
    return Workload(Path(os.path.abspath(directory)), manifest)  # tasks run in other directories


def _check_files(directory: Path, expected: Mapping[str, int]) -> None:
    found = {
        str(file.relative_to(directory)): file.stat().st_size
        for file in directory.rglob("*")
        if file.is_file() and file != directory / MANIFEST
    }
    missing, foreign = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    if missing:
        raise InputError(f"{directory} is incomplete: {_some(missing)} missing.")
    if foreign:
        raise InputError(f"{directory} holds files that its manifest does not list: {_some(foreign)}.")
    changed = sorted(name for name in expected if expected[name] != found[name])
    if changed:
        raise InputError(f"{directory} was changed: {_some(changed)} no longer the size its manifest lists.")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more are" if len(names) > 3 else " is" if len(names) == 1 else " are"
    return ", ".join(names[:3]) + more
