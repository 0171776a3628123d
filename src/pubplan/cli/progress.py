"""Progress on stderr: bars on a terminal, plain lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pubplan.engine import Listener, listening

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PLAIN_INTERVAL_SECONDS = 5.0


@contextmanager
def showing_progress(quiet: bool) -> Iterator[None]:
    """Show the stages of the body to whoever watches."""
    if quiet:
        yield
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars, listening(Bars(bars)):
            yield
    else:
        with listening(PlainLines()):
            yield


class Bars(Listener):
    """One bar per stage while it runs."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def started(self, stage: str, total: int | None) -> None:
        self._tasks[stage] = self._bars.add_task(stage, total=total)

    def advanced(self, stage: str, done: int, total: int | None) -> None:
        self._bars.update(self._tasks[stage], completed=done)

    def ended(self, stage: str, seconds: float) -> None:
        self._bars.remove_task(self._tasks.pop(stage))


class PlainLines(Listener):
    """A line when a stage has taken a while, and when a slow one ends."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def started(self, stage: str, total: int | None) -> None:
        self._say(f"{stage} …")

    def advanced(self, stage: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= PLAIN_INTERVAL_SECONDS:
            self._say(f"{stage}: {done}" + (f" of {total}" if total is not None else ""))

    def ended(self, stage: str, seconds: float) -> None:
        if seconds >= PLAIN_INTERVAL_SECONDS:
            self._say(f"{stage}: done in {seconds:.1f} s")

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)
