"""What can be asked of ``provision``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pubplan.planning.request import (
    DURATION,
    FLAG,
    NUMBER,
    ONE_NUMBER,
    ONE_WHOLE,
    TEXT,
    TEXT_OR_NUMBER,
    THRESHOLD,
    Explainable,
    option,
    several,
)
from pubplan.planning.request import Request as AnyRequest

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Result
    from pubplan.problems.provision.catalogue import VmType
    from pubplan.problems.provision.problem import Problem
    from pubplan.workload import Threshold, Workload

_NUMBERS = several(NUMBER, "a number, or several with commas between them")
_THRESHOLDS = several(THRESHOLD, "a whole number or all, or several with commas between them")
_TYPES = several(TEXT, "the name of a VM type, or several with commas between them")


@dataclass(frozen=True, kw_only=True)
class Request(AnyRequest["Problem"]):
    """Rent the fleet that satisfies every subscriber at the least cost, and place every pair on a VM.

    With several thresholds or rate factors, or with --what-if: a table of what each would cost, and no plan.
    """

    family = "provision"
    explainables: ClassVar = {
        "topic": Explainable("Which VMs carry this topic, for whom?"),
        "subscriber": Explainable("What does this subscriber receive, and from which VMs?"),
        "vm": Explainable("What does this VM carry, and could it be spared?", "N"),
    }

    threshold: Sequence[Threshold] | None = option(
        _THRESHOLDS,
        "Events per window that satisfy a subscriber; all: everything it asked for; several: what if.",
        metavar="N|all[,N…]",
    )
    vm_type: Sequence[str] | None = option(
        _TYPES,
        "VM types to choose from, such as aws-us-east-1/c7g.large (the default) or 'aws-us-east-1/*'; see 'pubplan "
        "catalogues'.",
        metavar="T[,T…]",
    )
    catalogue: str | None = option(
        TEXT, "TOML file with VM types and prices of your own; alone, all of its types.", metavar="FILE"
    )
    peak_factor: str | float | None = option(NUMBER, "Peak to mean traffic, at least 1 (the default).", metavar="F")
    headroom: str | None = option(TEXT_OR_NUMBER, "Share of a VM's line to leave free, such as 20%.", metavar="SHARE")
    window: str | None = option(DURATION, "What rates are counted over, such as 36h, 10d or 2w.", metavar="LENGTH")
    message_bytes: int | None = option(ONE_WHOLE, "Size of all messages. Default: each topic's own.")
    rate_factor: Sequence[Any] | None = option(_NUMBERS, "Multiplies all rates; several: what if.", metavar="F[,F…]")
    budget: str | float | None = option(
        ONE_NUMBER, "Is there a plan that costs at most this per window?", metavar="DOLLARS"
    )
    what_if: bool = option(FLAG, "A table of costs and bounds per VM type instead of a plan.")
    bound: str | None = option(TEXT, "prices (the default), mandatory, outgoing, paper or none.")

    vm_types: Sequence[VmType] | None = None

    @classmethod
    def from_plan(cls, parameters: Mapping[str, Any]) -> Self:
        from pubplan.problems.provision.catalogue import VmType

        names = ("threshold", "peak_factor", "headroom", "message_bytes", "rate_factor", "budget")
        values = {name: parameters[name] for name in names} | {"window": parameters["window_seconds"]}
        request = cls.from_mapping(values, source="parameters: ")
        vm_types = [VmType.from_dict(record) for record in parameters["vm_types"]]
        return request.with_types(vm_types)

    def with_types(self, vm_types: Sequence[VmType]) -> Self:
        """The same request for these VM types, whatever catalogues say."""
        return replace(self, vm_types=tuple(vm_types))

    @property
    def is_comparison(self) -> bool:
        return self.what_if or len(self.threshold or ()) > 1 or len(self.rate_factor or ()) > 1

    @property
    def comparison_method(self) -> str:
        from pubplan.problems.provision.stages import DEFAULT_METHOD

        return self.method or DEFAULT_METHOD

    def problem(self, workload: Workload) -> Problem:
        from pubplan.problems.provision.problem import Problem
        from pubplan.workload import TOPIC, require_kind

        thresholds, factors = self._thresholds_and_factors()
        return Problem(
            require_kind(workload, TOPIC, self.family),
            threshold=thresholds[0],
            rate_factor=factors[0],
            **self._common(),
        )

    def compare(
        self, workload: Workload, seed: int, spark: SparkSession | None
    ) -> tuple[Sequence[Mapping[str, Any]], list[str]]:
        from pubplan.problems.provision import DEFAULT_VM_TYPE, find_vm_types, what_if
        from pubplan.problems.provision.catalogue import MICROS
        from pubplan.problems.provision.summary import comparison_lines, price_lines
        from pubplan.problems.provision.whatif import cheapest_cases, cost_per_month
        from pubplan.workload import TOPIC, require_kind

        thresholds, factors = self._thresholds_and_factors()
        cases = what_if(
            require_kind(workload, TOPIC, self.family),
            thresholds=thresholds,
            rate_factors=factors,
            method=self.comparison_method,
            parameters=self.parameters.get(self.comparison_method),
            bound=self.bound,
            seed=seed,
            spark=spark,
            **self._common(),
        )
        seconds = Fraction(str(self.window or workload.manifest.window.seconds))
        cheapest = cheapest_cases(cases)
        rows = [
            {
                **case.to_dict(),
                "cost_per_month": None if case.cost is None else cost_per_month(case.cost, seconds) / MICROS,
                "is_cheapest": case in cheapest,
            }
            for case in cases
        ]
        vm_types = self._vm_types() or find_vm_types([DEFAULT_VM_TYPE])
        return rows, [*comparison_lines(cases, seconds), *price_lines(vm_types)]

    def summarise(self, problem: Problem, result: Result, spark: SparkSession | None) -> Explanation:
        from pubplan.problems.provision.summary import summarise

        return summarise(problem, result)

    def _thresholds_and_factors(self) -> tuple[Sequence[Threshold], Sequence[Any]]:
        return self.threshold or (None,), self.rate_factor or (1,)

    def _common(self) -> dict[str, Any]:
        """What the problem takes apart from the threshold and the rate factor."""
        values = {name: getattr(self, name) for name in ("peak_factor", "message_bytes", "budget")}
        values["headroom"] = None if self.headroom is None else str(self.headroom)
        values["window_seconds"] = self.window
        values["vm_types"] = self._vm_types()
        return {name: value for name, value in values.items() if value is not None}

    def _vm_types(self) -> Sequence[VmType] | None:
        """The VM types named; all of a catalogue file where none is named; None for the default."""
        from pubplan.problems.provision.catalogue import find_vm_types, read_catalogue

        if self.vm_types is not None:
            return self.vm_types
        path = None if self.catalogue is None else Path(self.catalogue)
        if self.vm_type:
            return find_vm_types(self.vm_type, path)
        return None if path is None else tuple(read_catalogue(path).values())
