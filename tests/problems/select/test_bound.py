"""The paper's bound: valid, and the number the paper's algorithm gives."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.select import FULL, Case, best_value, cases, paper_knapsack

import pubplan
from pubplan.problems.select import Problem, bound
from pubplan.problems.select.bound import _num_fitting, fixed_point_excess, paper_bound


@given(cases())
def test_no_plan_beats_it(case: Case) -> None:
    """For both objectives the bound is at least the best of all plans, in exact arithmetic."""
    with tempfile.TemporaryDirectory() as directory:
        workload = pubplan.build_workload(f"{directory}/workload", case.rates, case.interests)
        fractions = Problem(workload, case.capacity, case.threshold, "fb3m")
        whole = replace(fractions, objective="b3m")
        filled = paper_knapsack(case)
        assert paper_bound(fractions).bound.value >= best_value(case, "fb3m")
        assert paper_bound(whole).bound.value >= best_value(case, "b3m")
        # Theorems V.7 and VI.4, less what exceeds the number of subscribers.
        assert paper_bound(whole).bound.value == filled
        assert paper_bound(fractions).bound.value == FULL * min(filled + 1, len(case.interests))


@given(st.lists(st.integers(0, 2**62), max_size=20), st.integers(0, 2**63 - 1))
def test_prefixes_do_not_wrap(weights: list[int], capacity: int) -> None:
    """Sums beyond 64 bits are still compared rightly."""
    ordered = sorted(weights)
    expected = sum(sum(ordered[: length + 1]) <= capacity for length in range(len(ordered)))
    assert _num_fitting(np.array(ordered, dtype=np.int64), capacity) == expected


def test_the_bound_covers_what_fixed_point_adds() -> None:
    """One unit of a real bound may be less than fixed point adds: then the bound grows by what it adds.

    With tau = 3, ceil(2^32 / 3) * 3 - 2^32 = 2 units each.
    """
    assert fixed_point_excess(np.array([0, 1, 2, 3, 3], dtype=np.int64)) == 4


def test_a_large_excess_is_added(make_workload, monkeypatch) -> None:
    """Where the excess is more than the paper's allowance of one subscriber, it takes its place."""
    workload = make_workload({"a": 2, "b": 2, "c": 2}, {"x": ["a"], "y": ["b"], "z": ["c"]})
    problem = Problem(workload, 2, 2)
    assert paper_bound(problem).bound.value == 2 * FULL  # one whole subscriber, and one for fractions
    monkeypatch.setattr(bound, "fixed_point_excess", lambda thresholds: FULL + 7)
    assert paper_bound(problem).bound.value == 2 * FULL + 7
