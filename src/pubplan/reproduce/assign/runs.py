"""The experiments of the paper on assignments: which workloads, which limits, and what a method's plan has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pubplan.engine import stage
from pubplan.errors import InputError
from pubplan.files import OwnedDirectory
from pubplan.generate import ContentShape, content_feeds, content_hotspots, content_newsgroups, generate
from pubplan.problems.assign import Measures, Problem, measures_of, solve
from pubplan.workload import ContentWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

Level = Literal["low", "high"]

NUM_CLIENTS, NUM_BROKERS, NUM_TREE_BROKERS, OUT_DEGREE = 100_000, 100, 200, 15

GR, GR_STAR, GR_NO_LATENCY = "gr", "gr-star", "gr-no-latency"
CLOSEST, CLOSEST_UNBALANCED, BALANCE, REFINED = "closest", "closest-unbalanced", "balance", "refined"
METHODS = (GR_STAR, GR, GR_NO_LATENCY, CLOSEST, CLOSEST_UNBALANCED, BALANCE, REFINED)
TITLES = {
    GR: "Gr",
    GR_STAR: "Gr*",
    GR_NO_LATENCY: "Gr-l",
    CLOSEST: "Closest",
    CLOSEST_UNBALANCED: "Closest-b",
    BALANCE: "Balance",
    REFINED: "refined (not in the paper)",
}


@dataclass(frozen=True)
class Setting:
    """A workload and its limits.

    Attributes:
        name: as the paper calls the workload.
        shape: the workload, given clients, brokers and a seed.
    """

    name: str
    shape: Callable[[int, int, int], ContentShape]
    load: str = "1.5"
    max_load: str = "1.8"
    max_delay: str = "0.3"
    num_brokers: int = NUM_BROKERS


def _newsgroups(skew: Level, broad: Level, levels: int = 1) -> Callable[[int, int, int], ContentShape]:
    def shape(num_clients: int, num_brokers: int, seed: int) -> ContentShape:
        return content_newsgroups(
            num_clients,
            num_brokers,
            seed,
            skew=skew,
            broad=broad,
            levels=levels,
            out_degree=OUT_DEGREE,
        )

    return shape


VARIANTS: dict[str, Level] = {"L": "low", "H": "high"}
SET_1 = tuple(
    Setting(f"(IS:{skew}, BI:{broad})", _newsgroups(VARIANTS[skew], VARIANTS[broad]))
    for skew, broad in (("L", "L"), ("H", "L"), ("L", "H"), ("H", "H"))
)
SET_2 = Setting("#2", content_feeds, "2.3", "2.5")
SET_3 = Setting("#3", content_hotspots, "1.3", "1.5")

TREE = _newsgroups("low", "high", levels=2)
TIGHT = Setting("tight", TREE, "7", "8", "0.2", NUM_TREE_BROKERS)
LOOSE = Setting("loose", TREE, "1.3", "1.5", "1", NUM_TREE_BROKERS)

TIGHT_LOAD, TIGHT_MAX_LOAD = Fraction(7, 6), Fraction(8, 6)
"""Load factors in multiples of the least possible one, where the paper has 7 and 8 and says that it is about 6."""


@dataclass(frozen=True)
class Run:
    """What a method's plan has; None where it gave none."""

    method: str
    measures: Measures | None
    num_broken: int
    bound: float | None

    @property
    def bandwidth(self) -> float | None:
        return None if self.measures is None else self.measures.bandwidth / self.measures.scale


@dataclass(frozen=True)
class Experiment:
    """The plans of several methods for one setting, and the limits that they were made with."""

    setting: Setting
    runs: dict[str, Run]
    load: str
    max_load: str
    least_load: float

    def relative(self, method: str, to: str = GR_STAR) -> float | None:
        """The bandwidth of a method in multiples of another's."""
        one, other = self.runs[method].bandwidth, self.runs[to].bandwidth
        return None if one is None or not other else one / other


class Experiments:
    """Workloads are generated once and kept as long as this lives."""

    def __init__(self, scale: float, seed: int, spark: SparkSession | None) -> None:
        self.num_clients = round(scale * NUM_CLIENTS)
        self._seed, self._spark, self._keeper = seed, spark, OwnedDirectory()
        self._workloads: dict[str, ContentWorkload] = {}

    def workload(self, setting: Setting) -> ContentWorkload:
        shape = setting.shape(self.num_clients, setting.num_brokers, self._seed)
        key = f"{shape.name}-{sorted(shape.parameters.items())}"
        if key not in self._workloads:
            path = self._keeper.path / f"workload-{len(self._workloads)}"
            self._workloads[key] = generate(shape, path, spark=self._spark)
        return self._workloads[key]

    def run(self, setting: Setting, methods: Sequence[str] = METHODS, boxes: int = 3) -> Experiment:
        """Plan with every method.

        Where no assignment keeps the paper's load factors on this workload, they are taken as 7/6 and 8/6 of the least.
        """
        workload = self.workload(setting)
        asked = Problem(workload, boxes, setting.max_delay, setting.load, setting.max_load)
        least = asked.instance.least_load_factor
        load, max_load = setting.load, setting.max_load
        if setting is TIGHT or least > Fraction(max_load):
            load, max_load = (_decimal(factor * least) for factor in (TIGHT_LOAD, TIGHT_MAX_LOAD))
        problem = Problem(workload, boxes, setting.max_delay, load, max_load)
        runs = {}
        with stage(f"planning for {setting.name}", len(methods)) as advance:
            for method in methods:
                runs[method] = self._plan(problem, method)
                advance(1)
        return Experiment(setting, runs, load, max_load, float(least))

    def _plan(self, problem: Problem, method: str) -> Run:
        bound = "forced" if method == REFINED else "none"
        try:
            result = solve(problem, method, seed=self._seed, bound=bound, spark=self._spark)
        except InputError:  # the method found no room for all clients
            return Run(method, None, 0, None)
        measures = measures_of(problem, result.plan, self._spark)
        broken = [reason for reason in result.reasons if reason.limit in ("latency broken", "load broken")]
        return Run(method, measures, len(broken), result.bound)


def _decimal(factor: Fraction) -> str:
    """A factor with three decimals, rounded up."""
    return f"{-(-factor * 1000 // 1) / 1000:.3f}"
