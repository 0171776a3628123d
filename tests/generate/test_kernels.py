"""The kernels of the generators against their obvious twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.engine import random_stream
from pubplan.generate.kernels import match_rows, permute

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 1000])
def test_permuting_is_one_to_one(size: int) -> None:
    """Every number below the size is hit exactly once, in whatever pieces it is computed, and not in order."""
    keys = random_stream(1, "permutation").integers(0, 2**63, 6, dtype=np.uint64)
    half_bits = max(1, ((size - 1).bit_length() + 1) // 2)
    whole = np.empty(size, dtype=np.int64)
    pieces = np.empty(size, dtype=np.int64)
    with np.errstate(over="ignore"):  # hashing wraps on purpose
        permute(0, keys, whole, size, half_bits)
        for first in range(0, size, 7):
            permute(first, keys, pieces[first : first + 7], size, half_bits)
    assert sorted(whole.tolist()) == list(range(size))
    assert pieces.tolist() == whole.tolist()
    if size >= 16:
        assert whole.tolist() != list(range(size))


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.booleans(),
    st.integers(0, 99),
)
def test_matching(popularity: list[int], wanted: list[int], is_refilled: bool, seed: int) -> None:
    """A subscriber has the owners of its slots' ends, each once; refilled, these and others up to the number wanted."""
    counts = np.minimum(wanted, len(popularity))
    ends = np.cumsum([*popularity[:-1], popularity[-1] + counts.sum()])  # at least as many ends as slots
    size, shift = int(ends[-1]), 1
    keys = random_stream(seed, "matching").integers(0, 2**63, 6, dtype=np.uint64)
    half_bits = max(1, ((size - 1).bit_length() + 1) // 2)
    guide = np.searchsorted(ends, np.arange(0, size, 1 << shift), side="right").astype(np.int32)
    offsets, columns = np.empty(len(counts) + 1, dtype=np.int64), np.empty(counts.sum(), dtype=np.int32)
    images = np.empty(size, dtype=np.int64)
    with np.errstate(over="ignore"):
        match_rows(ends, guide, keys, counts, offsets, columns, 0, half_bits, shift, is_refilled)
        permute(0, keys, images, size, half_bits)
    owners = [next(topic for topic, end in enumerate(ends) if image < end) for image in images.tolist()]
    slots = np.cumsum([0, *counts])
    for row, (first, last) in enumerate(itertools.pairwise(slots)):
        drawn, met = columns[offsets[row] : offsets[row + 1]].tolist(), set(owners[first:last])
        assert drawn == sorted(set(drawn))
        if is_refilled:
            assert met <= set(drawn)
            assert len(drawn) == counts[row]
        else:
            assert drawn == sorted(met)
