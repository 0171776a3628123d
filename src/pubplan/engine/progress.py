"""Progress of long work, as named stages. The library announces; whoever runs it decides what to show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol


class Listener(Protocol):
    """Told about every stage; ``total`` is None where the amount of work is not known."""

    def started(self, stage: str, total: int | None) -> None: ...

    def advanced(self, stage: str, done: int, total: int | None) -> None: ...

    def ended(self, stage: str, seconds: float) -> None: ...


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let ``listener`` hear the stages of the body, beside those who listen already."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Let nobody hear the stages of the body: for what is done hundreds of times, or timed."""
    token = _listeners.set(())
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def stage(name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Announce a stage; the body calls the yielded function with the amount of work done since the last call."""
    listeners = _listeners.get()
    done = 0

    def advance(amount: int = 1) -> None:
        nonlocal done
        done += amount
        for listener in listeners:
            listener.advanced(name, done, total)

    for listener in listeners:
        listener.started(name, total)
    start = time.perf_counter()
    try:
        yield advance
    finally:
        seconds = time.perf_counter() - start
        for listener in listeners:
            listener.ended(name, seconds)


@dataclass
class Timings:
    """A listener that keeps the seconds spent in each stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    def started(self, stage: str, total: int | None) -> None:
        self.seconds.setdefault(stage, 0.0)

    def advanced(self, stage: str, done: int, total: int | None) -> None:
        pass

    def ended(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
