"""The other direction of a CSR structure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel


@kernel
def count_columns(columns: npt.NDArray[np.int32], counts: npt.NDArray[np.int64]) -> None:
    """Add to ``counts`` how often each column occurs."""
    for entry in range(len(columns)):
        counts[columns[entry]] += 1


@kernel
def transpose(
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    column_offsets: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int32],
) -> None:
    """Fill ``rows`` with the rows of each column, ascending: a counting sort in one pass.

    ``column_offsets`` must hold the exact number of entries per column, as offsets.
    """
    next_entry = column_offsets[:-1].copy()  # where the next row of each column goes
    for row in range(len(offsets) - 1):
        for entry in range(offsets[row], offsets[row + 1]):
            column = columns[entry]
            rows[next_entry[column]] = row
            next_entry[column] += 1
