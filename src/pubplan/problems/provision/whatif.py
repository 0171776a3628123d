"""What if thresholds, rates or VM types were others? A table of costs and bounds, without a plan being written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pubplan.errors import InputError
from pubplan.planning import Exact, check_values, gap, make_parameters, tightest, try_questions
from pubplan.problems.provision.bound import bounds_by_type
from pubplan.problems.provision.catalogue import MICROS, VmType, find_vm_types
from pubplan.problems.provision.draft import Fleet, FleetDraft
from pubplan.problems.provision.family import FAMILY
from pubplan.problems.provision.methods import joint
from pubplan.problems.provision.packing import total_cost
from pubplan.problems.provision.problem import DEFAULT_VM_TYPE, Number, Problem
from pubplan.problems.provision.selection import Weights
from pubplan.problems.provision.stages import STAGES, fleets, weights_of
from pubplan.text import SECONDS_PER_MONTH
from pubplan.workload import Threshold, TopicWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Case:
    """One row: what was asked, and the fleet of that VM type, or why there is none.

    ``cost`` and ``bound`` are micro-dollars, ``incoming`` and ``outgoing`` bytes per window.

    >>> case = pubplan.provision.what_if(workload, thresholds=[3], window_seconds=3600)[0]
    >>> case.vm_type, case.vms, case.gap
    ('aws-us-east-1/c7g.large', 1, 0.0)
    """

    threshold: Threshold
    rate_factor: str
    vm_type: str
    cost: int | None = None
    vms: int | None = None
    incoming: int | None = None
    outgoing: int | None = None
    bound: int | None = None
    gap: float | None = None
    refused: str = ""

    @property
    def bandwidth(self) -> int | None:
        """Bytes in and out per window."""
        return None if self.incoming is None or self.outgoing is None else self.incoming + self.outgoing

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON, money in dollars."""
        money = {
            name: None if value is None else value / MICROS
            for name, value in (("cost", self.cost), ("bound", self.bound))
        }
        return {**asdict(self), **money, "bandwidth": self.bandwidth}


def cost_per_month(cost: int, window_seconds: Fraction) -> int:
    """What a fleet costs in a month of such windows, in micro-dollars, rounded up."""
    return math.ceil(cost * SECONDS_PER_MONTH / window_seconds)


def cheapest_cases(cases: Sequence[Case]) -> list[Case]:
    """For every threshold and rate factor the cases of least cost, where there are several VM types to choose from."""
    groups: dict[tuple[Threshold, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.threshold, case.rate_factor), []).append(case)
    cheapest = []
    for group in groups.values():
        costs = [case.cost for case in group if case.cost is not None]
        cheapest += [case for case in group if len(group) > 1 and costs and case.cost == min(costs)]
    return cheapest


def what_if(
    workload: TopicWorkload,
    *,
    thresholds: Sequence[Threshold] = (None,),
    vm_types: Sequence[VmType | str] = (DEFAULT_VM_TYPE,),
    rate_factors: Sequence[Number] = (1,),
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    bound: str | None = None,
    seed: int = 0,
    spark: SparkSession | None = None,
    **other: Any,
) -> list[Case]:
    """A row for every threshold, rate factor and VM type, in this order.

    Fleets are what ``solve`` would plan with that VM type alone, and bounds those that it would state. VM types that
    can carry the same topics share the scans of the subscribers.

    Args:
        thresholds: as a problem has one; None is the workload's column.
        vm_types: VM types or their names.
        rate_factors: as a problem has one.
        parameters: those of the method, by name.
        seed: what random orders are drawn by.
        spark: a session to run passes over the workload on; None runs them in this process.
        other: what else a problem takes, such as ``peak_factor``.

    Raises:
        InputError: a value is out of range, or there is nothing to try.
        NotApplicable: the bound does not hold for one of the problems.

    >>> cases = pubplan.provision.what_if(workload, thresholds=[1, 3], window_seconds=3600)
    >>> [(case.threshold, case.vms, case.cost) for case in cases]
    [(1, 1, 72501), (3, 1, 72501)]
    """
    if "budget" in other:
        raise InputError("A budget is asked of one plan: leave it out, and look at the table's cost and bound.")
    types = [vm_type if isinstance(vm_type, VmType) else find_vm_types([vm_type])[0] for vm_type in vm_types]
    check_values(thresholds=thresholds, vm_types=types, rate_factors=rate_factors)

    def ask(question: tuple[Threshold, Number]) -> Problem:
        threshold, factor = question
        return Problem(workload, types, threshold, rate_factor=factor, **other)

    def refuse(question: tuple[Threshold, Number], reason: str) -> list[Case]:
        threshold, factor = question
        return [Case(threshold, str(factor), vm_type.name, refused=reason) for vm_type in types]

    return try_questions(
        [(threshold, factor) for threshold in thresholds for factor in rate_factors],
        ask,
        lambda problem: _cases(problem, method, parameters or {}, bound, seed, spark),
        refuse,
    )


def _cases(
    problem: Problem,
    method: str | None,
    parameters: Mapping[str, Any],
    bound: str | None,
    seed: int,
    spark: SparkSession | None,
) -> Iterator[Case]:
    chosen = FAMILY.method_for(problem, method)
    method_parameters: Any = make_parameters(chosen.parameters, parameters, f"method {chosen.name}")
    FAMILY.bounds_for(problem, bound)  # before the work
    planned = fleets(problem, *STAGES[chosen.name], method_parameters, seed, spark)
    least = _bounds(problem, [fleet for fleet in planned if fleet.packing], bound, spark)
    for fleet in planned:
        case = Case(problem.threshold, str(problem.rate_factor), fleet.vm_type.name)
        if fleet.packing is None:
            yield replace(case, refused="; ".join(map(str, fleet.refusals)))
            continue
        cost, below = Exact(total_cost(problem, fleet.packing), MICROS), least.get(fleet.vm_type.name)
        yield replace(
            case,
            cost=cost.value,
            vms=fleet.packing.num_vms,
            incoming=fleet.packing.incoming,
            outgoing=fleet.packing.outgoing,
            bound=None if below is None else below.value,
            gap=gap(cost, below),
        )


def _bounds(
    problem: Problem,
    feasible: Sequence[Fleet],
    bound: str | None,
    spark: SparkSession | None,
) -> dict[str, Exact]:
    """By VM type, what no fleet of that type can be below.

    Types for which the same topics fit, and bytes cost the same in proportion, are bounded together: for each of them
    that is what bounding it alone would give.
    """
    alike: dict[tuple[int, Weights], list[Fleet]] = {}
    for fleet in feasible:
        key = (problem.instance.num_usable(problem.limit(fleet.vm_type)), weights_of(problem, fleet.vm_type))
        alike.setdefault(key, []).append(fleet)
    least: dict[str, Exact] = {}
    for group in alike.values():
        asked = problem.of_types([fleet.vm_type for fleet in group])
        selection = next((fleet.selection for fleet in group if _is_joint(fleet)), None)
        draft = FleetDraft({}, Exact(0, MICROS), selection=selection)
        by_type = bounds_by_type(FAMILY.bounds_for(asked, bound), asked, draft, spark)
        for name, bounds in by_type.items():
            best = tightest(bounds, problem.sense)
            if best is not None:
                least[name] = best
    return least


def _is_joint(fleet: Fleet) -> bool:
    return fleet.selection is not None and fleet.selection.name == joint.STAGE.name
