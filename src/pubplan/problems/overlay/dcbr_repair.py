"""DCBR-M, then load is taken from the busiest nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.errors import InputError
from pubplan.planning import Draft, Method
from pubplan.problems.overlay.dcbr_m import overlay_of
from pubplan.problems.overlay.division import CoverageParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.repair import repair

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class RepairParameters(CoverageParameters):
    """How nodes are divided, and how much is repaired."""

    effort: float = field(
        default=0.25,
        metadata={"help": "Work of the repair in multiples of that of DCBR-M; small overlays get some in any case."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.effort, int | float) or isinstance(self.effort, bool) or not 0 <= self.effort < 1e6:
            raise InputError(f"effort is a number from 0 on, not {self.effort!r}.")


def run(problem: Problem, own: RepairParameters, seed: int, spark: SparkSession | None) -> Draft:
    overlay = overlay_of(problem, own, seed, spark)
    return draft_of(problem, repair(problem, overlay, own.effort, seed))


METHOD = Method(
    name="dcbr-repair",
    run=run,
    guarantee="never above dcbr-m",
    ratio=None,
    complexity="as dcbr-m, and a share of it more",
    paper="ours, after Chen, Vitenberg, Jacobsen 2011, Algorithms 11 to 13",
    applies="all overlays",
    parameters=RepairParameters,
)
