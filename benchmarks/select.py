"""select on the Spotify shape: the greedy kernels next to plain C++, and objectives next to the paper's figures."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import command, growth, table

if TYPE_CHECKING:
    from pubplan.planning import Draft
    from pubplan.problems.select import Problem

CAPACITY = "10%"
THRESHOLDS = (2, 27, 276, 2763)
METHODS = {"fb3m": ("greedy-fb3m", "greedy-max"), "b3m": ("greedy-b3m", "improved-b3m")}
EAGER = ("greedy-fb3m-eager", 27)
ROUNDS = 2

PAPER_SHARES = {"b3m": ("0.87", "0.83", "0.75", "0.82"), "fb3m": ("to 0.9",) * 4}
TARGETS = {
    **dict.fromkeys(("greedy-fb3m", "greedy-max", "greedy-fb3m-eager"), ("0.995",) * 4),
    "improved-b3m": ("0.99", "0.99", "0.99", "0.955"),
}

SCALES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
GROWTH_THRESHOLD = 27
BLOCKWISE_SCALE = 0.1
BLOCKWISE_PASSES = 10
EXACT_SCALES = (0.002, 0.003)

SOURCE = Path(__file__).with_name("select_greedy.cpp")


def run(directory: Path) -> None:
    _warm_up(directory)
    _beside_paper(directory)
    _growth(directory)
    _blockwise(directory)
    _exact(directory)


def _beside_paper(directory: Path) -> None:
    """Everything about one plan in a row."""
    workload = _generated(directory, 1)
    program = _compiled(directory)
    rows = []
    for position, threshold in enumerate(THRESHOLDS):
        for objective, methods in METHODS.items():
            names = [*methods, EAGER[0]] if objective == "fb3m" and threshold == EAGER[1] else list(methods)
            problem = _problem(workload, threshold, objective)
            ours, plain = _alternated(problem, names, program, directory / "arrays")
            for name in names:
                record, seconds, wall, peak = _command(directory, workload, threshold, objective, name)
                bounds = record["bounds"]
                rows.append(
                    [
                        *(name, threshold, f"{ours[name]:.2f}"),
                        *((f"{plain[name]:.2f}", f"{ours[name] / plain[name]:.2f}") if name in plain else ("", "")),
                        *(f"{record['objective']:,.0f}", f"{record['objective'] / bounds['paper']:.3f}"),
                        *(PAPER_SHARES[objective][position], f"{record['objective'] / bounds['lagrangian']:.4f}"),
                        *(TARGETS.get(name, ("",) * 4)[position], f"{seconds['bounding']:.1f}"),
                        *(f"{seconds['verifying']:.1f}", f"{wall:.1f}", f"{peak / 1e9:.2f}"),
                    ]
                )
    header = ["method", "threshold", "kernel s", "C++ s", "ratio", "objective", "of paper's bound", "paper has"]
    more = ["of Lagrangian bound", "target", "bound s", "verify s", "command s", "peak GB"]
    table(f"select, {CAPACITY} capacity, Spotify shape, scale 1; kernels warm on one core", [*header, *more], rows)
    print(f"  Kernel and C++ seconds are the least of {ROUNDS} turns each; both leave out reading and the start state.")
    print("  The paper's methods take up to 33 s (C++, other machine).")


def _growth(directory: Path) -> None:
    from pubplan.problems.select import FAMILY

    rows, taken = [], {(objective, what): [] for objective in METHODS for what in ("kernel", "bound")}
    for scale in SCALES:
        workload = _generated(directory, scale)
        row: list[object] = []
        for objective, methods in METHODS.items():
            problem = _problem(workload, GROWTH_THRESHOLD, objective)
            kernel, draft = min((_kernel_seconds(problem, methods[0]) for _ in range(ROUNDS)), key=lambda pair: pair[0])
            bound, _ = _timed(lambda p=problem, d=draft: FAMILY.bounds["lagrangian"].run(p, d, None))
            taken[objective, "kernel"].append(kernel)
            taken[objective, "bound"].append(bound)
            row += [f"{kernel:.2f}", f"{bound:.1f}"]
        rows.append([f"{scale:g}", f"{problem.workload.counts.pairs:,}", *row])
    rows.append(["exponent", "", *(f"{growth(SCALES, seconds):.2f}" for seconds in taken.values())])
    header = [f"{methods[0]} {what} s" for methods in METHODS.values() for what in ("kernel", "bound")]
    table(f"Growth, threshold {GROWTH_THRESHOLD}, Lagrangian bound", ["scale", "pairs", *header], rows)


def _blockwise(directory: Path) -> None:
    """The greedy in passes over blocks, with room for a tenth of the interests at a time."""
    workload = _generated(directory, BLOCKWISE_SCALE)
    rows = []
    for threshold in THRESHOLDS:
        row: list[object] = [threshold]
        for objective, methods in METHODS.items():
            problem = _problem(workload, threshold, objective)
            greedy = _run(problem, methods[0]).claimed
            room = {"pairs": problem.workload.counts.pairs // BLOCKWISE_PASSES}
            seconds, draft = _timed(lambda p=problem, o=objective, r=room: _run(p, f"blockwise-{o}", **r))
            row += [f"{seconds:.1f}", f"{float(draft.claimed):,.0f}", f"{float(draft.claimed) / float(greedy):.4f}"]
        rows.append(row)
    header = [f"blockwise-{objective}{column}" for objective in METHODS for column in (" s", " objective", " / greedy")]
    table(f"Greedy in passes over blocks, scale {BLOCKWISE_SCALE:g}", ["threshold", *header], rows)


def _generated(directory: Path, scale: float) -> Path:
    out = directory / f"spotify-{scale:g}"
    if not out.exists():
        command("generate", "spotify", "--scale", scale, "--out", out)
    return out


def _exact(directory: Path) -> None:
    """What the exact search proves, and how long it takes to prove it and to evaluate the proof again."""
    from pubplan.engine import read_parquet
    from pubplan.problems.select import solve, verify

    rows = []
    for scale in EXACT_SCALES:
        workload = _generated(directory, scale)
        for threshold in THRESHOLDS[1:]:
            for objective, (greedy, *_) in METHODS.items():
                problem = _problem(workload, threshold, objective)
                start = solve(problem, greedy, bound="none").objective
                seconds, result = _timed(partial(solve, problem, "exact", bound="none", verify=False))
                checking, verdict = _timed(partial(verify, problem, result.plan))
                assert verdict.ok
                nodes = read_parquet(result.plan.path / "certificate" / "search-tree" / "00000.parquet").num_rows
                rows.append(
                    [
                        *(f"{scale:g}", threshold, objective, f"{start:,.3f}", f"{result.objective:,.3f}"),
                        *(f"{result.gap:.1e}", nodes, f"{seconds:.1f}", f"{checking:.1f}"),
                    ]
                )
    header = ["scale", "threshold", "objective", "greedy", "exact", "gap", "nodes", "solve s", "verify s"]
    table(f"exact, {CAPACITY} capacity, Spotify shape", header, rows)


def _problem(workload: Path, threshold: int, objective: Any) -> Problem:
    from pubplan.problems.select import Problem
    from pubplan.workload import read_workload

    problem = Problem(read_workload(workload), CAPACITY, threshold, objective)
    assert len(problem.instance.demand.costs)  # the arrays are in memory now
    return problem


def _warm_up(directory: Path) -> None:
    """Compile every kernel on a workload that is too small to matter."""
    from pubplan import build_workload
    from pubplan.problems.select import FAMILY

    tiny = directory / "select-tiny"
    build_workload(tiny, {"a": 2, "b": 3}, {"x": ["a"], "y": ["a", "b"]})
    for objective, methods in METHODS.items():
        problem = _problem(tiny, 2, objective)
        for name in (*methods, f"blockwise-{objective}", *([EAGER[0]] if objective == "fb3m" else [])):
            FAMILY.bounds["lagrangian"].run(problem, _run(problem, name), None)


def _run(problem: Problem, name: str, **parameters: Any) -> Draft:
    from pubplan.problems.select import FAMILY

    method = FAMILY.methods[name]
    return method.run(problem, method.parameters(**parameters), 0, None)


def _command(directory: Path, workload: Path, *asked: object) -> tuple[dict[str, Any], dict[str, float], float, int]:
    """plan.json, seconds by stage, wall seconds and peak bytes of ``pubplan select``."""
    out = directory / "plan"
    options = zip(("--threshold", "--objective", "--method"), asked, strict=True)
    flags = [word for option in options for word in option]
    wall, peak = command("select", workload, *flags, "--capacity", CAPACITY, "--out", out, "--replace")
    record = json.loads((out / "plan.json").read_text())
    return record, json.loads((out / "run.json").read_text())["seconds"], wall, peak


def _alternated(
    problem: Problem, names: Sequence[str], program: Path | None, arrays: Path
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of the kernels and of the C++ program by method, in turns; both must choose plans of equal worth."""
    from pubplan.problems.select import SERVED

    in_both = [name for name in names if program is not None and name not in ("improved-b3m", EAGER[0])]
    if in_both:
        _write_arrays(problem, arrays)
    ours: dict[str, list[float]] = {name: [] for name in names}
    plain: dict[str, list[float]] = {name: [] for name in in_both}
    for _ in range(ROUNDS):
        claims = {}
        for name in names:
            seconds, draft = _kernel_seconds(problem, name)
            ours[name].append(seconds)
            claims[name] = (draft.claimed.value, draft.decisions[SERVED].num_rows)
        if in_both:
            call = [str(program), str(arrays), str(problem.capacity_cost), *in_both]
            answer = subprocess.run(call, check=True, capture_output=True, text=True).stdout
            for line in answer.splitlines():
                name, spent, objective, num_chosen = line.split()
                plain[name].append(float(spent))
                assert claims[name] == (int(objective), int(num_chosen)), f"{name} and its C++ differ"
    return {name: min(values) for name, values in ours.items()}, {name: min(values) for name, values in plain.items()}


