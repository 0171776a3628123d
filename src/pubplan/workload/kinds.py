"""Kinds of workloads: what the manifest, the reader and the writer have to know of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pubplan.errors import InputError

if TYPE_CHECKING:
    from pubplan.workload.manifest import Block, Counts, Manifest, Totals
    from pubplan.workload.workload import Workload

W = TypeVar("W", bound="Workload")


@dataclass(frozen=True)
class Kind(Generic[W]):
    """One kind of workload.

    Attributes:
        name: as the manifest spells it.
        tables: the tables that every workload of this kind has, which its digest covers.
        row_table: the table in blocks that passes over the workload go through.
        counts: what is counted, next to the rows that were read.
        totals: what is added up.
        sizes: the counts that follow from the blocks of the tables, by name; a kind may have further counts.
        open: the workload in a directory, given its manifest.
        describe: the workload in numbers, given a Spark session or None; None where that is not known.
        optional_tables: further tables that workloads of this kind may have, which the digest covers too.
        details: the keys that the manifest has beside those of every kind, covered by the digest.
    """

    name: str
    tables: tuple[str, ...]
    row_table: str
    counts: type[Counts]
    totals: type[Totals]
    sizes: Callable[[Mapping[str, tuple[Block, ...]]], dict[str, int]]
    open: Callable[[Path, Manifest], W]
    describe: Callable[[W, Any], Any] | None = None
    optional_tables: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


_KINDS: dict[str, Kind[Any]] = {}


def register_kind(kind: Kind[Any]) -> None:
    """Make workloads of this kind known to the manifest, ``read_workload`` and ``describe``."""
    _KINDS[kind.name] = kind


def find_kind(name: object) -> Kind[Any]:
    """The kind of this name.

    Raises:
        LookupError: there is none; says which there are.
    """
    if not isinstance(name, str) or name not in _KINDS:
        raise LookupError(f"the kind is {name!r}; this version of pubplan knows {', '.join(sorted(_KINDS))}")
    return _KINDS[name]


def require_kind(workload: Workload, kind: Kind[W], family: str) -> W:
    """The workload, for a family that plans workloads of this kind only.

    Raises:
        InputError: it is of another kind.
    """
    if workload.kind != kind.name:
        raise InputError(f"{family} plans {kind.name} workloads; {workload.path} is a {workload.kind} workload.")
    return cast(W, workload)  # read_workload opens every workload as the class of its kind
