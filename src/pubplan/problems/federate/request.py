"""What can be asked of ``federate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pubplan.planning.request import ONE_WHOLE, TEXT, Explainable, Reader, option
from pubplan.planning.request import Request as AnyRequest

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Result
    from pubplan.problems.federate.problem import Problem
    from pubplan.workload import Workload


def _channels(value: Any) -> Any:
    return value if isinstance(value, str) and "x" in value else ONE_WHOLE.read(value)


_CHANNELS = Reader("a whole number such as 50, or one per attribute such as 10x5", _channels)


@dataclass(frozen=True, kw_only=True)
class Request(AnyRequest["Problem"]):
    """Attach clients that publish and subscribe by content to brokers, and route between brokers, at the least cost."""

    family = "federate"
    explainables: ClassVar = {
        "client": Explainable("Why is the client attached to this broker, and what would others cost?"),
        "broker": Explainable("Who is attached to this broker, and what does it forward to whom?"),
        "link": Explainable("What crosses the link between two brokers, and what does it cost?", "ID,ID"),
        "channel": Explainable("Who publishes and wants this channel, and along which tree does it go?", "N"),
    }

    channels: str | int | None = option(
        _CHANNELS,
        "Channels that the content space is cut into, at most, or ranges per attribute such as 10x5. Default: 50.",
        metavar="N|NxN",
    )
    cut: str | None = option(TEXT, "Ranges of equal width (the default) or with equal traffic: width or traffic.")
    routing: str | None = option(
        TEXT,
        "How brokers forward a channel: spanning (a minimum spanning tree, the default), steiner (over other brokers "
        "where that is cheaper) or acyclic (one tree for everything).",
    )
    cost: str | None = option(
        TEXT, "shared (the default): a message crosses a link once; replicating: once for every subscriber behind it."
    )
    message_bytes: int | None = option(ONE_WHOLE, "The size of a message in bytes. Default: 200.", metavar="N")
    bound: str | None = option(TEXT, "laminar (the default, with access), access, search (few clients) or none.")

    def problem(self, workload: Workload) -> Problem:
        from pubplan.problems.federate.problem import Problem
        from pubplan.workload import CONTENT, require_kind

        given = {name: getattr(self, name) for name in ("channels", "cut", "routing", "cost", "message_bytes")}
        asked = {name: value for name, value in given.items() if value is not None}
        return Problem(require_kind(workload, CONTENT, self.family), **asked)

    def summarise(self, problem: Problem, result: Result, spark: SparkSession | None) -> Explanation:
        from pubplan.problems.federate.summary import summarise

        return summarise(problem, result)
