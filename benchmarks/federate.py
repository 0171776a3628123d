"""federate on the networks of Zhao, Wu: speed and cost of every method, optima, bounds, growth, whole commands.

``PUBPLAN_BENCH_SCALE`` makes everything smaller, for a trial.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.measure import command, growth, measured, table

if TYPE_CHECKING:
    from pubplan.planning import Draft
    from pubplan.problems.federate import Problem

SCALE = float(os.environ.get("PUBPLAN_BENCH_SCALE", "1"))
CLIENTS, BROKERS, CHANNELS = max(200, round(SCALE * 10_000)), max(4, round(SCALE * 100)), 50
LARGE = max(500, round(SCALE * 100_000)), max(5, round(SCALE * 500)), 100
SMALL = 7, 4, 3
"""Clients, brokers and channels that ``exact`` takes in a moment."""

BOUNDED = 500, 10, 10
NUM_SMALL = max(5, round(SCALE * 100))
RANDOM, MOVES = "random", "local-moves"
METHODS = (RANDOM, "greedy-packing", "clustering", "steiner-mixing", MOVES)
SECONDS_BARS = {method: 10.0 if method == MOVES else 2.0 for method in METHODS}
OPTIMUM_BARS = {"1": 0.03, "0.05": 0.06}
GAP_BARS = {"1": 0.01, "0.05": 0.15}
GROWTH_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
SETTINGS: dict[str, dict[str, str]] = {
    "ratio 1": {},
    "ratio 0.01": {"price_ratio": "0.01"},
    "niche 2 %": {"niche": "2%"},
    "replicating": {"cost": "replicating"},
    "steiner": {"routing": "steiner"},
    "acyclic": {"routing": "acyclic"},
}


def run(directory: Path) -> None:
    for options in SETTINGS.values():  # kernels compiled
        problem = _problem(directory, 300, 4, 10, **options)
        for method in METHODS:
            draft, _ = _plan(problem, method)
        _proven(problem, draft, "access")
    _methods(directory)
    _optima(directory)
    _gaps(directory)
    _growth(directory)
    _commands(directory)
    _large(directory)


def _problem(directory: Path, clients: int, brokers: int, channels: int, seed: int = 0, **options: str) -> Problem:
    """A problem whose clients are read; ``cost`` and ``routing`` are of the problem, other options of the network."""
    from pubplan.generate import content_exchange, generate
    from pubplan.problems.federate import Problem
    from pubplan.workload import CONTENT, read_workload

    asked = {name: options.pop(name) for name in ("cost", "routing") if name in options}
    path = directory / "-".join(["exchange", *map(str, (clients, brokers, channels, seed)), *options.values()])
    # A cell per channel: capacities are twice what clients send and receive by channel.
    shape = content_exchange(clients, brokers, seed, cells=channels, **options)
    workload = read_workload(path, CONTENT) if path.exists() else generate(shape, path)
    problem = Problem(workload, channels, **asked)
    problem.instance.load(None)
    problem.check()
    return problem


def _plan(problem: Problem, method: str) -> tuple[Draft, float]:
    """What a method gives, and its seconds, without reading, bounding and verifying."""
    from pubplan.problems.federate import FAMILY

    chosen = FAMILY.methods[method]
    start = time.perf_counter()
    draft = chosen.run(problem, chosen.parameters(), 0, None)
    return draft, time.perf_counter() - start


def _proven(problem: Problem, draft: Draft, bound: str) -> tuple[float, float]:
    """How far a draft is above a bound, and the seconds that proving it took."""
    from pubplan.problems.federate import FAMILY

    start = time.perf_counter()
    (certificate,) = FAMILY.bounds[bound].run(problem, draft, None)
    return float(draft.claimed) / float(certificate.bound) - 1, time.perf_counter() - start


def _methods(directory: Path) -> None:
    rows = []
    for name, options in SETTINGS.items():
        problem = _problem(directory, CLIENTS, BROKERS, CHANNELS, **options)
        costs = {}
        for method in METHODS:
            draft, seconds = _plan(problem, method)
            costs[method] = float(draft.claimed)
            ratio = f"{costs[RANDOM] / costs[method]:.3f}"
            rows.append([name, method, ratio, f"{seconds:.2f}", f"{SECONDS_BARS[method]:g}"])
        rows.append([name, "local-moves is the least", min(costs.values()) == costs[MOVES], "", ""])
    title = f"{CLIENTS:,} clients, {BROKERS} brokers, {CHANNELS} channels"
    table(title, ["setting", "method", "cost reduction ratio", "seconds", "bar"], rows)


def _optima(directory: Path) -> None:
    rows = []
    for ratio, bar in OPTIMUM_BARS.items():
        for niche in ({}, {"niche": "20%"}):
            above, seconds = [], []
            for seed in range(NUM_SMALL):
                problem = _problem(directory, *SMALL, seed, price_ratio=ratio, **niche)
                optimum, second = _plan(problem, "exact")
                above.append(float(_plan(problem, MOVES)[0].claimed) / float(optimum.claimed) - 1)
                seconds.append(second)
            num_optimal = sum(value == 0 for value in above)
            cells = [f"{fmean(above):.2%}", f"{max(above):.2%}", num_optimal, f"{fmean(seconds):.2f}", f"{bar:.0%}"]
            rows.append([ratio, "20 %" if niche else "any", *cells])
    clients, brokers, channels = SMALL
    title = (
        f"local-moves above exact, {NUM_SMALL} networks of {clients} clients, {brokers} brokers, {channels} channels"
    )
    table(title, ["price ratio", "interests", "mean", "largest", "optimal", "seconds of exact", "bar (mean)"], rows)


def _gaps(directory: Path) -> None:
    rows = []
    for sizes in (BOUNDED, (CLIENTS, BROKERS, CHANNELS)):
        for ratio in ("1", "0.05", "0.01"):
            problem = _problem(directory, *sizes, price_ratio=ratio)
            draft, _ = _plan(problem, MOVES)
            for bound in ("access", "laminar"):
                gap, seconds = _proven(problem, draft, bound)
                bar = f"{GAP_BARS[ratio]:.0%}" if sizes == BOUNDED and bound == "laminar" and ratio in GAP_BARS else ""
                rows.append(
                    [" x ".join(f"{size:,}" for size in sizes), ratio, bound, f"{gap:.2%}", f"{seconds:.2f}", bar]
                )
    table("Gap of local-moves", ["size", "price ratio", "bound", "gap", "seconds", "bar"], rows)


def _growth(directory: Path) -> None:
    """With 100 clients per broker, and with as many brokers whatever the clients."""
    sizes = [max(100, round(share * CLIENTS)) for share in GROWTH_SHARES]
    rows = []
    for label, brokers in (("growing", [max(2, size // 100) for size in sizes]), ("fixed", [BROKERS] * len(sizes))):
        problems = [_problem(directory, *pair, CHANNELS) for pair in zip(sizes, brokers, strict=True)]
        for method in METHODS:
            seconds = [_plan(problem, method)[1] for problem in problems]
            rows.append([label, method, *(f"{second:.3f}" for second in seconds), f"{growth(sizes, seconds):.2f}"])
    header = ["brokers", "method", *(f"{size:,}" for size in sizes), "exponent"]
    table("Seconds over clients, and growth exponent", header, rows)


def _commands(directory: Path) -> None:
    rows = []
    workload = _problem(directory, CLIENTS, BROKERS, CHANNELS).workload.path
    for method in METHODS:
        plan = directory / f"plan-{method}"
        seconds, peak = command("federate", workload, "--method", method, "--out", plan, "--quiet")
        checking, _ = command("verify", plan, "--workload", workload, "--quiet")
        rows.append([method, f"{seconds:.1f}", f"{checking:.1f}", f"{peak / 1e9:.2f}"])
    title = f"Whole command with laminar bound, write and verify, {CLIENTS:,} clients, {BROKERS} brokers"
    table(title, ["method", "seconds", "verify again", "GB"], rows)


def _large(directory: Path) -> None:
    """Bar: under 5 minutes and 8 GB for each method."""
    rows = []
    clients, brokers, channels = LARGE
    problem = _problem(directory, *LARGE)
    base = 0.0
    for method in METHODS:
        drafts: list[Draft] = []
        seconds, peak = measured(lambda method=method, drafts=drafts: drafts.append(_plan(problem, method)[0]))
        base = base or float(drafts[0].claimed)
        rows.append([method, f"{base / float(drafts[0].claimed):.3f}", f"{seconds:.1f}", f"{peak / 1e9:.2f}"])
    gap, seconds = _proven(problem, drafts[0], "laminar")
    rows.append(["laminar bound", f"gap {gap:.1%}", f"{seconds:.1f}", ""])
    title = f"{clients:,} clients, {brokers} brokers, {channels} channels (bar: 300 s, 8 GB)"
    table(title, ["method", "cost reduction ratio", "seconds", "GB"], rows)
    options = ["--channels", channels, "--out", directory / "plan-large", "--quiet"]
    seconds, peak = command("federate", problem.workload.path, *options)
    table(
        "Whole command, write and verify, same size",
        ["method", "seconds", "GB"],
        [[MOVES, f"{seconds:.1f}", f"{peak / 1e9:.2f}"]],
    )
