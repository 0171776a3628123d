"""DCBR-M, then load is taken from the busiest nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.planning import Draft, Method
from pubplan.problems.overlay.division import CoverageParameters
from pubplan.problems.overlay.draft import draft_of
from pubplan.problems.overlay.methods.dcbr_m import overlay_of
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.repair import repair

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


MAX_EFFORT = 1_000_000


@dataclass(frozen=True)
class RepairParameters(CoverageParameters):
    """How nodes are divided, and how much is repaired."""

    effort: float = field(
        default=0.25,
        metadata={"help": "Work of the repair in multiples of that of DCBR-M; small overlays get some in any case."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        is_number = isinstance(self.effort, int | float) and not isinstance(self.effort, bool)
        if not is_number or not 0 <= self.effort < MAX_EFFORT:
            raise ValueError(f"effort is a number from 0 to below {MAX_EFFORT:,}, not {self.effort!r}")


def run(problem: Problem, parameters: RepairParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The overlay of DCBR-M with links moved away from its busiest nodes: its maximum degree is never larger.

    The work of the repair is counted in steps, not in seconds: the same seed gives the same plan on any machine, with
    and without Spark.

    Raises:
        EngineError: the pairs of nodes that are compared at once do not fit into memory.
    """
    overlay = overlay_of(problem, parameters, seed, spark)
    return draft_of(problem, repair(problem, overlay, parameters.effort, seed))


METHOD = Method(
    name="dcbr-repair",
    run=run,
    guarantee="never above dcbr-m",
    ratio=None,
    complexity="as dcbr-m, and a share of it more",
    paper="pubplan, after Chen, Vitenberg, Jacobsen 2011, Algorithms 11 to 13",
    applies="all overlays",
    parameters=RepairParameters,
    stops_early=True,
)
