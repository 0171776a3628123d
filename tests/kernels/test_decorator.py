"""The kernel cache notices an edit anywhere in the kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba

from pubplan import kernels

PACKAGE = Path(kernels.__file__).parents[1]

HELPER = """
from pubplan.kernels.decorator import kernel

@kernel
def helper(x):
    return x + {number}
"""
CALLER = """
from pubplan.kernels import kernel
from pubplan.kernels.toy_helper import helper

@kernel
def caller(x):
    return helper(x) * 10
"""


def test_an_edited_helper_is_picked_up(tmp_path: Path) -> None:
    """A cached kernel runs the new code of a helper in another file, though its own file is unchanged."""
    copy = tmp_path / "src" / "pubplan"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "problems" / "toy" / "kernels").mkdir(parents=True)
    (copy / "problems" / "toy" / "__init__.py").touch()
    (copy / "problems" / "toy" / "kernels" / "__init__.py").touch()
    (copy / "problems" / "toy" / "kernels" / "calls.py").write_text(CALLER)
    cache = tmp_path / "cache"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)

    def answer(number: int) -> str:
        (copy / "kernels" / "toy_helper.py").write_text(HELPER.format(number=number))
        script = "from pubplan.problems.toy.kernels.calls import caller; print(caller(1), caller.stats.cache_hits)"
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert answer(1) == f"{(1 + 1) * 10} Counter()"
    assert answer(1).startswith("20 Counter({"), "the second run did not use the cache"
    assert answer(2) == f"{(1 + 2) * 10} Counter()"
    assert len(list(cache.iterdir())) == 2


def test_other_users_of_numba_keep_their_cache() -> None:
    """Importing pubplan does not redirect the cache of the program it is used in."""
    assert str(kernels.cache_directory()) != numba.config.CACHE_DIR


def test_an_unwritable_cache_falls_back(tmp_path: Path) -> None:
    """A cache directory that cannot be made is replaced by a temporary one."""
    (tmp_path / "file").touch()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "below"), "TMPDIR": str(tmp_path)}
    script = "from pubplan.kernels import cache_directory; print(cache_directory())"
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert answer.startswith(str(tmp_path / "pubplan-"))
