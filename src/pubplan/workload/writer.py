"""Writing a workload of any kind: its tables block by block, then the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubplan.engine import block_range, map_blocks, num_blocks, write_block
from pubplan.files import digest_table, write_json
from pubplan.workload.kinds import Kind
from pubplan.workload.manifest import MANIFEST, Block, Manifest, Totals, Window


def write_table_block(directory: Path, block: int, table: pa.Table, num_pairs: int | None = None) -> Block:
    """Write one block of the table in ``directory``; the entry goes into the manifest."""
    size = write_block(directory, block, table)
    return Block(rows=table.num_rows, bytes=size, digest=digest_table(table), pairs=num_pairs)


def write_table(directory: Path, name: str, table: pa.Table) -> tuple[Block, ...]:
    """Write a table that is in memory as the blocks of ``directory/name``."""

    def write(block: int) -> Block:
        first, last = block_range(block, table.num_rows)
        return write_table_block(directory / name, block, table.slice(first, last - first).combine_chunks())

    return tuple(map_blocks(write, num_blocks(table.num_rows)))


def finish(
    directory: Path,
    kind: Kind[Any],
    *,
    blocks: Mapping[str, Sequence[Block]],
    totals: Totals,
    window: Window,
    sources: Iterable[Mapping[str, Any]],
    rows: Mapping[str, Any],
    details: Mapping[str, Any] | None = None,
) -> Manifest:
    """Write the manifest of a workload whose tables are written.

    Args:
        blocks: the entries of every table; of ``rejected/`` only where rows were rejected.
        rows: ``rows_in``, ``kept``, ``rejected`` and ``duplicates``, and counts that do not follow from the blocks.
        details: the keys that manifests of this kind have beside those of every kind.
    """
    entries = {table: tuple(blocks[table]) for table in blocks}
    manifest = Manifest(
        kind=kind.name,
        counts=kind.counts(**{**kind.sizes(entries), **rows}),
        totals=totals,
        window=window,
        sources=tuple(sources),
        blocks=entries,
        details=details or {},
    )
    write_json(directory / MANIFEST, manifest.to_dict())
    return manifest
