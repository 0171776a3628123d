"""The one ``@kernel`` decorator."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_PACKAGE = Path(__file__).resolve().parents[1]

SOURCES = ("kernels/*.py", "generate/kernels.py", "problems/*/kernels/*.py")
"""Where kernels are."""

_kernels: list[Any] = []


def kernel(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Compile ``function`` with Numba: cached on disk, without the GIL, with exact float semantics.

    The cache lives in a directory named after a hash of all kernel sources. Numba alone looks only at the file of the
    compiled function, so a caller would go on running the old code of a helper that was edited in another file.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory())
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
        _kernels.append(compiled)
        return cast("Callable[Parameters, Answer]", compiled)
    finally:
        numba.config.CACHE_DIR = before


def compiled_kernels() -> tuple[Any, ...]:
    """All kernels that were imported, as Numba has them."""
    return tuple(_kernels)


@cache
def cache_directory() -> Path:
    """Where compiled kernels are kept: under NUMBA_CACHE_DIR, else the user's cache, else a temporary directory."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if home.startswith("~"):  # there is no home directory
        home = tempfile.gettempdir()
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "pubplan")
    directory = base / f"kernels-{_sources_hash()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        return Path(tempfile.gettempdir()) / f"pubplan-{os.getuid()}" / directory.name


def _sources_hash() -> str:
    state = hashlib.sha256()
    for source in sorted(source for pattern in SOURCES for source in _PACKAGE.glob(pattern)):
        content = source.read_bytes()
        state.update(f"{source.relative_to(_PACKAGE)}/{len(content)}/".encode())
        state.update(content)
    return state.hexdigest()[:16]
