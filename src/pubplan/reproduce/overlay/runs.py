"""Overlays planned and timed for the tables and figures of Chen et al. (ICDCS 2011).

What is timed is the algorithm alone: no reading, no drafting of plans, no files. Times are CPU seconds of all cores
together, which neither parallel parts nor other programs distort; with Spark, whose tasks run elsewhere, seconds of the
clock. Short runs are repeated on the same nodes, and their median counts. Every overlay is then checked to connect
every topic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import muted
from pubplan.errors import VerificationFailed
from pubplan.files import OwnedDirectory
from pubplan.generate import exponential, generate, uniform, zipf
from pubplan.generate.nodes import SIZES, Sizes
from pubplan.problems.overlay import Problem
from pubplan.problems.overlay.conquer import divide_and_conquer, greedy_links
from pubplan.problems.overlay.division import BulkParameters, CoverageParameters, PartParameters, divide
from pubplan.problems.overlay.draft import most_known
from pubplan.problems.overlay.entries import degrees_of
from pubplan.problems.overlay.methods.dcbr_m import overlay_of
from pubplan.problems.overlay.methods.dcbr_repair import RepairParameters
from pubplan.problems.overlay.methods.ring_per_topic import ring_links
from pubplan.problems.overlay.overlay import GREEDY, PART, RING, Overlay, overlay_of_phase
from pubplan.problems.overlay.repair import repair
from pubplan.problems.overlay.verifier.entries import edges_of, read_entries
from pubplan.problems.overlay.verifier.evaluate import unconnected

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

UNIFORM, ZIPF, EXPONENTIAL = "uniform", "Zipf", "exponential"
SHAPES = {UNIFORM: uniform, ZIPF: zipf, EXPONENTIAL: exponential}

GM_M, DCB_M, DCBR_M, NAIVE, RING_PT, REPAIR = "GM-M", "DCB-M", "DCBR-M", "naive", "RingPT", "dcbr-repair"
NAIVE_SAME = "naive with the parts of DCBR-M"

MODEL = "paper"
"""How p is chosen: the least predicted work, as in section V of the paper."""

TIMINGS, LONG_RUN = 3, 0.1
"""An algorithm runs this often on the same nodes, unless its first run takes more seconds than that."""

Planner = Callable[[Problem, int, "SparkSession | None"], Overlay]


def gm_m(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
    links, work = greedy_links(problem.instance.topics_by_node, problem.num_topics)
    return overlay_of_phase(links, GREEDY, work)


def ring_pt(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
    links = ring_links(problem, seed)
    return overlay_of_phase(links, RING, links.num_links)


def naive(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
    division = divide(problem, PartParameters(model=MODEL), seed, eta=problem.num_topics)
    return divide_and_conquer(problem, division, None, spark)


def naive_same_parts(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
    """Naive parts, as many as DCBR-M has for the same nodes."""
    parameters = CoverageParameters(model=MODEL)
    num_parts = divide(problem, parameters, seed, eta=parameters.eta, coverage=parameters.coverage).num_parts
    division = divide(problem, PartParameters(num_parts), seed, eta=problem.num_topics)
    return divide_and_conquer(problem, division, None, spark)


def dcb_m(parts: int | None = None) -> Planner:
    parameters = BulkParameters(parts, MODEL)

    def plan(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
        return divide_and_conquer(problem, divide(problem, parameters, seed, eta=parameters.eta), None, spark)

    return plan


def dcbr_m(parts: int | None = None, coverage: int = CoverageParameters.coverage) -> Planner:
    parameters = CoverageParameters(parts, MODEL, coverage=coverage)
    return lambda problem, seed, spark: overlay_of(problem, parameters, seed, spark)


def dcbr_repair(problem: Problem, seed: int, spark: SparkSession | None) -> Overlay:
    """As pubplan plans it by default."""
    parameters = RepairParameters()
    return repair(problem, overlay_of(problem, parameters, seed, spark), parameters.effort, seed)


@dataclass(frozen=True)
class Setting:
    """Nodes that draw their topics."""

    nodes: int
    topics: int
    shape: str = UNIFORM
    sizes: Sizes = SIZES


@dataclass(frozen=True)
class Run:
    """What one overlay gives to the tables and figures, or several on average; of their times the median.

    Attributes:
        degree: the maximum degree, D in the paper.
        mean: the mean degree, d in the paper.
        inner: the maximum degree within parts.
        representatives: |R| / |L|, the share of light nodes that represent their part.
        known: the pn-ratio, the share of all nodes that one has to know at most.
        pairs: the share of all pairs of nodes that are looked at together, (|B| + |R|)^2 + |L|^2 / p of |V|^2.
        topics: topics that some node wants.
        seconds: how long the algorithm took.
    """

    degree: float
    mean: float
    inner: float
    representatives: float
    known: float
    pairs: float
    topics: float
    seconds: float

    @classmethod
    def of(cls, problem: Problem, overlay: Overlay, seconds: float) -> Run:
        links, num_nodes, division = overlay.links, problem.num_nodes, overlay.division
        representatives, known, pairs = 0.0, 1.0, 1.0
        if division is not None and overlay.is_representative is not None and overlay.coverage is not None:
            chosen = int(np.count_nonzero(overlay.is_representative))
            representatives = chosen / max(1, division.num_light)
            known = most_known(division, overlay.is_representative) / num_nodes
            combining = num_nodes - division.num_light + chosen
            pairs = (combining**2 + division.num_light**2 / division.num_parts) / num_nodes**2
        return cls(
            degree=float(degrees_of(links, num_nodes).max()),
            mean=2 * links.num_links / num_nodes,
            inner=float(degrees_of(links.take(overlay.phases == PART), num_nodes).max()),
            representatives=representatives,
            known=known,
            pairs=pairs,
            topics=float(np.count_nonzero(problem.instance.topic_sizes)),
            seconds=seconds,
        )

    @classmethod
    def average(cls, runs: Sequence[Run]) -> Run:
        values = {each.name: [getattr(run, each.name) for run in runs] for each in fields(cls)}
        means = {name: sum(of_runs) / len(of_runs) for name, of_runs in values.items()}
        return cls(**{**means, "seconds": median(values["seconds"])})


def measured(
    setting: Setting, planners: Mapping[str, Planner], seed: int, spark: SparkSession | None
) -> dict[str, Run]:
    """Plan with every planner for nodes drawn with ``seed``, without progress.

    Raises:
        VerificationFailed: an overlay leaves a topic unconnected.
    """
    keeper = OwnedDirectory()
    shape = SHAPES[setting.shape](setting.nodes, setting.topics, seed, setting.sizes)
    runs = {}
    with muted():
        problem = Problem(generate(shape, keeper.path / "workload"))
        _ = problem.instance.topics_by_node, problem.instance.topic_sizes  # read before time is taken
        for name, planner in planners.items():
            overlay, seconds = _timed(planner, problem, seed, spark)
            _check(problem, overlay)
            runs[name] = Run.of(problem, overlay, seconds)
    return runs


def _timed(planner: Planner, problem: Problem, seed: int, spark: SparkSession | None) -> tuple[Overlay, float]:
    """An overlay, and the median time of planning it."""
    clock = time.process_time if spark is None else time.perf_counter
    seconds: list[float] = []
    while True:
        start = clock()
        overlay = planner(problem, seed, spark)
        seconds.append(clock() - start)
        if len(seconds) == TIMINGS or seconds[0] > LONG_RUN:
            return overlay, median(seconds)


def _check(problem: Problem, overlay: Overlay) -> None:
    entries = read_entries(problem)
    nodes, others = overlay.links.nodes.astype(np.int64), overlay.links.others.astype(np.int64)
    violations = unconnected(entries, edges_of(entries, nodes, others))
    if violations:
        raise VerificationFailed("An overlay for the figures fails.", violations)
