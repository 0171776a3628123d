"""A random permutation that is computed, not stored, and the matching of slots with ends that it makes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel

MAX_INSERTION_SORTED = 48
"""Rows up to this length are sorted by insertion, which is faster than a call of the general sort."""


@kernel
def permute(first: int, keys: npt.NDArray[np.uint64], images: npt.NDArray[np.int64], size: int, half_bits: int) -> None:
    """Write the images of ``first``, ``first + 1``, … under a keyed permutation of 0 … ``size - 1``.

    A Feistel network over ``2 * half_bits`` bits, one round per key; an image outside the range walks on along its
    cycle until it comes back inside, which keeps the map one to one. ``4 ** half_bits`` must be at least ``size``.
    """
    for index in range(len(images)):
        images[index] = image_of(first + index, keys, size, half_bits)


@kernel
def image_of(number: int, keys: npt.NDArray[np.uint64], size: int, half_bits: int) -> int:
    """The image of one number under the same permutation."""
    # All operands are uint64: Numba makes a float of uint64 with int64.
    half_mask = np.uint64((1 << half_bits) - 1)
    shift = np.uint64(half_bits)
    limit = np.uint64(size)
    value = np.uint64(number)
    while True:
        # One pass of the Feistel network; multiplications wrap at 64 bits on purpose.
        left = value >> shift
        right = value & half_mask
        for key in keys:
            mixed = (right ^ key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
            mixed *= np.uint64(0xD6E8FEB86659FD93)
            mixed ^= mixed >> np.uint64(29)
            left, right = right, left ^ (mixed & half_mask)
        value = (left << shift) | right
        if value < limit:
            return np.int64(value)  # type: ignore[return-value]


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
        row_start = offsets[row]
        last = row_start + counts[row]
        if row_start < start:  # repeats left rows before this one: it moves up to where they end
            for entry in range(counts[row]):
                columns[row_start + entry] = columns[start + entry]
        kept = row_start + _sort_distinct(columns[row_start:last])  # 2
        end, tries = first + start, 0
        while is_refilled and kept < last:  # 3
            entry = kept
            while entry < last:
                tries += 1  # a new start every time: the walk never closes into a cycle
                end = image_of((end + tries) % size, keys, size, half_bits)
                columns[entry] = _owner(ends, guide, end, shift)
                if not _holds(columns[row_start:kept], columns[entry]):
                    entry += 1
            kept = row_start + _sort_distinct(columns[row_start:last])
        offsets[row + 1] = kept
        start += counts[row]


@kernel
def _owner(ends: npt.NDArray[np.int64], guide: npt.NDArray[np.int32], end: int, shift: int) -> int:
    """The topic that owns an end: the guide gives one that is at most a few topics before it."""
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
    if len(row) > MAX_INSERTION_SORTED:
        row.sort()
    else:
        for entry in range(1, len(row)):
            value, slot = row[entry], entry
            while slot > 0 and row[slot - 1] > value:
                row[slot] = row[slot - 1]
                slot -= 1
            row[slot] = value
    kept = min(1, len(row))
    for entry in range(1, len(row)):
        if row[entry] != row[kept - 1]:
            row[kept] = row[entry]
            kept += 1
    return kept
