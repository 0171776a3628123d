"""The manifest: what a workload directory holds, readable without opening its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pubplan.arguments import function
from pubplan.engine import block_name
from pubplan.errors import InputError
from pubplan.files import digest_blocks, digest_value, read_json_object
from pubplan.workload.kinds import find_kind

FORMAT = "pubplan-workload/1"
MANIFEST = "manifest.json"

RAW_SUFFIXES = frozenset(
    (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".orc", ".avro", ".gz", ".zst", ".bz2")
)
"""How files end that may be a trace."""


def _check_counts(*values: object) -> None:
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TypeError(f"{value!r} is not a count")


@dataclass(frozen=True)
class Block:
    """One file of a table: rows, size in bytes, content digest, and for interests the number of pairs."""

    rows: int
    bytes: int
    digest: str
    pairs: int | None = None

    def __post_init__(self) -> None:
        _check_counts(self.rows, self.bytes, *(() if self.pairs is None else (self.pairs,)))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What became of the rows that were read: rows_in = kept + rejected + duplicates.

    A kind of workload adds the sizes of its tables as further fields.
    """

    rows_in: int
    kept: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    duplicates: int = 0

    def __post_init__(self) -> None:
        _check_counts(*self.sizes.values(), self.rows_in, self.kept, self.duplicates, *self.rejected.values())
        if self.rows_in != self.kept + sum(self.rejected.values()) + self.duplicates:
            raise TypeError(f"of {self.rows_in} rows not all are kept, rejected or duplicates")

    @property
    def sizes(self) -> dict[str, int]:
        """The fields that a kind adds, in their order."""
        of_rows = {field.name for field in fields(Counts)}
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in of_rows}

    def to_dict(self) -> dict[str, Any]:
        return self.sizes | {field.name: getattr(self, field.name) for field in fields(Counts)}


@dataclass(frozen=True)
class Totals:
    """Sums over the whole workload; a kind of workload says which."""

    def __post_init__(self) -> None:
        _check_counts(*asdict(self).values())


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
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The content digest: tables, numbers, window and details, not where they came from."""
        kind = find_kind(self.kind)
        tables = (*kind.tables, *(table for table in kind.optional_tables if table in self.blocks))
        return digest_value(
            {
                "kind": self.kind,
                "counts": list(self.counts.sizes.values()),
                "totals": asdict(self.totals),
                "window": asdict(self.window),
                **self.details,
                **{table: digest_blocks(block.digest for block in self.blocks[table]) for table in tables},
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
            "counts": self.counts.to_dict(),
            "totals": asdict(self.totals),
            "window": asdict(self.window),
            **self.details,
            "sources": [dict(source) for source in self.sources],
            "blocks": blocks,
            "digest": self.digest,
        }


def _advice(directory: Path) -> str:
    """What to do about a directory that is not a workload."""
    if (directory / "plan.json").is_file():
        return f"It is a plan: name the workload that it was made for, or look at it with {function('read_plan')}."
    if any(file.suffix.lower() in RAW_SUFFIXES for file in directory.iterdir()):
        return f"It holds raw files: make a workload of them with {function('ingest')}."
    return f"Make one of your own data with {function('ingest')}, or a synthetic one with {function('generate')}."


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of a workload directory.

    Raises:
        InputError: there is no manifest, it is not one of ours, its kind is not known, or it was edited.
    """
    path = directory / MANIFEST
    if directory.is_file():
        raise InputError(
            f"{directory} is a file, not a workload. Make a workload of raw files with {function('ingest')}."
        )
    if not directory.is_dir():
        raise InputError(f"There is no workload directory {directory}.")
    if not path.is_file():
        raise InputError(f"{directory} is not a workload: it has no {MANIFEST}. {_advice(directory)}")
    raw = read_json_object(path)
    if raw.get("format") != FORMAT:
        raise InputError(f"{path} has format {raw.get('format')!r}; this version of pubplan reads {FORMAT!r}.")
    try:
        kind = find_kind(raw.get("kind"))
    except LookupError as error:
        raise InputError(f"{directory} cannot be opened: {error}.") from error
    try:
        manifest = Manifest(
            kind=kind.name,
            counts=kind.counts(**raw["counts"]),
            totals=kind.totals(**raw["totals"]),
            window=Window(**raw["window"]),
            sources=tuple(raw["sources"]),
            blocks={table: tuple(Block(**entry) for entry in entries) for table, entries in raw["blocks"].items()},
            details={key: raw[key] for key in kind.details},
        )
        digest = manifest.digest
        sizes = kind.sizes(manifest.blocks)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}.") from error
    if sizes.items() - manifest.counts.sizes.items():
        raise InputError(f"{path} was edited: its blocks hold other numbers of rows than it counts.")
    if digest != raw.get("digest"):
        raise InputError(f"{path} was edited: its numbers do not give its digest. Make the workload again.")
    return manifest
