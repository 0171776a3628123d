"""The tree of maxima against a plain list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.kernels.max_tree import NO_VALUE, empty_tree, first_leaf, grown_tree, leaf_value, set_leaf

pytestmark = pytest.mark.kernel


@given(
    st.integers(0, 3),
    st.lists(st.integers(0, 9), max_size=20),
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 9)), max_size=20),
)
def test_the_first_leaf_with_enough(exponent: int, values: list[int], changes: list[tuple[int, int]]) -> None:
    """While leaves are added, one by one to a tree that grows, and then changed, it answers what a search of the list
    answers for every value, or nothing where all are less.
    """
    tree, listed = empty_tree(1 << exponent), []
    steps = [*enumerate(values), *((leaf, value) for leaf, value in changes if leaf < len(values))]
    for leaf, value in steps:
        if leaf == len(listed):
            tree = grown_tree(tree, len(listed))
            listed.append(value)
        set_leaf(tree, leaf, value)
        listed[leaf] = value
        assert [leaf_value(tree, other) for other in range(len(listed))] == listed
        assert tree[1] == max(listed)
        for least in range(11):
            expected = next((other for other, free in enumerate(listed) if free >= least), -1)
            assert first_leaf(tree, least) == expected


def test_a_tree_grows_only_when_it_is_full() -> None:
    """Two leaves have room for two values; the third doubles the width and keeps both."""
    tree = empty_tree(2)
    assert (tree == NO_VALUE).all()
    assert first_leaf(tree, 0) == -1
    for leaf, value in enumerate([5, 3]):
        assert np.shares_memory(grown_tree(tree, leaf), tree)
        set_leaf(tree, leaf, value)
    grown = grown_tree(tree, 2)
    assert grown[4:].tolist() == [5, 3, NO_VALUE, NO_VALUE]
    assert grown[1] == 5
    assert tree[2:].tolist() == [5, 3]
