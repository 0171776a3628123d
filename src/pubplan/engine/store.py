"""Arrays that passes over blocks leave for the next pass: in this process, or as files that Spark's tasks share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pubplan.files.directories import OwnedDirectory
from pubplan.files.documents import temporary_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Array = npt.NDArray[Any]

_parent: ContextVar[Path | None] = ContextVar("parent", default=None)
"""The directory that stores are opened in; None for the system's directory of temporary files."""


class Store(Protocol):
    """Named arrays per number (a block, or a group of blocks)."""

    def put(self, number: int, **arrays: Array) -> None:
        """Keep arrays; an earlier one of the same name is replaced."""

    def get(self, number: int, name: str) -> Array:
        """An array that was kept, not to be written to."""


class MemoryStore:
    """Arrays of this process."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, str], Array] = {}

    def put(self, number: int, **arrays: Array) -> None:
        self._arrays.update({(number, name): array for name, array in arrays.items()})

    def get(self, number: int, name: str) -> Array:
        return self._arrays[number, name]


class FileStore:
    """Files of a directory that driver and executors see; a task that is run again writes the same again."""

    def __init__(self, directory: Path, owned: OwnedDirectory | None = None) -> None:
        self.directory = directory
        self._owned = owned  # removed with this store

    def __reduce__(self) -> tuple[type[FileStore], tuple[Path]]:
        return FileStore, (self.directory,)  # only the driver's store removes the directory

    def put(self, number: int, **arrays: Array) -> None:
        for name, array in arrays.items():
            path = self._path(number, name)
            temporary = temporary_name(path)
            try:
                with open(temporary, "wb") as handle:
                    np.save(handle, array)
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise

    def get(self, number: int, name: str) -> Array:
        array: Array = np.load(self._path(number, name))
        return array

    def _path(self, number: int, name: str) -> Path:
        return self.directory / f"{name}-{number:05d}.npy"


@contextmanager
def stores_below(directory: Path) -> Iterator[None]:
    """Stores opened inside keep their files below ``directory``, which executors must see; removed at the end.

    Where ``directory`` cannot be written to, files are kept in the system's directory of temporary files.
    """
    try:
        parent: Path | None = Path(tempfile.mkdtemp(prefix=".work-", dir=directory))
    except OSError:
        parent = None
    token = _parent.set(parent)
    try:
        yield
    finally:
        _parent.reset(token)
        if parent is not None:
            shutil.rmtree(parent, ignore_errors=True)


def open_store(spark: SparkSession | None) -> Store:
    """A store for passes with ``map_blocks(…, spark)``."""
    if spark is None:
        return MemoryStore()
    parent = _parent.get()
    if parent is None:
        owned = OwnedDirectory()
        return FileStore(owned.path, owned)
    return FileStore(Path(tempfile.mkdtemp(dir=parent)))
