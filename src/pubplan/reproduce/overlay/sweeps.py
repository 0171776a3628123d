"""Overlays over a growing number of something, and the charts that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pubplan.engine import stage
from pubplan.reproduce.figures import Figure, Line, Unit
from pubplan.reproduce.overlay.runs import GM_M, LONG_RUN, TIMINGS, Planner, Run, Setting, measured

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_NODES, MIN_NODES = 8000, 100
LARGE_NODES = MAX_NODES
"""Where the paper's claims are checked at any scale."""

Points = Mapping[int, tuple[Setting, Mapping[str, Planner]]]
"""The setting and the planners at each x. GM-M is always among them."""


@dataclass(frozen=True)
class Sweep:
    """Averages of some runs by x and planner; ``label`` distinguishes it from others in the same figure."""

    runs: Mapping[int, Mapping[str, Run]]
    num_runs: int = 1
    label: str = ""

    @property
    def names(self) -> list[str]:
        return list(next(iter(self.runs.values())))

    def label_of(self, name: str) -> str:
        return f"{name}, {self.label}" if self.label else name

    def values(self, name: str, value: Callable[[Run], float]) -> list[float]:
        return [value(runs[name]) for runs in self.runs.values()]

    def above(self, name: str, value: Callable[[Run], float], base: str = GM_M) -> list[float]:
        """By how much one is above another, at each x."""
        return [value(runs[name]) - value(runs[base]) for runs in self.runs.values()]

    def times(self, name: str) -> list[float]:
        """Time in percent of that of GM-M, at each x."""
        return [100 * runs[name].seconds / runs[GM_M].seconds for runs in self.runs.values()]


@dataclass(frozen=True)
class Bench:
    """At which scale, with which seed, where and how often overlays are planned.

    Attributes:
        num_runs: how often to plan for every setting, with other nodes each time; None is what the scale suggests.
    """

    scale: float
    seed: int
    spark: SparkSession | None = None
    num_runs: int | None = None

    def runs(self, at_full_scale: int = 1, least: int = 1) -> int:
        """How often to plan for the same setting."""
        return self.num_runs or max(least, round(self.scale * at_full_scale))

    def counts(self, *nodes: int) -> tuple[int, ...]:
        """Counts of nodes to go through, each shrunk; those that shrink to the same are one."""
        return tuple(dict.fromkeys(max(MIN_NODES, round(self.scale * count)) for count in nodes))

    @property
    def large_nodes(self) -> int:
        return LARGE_NODES

    def nodes(self, count: int) -> int:
        """A count of nodes that stays unless it is too large."""
        return min(count, max(MIN_NODES, round(self.scale * MAX_NODES)))

    def sweep(self, name: str, points: Points, runs: int | None = None, label: str = "") -> Sweep:
        """Plan ``runs`` times at each point, with other nodes each time."""
        num_runs = runs or self.runs()
        averages = {}
        with stage(f"planning for {name}" + (f", {label}" if label else ""), num_runs * len(points)) as advance:
            for x, (setting, planners) in points.items():
                runs_at = []
                for number in range(num_runs):
                    runs_at.append(measured(setting, planners, self.seed + number, self.spark))
                    advance(1)
                averages[x] = {each: Run.average([run[each] for run in runs_at]) for each in planners}
        return Sweep(averages, num_runs, label)


def timing_note(num_runs: int) -> str:
    """What was timed how often."""
    nodes = "one set of nodes" if num_runs == 1 else f"{num_runs} sets of nodes"
    return (
        f"Times are CPU seconds of all cores together (on Spark, seconds): medians over {nodes} per setting, of "
        f"{TIMINGS} runs on each, or of one if that takes more than {LONG_RUN:g} s."
    )


def degree(run: Run) -> float:
    return run.degree


def mean_degree(run: Run) -> float:
    return run.mean


def mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


@dataclass(frozen=True)
class Charts:
    """Charts of the same sweeps; GM-M, which is the whole, is left out of those in percent."""

    name: str
    x: str
    sweeps: Sequence[Sweep]
    about: str

    def of(
        self, title: str, y: str, what: str, values: Callable[[Sweep, str], Sequence[float]], *notes: str, unit: Unit
    ) -> Figure:
        lines = [
            Line(sweep.label_of(name), what, tuple(values(sweep, name)))
            for sweep in self.sweeps
            for name in sweep.names
            if unit != "percent" or name != GM_M
        ]
        x_values = tuple(self.sweeps[0].runs)
        return Figure(self.name, f"{title}, {self.about}", self.x, "", x_values, y, unit, tuple(lines), notes)

    def degrees(self, *notes: str) -> Figure:
        def values(sweep: Sweep, name: str) -> list[float]:
            return sweep.values(name, degree)

        return self.of("maximum degree", "links of the busiest node", "maximum degree", values, *notes, unit="number")

    def means(self, *notes: str) -> Figure:
        def values(sweep: Sweep, name: str) -> list[float]:
            return sweep.values(name, mean_degree)

        return self.of("mean degree", "links per node", "mean degree", values, *notes, unit="number")

    def times(self, *notes: str) -> Figure:
        said = (*notes, timing_note(self.sweeps[0].num_runs))
        return self.of("time against GM-M", "% of the time of GM-M", "time", Sweep.times, *said, unit="percent")

    def known(self, *notes: str) -> Figure:
        def values(sweep: Sweep, name: str) -> list[float]:
            return [100 * known for known in sweep.values(name, lambda run: run.known)]

        return self.of("nodes to know", "pn-ratio in % of all nodes", "nodes to know", values, *notes, unit="percent")
