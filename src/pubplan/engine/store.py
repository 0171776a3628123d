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

from pubplan.engine.directories import Keeper
from pubplan.engine.files import temporary_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Array = npt.NDArray[Any]

_working_in: ContextVar[Path | None] = ContextVar("working_in", default=None)


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

    def __init__(self, directory: Path, keeper: Keeper | None = None) -> None:
        self.directory = directory
        self._keeper = keeper

    def __reduce__(self) -> tuple[type[FileStore], tuple[Path]]:
        return FileStore, (self.directory,)  # the keeper stays with the driver

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
def working_in(directory: Path) -> Iterator[None]:
    """Stores opened inside keep their files below ``directory``, which executors must see; removed at the end.

    Where ``directory`` cannot be written to, the system's place for temporary files has to do.
    """
    try:
        place: Path | None = Path(tempfile.mkdtemp(prefix=".work-", dir=directory))
    except OSError:
        place = None
    token = _working_in.set(place)
    try:
        yield
    finally:
        _working_in.reset(token)
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)


def open_store(spark: SparkSession | None) -> Store:
    """A store for passes with ``map_blocks(…, spark)``."""
    if spark is None:
        return MemoryStore()
    place = _working_in.get()
    if place is None:
        keeper = Keeper()
        return FileStore(keeper.path, keeper)
    return FileStore(Path(tempfile.mkdtemp(dir=place)))
