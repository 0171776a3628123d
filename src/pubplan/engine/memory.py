"""How much memory there is, and how much a run used at its peak."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from pubplan.errors import EngineError

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """What can still be allocated: the machine's free memory, or what the container has left if that is less."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, max(0, int(limit) - used))


def require_memory(need_bytes: int, purpose: str) -> None:
    """Refuse work that would not fit, before it starts.

    Raises:
        EngineError: less than ``need_bytes`` are available.
    """
    have = available_bytes()
    if need_bytes > have:
        raise EngineError(
            f"Not enough memory for {purpose}: it needs {need_bytes / 1e9:.2f} GB, and {have / 1e9:.2f} GB "
            "are available."
        )


class MemoryMeter:
    """Peak memory of the whole process tree (driver, Java, Python workers) while the body runs.

    Sampled every ``interval`` seconds, less often where a sample takes long, as it does of large processes. On Linux
    the proportional set size is summed, so pages that forked workers share count once; elsewhere the resident set.
    """

    def __init__(self, interval: float = 0.1) -> None:
        self.peak_bytes = 0
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory-meter", daemon=True)

    def __enter__(self) -> Self:
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    def _watch(self) -> None:
        pause = self._interval
        while not self._stop.wait(pause):
            start = time.perf_counter()
            self._sample()
            pause = max(self._interval, 10 * (time.perf_counter() - start))

    def _sample(self) -> None:
        root = psutil.Process()
        try:
            children = root.children(recursive=True)
        except psutil.Error:
            children = []
        # Alone, a process shares no pages, and its resident set is known at once.
        used = sum(map(_memory_of, [root, *children])) if children else int(root.memory_info().rss)
        self.peak_bytes = max(self.peak_bytes, used)


def _memory_of(process: psutil.Process) -> int:
    try:
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    except psutil.AccessDenied:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it ended between the listing and the reading
