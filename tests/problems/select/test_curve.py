"""Capacity against satisfaction: the knee, and what is proven at smaller capacities."""

from __future__ import annotations

import numpy as np
import pytest

from pubplan.generate import generate, spotify
from pubplan.planning import Plan
from pubplan.problems.select import Problem, curve_of, solve
from pubplan.problems.select.curve import SHARES, curve_points, knee_of
from pubplan.problems.select.summary import summarise
from pubplan.workload import Workload


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return generate(spotify(0.002), tmp_path_factory.mktemp("curve") / "workload")


def planned(problem: Problem, bound: str = "lagrangian") -> Plan:
    return solve(problem, bound=bound).plan


@pytest.mark.parametrize("objective", ["fb3m", "b3m"])
def test_the_knee_is_one_number(workload: Workload, objective: str) -> None:
    """Whatever capacity was asked for; it is the point of the whole curve farthest above its chord."""
    problems = [Problem(workload, capacity, 27, objective) for capacity in ("1%", "10%", "50%", "100%")]
    knees = [curve_of(problem, planned(problem, "none")).knee for problem in problems]
    assert len({(knee.cost, knee.satisfied) for knee in knees}) == 1
    method, parameters = ("greedy-fb3m", {"rule": "ratio"}) if objective == "fb3m" else ("greedy-b3m", {})
    whole = solve(problems[-1], method, parameters=parameters, bound="none").plan.trajectory()
    costs, satisfied = whole["cost"].to_numpy(), whole["satisfied"].to_numpy()
    slope = satisfied[-1] / costs[-1]
    assert knees[0].satisfied - slope * knees[0].cost == pytest.approx((satisfied - slope * costs).max())


def test_blockwise_plans_have_the_same_knee(workload: Workload) -> None:
    """Planned over blocks, the whole curve is the same."""
    problem = Problem(workload, "10%", 27)
    blocks = solve(problem, "blockwise-fb3m", bound="none").plan
    assert curve_of(problem, blocks).knee == curve_of(problem, planned(problem, "none")).knee


@pytest.mark.parametrize("objective", ["fb3m", "b3m"])
def test_bounds_are_as_tight_as_those_of_smaller_plans(workload: Workload, objective: str) -> None:
    """What a curve to 50 % proves at 10 % is within 1 % of what a plan for 10 % proves, and no plan beats it."""
    problem = Problem(workload, "50%", 27, objective)
    curve = curve_of(problem, planned(problem))
    assert curve.has_tight_bounds
    assert [round(point.percent) for point in curve.points] == list(SHARES)
    for point in curve.points:
        direct = solve(problem.at_capacity(point.cost))
        assert direct.objective <= point.bound
        assert point.bound <= 1.01 * direct.bound
        assert point.bound_percent == pytest.approx(100 * point.bound / problem.total_weight)


def test_large_workloads_keep_the_bounds_of_the_plan(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of its trajectory, and the answer says so."""
    monkeypatch.setattr("pubplan.problems.select.curve.MAX_TIGHT_INTERESTS", 0)
    problem = Problem(workload, "20%", 27)
    result = solve(problem)
    curve = curve_of(problem, result.plan)
    assert (curve.has_tight_bounds, curve.points) == (False, curve_points(problem, result.plan))
    sentences = summarise(problem, result, satisfy=None, with_curve=True, spark=None).sentences
    assert any("a plan for a smaller one may prove more" in sentence for sentence in sentences)


def test_topics_that_must_be_served_are_no_obstacle(workload: Workload) -> None:
    """Where a capacity does not pay for them there is no plan, and the bound is left as it was."""
    costs = workload.topics("topic_id", "rate", "subscribers").to_pylist()
    largest = max(costs, key=lambda row: row["rate"] * row["subscribers"])["topic_id"]
    problem = Problem(workload, "50%", 27, must_serve=[largest])
    assert all(point.satisfied <= point.bound for point in curve_of(problem, planned(problem)).points)


def test_nothing_wanted_has_a_knee_at_the_start(make_workload) -> None:
    """With threshold 0 all are satisfied for nothing."""
    problem = Problem(make_workload({"a": 1}, {"x": ["a"]}), "100%", 0)
    knee = curve_of(problem, planned(problem)).knee
    assert (knee.cost, knee.satisfied_percent) == (0, 100.0)


def test_the_knee_is_the_farthest_above_the_line() -> None:
    """From (0, 0) to (10, 10), the point (2, 6) stands 0.4 above, the point (5, 8) 0.3."""
    assert knee_of(np.array([0, 2, 5, 10]), np.array([0.0, 6.0, 8.0, 10.0])) == 1
    assert knee_of(np.array([4]), np.array([1.0])) == 0
    assert knee_of(np.array([0, 0]), np.array([1.0, 1.0])) == 0
