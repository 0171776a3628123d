"""Every way to choose pairs goes with every way to pack them: ``<stage 1>+<stage 2>``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import map_blocks, stage
from pubplan.errors import Reason
from pubplan.planning import Method
from pubplan.problems.provision.catalogue import BYTES_PER_GB, VmType
from pubplan.problems.provision.draft import Fleet, FleetDraft, draft_of
from pubplan.problems.provision.methods import cbp, ffbp, gsp, joint, least_traffic, level, rsp
from pubplan.problems.provision.packing import Packing, Stage2, least_cost, total_cost
from pubplan.problems.provision.problem import Problem, cannot_carry
from pubplan.problems.provision.selection import MAX_WEIGHT, Selection, Stage1, Weights, missing
from pubplan.text import counted, traffic

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

DEFAULT_METHOD = "joint+level"

STAGES1 = (gsp.STAGE, rsp.STAGE, least_traffic.STAGE, joint.STAGE)
STAGES2 = (ffbp.STAGE, cbp.STAGE, level.STAGE)


def weights_of(problem: Problem, vm_type: VmType) -> Weights:
    """What a byte in and one out cost in proportion: the tariff's first price and a share of a full VM's rent."""
    rent = vm_type.micros_per_hour * problem.seconds / 3600 / max(1, problem.limit(vm_type))
    tariff = vm_type.tariff
    prices = [Fraction(tiers[0].micros_per_gb, BYTES_PER_GB) + rent for tiers in (tariff.incoming, tariff.outgoing)]
    highest = max(prices)
    if highest == 0:
        return Weights()
    incoming, outgoing = (max(1, round(MAX_WEIGHT * price / highest)) for price in prices)
    common = int(np.gcd(incoming, outgoing))
    return Weights(incoming // common, outgoing // common)


def fleets(
    problem: Problem, first: Stage1, second: Stage2, parameters: Any, seed: int, spark: SparkSession | None
) -> list[Fleet]:
    """The cheapest fleet of each VM type. Types for which the same topics fit choose their pairs once."""
    selections: dict[tuple[int, Weights], tuple[Selection, ...]] = {}
    by_type = []
    for vm_type in problem.types:
        limit = problem.limit(vm_type)
        refusals = _refusals(problem, vm_type, spark)
        if refusals:
            by_type.append(Fleet(vm_type, refusals=refusals))
            continue
        key = (problem.instance.num_usable(limit), weights_of(problem, vm_type))
        if key not in selections:
            selections[key] = first.select(problem, limit, key[1], parameters.of_stage(first.parameters), seed, spark)
        with stage(f"packing on {vm_type.name}"):
            selection, packing = _cheapest(problem, vm_type, selections[key], second, parameters, seed, spark)
        by_type.append(Fleet(vm_type, selection, packing))
    return by_type


def _cheapest(
    problem: Problem,
    vm_type: VmType,
    selections: tuple[Selection, ...],
    second: Stage2,
    parameters: Any,
    seed: int,
    spark: SparkSession | None,
) -> tuple[Selection, Packing]:
    """The cheapest packing of several selections; those that cannot be cheaper than the best so far are not packed."""
    second_parameters = parameters.of_stage(second.parameters)
    best, *others = selections
    packing = second.pack(problem, vm_type, best, second_parameters, seed, spark)
    for other in others:
        if least_cost(problem, vm_type, other) < total_cost(problem, packing):
            packed = second.pack(problem, vm_type, other, second_parameters, seed, spark)
            if total_cost(problem, packed) < total_cost(problem, packing):
                best, packing = other, packed
    return best, packing


def _refusals(problem: Problem, vm_type: VmType, spark: SparkSession | None) -> tuple[Reason, ...]:
    """Why VMs of this type cannot satisfy every subscriber: topics that fit none of them, and who needs those."""
    limit, instance = problem.limit(vm_type), problem.instance
    if limit == 0:
        return (cannot_carry(vm_type),)
    events = instance.usable(limit)
    too_big = np.flatnonzero(events < instance.rates)
    if not len(too_big):
        return ()
    reader = instance.reader()

    def lacking(block: int) -> tuple[int, int]:
        lack = missing(reader.read(block), events)
        return int(np.count_nonzero(lack)), int(lack.max(initial=0))

    lacks = list(map_blocks(lacking, problem.workload.num_blocks, spark))
    num_lacking, largest_lack = sum(count for count, _ in lacks), max((lack for _, lack in lacks), default=0)
    if not num_lacking:
        return ()
    largest = int(too_big[np.argmax(instance.streams[too_big])])
    topic_id = problem.workload.topics("topic_id")["topic_id"][largest].as_py()
    need, subscribers = 2 * int(instance.streams[largest]), problem.workload.counts.subscribers
    fits = "fits" if len(too_big) == 1 else "fit"
    return (
        Reason(
            "bytes per window",
            need,
            limit,
            vm_type.name,
            f"{counted(len(too_big), 'topic')} {fits} no VM of type {vm_type.name}: with one subscriber the largest, "
            f"{topic_id!r}, takes {traffic(need)}, and a VM carries {traffic(limit)}",
        ),
        Reason(
            "subscribers satisfied without topics that fit no VM",
            subscribers,
            subscribers - num_lacking,
            vm_type.name,
            f"{num_lacking:,} of {counted(subscribers, 'subscriber')} cannot be satisfied without what fits no VM of "
            f"type {vm_type.name}; the most that one lacks is {counted(largest_lack, 'event')}",
        ),
    )


def _run(
    first: Stage1, second: Stage2, problem: Problem, parameters: Any, seed: int, spark: SparkSession | None
) -> FleetDraft:
    """Choose and pack pairs for every VM type; a draft of the cheapest fleet.

    Raises:
        InputError: rates, traffic or costs are more than can be counted.
        Infeasible: no VM type can satisfy every subscriber.
    """
    return draft_of(problem, fleets(problem, first, second, parameters, seed, spark), first.name, spark)


class _BothStages:
    """Parameters of both stages in one."""

    def of_stage(self, kind: type) -> Any:
        """Those of one stage."""
        return kind(**{field.name: getattr(self, field.name) for field in fields(kind)})

    def __post_init__(self) -> None:
        for kind in type(self).__mro__[2:]:  # behind the dataclass of both and this one
            check: Callable[[Any], None] | None = vars(kind).get("__post_init__")
            if check is not None:
                check(self)


def _method(first: Stage1, second: Stage2) -> Method[Problem, FleetDraft, Any]:
    kinds = (first.parameters, second.parameters)
    bases = tuple(dict.fromkeys(kinds))
    name = f"{first.name}+{second.name}"
    class_name = f"{first.name}_{second.name}_parameters".replace("-", "_")
    has_fallbacks = first is joint.STAGE and second is level.STAGE
    return Method(
        name=name,
        run=partial(_run, first, second),
        guarantee="never more expensive than gsp+cbp" if has_fallbacks else "none",
        ratio=None,
        complexity=f"{first.complexity}; {second.complexity}",
        paper="Setty et al., ICDCS 2014" if {first.name, second.name} <= {"gsp", "rsp", "ffbp", "cbp"} else "pubplan",
        applies=f"chooses {first.summary}; packs {second.summary}",
        stops_early=first is joint.STAGE,
        parameters=make_dataclass(class_name, [], bases=(_BothStages, *bases), frozen=True),
    )


STAGES = {f"{first.name}+{second.name}": (first, second) for first in STAGES1 for second in STAGES2}
METHODS = tuple(_method(first, second) for first, second in STAGES.values())
