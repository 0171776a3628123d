"""A workload in numbers, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pubplan.errors import InputError
from pubplan.workload.kinds import find_kind
from pubplan.workload.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Description:
    """What is said of a workload of any kind; every kind adds its distributions, and says them all on one screen."""

    counts: Mapping[str, int]
    totals: Mapping[str, int]
    window: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe(workload: Workload, spark: SparkSession | None = None) -> Description:
    """Describe a workload as its kind does; blocks are counted in this process or on Spark.

    Raises:
        InputError: workloads of this kind cannot be described, or a table cannot be read.
    """
    run = find_kind(workload.kind).describe
    if run is None:
        raise InputError(f"{workload.path} cannot be described: it is a {workload.kind} workload.")
    description: Description = run(workload, spark)
    return description
