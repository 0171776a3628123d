"""Every way to choose and pack pairs that Fig. 2 to 7 of Setty et al. (ICDCS 2014) compare, run and timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pubplan.engine import stage
from pubplan.planning import Exact
from pubplan.problems.provision import FAMILY, Problem
from pubplan.problems.provision.bound import bounds_by_type
from pubplan.problems.provision.catalogue import MICROS, VmType
from pubplan.problems.provision.draft import FleetDraft
from pubplan.problems.provision.methods import cbp, ffbp, gsp, joint, least_traffic, level, rsp
from pubplan.problems.provision.packing import Packing, total_cost
from pubplan.problems.provision.selection import Selection, Stage1
from pubplan.problems.provision.stages import weights_of
from pubplan.workload import TopicWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

CATALOGUE = "paper-2013"

BASELINE, GREEDY = "RSP + FFBP", "GSP + FFBP (a)"
LEAST_TRAFFIC, JOINT = "least-traffic + level", "joint + level"
STEPS = {"b": "GSP + CBP (b)", "bc": "GSP + CBP (b, c)", "bcd": "GSP + CBP (b to d)", "bcde": "GSP + CBP (b to e)"}
METHODS = (BASELINE, GREEDY, *STEPS.values(), LEAST_TRAFFIC, JOINT)
CUSTOM = STEPS["bcde"]
PAPER_BOUND, BOUND = "Theorem A.1", "our bound"

BASELINE_BY_TOPIC, BASELINE_SHUFFLED = "RSP + FFBP by topic", "RSP + FFBP at random"
SHUFFLED_BASELINE = "RSP at random + FFBP"
GREEDY_BY_TOPIC, GREEDY_SHUFFLED = "GSP + FFBP by topic", "GSP + FFBP at random"
ORDERS = (BASELINE, BASELINE_BY_TOPIC, BASELINE_SHUFFLED, SHUFFLED_BASELINE, GREEDY, GREEDY_BY_TOPIC, GREEDY_SHUFFLED)
"""First fit in every order of pairs; without a word it is by subscriber."""


@dataclass(frozen=True)
class Fleet:
    """What the figures show of a fleet."""

    cost: int
    num_vms: int
    num_bytes: int

    @classmethod
    def of(cls, problem: Problem, packing: Packing) -> Fleet:
        return cls(total_cost(problem, packing), packing.num_vms, packing.incoming + packing.outgoing)


@dataclass
class Runs:
    """Everything measured on one workload: fleets and bounds by VM type and name, seconds by stage, in order of the
    thresholds.
    """

    thresholds: tuple[int, ...]
    fleets: dict[tuple[str, str], list[Fleet]] = field(default_factory=dict)
    bounds: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def keep(self, vm_type: VmType, method: str, problem: Problem, packing: Packing) -> None:
        self.fleets.setdefault((label(vm_type), method), []).append(Fleet.of(problem, packing))

    def costs(self, type_label: str, method: str) -> list[int]:
        return [fleet.cost for fleet in self.fleets[type_label, method]]

    def vms(self, type_label: str, method: str) -> list[int]:
        return [fleet.num_vms for fleet in self.fleets[type_label, method]]

    def traffic(self, type_label: str, method: str) -> list[int]:
        return [fleet.num_bytes for fleet in self.fleets[type_label, method]]

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)


@dataclass(frozen=True)
class Setup:
    """What is planned for, and how: VM types, thresholds, peak factor, message size, seed."""

    workload: TopicWorkload
    vm_types: tuple[VmType, ...]
    thresholds: tuple[int, ...]
    peak_factor: Any
    message_bytes: int
    seed: int
    spark: SparkSession | None


def label(vm_type: VmType) -> str:
    """The name of a VM type in figures: that of the paper without its catalogue."""
    return vm_type.name.removeprefix(f"{CATALOGUE}/")


def measured(setup: Setup) -> Runs:
    """Choose pairs in every way, pack them in every way, for every threshold and VM type."""
    runs = Runs(setup.thresholds)
    with stage("planning for the figures", len(setup.thresholds)) as advance:
        for threshold in setup.thresholds:
            problem = Problem(
                setup.workload,
                setup.vm_types,
                threshold,
                peak_factor=setup.peak_factor,
                message_bytes=setup.message_bytes,
            )
            problem.check()
            _baselines(problem, runs, setup)
            _steps(problem, runs, setup)
            _ours(problem, runs, setup)
            advance(1)
    return runs


def _select(problem: Problem, first: Stage1, setup: Setup, **parameters: str) -> tuple[Selection, ...]:
    """Pairs that go on VMs of every type: the smallest one decides which topics fit."""
    vm_type = min(problem.types, key=problem.limit)
    limit, weights = problem.limit(vm_type), weights_of(problem, vm_type)
    return first.select(problem, limit, weights, first.parameters(**parameters), setup.seed, setup.spark)


def _first_fit(problem: Problem, vm_type: VmType, chosen: Selection, pair_order: str, setup: Setup) -> Packing:
    return ffbp.pack(problem, vm_type, chosen, ffbp.FfbpParameters(pair_order), setup.seed, setup.spark)


def _baselines(problem: Problem, runs: Runs, setup: Setup) -> None:
    with runs.timed("RSP"):
        (chosen,) = _select(problem, rsp.STAGE, setup)
    (shuffled,) = _select(problem, rsp.STAGE, setup, interest_order="random")
    for vm_type in problem.types:
        with runs.timed(f"RSP's FFBP {label(vm_type)}"):
            packing = _first_fit(problem, vm_type, chosen, "subscriber", setup)
        runs.keep(vm_type, BASELINE, problem, packing)
        for name, selection, order in (
            (BASELINE_BY_TOPIC, chosen, "topic"),
            (BASELINE_SHUFFLED, chosen, "random"),
            (SHUFFLED_BASELINE, shuffled, "subscriber"),
        ):
            runs.keep(vm_type, name, problem, _first_fit(problem, vm_type, selection, order, setup))


def _steps(problem: Problem, runs: Runs, setup: Setup) -> None:
    with runs.timed("GSP"):
        (chosen,) = _select(problem, gsp.STAGE, setup)
    for vm_type in problem.types:
        with runs.timed(f"FFBP {label(vm_type)}"):
            packing = _first_fit(problem, vm_type, chosen, "subscriber", setup)
        runs.keep(vm_type, GREEDY, problem, packing)
        for name, order in ((GREEDY_BY_TOPIC, "topic"), (GREEDY_SHUFFLED, "random")):
            runs.keep(vm_type, name, problem, _first_fit(problem, vm_type, chosen, order, setup))
        for steps, name in STEPS.items():
            with runs.timed(f"CBP ({steps}) {label(vm_type)}"):
                packing = cbp.pack(problem, vm_type, chosen, cbp.CbpParameters(steps), setup.seed, setup.spark)
            runs.keep(vm_type, name, problem, packing)


def _ours(problem: Problem, runs: Runs, setup: Setup) -> None:
    with runs.timed("least-traffic"):
        chosen_by = {LEAST_TRAFFIC: _select(problem, least_traffic.STAGE, setup)}
    with runs.timed("joint"):
        chosen_by[JOINT] = _select(problem, joint.STAGE, setup)
    for vm_type in problem.types:
        for name, selections in chosen_by.items():
            packings = []
            for chosen in selections:
                with runs.timed(f"level {label(vm_type)} {name} {chosen.name}"):
                    packings.append(
                        level.pack(problem, vm_type, chosen, level.STAGE.parameters(), setup.seed, setup.spark)
                    )
            best = min(packings, key=lambda packing: total_cost(problem, packing))
            runs.keep(vm_type, name, problem, best)
    draft = FleetDraft({}, Exact(0, MICROS), selection=chosen_by[JOINT][0])
    by_type = bounds_by_type(FAMILY.bounds_for(problem, None), problem, draft, setup.spark)
    for vm_type in problem.types:
        values = {name: bound.value for name, bound in by_type[vm_type.name].items()}
        runs.bounds.setdefault((label(vm_type), PAPER_BOUND), []).append(values["paper"])
        runs.bounds.setdefault((label(vm_type), BOUND), []).append(max(values.values()))
