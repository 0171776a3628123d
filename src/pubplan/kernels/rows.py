"""Sums and minima along the rows of a CSR structure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel


@kernel
def row_sums(
    weights: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    sums: npt.NDArray[np.int64],
) -> None:
    """Sum the weights of each row's columns; an empty row gives 0."""
    for row in range(len(offsets) - 1):
        total = 0
        for entry in range(offsets[row], offsets[row + 1]):
            total += weights[columns[entry]]
        sums[row] = total


@kernel
def row_sums_up_to(
    caps: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    sums: npt.NDArray[np.int64],
) -> None:
    """Sum the weights, at least 0, of each row's columns, but not beyond the row's cap."""
    for row in range(len(offsets) - 1):
        total = 0
        for entry in range(offsets[row], offsets[row + 1]):
            if total >= caps[row]:
                break
            total += weights[columns[entry]]
        sums[row] = min(total, caps[row])


@kernel
def row_positive_minima(
    weights: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    minima: npt.NDArray[np.int64],
) -> None:
    """The smallest positive weight of each row's columns; 0 where there is none."""
    for row in range(len(offsets) - 1):
        smallest = 0
        for entry in range(offsets[row], offsets[row + 1]):
            weight = weights[columns[entry]]
            if weight > 0 and (smallest == 0 or weight < smallest):
                smallest = weight
        minima[row] = smallest
