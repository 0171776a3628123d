"""``pubplan compile``: compile everything that planning runs, so that the first plan does not have to wait for it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

from pubplan.cli.interruption import INTERRUPTED
from pubplan.cli.options import Json, Quiet

QUESTIONS: Mapping[str, Sequence[Sequence[str]]] = {
    "select": (
        ("--threshold", "27", "--capacity", "10%", "--curve"),
        ("--threshold", "27", "--capacity", "10%", "--objective", "b3m"),
    ),
    "provision": (("--threshold", "10", "--window", "10d", "--vm-type", "c3.large,c3.xlarge"),),
    "overlay": ((),),
    "assign": (("--max-delay", "0.5", "--load", "3", "--max-load", "9"),),
    "federate": (
        ("--channels", "4"),
        ("--channels", "4", "--routing", "steiner"),
        ("--channels", "4", "--routing", "acyclic"),
        ("--channels", "4", "--cost", "replicating"),
    ),
}
"""By family, the options of commands that together run all its kernels, each with all methods that apply."""


def compile_kernels(quiet: Quiet = False, json: Json = False) -> None:
    """Compile the kernels of all methods, once after installing or upgrading; takes a minute or two."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.show import answer
    from pubplan.engine import muted, stage
    from pubplan.errors import NotApplicable
    from pubplan.files import unfinished
    from pubplan.kernels import cache_directory, observed_compilation

    num_compiled = 0

    def count() -> None:
        nonlocal num_compiled
        num_compiled += 1

    with tempfile.TemporaryDirectory(prefix="pubplan-") as scratch, unfinished(Path(scratch)):
        commands = list(_commands(Path(scratch)))
        with (
            showing_progress(quiet),
            observed_compilation(count, _nothing),
            stage("compiling for all methods", len(commands)) as advance,
        ):
            for arguments in commands:
                with muted(), suppress(NotApplicable):
                    _run(arguments)
                advance(1)
    summary = f"Compiled {num_compiled} kernels" if num_compiled else "All kernels were compiled already"
    value = {"compiled": num_compiled, "directory": str(cache_directory())}
    answer(value, f"{summary}. They are in {cache_directory()}", json)


def _nothing() -> None:
    pass


def _commands(scratch: Path) -> Iterator[list[str]]:
    """What is run: the commands themselves, so that exactly what they need is compiled."""
    from pubplan.problems import FAMILIES, family_named
    from pubplan.workload import build_workload

    fans, nodes, feeds, tree = (str(scratch / name) for name in ("fans", "nodes", "feeds", "tree"))
    exchange, few = str(scratch / "exchange"), str(scratch / "few")
    yield ["generate", "spotify", "--scale", "0.001", "--out", fans]
    for shape in ("zipf", "exponential", "uniform"):
        size = ("--nodes", "40", "--topics", "20", "--sizes", "2-8")
        yield ["generate", shape, *size, "--out", nodes, "--replace"]
    yield ["generate", "content-feeds", "--clients", "200", "--brokers", "5", "--out", feeds]
    yield ["generate", "content-hotspots", "--clients", "200", "--brokers", "12", "--levels", "2", "--out", tree]
    # More brokers than a table of all their sets is made for, and few clients for exact searches.
    yield ["generate", "content-exchange", "--clients", "60", "--brokers", "16", "--out", exchange]
    yield ["generate", "content-exchange", "--clients", "8", "--brokers", "4", "--out", few]
    workloads = {"topic": (fans, nodes), "content": (feeds, tree), "federate": (exchange, few)}
    for family in FAMILIES:
        large, small = workloads.get(family) or workloads[family_named(family).kind]
        for options in QUESTIONS[family]:
            out = ("--out", str(scratch / "plan"), "--replace")
            yield [family, large, *options, *out]
            for method in family_named(family).methods:
                yield [family, small, *options, "--method", method, *out]
    # Weights that are read are arrays of another type than those that all are 1.
    weighted = build_workload(scratch / "weighted", {"a": 2, "b": 1}, {"ann": ["a", "b"]}, weights={"ann": 2})
    for options in QUESTIONS["select"]:
        yield ["select", str(weighted.path), *options]


def _run(arguments: list[str]) -> None:
    """Run a command for what it compiles; what it answers is dropped."""
    import typer

    from pubplan.cli.main import app

    command = typer.main.get_command(app)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        code = command(args=[*arguments, "--quiet"], prog_name="pubplan", standalone_mode=False)
    if code == INTERRUPTED:  # what Typer makes of an interrupt
        raise KeyboardInterrupt
