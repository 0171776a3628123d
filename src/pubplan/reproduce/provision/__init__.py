"""Fig. 2 to 12 of Setty et al., on synthetic workloads of the shapes of theirs.

V. Setty, R. Vitenberg, G. Kreitz, G. Urdaneta, M. van Steen: Cost-Effective Resource Allocation for Deploying Pub/Sub
on Cloud. ICDCS 2014, doi 10.1109/ICDCS.2014.63.

The paper counts events over ten days, in which one c3.large at 64 Mbit/s carries more than the whole Spotify trace; its
fleets have about 200 VMs, which is what it takes for half-hour traffic. So the peak factor is 480 here. At a smaller
scale messages are as much larger as the workload is smaller: fleets and costs keep the size of the whole, and steps can
be compared. The paper draws its costs and prints only by how much they fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pubplan.engine import stage
from pubplan.errors import InputError
from pubplan.files import OwnedDirectory
from pubplan.generate import generate, spotify, twitter
from pubplan.problems.provision import Problem, VmType, find_vm_types
from pubplan.reproduce.figures import Figure, Reproduction
from pubplan.reproduce.provision.figures import fleet_figures, together
from pubplan.reproduce.provision.paper import SPOTIFY, TWITTER
from pubplan.reproduce.provision.runs import CATALOGUE, Setup, label, measured
from pubplan.reproduce.provision.times import time_figures
from pubplan.reproduce.provision.traces import trace_figures
from pubplan.workload import DEFAULT_MESSAGE_BYTES, TopicWorkload

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
LETTERS = {"c3.large": "a", "c3.xlarge": "b"}
"""The parts of Fig. 2 and 3."""
MIN_PAIRS = 3
"""At least this many pairs of the largest topic fit the smallest VM."""


def reproduce(
    scale: float,
    seed: int = 0,
    spark: SparkSession | None = None,
    *,
    thresholds: Sequence[int] = THRESHOLDS,
    vm_types: Sequence[str] = VM_TYPES,
    peak_factor: float | str = PEAK_FACTOR,
) -> Reproduction:
    """Plan two workloads for several thresholds and VM types, step by step, and draw what Fig. 2 to 12 draw.

    Args:
        thresholds: in events; the paper has 10, 100 and 1000.
        vm_types: names as ``find_vm_types`` takes them; those of the paper need no catalogue.
        peak_factor: peak to mean traffic.

    Raises:
        InputError: a value is out of range, a VM type unknown, or a VM too small for the largest topic.
    """
    types, asked = _types(vm_types), _thresholds(thresholds)
    keeper = OwnedDirectory()
    shapes = {SPOTIFY: spotify(scale, seed), TWITTER: twitter(scale, seed)}
    with stage("compiling"):
        small = generate(spotify(0.001), keeper.path / "small")
        measured(_setup(small, 0.001, types, asked[:1], peak_factor, seed, spark))
    figures: list[Figure] = []
    times: list[Figure] = []
    traces: tuple[Figure, ...] = ()
    setting: dict[str, Any] = {"scale": scale, "seed": seed, "peak factor": peak_factor}
    labels = [label(vm_type) for vm_type in types]
    for number, (name, shape) in enumerate(shapes.items()):
        workload = generate(shape, keeper.path / shape.name, spark=spark)
        setup = _setup(workload, scale, types, asked, peak_factor, seed, spark)
        runs = measured(setup)
        setting |= _setting(name, setup)
        fig = f"Fig. {2 + number}"
        for type_label in labels:
            figures += fleet_figures(fig + LETTERS.get(type_label, ""), name, type_label, runs, setup, scale)
        figures += together(fig, name, labels, runs, setup.message_bytes * scale / DEFAULT_MESSAGE_BYTES)
        times += time_figures(f"Fig. {4 + number}", f"Fig. {6 + number}", name, labels[0], runs, scale)
        if name == TWITTER:
            traces = trace_figures(workload, scale, spark)
    times.sort(key=lambda figure: figure.name)
    return Reproduction("provision", SOURCE, setting, (*figures, *times, *traces))


def message_bytes(
    workload: TopicWorkload,
    scale: float,
    vm_types: Sequence[VmType | str] = (f"{CATALOGUE}/{VM_TYPES[0]}",),
    peak_factor: float | str = PEAK_FACTOR,
) -> int:
    """The size of messages with which traffic is as large as at scale 1.

    Rates do not shrink with the scale, so the largest topic would outgrow a VM; then messages are only so large that a
    few of its pairs fit the smallest one.

    Raises:
        InputError: not even messages of one byte are small enough.
    """
    problem = Problem(workload, vm_types, 1, peak_factor=peak_factor)
    problem.check()
    smallest = min(problem.types, key=problem.limit)
    largest_rate = max(1, int(problem.instance.rates.max(initial=0)))
    fitting = problem.limit(smallest) // ((1 + MIN_PAIRS) * largest_rate)
    if fitting < 1:
        raise InputError(
            f"At peak factor {peak_factor} a VM of type {smallest.name} carries {problem.limit(smallest):,} bytes in "
            f"the window: messages of one byte are too large for {MIN_PAIRS} pairs of a topic with {largest_rate:,} "
            "events. Use a smaller peak factor or a larger VM type."
        )
    return min(round(DEFAULT_MESSAGE_BYTES / scale), fitting)


def _types(names: Sequence[str]) -> tuple[VmType, ...]:
    if not names:
        raise InputError("No VM type to plan for: name at least one.")
    return find_vm_types([f"{CATALOGUE}/{name}" if name in VM_TYPES else name for name in names])


def _thresholds(values: Sequence[int]) -> tuple[int, ...]:
    if not values:
        raise InputError("No threshold to plan for: name at least one.")
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"A threshold must be a whole number of at least 1, not {value!r}.")
    if len(set(values)) < len(values):
        raise InputError(f"A threshold is named twice in {', '.join(map(str, values))}; name each once.")
    return tuple(sorted(values))


def _setup(
    workload: TopicWorkload,
    scale: float,
    types: tuple[VmType, ...],
    thresholds: tuple[int, ...],
    peak_factor: float | str,
    seed: int,
    spark: SparkSession | None,
) -> Setup:
    size = message_bytes(workload, scale, types, peak_factor)
    return Setup(workload, types, thresholds, peak_factor, size, seed, spark)


def _setting(name: str, setup: Setup) -> dict[str, Any]:
    counts = setup.workload.counts
    return {
        f"{name}: topics": counts.topics,
        f"{name}: subscribers": counts.subscribers,
        f"{name}: interests": counts.pairs,
        f"{name}: message bytes": setup.message_bytes,
        f"{name}: workload": setup.workload.digest,
    }
