"""A segment tree of maxima: which leaf is the first with at least some value, in logarithmic time.

The tree is one array. Leaf i is entry ``width + i``, where ``width``, half the array's length, is a power of two; the
parent of an entry is at half its index, and the root, at 1, is the largest of all values. Entry 0 is not used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel

Int64Array = npt.NDArray[np.int64]

NO_VALUE = -1
"""The value of leaves that are not in use; values in use are not negative."""


@kernel
def empty_tree(width: int) -> Int64Array:
    """A tree with ``width`` leaves, a power of two, none of them in use."""
    return np.full(2 * width, NO_VALUE, dtype=np.int64)


@kernel
def leaf_value(tree: Int64Array, leaf: int) -> int:
    """The value of a leaf."""
    value: int = tree[len(tree) // 2 + leaf]
    return value


@kernel
def set_leaf(tree: Int64Array, leaf: int, value: int) -> None:
    """Change the value of a leaf, and the maxima above it as far as they change."""
    entry = len(tree) // 2 + leaf
    tree[entry] = value
    entry >>= 1
    while entry >= 1:
        largest = max(tree[2 * entry], tree[2 * entry + 1])
        if tree[entry] == largest:  # then nothing changes further up
            break
        tree[entry] = largest
        entry >>= 1


@kernel
def first_leaf(tree: Int64Array, least: int) -> int:
    """The first leaf with a value of at least ``least``, or -1."""
    if tree[1] < least:
        return -1
    entry, width = 1, len(tree) // 2
    while entry < width:  # down to the left child, or to the right one where the left has too little
        entry *= 2
        if tree[entry] < least:
            entry += 1
    return entry - width


@kernel
def grown_tree(tree: Int64Array, num_leaves: int) -> Int64Array:
    """The tree itself while it has a leaf more than ``num_leaves``, else a copy of twice the width."""
    width = len(tree) // 2
    if num_leaves < width:
        return tree
    grown = empty_tree(2 * width)
    for leaf in range(num_leaves):
        set_leaf(grown, leaf, tree[width + leaf])
    return grown
