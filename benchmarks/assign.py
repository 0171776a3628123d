"""assign on the sets of Yu, Agarwal, Yang: bandwidths, seconds, growth, bounds, whole commands, a million clients.

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
    from pubplan.generate import ContentShape
    from pubplan.problems.assign import Problem

SCALE = float(os.environ.get("PUBPLAN_BENCH_SCALE", "1"))
CLIENTS, MILLION = (max(1000, round(SCALE * clients)) for clients in (100_000, 1_000_000))
BROKERS = 100
GROWTH_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
REFINED_BARS = {"#1 LL": 0.95, "#1 HL": 0.95, "#1 LH": 0.95, "#1 HH": 0.95, "#2": 0.92, "#3": 0.96}


def _shapes() -> Mapping[str, tuple[Callable[[int], ContentShape], str, str]]:
    """By name of the paper's sets: the shape, and the load factors that the paper asks for."""
    from pubplan.generate import content_feeds, content_hotspots, content_newsgroups

    def newsgroups(skew: str, broad: str) -> Callable[[int], ContentShape]:
        return lambda clients: content_newsgroups(clients, BROKERS, skew=skew, broad=broad)

    return {
        "#1 LL": (newsgroups("low", "low"), "1.5", "1.8"),
        "#1 HL": (newsgroups("high", "low"), "1.5", "1.8"),
        "#1 LH": (newsgroups("low", "high"), "1.5", "1.8"),
        "#1 HH": (newsgroups("high", "high"), "1.5", "1.8"),
        "#2": (lambda clients: content_feeds(clients, BROKERS), "2.3", "2.5"),
        "#3": (lambda clients: content_hotspots(clients, BROKERS), "1.3", "1.5"),
    }


def run(directory: Path) -> None:
    _plan(_problem(directory, "#2", 1000), "refined")  # kernels compiled
    _methods(directory)
    _bounds(directory)
    _growth(directory)
    _commands(directory)


def _problem(directory: Path, name: str, clients: int) -> Problem:
    from pubplan.generate import generate
    from pubplan.problems.assign import Problem
    from pubplan.workload import CONTENT, read_workload

    shape, load, max_load = _shapes()[name]
    path = directory / f"{name.replace(' ', '-').strip('#')}-{clients}"
    workload = read_workload(path, CONTENT) if path.exists() else generate(shape(clients), path)
    problem = Problem(workload, 3, "0.3", load, max_load)
    problem.instance.load(None)
    return problem


def _plan(problem: Problem, method: str) -> tuple[float, float]:
    """Bandwidth and seconds of a method, without reading, bounding and verifying."""
    from pubplan.problems.assign import FAMILY

    chosen = FAMILY.methods[method]
    start = time.perf_counter()
    draft = chosen.run(problem, chosen.parameters(), 0, None)
    return float(draft.claimed), time.perf_counter() - start


def _methods(directory: Path) -> None:
    rows = []
    for name in _shapes():
        problem = _problem(directory, name, CLIENTS)
        base, seconds = _plan(problem, "gr-star")
        rows.append([name, "gr-star", "1.000", f"{seconds:.2f}", ""])
        refined, seconds = _plan(problem, "refined")
        rows.append([name, "refined", f"{refined / base:.3f}", f"{seconds:.2f}", f"{REFINED_BARS[name]}"])
        for method in ("gr", "closest", "balance"):
            bandwidth, seconds = _plan(problem, method)
            rows.append([name, method, f"{bandwidth / base:.3f}", f"{seconds:.2f}", ""])
    table(f"{CLIENTS:,} clients, {BROKERS} brokers", ["set", "method", "bandwidth / gr-star", "seconds", "bar"], rows)


def _bounds(directory: Path) -> None:
    from pubplan.problems.assign import FAMILY

    rows = []
    for name in _shapes():
        problem = _problem(directory, name, CLIENTS)
        method = FAMILY.methods["gr-star"]
        draft = method.run(problem, method.parameters(), 0, None)
        for bound in FAMILY.bounds.values():
            start = time.perf_counter()
            (certificate,) = bound.run(problem, draft, None)
            seconds = time.perf_counter() - start
            rows.append([name, bound.name, f"{float(certificate.bound) / float(draft.claimed):.3f}", f"{seconds:.2f}"])
    table("Bounds", ["set", "bound", "bound / gr-star", "seconds"], rows)


def _growth(directory: Path) -> None:
    rows = []
    for name in ("#1 LL", "#2", "#3"):
        sizes = [max(1000, round(share * MILLION)) for share in GROWTH_SHARES]
        seconds = [_plan(_problem(directory, name, size), "gr-star")[1] for size in sizes]
        rows.append([name, *(f"{second:.2f}" for second in seconds), f"{growth(sizes, seconds):.2f}"])
    table(
        "gr-star, seconds and growth exponent", ["set", *(f"{share:g} M" for share in GROWTH_SHARES), "exponent"], rows
    )


def _commands(directory: Path) -> None:
    rows = []
    for clients in (CLIENTS, MILLION):
        problem = _problem(directory, "#1 LL", clients)
        options = ["--max-delay", "0.3", "--method", "gr-star", "--out", directory / f"plan-{clients}", "--quiet"]
        seconds, peak = command("assign", problem.workload.path, *options)
        rows.append([f"{clients:,}", f"{seconds:.1f}", f"{peak / 1e9:.2f}"])
    table("Whole command with gr-star, write and verify, set #1 LL", ["clients", "seconds", "GB"], rows)
