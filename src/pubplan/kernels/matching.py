"""Subscribers' slots meet topics' ends, as in the configuration model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel
from pubplan.kernels.permutation import image_of, permute

_SHORT = 48


@kernel
def match_rows(
    ends: npt.NDArray[np.int64],
    guide: npt.NDArray[np.int32],
    keys: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    first: int,
    half_bits: int,
    shift: int,
    is_refilled: bool,
) -> None:
    """Write the topics of consecutive subscribers, ascending and without repeats, as CSR.

    Subscriber r has ``counts[r]`` slots; slot i of all meets end ``permutation(i)``, and topic t owns the ends from
    ``ends[t - 1]`` to before ``ends[t]``. ``guide[e >> shift]`` is the owner of the first end with those upper bits.
    Where two slots of a subscriber meet one topic the second is dropped or, if rows are refilled, meets other ends of
    the permutation until it finds another topic; then every subscriber has exactly ``counts[r]``, of more topics.

    1. All slots meet their ends.
    2. Each row is sorted; repeats leave it.
    3. What is missing is drawn again, and sorted again, until nothing is.
    """
    size = ends[-1]
    images = np.empty(len(columns), dtype=np.int64)
    permute(first, keys, images, size, half_bits)  # 1
    for slot in range(len(images)):
        columns[slot] = _owner(ends, guide, images[slot], shift)
    start = 0
    offsets[0] = 0
    for row in range(len(counts)):
        place = offsets[row]
        last = place + counts[row]
        if place < start:
            for entry in range(counts[row]):
                columns[place + entry] = columns[start + entry]
        kept = place + _sort_distinct(columns[place:last])  # 2
        end, tries = first + start, 0
        while is_refilled and kept < last:  # 3
            entry = kept
            while entry < last:
                tries += 1  # so that the walk never closes
                end = image_of((end + tries) % size, keys, size, half_bits)
                columns[entry] = _owner(ends, guide, end, shift)
                if not _holds(columns[place:kept], columns[entry]):
                    entry += 1
            kept = place + _sort_distinct(columns[place:last])
        offsets[row + 1] = kept
        start += counts[row]


@kernel
def _owner(ends: npt.NDArray[np.int64], guide: npt.NDArray[np.int32], end: int, shift: int) -> int:
    topic = np.int64(guide[end >> shift])
    while ends[topic] <= end:
        topic += 1
    return topic  # type: ignore[return-value]


@kernel
def _holds(row: npt.NDArray[np.int32], value: int) -> bool:
    """Whether ``value`` is in an ascending row."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < len(row) and row[low] == value


@kernel
def _sort_distinct(row: npt.NDArray[np.int32]) -> int:
    """Sort ``row`` in place, its distinct values first; returns how many there are."""
    if len(row) > _SHORT:
        row.sort()
    else:
        for entry in range(1, len(row)):
            value, place = row[entry], entry
            while place > 0 and row[place - 1] > value:
                row[place] = row[place - 1]
                place -= 1
            row[place] = value
    kept = min(1, len(row))
    for entry in range(1, len(row)):
        if row[entry] != row[kept - 1]:
            row[kept] = row[entry]
            kept += 1
    return kept
