"""The manifest: what a workload directory holds, readable without opening its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pubplan.engine import block_name, digest_blocks, digest_value, read_json_object
from pubplan.errors import InputError

FORMAT = "pubplan-workload/1"
MANIFEST = "manifest.json"


def _check_counts(*values: object) -> None:
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TypeError(f"{value!r} is not a count")


@dataclass(frozen=True)
class Block:
    """One file of a table in blocks: rows, size in bytes, content digest, and for interests the number of pairs."""

    rows: int
    bytes: int
    digest: str
    pairs: int | None = None

    def __post_init__(self) -> None:
        _check_counts(self.rows, self.bytes, *(() if self.pairs is None else (self.pairs,)))


@dataclass(frozen=True)
class Counts:
    """How much there is, and what became of the rows that were read: rows_in = kept + rejected + duplicates."""

    topics: int
    subscribers: int
    pairs: int
    rows_in: int
    kept: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    duplicates: int = 0

    def __post_init__(self) -> None:
        _check_counts(self.topics, self.subscribers, self.pairs, self.rows_in, self.kept, self.duplicates)
        _check_counts(*self.rejected.values())
        if self.rows_in != self.kept + sum(self.rejected.values()) + self.duplicates:
            raise TypeError(f"of {self.rows_in} rows not all are kept, rejected or duplicates")


@dataclass(frozen=True)
class Totals:
    """Per window: ``cost`` in deliveries (rate x subscribers), ``rate`` in events published, ``bytes`` delivered."""

    cost: int
    rate: int
    bytes: int

    def __post_init__(self) -> None:
        _check_counts(self.cost, self.rate, self.bytes)


@dataclass(frozen=True)
class Window:
    """The time that rates are counted over: ISO 8601 in UTC, or nothing for a workload without time."""

    start: str | None = None
    end: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Manifest:
    """Everything about a workload except its tables."""

    kind: str
    counts: Counts
    totals: Totals
    window: Window
    sources: tuple[Mapping[str, Any], ...]
    blocks: Mapping[str, tuple[Block, ...]]

    @property
    def digest(self) -> str:
        """The content digest: tables, numbers and window, not where they came from."""
        return digest_value(
            {
                "kind": self.kind,
                "counts": [self.counts.topics, self.counts.subscribers, self.counts.pairs],
                "totals": asdict(self.totals),
                "window": asdict(self.window),
                "topics": digest_blocks(block.digest for block in self.blocks["topics"]),
                "interests": digest_blocks(block.digest for block in self.blocks["interests"]),
            }
        )

    def files(self) -> dict[str, int]:
        """The size of every file of the directory but the manifest itself."""
        return {
            f"{table}/{block_name(number)}": block.bytes
            for table, blocks in self.blocks.items()
            for number, block in enumerate(blocks)
        }

    def to_dict(self) -> dict[str, Any]:
        blocks = {
            table: [{key: value for key, value in asdict(block).items() if value is not None} for block in entries]
            for table, entries in self.blocks.items()
        }
        return {
            "format": FORMAT,
            "kind": self.kind,
            "counts": asdict(self.counts),
            "totals": asdict(self.totals),
            "window": asdict(self.window),
            "sources": [dict(source) for source in self.sources],
            "blocks": blocks,
            "digest": self.digest,
        }


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of a workload directory.

    Raises:
        InputError: there is no manifest, it is not one of ours, or it was edited.
    """
    path = directory / MANIFEST
    if not directory.is_dir():
        raise InputError(f"There is no workload directory {directory}.")
    if not path.is_file():
        raise InputError(f"{directory} is not a workload: it has no {MANIFEST}. Make one with 'pubplan generate'.")
    raw = read_json_object(path)
    if raw.get("format") != FORMAT:
        raise InputError(f"{path} has format {raw.get('format')!r}; this version of pubplan reads {FORMAT!r}.")
    try:
        manifest = Manifest(
            kind=raw["kind"],
            counts=Counts(**raw["counts"]),
            totals=Totals(**raw["totals"]),
            window=Window(**raw["window"]),
            sources=tuple(raw["sources"]),
            blocks={table: tuple(Block(**entry) for entry in entries) for table, entries in raw["blocks"].items()},
        )
        digest = manifest.digest
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}.") from error
    _check_blocks(path, manifest)
    if digest != raw.get("digest"):
        raise InputError(f"{path} was edited: its numbers do not give its digest. Make the workload again.")
    return manifest


def _check_blocks(path: Path, manifest: Manifest) -> None:
    """The blocks of a table add up to what the manifest counts."""
    counts, blocks = manifest.counts, manifest.blocks
    found = (
        sum(block.rows for block in blocks["topics"]),
        sum(block.rows for block in blocks["interests"]),
        sum(block.pairs or 0 for block in blocks["interests"]),
    )
    if found != (counts.topics, counts.subscribers, counts.pairs):
        raise InputError(f"{path} was edited: its blocks hold other numbers of rows than it counts.")
