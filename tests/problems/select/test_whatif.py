"""Tables of what several thresholds and capacities would satisfy."""

from __future__ import annotations

import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.problems.select import Problem, solve, what_if
from pubplan.problems.select.whatif import comparison_lines


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return pubplan.generate.generate(pubplan.generate.spotify(0.001), tmp_path_factory.mktemp("made") / "workload")


def test_rows_are_what_solve_plans(made) -> None:
    """Every row has the objective, the bound and the topics of the plan for its threshold and capacity."""
    table = what_if(made, thresholds=[27, "all"], capacities=["5%", 1_000_000, "1 kB/s"])
    assert [(case.threshold, case.capacity) for case in table] == [
        (threshold, capacity) for threshold in (27, "all") for capacity in ("5%", 1_000_000, "1 kB/s")
    ]
    for case in table:
        result = solve(Problem(made, case.capacity, case.threshold))
        assert (case.satisfied, case.bound, case.gap) == (result.objective, result.bound, result.gap)
        served = result.plan.decisions("served")
        assert (case.topics_served, case.capacity_used) == (served.num_rows, sum(served["cost"].to_pylist()))
        assert case.to_dict()["satisfied_share"] == result.objective / made.counts.subscribers
    assert {case.capacity_unit for case in table} == {"deliveries per window", "bytes per window"}


def test_methods_bounds_and_objectives_are_passed_on(made) -> None:
    """As for one plan: another method, no bound, whole subscribers."""
    (case,) = what_if(made, thresholds=[27], capacities=["5%"], objective="b3m", method="improved-b3m", bound="none")
    result = solve(Problem(made, "5%", 27, "b3m"), "improved-b3m", bound="none")
    assert (case.satisfied, case.bound, case.gap) == (result.objective, None, None)


def test_what_no_plan_can_do_says_why(make_workload) -> None:
    """b must be served and costs 6: a capacity of 2 is a row with a reason, and the other one is planned."""
    workload = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]})
    table = what_if(workload, thresholds=[1], capacities=[2, 6], must_serve=["b"])
    assert [case.satisfied for case in table] == [None, 2.0]
    assert "cost 4 more than the capacity" in table[0].refused
    header, first, second, note, unit = comparison_lines(table)
    assert header.split()[:2] == ["threshold", "capacity"]
    assert first.split() == ["1", "2", "none", "[1]"]
    assert second.split() == ["1", "6", "6", "2", "100.0", "%", "2", "0.00", "%", "1"]
    assert note.startswith("[1] The topics that must be served cost 4 more")
    assert unit == "Capacities are deliveries per window; satisfied are subscribers."


def test_nothing_to_try_is_refused(made) -> None:
    """An empty list is a mistake, not an empty table."""
    with pytest.raises(InputError, match="nothing to try: capacities is empty"):
        what_if(made, thresholds=[1], capacities=[])
