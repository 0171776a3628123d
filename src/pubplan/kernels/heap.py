"""A binary heap of (key, item) pairs in two arrays: the larger key first, then the smaller item.

The pair at ``slot`` has its children at ``2 * slot + 1`` and ``2 * slot + 2``. Items are numbers from 0 on. A caller
that changes keys in the middle of the heap passes ``slots``, which keeps the slot of every item; an empty array stands
for a heap whose items are not looked up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


@kernel
def sift_down(keys: Int64Array, items: Int32Array, slots: Int32Array, size: int, slot: int) -> None:
    """Restore the order of the first ``size`` pairs below ``slot``, whose key may have fallen."""
    key, item = keys[slot], items[slot]
    has_slots = len(slots) > 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (keys[right] > keys[child] or (keys[right] == keys[child] and items[right] < items[child])):
            child = right
        if key > keys[child] or (key == keys[child] and item <= items[child]):
            break
        keys[slot], items[slot] = keys[child], items[child]
        if has_slots:
            slots[items[slot]] = slot
        slot = child
    keys[slot], items[slot] = key, item
    if has_slots:
        slots[item] = slot


@kernel
def sift_up(keys: Int64Array, items: Int32Array, slots: Int32Array, slot: int) -> None:
    """Restore the order above ``slot``, whose key may have risen; ``slots`` must not be empty."""
    key, item = keys[slot], items[slot]
    while slot > 0:
        parent = (slot - 1) >> 1
        if keys[parent] > key or (keys[parent] == key and items[parent] <= item):
            break
        keys[slot], items[slot] = keys[parent], items[parent]
        slots[items[slot]] = slot
        slot = parent
    keys[slot], items[slot] = key, item
    slots[item] = slot


@kernel
def heapify(keys: Int64Array, items: Int32Array, slots: Int32Array, size: int) -> None:
    """Bring the first ``size`` pairs into heap order; ``slots``, if any, must hold their slots already."""
    for slot in range(size // 2 - 1, -1, -1):
        sift_down(keys, items, slots, size, slot)


@kernel
def pop(keys: Int64Array, items: Int32Array, slots: Int32Array, size: int) -> int:
    """Remove the first pair and return the new size; the slot of the removed item is left to the caller."""
    size -= 1
    keys[0], items[0] = keys[size], items[size]
    if size > 0:
        sift_down(keys, items, slots, size, 0)
    return size
