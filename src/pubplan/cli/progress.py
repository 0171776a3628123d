"""Progress on stderr: bars on a terminal, plain lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pubplan.engine import Listener, Stage, observed_by

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PLAIN_INTERVAL_SECONDS = 5.0
COMPILING = Stage("compiling kernels, once", "compiling")


@contextmanager
def showing_progress(quiet: bool) -> Iterator[None]:
    """Show the stages of the body on stderr."""
    if quiet:
        yield
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars, _shown_by(Bars(bars)):
            yield
    else:
        with _shown_by(PlainLines()):
            yield


@contextmanager
def _shown_by(listener: Listener) -> Iterator[None]:
    """Show the stages of the body, and kernels that have to be compiled, in whatever thread and stage they are."""
    from pubplan.kernels import observed_compilation

    start = 0.0

    def started() -> None:
        nonlocal start
        start = time.perf_counter()
        listener.started(COMPILING, None)

    def ended() -> None:
        listener.ended(COMPILING, time.perf_counter() - start)

    with observed_by(listener), observed_compilation(started, ended):
        yield


class Bars(Listener):
    """One bar per stage while it runs."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[Stage, TaskID] = {}

    def started(self, stage: Stage, total: int | None) -> None:
        self._tasks[stage] = self._bars.add_task(stage.label, total=total)

    def advanced(self, stage: Stage, done: int, total: int | None) -> None:
        self._bars.update(self._tasks[stage], completed=done)

    def ended(self, stage: Stage, seconds: float) -> None:
        self._bars.remove_task(self._tasks.pop(stage))


class PlainLines(Listener):
    """A line when a stage begins for the first time, when it has taken a while, and when a slow one ends."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._begun: set[Stage] = set()

    def started(self, stage: Stage, total: int | None) -> None:
        if stage not in self._begun:
            self._begun.add(stage)
            self._say(f"{stage.label} …")

    def advanced(self, stage: Stage, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= PLAIN_INTERVAL_SECONDS:
            self._say(f"{stage.label}: {done}" + (f" of {total}" if total is not None else ""))

    def ended(self, stage: Stage, seconds: float) -> None:
        if seconds >= PLAIN_INTERVAL_SECONDS:
            self._say(f"{stage.label}: done in {seconds:.1f} s")

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)
