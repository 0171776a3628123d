"""What can be asked of ``assign``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pubplan.planning.request import NUMBER, TEXT, WHOLE, Explainable, Reader, option
from pubplan.planning.request import Request as AnyRequest

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Result
    from pubplan.problems.assign.problem import Problem
    from pubplan.workload import Workload


def _delay(value: Any) -> Any:
    return "none" if value == "none" else NUMBER.read(value)


_DELAY = Reader("a number such as 0.3, or none", _delay)


@dataclass(frozen=True, kw_only=True)
class Request(AnyRequest["Problem"]):
    """Assign content subscribers to brokers within latency and load limits, with the least bandwidth."""

    family = "assign"
    explainables: ClassVar = {
        "client": Explainable("Why does this broker serve the client, and what would others cost?"),
        "broker": Explainable("What do the boxes of this broker cost, and which clients force them?"),
    }

    boxes: int | None = option(WHOLE, "Boxes that a broker's filter may have, 1 to 5. Default: 3.")
    max_delay: str | int | float | None = option(
        _DELAY,
        "How much longer than the shortest way events may take, as a share: 0.3 is 30 %. none: no limit. Default: the "
        "limits of the workload's clients.",
        metavar="F|none",
    )
    load: str | int | float | None = option(
        NUMBER, "Clients that a leaf serves, in multiples of its share, if possible. Default: 1.5.", metavar="F"
    )
    max_load: str | int | float | None = option(
        NUMBER, "Clients that a leaf serves at most, in multiples of its share. Default: 1.8.", metavar="F"
    )
    hop: str | None = option(TEXT, "Latency is that of the whole path (the default) or of the last hop: path or last.")
    bound: str | None = option(TEXT, "forced (the default, with union and capacity), capacity, union or none.")

    def problem(self, workload: Workload) -> Problem:
        from pubplan.problems.assign.problem import Problem
        from pubplan.workload import CONTENT, require_kind

        given = {name: getattr(self, name) for name in ("boxes", "max_delay", "load", "max_load", "hop")}
        asked = {name: value for name, value in given.items() if value is not None}
        return Problem(require_kind(workload, CONTENT, self.family), **asked)

    def summarise(self, problem: Problem, result: Result, spark: SparkSession | None) -> Explanation:
        from pubplan.problems.assign.summary import summarise

        return summarise(problem, result)
