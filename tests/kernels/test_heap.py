"""The heap against sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.kernels.heap import heapify, pop, sift_down, sift_up

pytestmark = pytest.mark.kernel

KEYS = st.lists(st.integers(0, 5) | st.integers(-(2**63), 2**63 - 1), max_size=30)


def heap_of(values: list[int], *, has_slots: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys, items and slots of a heap in which item i has the key values[i]."""
    keys, items = np.array(values, dtype=np.int64), np.arange(len(values), dtype=np.int32)
    slots = items.copy() if has_slots else np.empty(0, dtype=np.int32)
    heapify(keys, items, slots, len(values))
    return keys, items, slots


def popped(keys: np.ndarray, items: np.ndarray, slots: np.ndarray, size: int) -> list[tuple[int, int]]:
    pairs = []
    while size:
        pairs.append((int(keys[0]), int(items[0])))
        if len(slots):
            assert [slots[items[slot]] for slot in range(size)] == list(range(size))
        size = pop(keys, items, slots, size)
    return pairs


def in_order(values: list[int]) -> list[tuple[int, int]]:
    return sorted(((value, item) for item, value in enumerate(values)), key=lambda pair: (-pair[0], pair[1]))


@given(KEYS, st.booleans())
def test_pairs_come_by_key_then_item(values: list[int], has_slots: bool) -> None:
    """The larger key first, equal keys by the smaller item, with and without slots; slots are right all the time."""
    assert popped(*heap_of(values, has_slots=has_slots), len(values)) == in_order(values)


@given(KEYS.filter(len), st.data())
def test_a_key_may_change_in_the_middle(values: list[int], data: st.DataObject) -> None:
    """An item whose key rises moves up, one whose key falls moves down; the order is that of the new keys."""
    keys, items, slots = heap_of(values, has_slots=True)
    item = data.draw(st.integers(0, len(values) - 1))
    changed = data.draw(st.integers(-10, 10) | st.integers(-(2**63), 2**63 - 1))
    keys[slots[item]] = changed
    if changed > values[item]:
        sift_up(keys, items, slots, slots[item])
    else:
        sift_down(keys, items, slots, len(values), slots[item])
    assert popped(keys, items, slots, len(values)) == in_order([*values[:item], changed, *values[item + 1 :]])
