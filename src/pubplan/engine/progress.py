"""Progress of long work, as named stages. The library announces them; its caller decides what to show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

PLANNING, READING = "planning", "reading"
"""Keys of stages whose times are read back: running a method, and what it reads of the workload meanwhile."""

COMPILING = "compiling"
"""The key of what all stages together spent on compiling and loading kernels, which is left out of their times."""


class Stage(NamedTuple):
    """A stage of long work: what people are shown, and the name under which its time is kept."""

    label: str
    key: str


class Listener(Protocol):
    """Is called for every stage; ``total`` is None where the amount of work is not known."""

    def started(self, stage: Stage, total: int | None) -> None: ...

    def advanced(self, stage: Stage, done: int, total: int | None) -> None: ...

    def ended(self, stage: Stage, seconds: float) -> None: ...


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def observed_by(listener: Listener) -> Iterator[None]:
    """Call ``listener`` for the stages of the body, in addition to the listeners there are."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def muted() -> Iterator[None]:
    """Call no listener for the stages of the body: for work that is repeated hundreds of times, or timed."""
    token = _listeners.set(())
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def stage(label: str, total: int | None = None, *, key: str | None = None) -> Iterator[Callable[[int], None]]:
    """Announce a stage; the body calls the yielded function with the amount of work done since the last call.

    Its time is kept under ``key``, which is the label unless given.
    """
    listeners, announced = _listeners.get(), Stage(label, key or label)
    done = 0

    def advance(amount: int = 1) -> None:
        nonlocal done
        done += amount
        for listener in listeners:
            listener.advanced(announced, done, total)

    for listener in listeners:
        listener.started(announced, total)
    start = time.perf_counter()
    try:
        yield advance
    finally:
        seconds = time.perf_counter() - start
        for listener in listeners:
            listener.ended(announced, seconds)


@dataclass
class Timings:
    """A listener that keeps the seconds spent in stages, by key.

    ``excluded`` is a clock of what does not count as time of any stage, such as compiling kernels.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    excluded: Callable[[], float] = lambda: 0.0
    _excluded_before: dict[Stage, list[float]] = field(default_factory=dict)

    def started(self, stage: Stage, total: int | None) -> None:
        self.seconds.setdefault(stage.key, 0.0)
        self._excluded_before.setdefault(stage, []).append(self.excluded())

    def advanced(self, stage: Stage, done: int, total: int | None) -> None:
        pass

    def ended(self, stage: Stage, seconds: float) -> None:
        before = self._excluded_before.get(stage)
        counted = seconds - (self.excluded() - before.pop() if before else 0.0)
        self.seconds[stage.key] = self.seconds.get(stage.key, 0.0) + max(0.0, counted)
