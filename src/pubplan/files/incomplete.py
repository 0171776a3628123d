"""Directories that are gone when a process ends, whichever way it ends short of being killed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_unfinished: set[Path] = set()
_finished: list[Path] = []


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """Let :func:`discard_unfinished` remove ``path`` as long as the body runs."""
    mark_unfinished(path)
    try:
        yield
    finally:
        unmark(path)


def mark_unfinished(path: Path) -> None:
    _unfinished.add(path)


def unmark(path: Path) -> None:
    _unfinished.discard(path)


def mark_finished(path: Path) -> None:
    _finished.append(path)


def finished_directories() -> list[Path]:
    """Directories that this process completed and that are still there."""
    return [path for path in dict.fromkeys(_finished) if path.exists()]


def discard_unfinished() -> None:
    """Remove what a process leaves that ends while other threads of it still run."""
    for path in tuple(_unfinished):
        discard(path)


def discard(path: Path) -> None:
    """Remove a directory; renamed first, so that tasks still running cannot add to it."""
    dropped = path.with_name(f"{path.name}.dropped")
    with suppress(OSError):
        os.rename(path, dropped)
        shutil.rmtree(dropped, ignore_errors=True)
