"""What can be asked of ``select``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.planning.request import (
    FLAG,
    IDS,
    TEXT,
    TEXT_OR_NUMBER,
    THRESHOLD,
    Explainable,
    Reader,
    option,
    several,
)
from pubplan.planning.request import Request as AnyRequest
from pubplan.quantities import plain_number, read_rate

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Method, Result
    from pubplan.problems.select.problem import Problem
    from pubplan.workload import Threshold, Workload


def _capacity(value: Any) -> Any:
    """A number as people write it becomes an integer; what else a capacity may be, the problem says."""
    if isinstance(value, str):
        with suppress(ValueError):
            number = plain_number(value, commas=True)
            return int(number) if number.isdigit() else value
    return TEXT_OR_NUMBER.read(value)


def _capacities(value: Any) -> tuple[Any, ...]:
    """One capacity or several; commas may also stand between the thousands of one: ``1,000,000``, ``1,200 msg/s``."""
    read = _capacity(value) if isinstance(value, str) else value
    if isinstance(read, int) or read_rate(value) is not None:
        return (read,)
    values: tuple[Any, ...] = several(Reader("", _capacity), "").read(value)
    return values


_CAPACITIES = Reader("a capacity, or several with commas between them", _capacities)
_THRESHOLDS = several(THRESHOLD, "a whole number or all, or several with commas between them")


@dataclass(frozen=True, kw_only=True)
class Request(AnyRequest["Problem"]):
    """Serve the topics that satisfy most subscribers within a capacity.

    With several thresholds or capacities: a table of what each would satisfy, and no plan.
    """

    family = "select"
    explainables: ClassVar = {
        "topic": Explainable("Why is this topic served, or not?"),
        "subscriber": Explainable("Why is this subscriber satisfied, or not?"),
    }

    capacity: Sequence[str | int] | None = option(
        _CAPACITIES,
        "A share of the total cost such as 10%, deliveries per window such as 1M, deliveries per second such as "
        "'1200 msg/s', or a bandwidth such as '64 Mbit/s' or '8 MB/s'; several: what if.",
        metavar="SHARE|N|RATE[,…]",
    )
    threshold: Sequence[Threshold] | None = option(
        _THRESHOLDS,
        "Events per window that satisfy a subscriber; all: everything it asked for; several: what if.",
        metavar="N|all[,N…]",
    )
    objective: Literal["b3m", "fb3m"] | None = option(
        TEXT, "fb3m (fractions of subscribers, the default) or b3m (whole ones)."
    )
    cost: str | None = option(
        TEXT,
        "What topics cost: bytes (rate x subscribers x message size), or a column of theirs. Default: rate x "
        "subscribers, or bytes where the capacity is a bandwidth.",
        metavar="bytes|COLUMN",
    )
    must_serve: Sequence[str] = option(
        IDS,
        "A topic to serve in any case, or a file of them; repeatable.",
        metavar="ID|@FILE",
        default=(),
        repeats=True,
    )
    must_not_serve: Sequence[str] = option(
        IDS, "A topic not to serve, or a file of them; repeatable.", metavar="ID|@FILE", default=(), repeats=True
    )
    satisfy: str | None = option(
        TEXT, "Instead of a capacity: the least one that satisfies, say, 80%.", metavar="SHARE"
    )
    curve: bool = option(FLAG, "Also print the satisfied share at smaller capacities, and the knee.")
    bound: str | None = option(TEXT, "lagrangian (the default), paper, search or none.")

    @classmethod
    def not_in_plans(cls) -> frozenset[str]:
        return super().not_in_plans() | {"satisfy", "curve"}

    @property
    def is_comparison(self) -> bool:
        return len(self.threshold or ()) > 1 or len(self.capacity or ()) > 1

    @property
    def comparison_method(self) -> str:
        from pubplan.problems.select.problem import DEFAULT_METHODS

        return self.method or DEFAULT_METHODS[self.objective or "fb3m"]

    def problem(self, workload: Workload) -> Problem:
        from pubplan.problems.select.curve import share_of
        from pubplan.problems.select.problem import Problem
        from pubplan.workload import TOPIC, require_kind

        if self.satisfy is not None:
            if self.capacity is not None:
                raise InputError(f"Pass {argument('capacity')} or {argument('satisfy')}, not both.")
            share_of(self.satisfy)
        capacities = self._capacities() if self.satisfy is None else ("100%",)
        thresholds = self.threshold or (None,)
        if len(capacities) > 1 or len(thresholds) > 1:
            raise InputError("One plan is for one capacity and one threshold; several of them make a table.")
        return Problem(require_kind(workload, TOPIC, self.family), capacities[0], thresholds[0], **self._common())

    def compare(
        self, workload: Workload, seed: int, spark: SparkSession | None
    ) -> tuple[Sequence[Mapping[str, Any]], list[str]]:
        from pubplan.problems.select.whatif import comparison_lines, what_if
        from pubplan.workload import TOPIC, require_kind

        if self.satisfy is not None or self.curve:
            name = argument("curve" if self.satisfy is None else "satisfy")
            raise InputError(f"{name} is asked of one plan: leave it out, or give one threshold and capacity.")
        cases = what_if(
            require_kind(workload, TOPIC, self.family),
            thresholds=self.threshold or (None,),
            capacities=self._capacities(),
            method=self.comparison_method,
            parameters=self.parameters.get(self.comparison_method),
            bound=self.bound,
            seed=seed,
            spark=spark,
            **self._common(),
        )
        return [case.to_dict() for case in cases], comparison_lines(cases)

    def _capacities(self) -> Sequence[str | int]:
        if not self.capacity:
            raise InputError(f"No capacity: pass {argument('capacity')}, for instance {argument('capacity', '10%')}.")
        return self.capacity

    def _common(self) -> dict[str, Any]:
        """What the problem takes apart from the capacity and the threshold."""
        return {
            "objective": self.objective or "fb3m",
            "cost": self.cost,
            "must_serve": tuple(self.must_serve),
            "must_not_serve": tuple(self.must_not_serve),
        }

    def refine(self, problem: Problem, method: Method[Any, Any, Any], seed: int, spark: SparkSession | None) -> Problem:
        from pubplan.problems.select.curve import least_capacity

        if self.satisfy is None:
            return problem
        return least_capacity(problem, self.satisfy, method, self.method_parameters(method), seed, spark)

    def summarise(self, problem: Problem, result: Result, spark: SparkSession | None) -> Explanation:
        from pubplan.problems.select.summary import summarise

        return summarise(problem, result, satisfy=self.satisfy, with_curve=self.curve, spark=spark)
