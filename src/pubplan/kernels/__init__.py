"""Numba code that families share. Kernels take arrays and give arrays; they hold no policy."""

from pubplan.kernels.compilation import compile_seconds, observed_compilation
from pubplan.kernels.decorator import cache_directory, kernel
from pubplan.kernels.rows import row_positive_minima, row_sums, row_sums_up_to
from pubplan.kernels.transpose import count_columns, transpose

__all__ = [
    "cache_directory",
    "compile_seconds",
    "count_columns",
    "kernel",
    "observed_compilation",
    "row_positive_minima",
    "row_sums",
    "row_sums_up_to",
    "transpose",
]
