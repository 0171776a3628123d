"""What every shape of synthetic workload is, and how one is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import pyarrow as pa

from pubplan.files import atomic_directory
from pubplan.workload import MANIFEST, Kind, read_workload
from pubplan.workload.kinds import W

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


class RawTable(NamedTuple):
    """A table of a raw trace: ``make(file)`` gives the rows of each of its files, the same wherever it runs."""

    name: str
    num_files: int
    make: Callable[[int], pa.Table]


class RawTrace(NamedTuple):
    """What a shape looks like before it is ingested: tables, and lines of TOML with the options of ``ingest``."""

    tables: Sequence[RawTable]
    options: Sequence[str]


@dataclass(frozen=True)
class Shape(ABC, Generic[W]):
    """A synthetic workload before it is written. Each kind of workload has a class of shapes.

    ``parameters`` are what the manifest records of it.

    >>> pubplan.generate.spotify(0.001).name
    'spotify'
    """

    name: str
    parameters: Mapping[str, Any]

    @property
    @abstractmethod
    def kind(self) -> Kind[W]:
        """The kind of workload that it becomes."""

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """How many rows are drawn, block by block."""

    @abstractmethod
    def write(self, directory: Path, spark: SparkSession | None) -> None:
        """Write all tables and the manifest, drawing blocks in this process or on Spark."""

    @abstractmethod
    def raw_trace(self, *, with_events: bool) -> RawTrace:
        """Its raw trace, with every event or only their rates, where it has any."""

    @property
    def source(self) -> dict[str, Any]:
        """What the manifest says about where the workload comes from."""
        return {"generator": self.name, **self.parameters}


def generate(shape: Shape[W], out: str | Path, *, replace: bool = False, spark: SparkSession | None = None) -> W:
    """Write ``shape`` as a workload directory, block by block, and open it.

    Args:
        spark: a session to draw blocks on; None draws them in this process.

    Raises:
        InputError: ``out`` exists and ``replace`` was not asked for.

    >>> nodes = pubplan.generate.generate(pubplan.generate.uniform(4, 3, sizes=(1, 2)), "nodes")
    >>> nodes.counts.subscribers
    4
    """
    with atomic_directory(Path(out), marker=MANIFEST, replace=replace) as staging:
        shape.write(staging, spark)
    return read_workload(out, shape.kind)