def _compiled(directory: Path) -> Path | None:
    compiler = shutil.which("g++")
    if compiler is None:
        print("\nThere is no g++: the columns for C++ stay empty.")
        return None
    program = directory / "select_greedy"
    subprocess.run([compiler, "-O2", "-std=c++17", "-o", str(program), str(SOURCE)], check=True)
    return program


def _write_arrays(problem: Problem, directory: Path) -> None:
    """The instance as raw files, as the C++ program reads them."""
    directory.mkdir(exist_ok=True)
    instance, interests = problem.instance, problem.instance.interests
    arrays = {
        "topic_offsets": interests.by_topic.offsets,
        "topic_values": interests.by_topic.values,
        "subscriber_offsets": interests.by_subscriber.offsets,
        "subscriber_values": interests.by_subscriber.values,
        "events": instance.events,
        "costs": instance.costs,
        "thresholds": instance.thresholds,
    }
    for name, array in arrays.items():
        array.tofile(directory / name)


def _kernel_seconds(problem: Problem, name: str) -> tuple[float, Draft]:
    """Seconds that a method spends in kernels, and what it drafts."""
    with _timed_kernels() as seconds:
        draft = _run(problem, name)
    return sum(seconds), draft


@contextmanager
def _timed_kernels() -> Iterator[list[float]]:
    """Collects the seconds of every call of a kernel by the greedy methods."""
    from pubplan.problems.select import runs
    from pubplan.problems.select.methods import greedy_max, improved_b3m

    timed_names = [
        *((runs, name) for name in ("lazy_greedy", "eager_greedy")),
        (greedy_max, "best_completion"),
        *((improved_b3m, name) for name in ("drop_idle", "removal_losses", "replay")),
    ]
    kernels = [getattr(module, name) for module, name in timed_names]
    seconds: list[float] = []

    def timed(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            taken, answer = _timed(lambda: kernel(*arguments))
            seconds.append(taken)
            return answer

        return call

    try:
        for (module, name), kernel in zip(timed_names, kernels, strict=True):
            setattr(module, name, timed(kernel))
        yield seconds
    finally:
        for (module, name), kernel in zip(timed_names, kernels, strict=True):
            setattr(module, name, kernel)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer
