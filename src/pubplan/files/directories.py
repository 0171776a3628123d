"""Whole directories: a workload or a plan is there complete, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.files.incomplete import discard, mark_finished, mark_unfinished, unfinished, unmark


class OwnedDirectory:
    """A temporary directory that lives as long as this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="pubplan-"))
        mark_unfinished(self.path)
        weakref.finalize(self, _remove_owned, self.path)


def _remove_owned(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    unmark(path)


@contextmanager
def atomic_directory(target: Path, *, marker: str, replace: bool = False) -> Iterator[Path]:
    """Yield an empty directory next to ``target``; on success move it to ``target``, on failure remove it.

    A process killed on the way leaves ``target`` as it was (and a hidden ``.name.*.tmp`` next to it). An existing
    ``target`` is refused; with ``replace`` it is renamed before the new one is moved there, and then removed, but
    only when it holds ``marker``, a file that says it is one of ours.

    Raises:
        InputError: ``target`` exists and may not be replaced, or its parent cannot be written.
    """
    target = Path(os.path.realpath(target))
    check_free(target, marker=marker, replace=replace)
    staging = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging.mkdir()
    except OSError as error:
        raise InputError(f"Cannot write {target}: {error.strerror}.") from error
    with unfinished(staging):
        try:
            yield staging
            _remove_leftovers(staging)
            _sync_directories(staging)
            _move_to_target(staging, target, marker=marker, replace=replace)
            mark_finished(target)
        except BaseException:
            discard(staging)
            raise


def check_free(target: Path, *, marker: str, replace: bool) -> None:
    """Refuse a ``target`` that :func:`atomic_directory` would refuse, before any work is done for it."""
    if not os.path.lexists(target):
        return
    if not replace:
        raise InputError(
            f"{target} exists already. Choose another {argument('out')}, or pass {argument('replace', True)} to "
            "overwrite it."
        )
    if not _is_ours(target / marker):
        raise InputError(f"{target} is not replaced: it has no {marker} of ours, so it was not written by pubplan.")


def check_free_file(target: Path, *, replace: bool) -> None:
    """Refuse a file that exists, unless it is to be replaced, and anything else that is there.

    Raises:
        InputError: ``target`` exists and may not be replaced.
    """
    if target.exists() and (not replace or not target.is_file()):
        raise InputError(
            f"{target} exists already. Choose another {argument('out')}, or pass {argument('replace', True)} to "
            "overwrite a file."
        )


def check_disjoint(out: Path, *inputs: Path) -> None:
    """Refuse an output inside an input, which it would damage, or around one.

    Raises:
        InputError: ``out`` lies in one of the ``inputs``, or one of them in ``out``.
    """
    target = Path(os.path.realpath(out))
    for given in inputs:
        path = Path(os.path.realpath(given))
        if target.is_relative_to(path) or path.is_relative_to(target):
            raise InputError(f"The output {out} and the input {given} must not contain each other.")


def _is_ours(marker: Path) -> bool:
    """Whether a file begins as pubplan's manifests, plans and option files do."""
    try:
        with open(marker, "rb") as handle:
            return b"pubplan" in handle.read(100)
    except OSError:
        return False


def _move_to_target(staging: Path, target: Path, *, marker: str, replace: bool) -> None:
    check_free(target, marker=marker, replace=replace)
    previous = target.with_name(f".{target.name}.{secrets.token_hex(6)}.old")
    had_target = target.exists()
    if had_target:
        os.rename(target, previous)
    try:
        os.rename(staging, target)
    except BaseException:
        if had_target:
            os.rename(previous, target)
        raise
    _sync(target.parent)
    if had_target:
        shutil.rmtree(previous, ignore_errors=True)


def _remove_leftovers(staging: Path) -> None:
    """Drop the temporary files of tasks that were killed and run again elsewhere."""
    for leftover in staging.rglob(".*.tmp"):
        leftover.unlink(missing_ok=True)


def _sync_directories(top: Path) -> None:
    for directory, _, _ in os.walk(top):
        _sync(Path(directory))


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
