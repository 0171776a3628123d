"""When kernels are compiled, and how long that has taken: seconds for each, once per machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

_COMPILE = "numba:compile"


class _Outermost(event.Listener):  # type: ignore[misc]
    """Hears a compilation with all that is compiled on its way as one; Numba compiles in one thread at a time."""

    def __init__(self, started: Callable[[], None], ended: Callable[[], None]) -> None:
        self._started, self._ended = started, ended
        self._depth = 0

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        if self._depth == 1:
            self._started()

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._ended()


@contextmanager
def observed_compilation(started: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call ``started`` and ``ended`` around every compilation in the body; loading a compiled kernel is none."""
    with event.install_listener(_COMPILE, _Outermost(started, ended)):
        yield


class _Clock(event.Listener):  # type: ignore[misc]
    """Adds up the time in which a thread holds Numba's compiler lock or waits for it, once for all threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._num_inside = 0
        self._since = 0.0
        self._seconds = 0.0

    def on_start(self, event: Any) -> None:
        with self._guard:
            if self._num_inside == 0:
                self._since = time.perf_counter()
            self._num_inside += 1

    def on_end(self, event: Any) -> None:
        with self._guard:
            self._num_inside -= 1
            if self._num_inside == 0:
                self._seconds += time.perf_counter() - self._since

    def seconds(self) -> float:
        with self._guard:
            return self._seconds + (time.perf_counter() - self._since if self._num_inside else 0.0)


_CLOCK = _Clock()
event.register("numba:compiler_lock", _CLOCK)


def compile_seconds() -> float:
    """Seconds since kernels were first imported; the difference of two answers is what lies between them."""
    return _CLOCK.seconds()
