"""What if thresholds, rates or VM types were others? A table of costs and bounds, without a plan being written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from pubplan.engine import stage
from pubplan.errors import Infeasible, InputError
from pubplan.planning import Draft, Exact, Family, gap, make_parameters, tightest
from pubplan.problems.provision import joint
from pubplan.problems.provision.catalogue import MICROS, VmType, find_vm_types
from pubplan.problems.provision.draft import Fleet
from pubplan.problems.provision.methods import STAGES, fleets, weights_of
from pubplan.problems.provision.packing import total_cost
from pubplan.problems.provision.problem import DEFAULT_VM_TYPE, Number, Problem
from pubplan.problems.provision.selection import Weights
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Case:
    """One row: what was asked, and the fleet of that VM type, or why there is none.

    ``cost`` and ``bound`` are micro-dollars, ``incoming`` and ``outgoing`` bytes per window.
    """

    threshold: int | None
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


def what_if(
    family: Family,
    workload: Workload,
    *,
    thresholds: Sequence[int | None] = (None,),
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

    Fleets are what ``solve`` would plan with that VM type alone, and bounds what it would find. VM types that can carry
    the same topics share the passes over the subscribers.

    Args:
        parameters: the method's own.
        seed: what random orders are drawn by.
        other: what else a problem takes, such as ``peak_factor``.

    Raises:
        InputError: a value is out of range, or there is nothing to try.
        NotApplicable: the bound does not hold for one of the problems.
    """
    if "budget" in other:
        raise InputError("A budget is asked of one plan: leave it out, and look at the table's cost and bound.")
    types = [vm_type if isinstance(vm_type, VmType) else find_vm_types([vm_type])[0] for vm_type in vm_types]
    for name, values in (("thresholds", thresholds), ("vm_types", types), ("rate_factors", rate_factors)):
        if not values:
            raise InputError(f"There is nothing to try: {name} is empty.")
    asked = [(threshold, factor) for threshold in thresholds for factor in rate_factors]
    cases: list[Case] = []
    with stage("trying what if", len(asked)) as advance:
        for threshold, factor in asked:
            try:
                problem = Problem(workload, types, threshold, rate_factor=factor, **other)
            except Infeasible as error:
                cases += [Case(threshold, str(factor), vm_type.name, refused=_in_one_line(error)) for vm_type in types]
            else:
                cases += _cases(family, problem, method, parameters or {}, bound, seed, spark)
            advance(1)
    return cases


def _cases(
    family: Family,
    problem: Problem,
    method: str | None,
    parameters: Mapping[str, Any],
    bound: str | None,
    seed: int,
    spark: SparkSession | None,
) -> Iterator[Case]:
    chosen = family.method_for(problem, method)
    own: Any = make_parameters(chosen.parameters, parameters, f"method {chosen.name}")
    family.bounds_for(problem, bound)  # before the work
    found = fleets(problem, *STAGES[chosen.name], own, seed, spark)
    least = _bounds(family, problem, [fleet for fleet in found if fleet.packing], bound, spark)
    for fleet in found:
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
    family: Family, problem: Problem, found: Sequence[Fleet], bound: str | None, spark: SparkSession | None
) -> dict[str, Exact]:
    """By VM type, what no fleet of that type can be below.

    Types for which the same topics fit, and bytes cost the same in proportion, are bounded together: for each of them
    that is what bounding it alone would give.
    """
    alike: dict[tuple[int, Weights], list[Fleet]] = {}
    for fleet in found:
        key = (problem.num_usable(problem.limit(fleet.vm_type)), weights_of(problem, fleet.vm_type))
        alike.setdefault(key, []).append(fleet)
    least: dict[str, Exact] = {}
    for group in alike.values():
        asked = problem.of_types([fleet.vm_type for fleet in group])
        selection = next((fleet.selection for fleet in group if _is_joint(fleet)), None)
        draft = Draft({}, Exact(0, MICROS), aside=selection)
        certificates = [one for wanted in family.bounds_for(asked, bound) for one in wanted.run(asked, draft, spark)]
        for fleet in group:
            parts = {one.name: one.parts[fleet.vm_type.name] for one in certificates}
            best = tightest(parts, problem.sense)
            if best is not None:
                least[fleet.vm_type.name] = best
    return least


def _is_joint(fleet: Fleet) -> bool:
    return fleet.selection is not None and fleet.selection.name == joint.STAGE.name


def _in_one_line(error: Infeasible) -> str:
    return "; ".join([error.message, *map(str, error.reasons)])
