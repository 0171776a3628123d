"""overlay on uniform, Zipf and exponential nodes: degrees, seconds, growth, whole commands, 100 000 nodes.

``PUBPLAN_BENCH_SCALE`` makes everything smaller, for a trial.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import command, growth, table

if TYPE_CHECKING:
    from pubplan.problems.overlay import Problem
    from pubplan.problems.overlay.kernels.components import Links

SCALE = float(os.environ.get("PUBPLAN_BENCH_SCALE", "1"))
SHAPES = ("uniform", "zipf", "exponential")
TOPICS = 200
SMALL, LARGE, HUGE = (max(100, round(SCALE * nodes)) for nodes in (1000, 8000, 100_000))
HUGE_TOPICS = max(10, round(SCALE * 10_000))
SEEDS = 20
GROWTH_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
PAPER = {
    ("uniform", "gm-m"): 8.013,
    ("uniform", "dcb-m"): 10.29,
    ("uniform", "dcbr-m"): 10.883,
    ("zipf", "gm-m"): 11.14,
    ("zipf", "dcb-m"): 16.378,
    ("zipf", "dcbr-m"): 16.3925,
    ("exponential", "gm-m"): 8.4425,
    ("exponential", "dcb-m"): 10.793,
    ("exponential", "dcbr-m"): 10.798,
}


def run(directory: Path) -> None:
    _planners()["dcbr-repair"](_problem(directory, "uniform", 100, 40, 0), 0)  # kernels compiled
    _degrees(directory)
    _times(directory)
    _growth(directory)
    _commands(directory)


def _planners() -> Mapping[str, Callable[[Problem, int], Links]]:
    """By method, what chooses the links: the algorithm alone."""
    from pubplan.problems.overlay.conquer import divide_and_conquer, greedy_links
    from pubplan.problems.overlay.division import BulkParameters, CoverageParameters, divide
    from pubplan.problems.overlay.methods.dcbr_m import overlay_of
    from pubplan.problems.overlay.methods.dcbr_repair import RepairParameters
    from pubplan.problems.overlay.repair import repair

    parameters = RepairParameters()
    return {
        "gm-m": lambda problem, seed: greedy_links(problem.instance.topics_by_node, problem.num_topics)[0],
        "dcb-m": lambda problem, seed: (
            divide_and_conquer(problem, divide(problem, BulkParameters(), seed, eta=None), None, None).links
        ),
        "dcbr-m": lambda problem, seed: overlay_of(problem, CoverageParameters(), seed, None).links,
        "dcbr-repair": lambda problem, seed: (
            repair(problem, overlay_of(problem, parameters, seed, None), parameters.effort, seed).links
        ),
    }


def _degrees(directory: Path) -> None:
    """Maximum degrees over seeds, next to those that Chen et al. print."""
    rows = []
    for shape in SHAPES:
        degrees: dict[str, list[int]] = {name: [] for name in _planners()}
        for seed in range(SEEDS):
            problem = _problem(directory, shape, SMALL, TOPICS, seed)
            for name, planner in _planners().items():
                degrees[name].append(_max_degree(problem, planner(problem, seed)))
        for name, by_seed in degrees.items():
            low = sum(degree <= base for degree, base in zip(by_seed, degrees["gm-m"], strict=True))
            mean, printed = f"{sum(by_seed) / SEEDS:.2f}", PAPER.get((shape, name), "")
            rows.append([shape, name, mean, min(by_seed), max(by_seed), printed, f"{low} of {SEEDS}"])
    header = ["shape", "method", "mean D", "min", "max", "paper's mean", "at or below gm-m"]
    table(f"overlay, {SMALL} nodes, {TOPICS} topics, {SEEDS} seeds", header, rows)


def _times(directory: Path) -> None:
    """Seconds of the methods in turns; what GM-M takes is 1."""
    rows = []
    for shape in SHAPES:
        problem = _problem(directory, shape, LARGE, TOPICS, 0)
        base = 0.0
        for name, planner in _planners().items():
            seconds, links = min(
                (_timed(lambda p=problem, plan=planner: plan(p, 0)) for _ in range(2)), key=lambda one: one[0]
            )
            base = base or seconds
            rows.append([shape, name, f"{seconds:.2f}", f"{seconds / base:.2f}", _max_degree(problem, links)])
    table(f"overlay, {LARGE} nodes, {TOPICS} topics", ["shape", "method", "seconds", "of gm-m", "D"], rows)


def _growth(directory: Path) -> None:
    rows = []
    for name in ("gm-m", "dcbr-m", "dcbr-repair"):
        sizes = [max(50, round(share * LARGE)) for share in GROWTH_SHARES]
        seconds = []
        for size in sizes:
            problem = _problem(directory, "uniform", size, TOPICS, 0)
            seconds.append(min(_timed(lambda p=problem, n=name: _planners()[n](p, 0))[0] for _ in range(2)))
        rows.append([name, *(f"{spent:.3f}" for spent in seconds), f"{growth(sizes, seconds):.2f}"])
    table("overlay, growth with nodes, uniform", ["method", *map(str, sizes), "exponent"], rows)


def _commands(directory: Path) -> None:
    """Whole commands with bounds and verification."""
    rows = []
    for shape in ("uniform", "zipf"):
        for method in ("gm-m", "dcbr-m", "dcbr-repair"):
            where = _problem(directory, shape, LARGE, TOPICS, 0).workload.path
            out = directory / f"plan-{shape}-{method}"
            seconds, peak = command("overlay", where, "--method", method, "--out", out, "--quiet")
            rows.append([f"{LARGE} x {TOPICS} {shape}", method, f"{seconds:.1f}", f"{peak / 1e9:.2f}"])
    where = _problem(directory, "uniform", HUGE, HUGE_TOPICS, 0).workload.path
    for master in ((), ("--master", "local[2]")):
        out = directory / f"plan-huge-{len(master)}"
        seconds, peak = command("overlay", where, "--out", out, "--quiet", *master)
        label = " ".join(["dcbr-repair", *master])
        rows.append([f"{HUGE} x {HUGE_TOPICS} uniform", label, f"{seconds:.1f}", f"{peak / 1e9:.2f}"])
    table("overlay, whole commands", ["workload", "method", "seconds", "GB"], rows)


def _problem(directory: Path, shape: str, nodes: int, topics: int, seed: int) -> Problem:
    from pubplan import generate
    from pubplan.problems.overlay import Problem
    from pubplan.workload import read_workload

    where = directory / f"{shape}-{nodes}-{topics}-{seed}"
    if not where.exists():
        generate.generate(getattr(generate, shape)(nodes, topics, seed), where)
    problem = Problem(read_workload(where))
    _ = problem.instance.topics_by_node  # read before time is taken
    return problem


def _timed(work: Callable[[], Links]) -> tuple[float, Links]:
    start = time.perf_counter()
    links = work()
    return time.perf_counter() - start, links


def _max_degree(problem: Problem, links: Links) -> int:
    from pubplan.problems.overlay.entries import degrees_of

    return int(degrees_of(links, problem.num_nodes).max(initial=0))
