"""Fig. 2 to 12 of Setty et al., on synthetic workloads of the shapes of theirs.

V. Setty, R. Vitenberg, G. Kreitz, G. Urdaneta, M. van Steen: Cost-Effective Resource Allocation for Deploying Pub/Sub
on Cloud. ICDCS 2014, doi 10.1109/ICDCS.2014.63.

The paper counts events over ten days, in which one c3.large at 64 Mbit/s carries more than the whole Spotify trace; its
fleets have 100 to 200 VMs, which is what it takes for half-hour traffic. So the peak factor is 480 here. At a smaller
scale messages are as much larger as the workload is smaller: fleets and costs keep the size of the whole, and steps can
be compared. The paper draws its costs and prints only by how much they fall.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pubplan.engine import Keeper, stage
from pubplan.generate import generate, spotify, twitter
from pubplan.generate.shape import MESSAGE_BYTES
from pubplan.planning import Draft, Exact
from pubplan.problems.provision import FAMILY, Problem, cbp, exact, ffbp, gsp, joint, level, rsp
from pubplan.problems.provision.catalogue import MICROS, VmType
from pubplan.problems.provision.methods import weights_of
from pubplan.problems.provision.packing import Packing, total_cost
from pubplan.problems.provision.selection import Selection, Stage1
from pubplan.reproduce.figures import Figure, Line, Reproduction, Unit, Values
from pubplan.reproduce.traces import trace_figures
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SOURCE = (
    "V. Setty, R. Vitenberg, G. Kreitz, G. Urdaneta, M. van Steen: Cost-Effective Resource Allocation for Deploying "
    "Pub/Sub on Cloud. ICDCS 2014, doi 10.1109/ICDCS.2014.63"
)

DEFAULT_SCALE = 0.02
PEAK_FACTOR = 480
THRESHOLDS = (10, 100, 1000)
VM_TYPES = ("c3.large", "c3.xlarge")
LEAST_PAIRS = 3
"""So many pairs of the largest topic fit the smaller VM, at least."""

BASELINE, GREEDY, EXACT, JOINT = "RSP + FFBP", "GSP + FFBP (a)", "exact + level", "joint + level"
STEPS = {"b": "GSP + CBP (b)", "bc": "GSP + CBP (b, c)", "bcd": "GSP + CBP (b to d)", "bcde": "GSP + CBP (b to e)"}
METHODS = (BASELINE, GREEDY, *STEPS.values(), EXACT, JOINT)
CUSTOM = STEPS["bcde"]
PAPER_BOUND, BOUND = "Theorem A.1", "our bound"

SPOTIFY, TWITTER = "Spotify shape", "Twitter shape"
PAPER_SAVED = {
    (SPOTIFY, "c3.large"): (33.0, 27.6, 10.9),
    (SPOTIFY, "c3.xlarge"): (32.7, 17.6, 10.8),
    (TWITTER, "c3.large"): (71.0, 51.4, 29.1),
    (TWITTER, "c3.xlarge"): (70.0, 51.9, 20.3),
}
PAPER_STEPS = {
    SPOTIFY: {"b": "about 3.5 %, sometimes -1.6 %", "c": "up to 2.5 %", "d": "up to 10.7 %", "e": "up to 1.2 %"},
    TWITTER: {"b": "a little", "c": "up to 2.4 %", "d": "up to 9.5 %", "e": "up to 0.2 %"},
}
PAPER_TOGETHER = {SPOTIFY: 38, TWITTER: 74}

SYNTHETIC = (
    "The workload is synthetic and has the counts, totals and marks that the paper prints; the Spotify trace is not "
    "public. What GSP takes among equally good topics is open in the paper; here it is the largest."
)


@dataclass(frozen=True)
class _Fleet:
    """What the figures show of a fleet."""

    cost: int
    num_vms: int
    num_bytes: int

    @classmethod
    def of(cls, problem: Problem, packing: Packing) -> _Fleet:
        return cls(total_cost(problem, packing), packing.num_vms, packing.incoming + packing.outgoing)


@dataclass
class _Runs:
    """Everything measured on one workload: fleets and bounds by VM type and name, seconds by stage, in order of tau."""

    fleets: dict[tuple[str, str], list[_Fleet]] = field(default_factory=dict)
    bounds: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def keep(self, type_name: str, method: str, fleet: _Fleet) -> None:
        self.fleets.setdefault((type_name, method), []).append(fleet)

    def costs(self, type_name: str, method: str) -> list[int]:
        return [fleet.cost for fleet in self.fleets[type_name, method]]

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)


def reproduce(scale: float, seed: int = 0, spark: SparkSession | None = None) -> Reproduction:
    """Plan for three thresholds and two VM types on two workloads, step by step, and draw what Fig. 2 to 12 draw."""
    keeper = Keeper()
    shapes = {SPOTIFY: spotify(scale, seed), TWITTER: twitter(scale, seed)}
    with stage("compiling"):
        small = generate(spotify(0.001), keeper.path / "small")
        _measured(small, message_bytes(small, 0.001), THRESHOLDS[:1], spark)
    figures: list[Figure] = []
    times: list[Figure] = []
    traces: tuple[Figure, ...] = ()
    setting: dict[str, Any] = {"scale": scale, "seed": seed, "peak factor": PEAK_FACTOR}
    for place, (name, shape) in enumerate(shapes.items()):
        workload = generate(shape, keeper.path / shape.name, spark=spark)
        size = message_bytes(workload, scale)
        runs = _measured(workload, size, THRESHOLDS, spark)
        setting |= _setting(name, workload, size)
        for letter, type_name in zip("ab", VM_TYPES, strict=True):
            figures += _fleet_figures(f"Fig. {2 + place}{letter}", name, type_name, runs, size * scale)
        figures.append(_together(f"Fig. {2 + place}", name, runs))
        times += [_first_times(f"Fig. {4 + place}", name, runs, scale), _second_times(f"Fig. {6 + place}", name, runs)]
        if name == TWITTER:
            traces = trace_figures(workload, scale, spark)
    times.sort(key=lambda figure: figure.name)
    return Reproduction("provision", SOURCE, setting, (*figures, *times, *traces))


def message_bytes(workload: Workload, scale: float) -> int:
    """The size of messages with which traffic is as large as at scale 1.

    Rates do not shrink with the scale, so the largest topic would outgrow a VM; then messages are only so large that a
    few of its pairs fit one.
    """
    whole = Problem(workload, [f"paper-2013/{VM_TYPES[0]}"], 1, peak_factor=PEAK_FACTOR)
    fitting = min(map(whole.limit, whole.types)) // ((1 + LEAST_PAIRS) * max(1, int(whole.rates.max(initial=0))))
    return max(1, min(round(MESSAGE_BYTES / scale), fitting))


def _measured(workload: Workload, size: int, thresholds: Sequence[int], spark: SparkSession | None) -> _Runs:
    """Choose pairs in every way, pack them in every way, for every threshold and VM type."""
    runs = _Runs()
    with stage("planning for the figures", len(thresholds)) as advance:
        for threshold in thresholds:
            names = [f"paper-2013/{type_name}" for type_name in VM_TYPES]
            problem = Problem(workload, names, threshold, peak_factor=PEAK_FACTOR, message_bytes=size)
            _baseline(problem, runs, spark)
            _steps(problem, runs, spark)
            _ours(problem, runs, spark)
            advance(1)
    return runs


def _select(problem: Problem, first: Stage1, spark: SparkSession | None) -> tuple[Selection, ...]:
    """Pairs that go on VMs of either type: the smaller one decides which topics fit."""
    vm_type = min(problem.types, key=problem.limit)
    return first.select(problem, problem.limit(vm_type), weights_of(problem, vm_type), first.parameters(), 0, spark)


def _baseline(problem: Problem, runs: _Runs, spark: SparkSession | None) -> None:
    with runs.timed("RSP"):
        (chosen,) = _select(problem, rsp.STAGE, spark)
    for vm_type in problem.types:
        packing = ffbp.pack(problem, vm_type, chosen, ffbp.STAGE.parameters(), 0, spark)
        runs.keep(_bare(vm_type), BASELINE, _Fleet.of(problem, packing))


def _steps(problem: Problem, runs: _Runs, spark: SparkSession | None) -> None:
    with runs.timed("GSP"):
        (chosen,) = _select(problem, gsp.STAGE, spark)
    for vm_type in problem.types:
        bare = _bare(vm_type)
        with runs.timed(f"FFBP {bare}"):
            packing = ffbp.pack(problem, vm_type, chosen, ffbp.STAGE.parameters(), 0, spark)
        runs.keep(bare, GREEDY, _Fleet.of(problem, packing))
        for steps, name in STEPS.items():
            with runs.timed(f"CBP ({steps}) {bare}"):
                packing = cbp.pack(problem, vm_type, chosen, cbp.CbpParameters(steps), 0, spark)
            runs.keep(bare, name, _Fleet.of(problem, packing))


def _ours(problem: Problem, runs: _Runs, spark: SparkSession | None) -> None:
    with runs.timed("exact"):
        found = {EXACT: _select(problem, exact.STAGE, spark)}
    with runs.timed("joint"):
        found[JOINT] = _select(problem, joint.STAGE, spark)
    for vm_type in problem.types:
        bare = _bare(vm_type)
        for name, selections in found.items():
            packings = []
            for chosen in selections:
                with runs.timed(f"level {bare} {name} {chosen.name}"):
                    packings.append(level.pack(problem, vm_type, chosen, level.STAGE.parameters(), 0, spark))
            best = min(packings, key=lambda packing: total_cost(problem, packing))
            runs.keep(bare, name, _Fleet.of(problem, best))
    draft = Draft({}, Exact(0, MICROS), aside=found[JOINT][0])
    certificates = [made for bound in FAMILY.bounds_for(problem, None) for made in bound.run(problem, draft, spark)]
    for vm_type in problem.types:
        bounds = {certificate.name: certificate.parts[vm_type.name].value for certificate in certificates}
        runs.bounds.setdefault((_bare(vm_type), PAPER_BOUND), []).append(bounds["paper"])
        runs.bounds.setdefault((_bare(vm_type), BOUND), []).append(max(bounds.values()))


def _bare(vm_type: VmType) -> str:
    return vm_type.name.partition("/")[2]


def _setting(name: str, workload: Workload, size: int) -> dict[str, Any]:
    counts = workload.counts
    return {
        f"{name}: topics": counts.topics,
        f"{name}: subscribers": counts.subscribers,
        f"{name}: interests": counts.pairs,
        f"{name}: message bytes": size,
        f"{name}: workload": workload.digest,
    }


def _fleet_figures(figure_name: str, shape: str, type_name: str, runs: _Runs, share: float) -> list[Figure]:
    """Cost, VMs and bandwidth of every method, and what each step saves."""
    fleets = {method: runs.fleets[type_name, method] for method in METHODS}
    bounds = [
        Line(name, "no plan is below", tuple(value / MICROS for value in runs.bounds[type_name, name]), is_bound=True)
        for name in (PAPER_BOUND, BOUND)
    ]
    costs = [Line(method, "cost", tuple(f.cost / MICROS for f in found)) for method, found in fleets.items()]
    vms = [Line(method, "VMs", tuple(float(f.num_vms) for f in found)) for method, found in fleets.items()]
    traffic = [Line(method, "in and out", tuple(f.num_bytes / 1e9 for f in found)) for method, found in fleets.items()]

    def figure(title: str, y: str, unit: Unit, lines: Sequence[Line], *notes: str) -> Figure:
        return Figure(
            figure_name, f"{shape}, {type_name}: {title}", "tau", "", THRESHOLDS, y, unit, tuple(lines), notes
        )

    return [
        figure("cost", "dollars for ten days", "dollars", [*costs, *bounds], *_cost_notes(type_name, runs, share)),
        figure("VMs", "VMs", "VMs", vms),
        figure("bandwidth", "GB in ten days", "GB", traffic),
        figure("saved by each step", "% of the cost before", "percent", _saved(shape, type_name, runs)).with_notes(
            SYNTHETIC, *_step_notes(shape, type_name, runs)
        ),
    ]


def _cost_notes(type_name: str, runs: _Runs, share: float) -> tuple[str, ...]:
    above_paper = _above(runs.costs(type_name, CUSTOM), runs.bounds[type_name, PAPER_BOUND])
    above_ours = _above(runs.costs(type_name, JOINT), runs.bounds[type_name, BOUND])
    size = (
        f"Ten days of traffic are set against half an hour of 64 or 128 Mbit/s (peak factor {PEAK_FACTOR}), which "
        "gives fleets like the paper's."
    )
    if share / MESSAGE_BYTES < 0.99:
        size += (
            f" Messages are smaller than the scale asks for, so that the largest topic fits a VM: fleets have "
            f"{100 * share / MESSAGE_BYTES:.0f} % of the size they have at scale 1."
        )
    return (
        f"{CUSTOM} is {_range(above_paper)} above {PAPER_BOUND}; in the paper about 15 % in many cases.",
        f"{JOINT} is {_range(above_ours, 3)} above our bound.",
        size,
    )


def _saved(shape: str, type_name: str, runs: _Runs) -> list[Line]:
    """How much cheaper each step is than the one before, in percent."""
    lines = []
    for before, after in pairwise([BASELINE, GREEDY, *STEPS.values(), JOINT]):
        printed = PAPER_SAVED[shape, type_name] if (before, after) == (BASELINE, GREEDY) else ()
        values = _savings(runs.costs(type_name, before), runs.costs(type_name, after))
        lines.append(Line(after, f"against {before}", values, printed))
    return lines


def _step_notes(shape: str, type_name: str, runs: _Runs) -> Iterator[str]:
    names = [GREEDY, *STEPS.values()]
    for (before, after), step in zip(pairwise(names), "bcde", strict=True):
        values = [
            value
            for value in _savings(runs.costs(type_name, before), runs.costs(type_name, after))
            if value is not None
        ]
        yield f"Step ({step}) saves {_range(values)} here, {PAPER_STEPS[shape][step]} in the paper."
    yield (
        "First fit takes pairs by subscriber here, so a topic flows into nearly every VM, and step (b) ends that; the "
        "paper leaves the order of the pairs open. Here (b) already fills every VM but the last, so that (c) and (d) "
        "find little to save."
    )


def _together(name: str, shape: str, runs: _Runs) -> Figure:
    """Everything against the naive solution, for both VM types."""
    lines = [
        Line(
            f"{method}, {type_name}", "saved", _savings(runs.costs(type_name, BASELINE), runs.costs(type_name, method))
        )
        for type_name in VM_TYPES
        for method in (CUSTOM, JOINT)
    ]
    best = max(value for line in lines if line.name.startswith(CUSTOM) for value in line.values if value is not None)
    ours = max(value for line in lines for value in line.values if value is not None)
    note = (
        f"{CUSTOM} saves up to {best:.1f} % of {BASELINE} here, up to {PAPER_TOGETHER[shape]} % in the paper; "
        f"{JOINT} up to {ours:.1f} %."
    )
    return Figure(
        name, f"{shape}: saved altogether", "tau", "", THRESHOLDS, f"% of {BASELINE}", "percent", tuple(lines), (note,)
    )


def _first_times(name: str, shape: str, runs: _Runs, scale: float) -> Figure:
    lines = [Line(each, "seconds", tuple(runs.seconds[each])) for each in ("RSP", "GSP", "exact", "joint")]
    totals = {line.name: sum(value or 0.0 for value in line.values) for line in lines}
    ratios = ", ".join(f"{each} {totals[each] / totals['RSP']:.2f}" for each in ("GSP", "exact", "joint"))
    printed = {
        SPOTIFY: "In the paper GSP takes at most 2 s more than RSP.",
        TWITTER: "In the paper RSP takes up to 986 s and GSP up to 1471 s, 1.49 times as long.",
    }
    return Figure(
        name,
        f"{shape}: seconds of stage 1",
        "tau",
        "",
        THRESHOLDS,
        "seconds",
        "seconds",
        tuple(lines),
        (
            f"All thresholds together, as multiples of RSP: {ratios}.",
            printed[shape],
            f"Ours are single runs at scale {scale:g} on this machine, reading included; they grow with --scale. The "
            "paper's are of the whole trace, in C++, on a 1.87 GHz Xeon with 132 GB.",
        ),
    )


def _second_times(name: str, shape: str, runs: _Runs) -> Figure:
    """Packing on c3.large what GSP chose, and what joint chose."""
    bare = VM_TYPES[0]
    own = {"FFBP": f"FFBP {bare}", "CBP": f"CBP (bcde) {bare}", "level": f"level {bare} {JOINT} joint"}
    lines = [Line(each, "seconds", tuple(runs.seconds[key])) for each, key in own.items()]
    first, custom = (sum(runs.seconds[own[each]]) for each in ("FFBP", "CBP"))
    printed = {
        SPOTIFY: "in the paper up to 10",
        TWITTER: "in the paper about 1000, or about 90 by its own totals (1200 s and 13.7 s at tau = 1000)",
    }
    return Figure(
        name,
        f"{shape}: seconds of stage 2 on {bare}",
        "tau",
        "",
        THRESHOLDS,
        "seconds",
        "seconds",
        tuple(lines),
        (
            f"CBP is {first / max(custom, 1e-9):.1f} times as fast as FFBP, {printed[shape]}.",
            "FFBP finds the first VM that can take a pair in a tree, not by trying all; level includes a run of CBP.",
        ),
    )


def _savings(before: Sequence[int], after: Sequence[int]) -> Values:
    return tuple(100 * (1 - new / old) if old else None for old, new in zip(before, after, strict=True))


def _above(costs: Sequence[int], bounds: Sequence[int]) -> list[float]:
    return [100 * (cost / bound - 1) if bound else 0.0 for cost, bound in zip(costs, bounds, strict=True)]


def _range(percents: Sequence[float], decimals: int = 1) -> str:
    # Adding 0 takes the sign off a rounded zero.
    low, high = (f"{round(value, decimals) + 0.0:.{decimals}f}" for value in (min(percents), max(percents)))
    return f"{low} %" if low == high else f"{low} to {high} %"
