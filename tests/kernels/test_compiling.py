"""The clock of compiling goes on while kernels are compiled or loaded, and stands still otherwise."""

from __future__ import annotations

import numba
import numpy as np

from pubplan.kernels import compile_seconds, kernel


def test_the_clock_counts_compiling_alone() -> None:
    """The first call with a type of argument takes time, the second does not; without compilation none does."""

    @kernel
    def doubled(values):
        return values * 2

    before = compile_seconds()
    doubled(np.arange(3))
    compiled = compile_seconds()
    assert (compiled > before) == (not numba.config.DISABLE_JIT)
    doubled(np.arange(4))
    assert compile_seconds() == compiled
