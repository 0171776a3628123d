"""The search for a packing, against trying all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.kernels.packing import find_packing
from pubplan.planning.packing import search_packing

pytestmark = pytest.mark.kernel

Case = tuple[list[int], list[int], list[list[int]], list[int]]
"""Sizes and groups of things, the bins of every group, and capacities."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Few things of few sizes, so that many are alike; groups without bins and bins without room among them."""
    num_bins, num_groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    candidates = [sorted(draw(st.sets(st.integers(0, num_bins - 1)))) for _ in range(num_groups)]
    things = draw(st.lists(st.tuples(st.sampled_from([0, 1, 2, 3, 5]), st.integers(0, num_groups - 1)), max_size=6))
    capacities = draw(st.lists(st.sampled_from([0, 2, 3, 5, 7]), min_size=num_bins, max_size=num_bins))
    return [size for size, _ in things], [group for _, group in things], candidates, capacities


def fits(case: Case, bins: tuple[int, ...]) -> bool:
    sizes, groups, candidates, capacities = case
    loads = [0] * len(capacities)
    for size, group, bin_ in zip(sizes, groups, bins, strict=True):
        if bin_ not in candidates[group]:
            return False
        loads[bin_] += size
    return all(load <= capacity for load, capacity in zip(loads, capacities, strict=True))


def arrays(case: Case) -> tuple[np.ndarray, ...]:
    sizes, groups, candidates, capacities = case
    return (
        np.array(sizes, dtype=np.int64),
        np.array(groups, dtype=np.int32),
        np.cumsum([0, *map(len, candidates)]).astype(np.int64),
        np.array([bin_ for some in candidates for bin_ in some], dtype=np.int32),
        np.array(capacities, dtype=np.int64),
    )


@given(cases(), st.randoms(use_true_random=False))
def test_packings_are_found_if_there_are_any(case: Case, random: object) -> None:
    """A packing keeps capacities and candidates; where none is found, trying everything finds none, in any order."""
    expected = any(fits(case, bins) for bins in product(range(len(case[3])), repeat=len(case[0])))
    packing = search_packing(*arrays(case))
    assert packing.is_impossible == (not expected)
    assert (packing.brokers is not None) == expected
    assert packing.brokers is None or fits(case, tuple(packing.brokers.tolist()))
    order = list(range(len(case[0])))
    random.shuffle(order)  # type: ignore[attr-defined]
    bins = np.empty(len(order), dtype=np.int32)
    assert find_packing(*arrays(case), np.array(order, dtype=np.int64), bins, 10**6) == int(expected)
    assert not expected or fits(case, tuple(bins.tolist()))


def test_a_search_ends_at_its_limit() -> None:
    """With fewer tries than things the answer is neither yes nor no."""
    case: Case = ([1, 1], [0, 0], [[0]], [2])
    order, bins = np.arange(2), np.empty(2, dtype=np.int32)
    assert find_packing(*arrays(case), order, bins, 1) == -1
    assert find_packing(*arrays(case), order, bins, 2) == 1


def test_things_that_are_alike_are_not_permuted() -> None:
    """11 things of 3 do not fit 5 bins of 8, two each: 5^10 ways to say so, of which a search has time for a few."""
    sizes, capacities = np.full(11, 3), np.full(5, 8)
    candidates, groups = np.arange(5, dtype=np.int32), np.zeros(11, dtype=np.int32)
    assert search_packing(sizes, groups, np.array([0, 5]), candidates, capacities).is_impossible
