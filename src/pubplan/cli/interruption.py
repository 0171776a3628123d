"""Ctrl-C, terminate signals and time limits end a command within seconds, also while a kernel or a solver runs.

Python handles a signal between two of its own instructions, so a signal has no effect while the main thread is in
compiled code. A thread beside it learns of every signal at once. It gives the main thread time to end in the usual way,
and otherwise ends the process itself: it ends the processes that this one started, removes the directories that are
not complete, and exits. A time limit that is over interrupts the process in the same way.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pubplan.engine import Stage

INTERRUPTED = 130
"""The exit code after Ctrl-C or a terminate signal."""
OUT_OF_TIME = 124
"""The exit code after a time limit, as timeout(1) has it."""
PATIENCE_SECONDS = 3.0
"""How long the main thread may take to end by itself."""

_SHOW_CURSOR = "\x1b[?25h"


def listen() -> None:
    """Let signals end this process from now on; called once, in the main thread."""
    signal.signal(signal.SIGTERM, _interrupt)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), name="interruption", daemon=True).start()


@dataclass
class _Cause:
    """What has interrupted this process: the sentence of a time limit, or else a signal."""

    overtime: str = ""


_cause = _Cause()


def sentence() -> str:
    """Why a command was interrupted, and what it left."""
    from pubplan.files import finished_directories

    written = ", ".join(map(str, finished_directories()))
    if _cause.overtime:
        return f"pubplan: {_cause.overtime} {f'Complete: {written}' if written else 'Nothing was written'}."
    return f"pubplan: interrupted; {f'complete: {written}' if written else 'nothing was written'}."


def exit_code() -> int:
    """What an interruption means to a shell."""
    return OUT_OF_TIME if _cause.overtime else INTERRUPTED


class TimeLimit:
    """Interrupts this process after some seconds, unless the stage ``until`` has ended before; see :func:`limited`."""

    def __init__(self, seconds: float, overtime: str, until: str | None) -> None:
        self._timer = threading.Timer(seconds, _interrupt_main, [overtime])
        self._timer.daemon = True
        self._timer.start()
        self._until = until

    def started(self, stage: Stage, total: int | None) -> None:
        pass

    def advanced(self, stage: Stage, done: int, total: int | None) -> None:
        pass

    def ended(self, stage: Stage, seconds: float) -> None:
        if stage.key == self._until:
            self.cancel()

    def cancel(self) -> None:
        self._timer.cancel()


@contextmanager
def limited(seconds: float | None, overtime: str, until: str | None = None) -> Iterator[None]:
    """Interrupt the body, as Ctrl-C does, when it takes longer; None is no limit.

    Args:
        overtime: the sentence that says so.
        until: the key of the stage with whose end the limit ends, if not with the body.
    """
    from pubplan.engine import observed_by

    _cause.overtime = ""
    if seconds is None:
        yield
        return
    limit = TimeLimit(seconds, overtime, until)
    try:
        with observed_by(limit):
            yield
    finally:
        limit.cancel()


def _interrupt_main(overtime: str) -> None:
    _cause.overtime = overtime
    # A shell's background jobs ignore SIGINT; a process that does not listen has no handler of SIGTERM.
    is_listening = signal.getsignal(signal.SIGTERM) is _interrupt
    _thread.interrupt_main(signal.SIGTERM if is_listening else signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch(reader: int) -> None:
    while os.read(reader, 1)[0] not in (signal.SIGINT, signal.SIGTERM):
        pass
    time.sleep(PATIENCE_SECONDS)
    _end()


def _end() -> None:
    """End this process while its other threads still run."""
    from pubplan.files import discard_unfinished

    _kill_children()
    discard_unfinished()
    cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""  # progress bars hide it
    with suppress(OSError):
        os.write(2, f"{cursor}\n{sentence()}\n".encode())
    os._exit(exit_code())


def _kill_children() -> None:
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            process.kill()
