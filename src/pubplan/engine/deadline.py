"""A time limit that long work may look at: what can stop early with what it has so far does so when it is over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Deadline:
    """When time is over, on the monotonic clock; ``has_stopped`` says whether anything has stopped for it."""

    at: float
    has_stopped: bool = False


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limited(seconds: float | None) -> Iterator[Deadline | None]:
    """Give the body this many seconds; None is no limit."""
    deadline = None if seconds is None else Deadline(time.monotonic() + seconds)
    token = _deadline.set(deadline)
    try:
        yield deadline
    finally:
        _deadline.reset(token)


def is_time_over() -> bool:
    """Whether work must stop now; asked only by what then does."""
    deadline = _deadline.get()
    if deadline is None or time.monotonic() < deadline.at:
        return False
    deadline.has_stopped = True
    return True
