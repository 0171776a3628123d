"""What a plan of ``select`` says in sentences."""

from __future__ import annotations

from pubplan.problems.select import Problem, solve
from pubplan.problems.select.summary import summarise


def test_the_best_plan_says_so(make_workload) -> None:
    """The worked example: a and b satisfy three, and no plan for 7 satisfies more."""
    workload = make_workload({"a": 2, "b": 3, "c": 5, "d": 7}, {"w": ["a"], "x": ["a"], "y": ["b"], "z": ["c", "d"]})
    problem = Problem(workload, 7, 6, "b3m")
    result = solve(problem, "exact")
    assert result.gap == 0
    assert "No plan satisfies more." in summarise(problem, result, satisfy=None, with_curve=False, spark=None).sentences
