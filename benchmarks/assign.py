"""assign on the sets of Yu, Agarwal, Yang: bandwidths, limits, bounds, growth, whole commands, a million clients.

``PUBPLAN_BENCH_SCALE`` makes everything smaller, for a trial.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import command, growth, table
from pubplan.errors import Infeasible
from pubplan.text import factor_up

if TYPE_CHECKING:
    from pubplan.generate import ContentShape
    from pubplan.planning import Draft
    from pubplan.problems.assign import Problem

SCALE = float(os.environ.get("PUBPLAN_BENCH_SCALE", "1"))
CLIENTS, MILLION = (max(1000, round(SCALE * clients)) for clients in (100_000, 1_000_000))
BROKERS = 100
NUM_NETWORKS = 5
LOAD_SHARES = (Fraction(8, 6), Fraction(101, 100), Fraction(1))
"""What is allowed as multiples of the least load factor."""

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
    for name in ("#1 LL", "#2"):  # kernels compiled
        problem = _problem(directory, name, 1000)
        _plan(problem, "refined")
        _proven(problem, _run(problem, "gr-star"))
        for method in ("gr", "closest", "balance"):
            _plan(problem, method)
    _methods(directory)
    _limits(directory)
    _bounds(directory)
    _gaps(directory)
    _growth(directory)
    _million(directory)
    _commands(directory)


def _problem(directory: Path, name: str, clients: int) -> Problem:
    """The paper's question; where so few clients cannot be spread within its load limits, with the least that can."""
    shape, load, max_load = _shapes()[name]
    path = directory / f"{name.replace(' ', '-').strip('#')}-{clients}"
    problem = _asked(path, shape(clients), load, max_load)
    try:
        problem.check()
    except Infeasible:
        factor = factor_up(problem.instance.least_load_factor * LOAD_SHARES[0])
        return _asked(path, shape(clients), factor, factor)
    return problem


def _asked(path: Path, shape: ContentShape, load: str, max_load: str) -> Problem:
    from pubplan.generate import generate
    from pubplan.problems.assign import Problem
    from pubplan.workload import CONTENT, read_workload

    workload = read_workload(path, CONTENT) if path.exists() else generate(shape, path)
    problem = Problem(workload, 3, "0.3", load, max_load)
    problem.instance.load(None)
    return problem


def _run(problem: Problem, method: str) -> Draft:
    from pubplan.problems.assign import FAMILY

    chosen = FAMILY.methods[method]
    return chosen.run(problem, chosen.parameters(), 0, None)


def _plan(problem: Problem, method: str) -> tuple[float, float]:
    """Bandwidth and seconds of a method, without reading, bounding and verifying."""
    start = time.perf_counter()
    draft = _run(problem, method)
    return float(draft.claimed), time.perf_counter() - start


def _proven(problem: Problem, draft: Draft) -> list[tuple[str, float, float]]:
    """Every bound of a draft: its name, its value, and the seconds it took."""
    from pubplan.problems.assign import FAMILY

    proven = []
    for bound in FAMILY.bounds.values():
        start = time.perf_counter()
        (certificate,) = bound.run(problem, draft, None)
        proven.append((bound.name, float(certificate.bound), time.perf_counter() - start))
    return proven


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


def _limits(directory: Path) -> None:
    """Whether gr-star keeps all limits, at those of the paper and close to the least load factor there is."""
    from dataclasses import replace

    rows = []
    for name in _shapes():
        problem = _problem(directory, name, CLIENTS)
        least = problem.instance.least_load_factor
        close = [factor_up(least * share) for share in LOAD_SHARES]
        for asked in (problem, *(replace(problem, load=factor, max_load=factor) for factor in close)):
            is_possible = least <= asked.max_factor
            broken = len(_run(asked, "gr-star").reasons) if is_possible else "-"
            rows.append([name, factor_up(least), asked.max_load, is_possible, broken])
    table("Limits of gr-star", ["set", "least load factor", "allowed", "possible", "limits broken"], rows)


def _bounds(directory: Path) -> None:
    rows = []
    for name in _shapes():
        problem = _problem(directory, name, CLIENTS)
        draft = _run(problem, "gr-star")
        for bound, value, seconds in _proven(problem, draft):
            rows.append([name, bound, f"{value / float(draft.claimed):.3f}", f"{seconds:.2f}"])
    table("Bounds", ["set", "bound", "bound / gr-star", "seconds"], rows)


def _gaps(directory: Path) -> None:
    """How far plans for set #2 are from what is proven, for several networks."""
    from pubplan.generate import content_feeds

    rows = []
    for seed in range(NUM_NETWORKS):
        problem = _asked(directory / f"feeds-{seed}", content_feeds(CLIENTS, BROKERS, seed), "2.3", "2.5")
        least = problem.instance.least_load_factor
        if least > problem.max_factor:
            rows.append([seed, factor_up(least), "not possible"])
            continue
        draft = _run(problem, "refined")
        best = max(value for _, value, _ in _proven(problem, draft))
        rows.append([seed, factor_up(least), f"{float(draft.claimed) / best - 1:.1%}"])
    table("Set #2, gap of refined (bar: 5 %)", ["seed", "least load factor", "gap"], rows)


def _growth(directory: Path) -> None:
    rows = []
    for name in ("#1 LL", "#2", "#3"):
        sizes = [max(1000, round(share * MILLION)) for share in GROWTH_SHARES]
        seconds = [_plan(_problem(directory, name, size), "gr-star")[1] for size in sizes]
        rows.append([name, *(f"{second:.2f}" for second in seconds), f"{growth(sizes, seconds):.2f}"])
    table(
        "gr-star, seconds and growth exponent", ["set", *(f"{share:g} M" for share in GROWTH_SHARES), "exponent"], rows
    )


def _million(directory: Path) -> None:
    rows = []
    for name in ("#1 LL", "#2", "#3"):
        problem = _problem(directory, name, MILLION)
        start = time.perf_counter()
        least = problem.instance.least_load_factor
        flow = time.perf_counter() - start
        base, seconds = _plan(problem, "gr-star")
        refined, refining = _plan(problem, "refined")
        rows.append(
            [name, factor_up(least), f"{flow:.2f}", f"{seconds:.2f}", f"{refined / base:.3f}", f"{refining:.1f}"]
        )
    header = ["set", "least load factor", "its seconds", "gr-star seconds", "refined / gr-star", "refined seconds"]
    table(f"{MILLION:,} clients, {BROKERS} brokers", header, rows)


def _commands(directory: Path) -> None:
    rows = []
    for clients in (CLIENTS, MILLION):
        problem = _problem(directory, "#1 LL", clients)
        options = ["--max-delay", "0.3", "--method", "gr-star", "--out", directory / f"plan-{clients}", "--quiet"]
        seconds, peak = command("assign", problem.workload.path, *options)
        rows.append([f"{clients:,}", f"{seconds:.1f}", f"{peak / 1e9:.2f}"])
    table("Whole command with gr-star, write and verify, set #1 LL", ["clients", "seconds", "GB"], rows)
