"""Numba code that families share. Kernels take arrays and give arrays; they hold no policy."""

from pubplan.kernels.decorator import cache_directory, kernel
from pubplan.kernels.matching import match_rows
from pubplan.kernels.permutation import permute
from pubplan.kernels.rows import row_positive_minima, row_sums, row_sums_up_to
from pubplan.kernels.transpose import count_columns, transpose

__all__ = [
    "cache_directory",
    "count_columns",
    "kernel",
    "match_rows",
    "permute",
    "row_positive_minima",
    "row_sums",
    "row_sums_up_to",
    "transpose",
]
