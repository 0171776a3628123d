"""What can be asked of ``overlay``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pubplan.planning.request import REAL, TEXT, WHOLE, Explainable, option
from pubplan.planning.request import Request as AnyRequest

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Result
    from pubplan.problems.overlay.problem import Problem
    from pubplan.workload import Workload


@dataclass(frozen=True, kw_only=True)
class Request(AnyRequest["Problem"]):
    """Link nodes so that every topic is connected and no node has many neighbours."""

    family = "overlay"
    explainables: ClassVar = {
        "topic": Explainable("How does this topic get to its nodes?"),
        "node": Explainable("Why does this node have as many links as it has?"),
        "link": Explainable("Why are these nodes linked, and what goes this way?", "ID,ID"),
    }

    eta: int | None = option(
        WHOLE, "Nodes with more topics are bulk. Default: at most a fifth of all are.", of_method=True
    )
    coverage: int | None = option(
        WHOLE, "Representatives of a part for each of its topics. Default: 3.", of_method=True
    )
    parts: int | None = option(
        WHOLE, "Parts of the other nodes. Default: as many as take the least work.", of_method=True
    )
    effort: float | None = option(
        REAL,
        "Work that dcbr-repair may spend on repair, in multiples of dcbr-m's. Default: 0.25.",
        metavar="F",
        of_method=True,
    )
    bound: str | None = option(TEXT, "joins (the default, with forced and node), forced, node or none.")

    def problem(self, workload: Workload) -> Problem:
        from pubplan.problems.overlay.problem import Problem
        from pubplan.workload import TOPIC, require_kind

        return Problem(require_kind(workload, TOPIC, self.family))

    def summarise(self, problem: Problem, result: Result, spark: SparkSession | None) -> Explanation:
        from pubplan.planning import Explanation
        from pubplan.problems.overlay.measures import measures_of
        from pubplan.problems.overlay.summary import sentences

        measures = measures_of(result.plan)
        return Explanation({"measures": measures.to_dict()}, tuple(sentences(result, measures)))
