"""The charts of select: what is drawn, when it is drawn, and from which numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.select import Problem, solve
from pubplan.problems.select.curve import curve_of, knee_of
from pubplan.report import write_page
from pubplan.report.select import by_threshold, curve, sections

RATES = {"a": 2, "b": 3, "c": 5, "d": 7}
INTERESTS = {"w": ["a"], "x": ["a"], "y": ["b"], "z": ["c", "d"]}
"""Costs: a 4, b 3, c 5, d 7."""


@pytest.fixture
def problem(make_workload) -> Problem:
    return Problem(make_workload(RATES, INTERESTS), 12, 6)


def values(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The data of a layer, which the chart holds itself when there is only one."""
    return spec["layer"][layer].get("data", spec.get("data"))["values"]


def plans_at(problem: Problem, *thresholds: int, **options) -> list[Plan]:
    return [solve(Problem(problem.workload, 12, threshold), **options).plan for threshold in thresholds]


def test_the_knee_is_the_farthest_above_the_line() -> None:
    """From (0, 0) to (10, 10), the point (2, 6) stands 0.4 above, the point (5, 8) 0.3."""
    assert knee_of(np.array([0, 2, 5, 10]), np.array([0.0, 6.0, 8.0, 10.0])) == 1
    assert knee_of(np.array([4]), np.array([1.0])) == 0
    assert knee_of(np.array([0, 0]), np.array([1.0, 1.0])) == 0


def test_the_curve_has_bound_and_knee(problem: Problem) -> None:
    """The dashed line is the trajectory's bound and ends at the capacity; the diamond is the knee of curve_of."""
    plan = solve(problem).plan
    trajectory = plan.trajectory()
    spec = curve([plan], ["plan"]).spec
    bounds = values(spec, 1)
    assert [point["cost"] for point in bounds[:-1]] == trajectory["cost"].to_pylist()
    assert [point["bound"] for point in bounds[:-1]] == trajectory["bound"].to_pylist()
    assert bounds[-1] == {"plan": "plan", "cost": 12, "bound": plan.record["bound"]}
    knee = curve_of(problem, plan).knee
    assert values(spec, 3) == [{"plan": "plan", "cost": knee.cost, "satisfied": knee.satisfied}]


def test_the_table_has_the_knee(spotify) -> None:
    """A long trajectory is cut to a few rows; the knee is among them, marked once."""
    problem = Problem(spotify, "10%", 27)
    plan = solve(problem, bound="paper").plan
    chart = curve([plan], ["plan"])
    marked = [row for row in chart.table.rows if "(knee)" in row[0]]
    assert [row[1] for row in marked] == [f"{curve_of(problem, plan).knee.cost:,}"]
    assert len(chart.table.rows) <= 11


def test_without_a_bound_nothing_is_dashed(problem: Problem) -> None:
    """No bound was computed: no line says what cannot be beaten."""
    chart = curve([solve(problem, bound="none").plan], ["plan"])
    assert values(chart.spec, 1) == []
    assert {row[-1] for row in chart.table.rows} == {""}


def test_a_damaged_trajectory_is_refused(problem: Problem, tmp_path: Path) -> None:
    """Other columns than a trajectory's are named."""
    plan = solve(problem).plan
    forged = forge(plan, tmp_path / "f", tables={"trajectory.parquet": lambda table: pa.table({"cost": table["cost"]})})
    with pytest.raises(InputError, match="trajectory is damaged"):
        curve([forged], ["plan"])


def test_two_thresholds_have_lines(problem: Problem) -> None:
    """Share of the bound and planning time, a line per method and objective, from the plans' own records."""
    plans = plans_at(problem, 6, 2)
    plans += [solve(Problem(problem.workload, 12, threshold, "b3m")).plan for threshold in (2, 6)]
    shares, seconds = by_threshold(plans)
    expected = sorted(
        (
            f"{plan.method}, {plan.record['parameters']['objective']}",
            plan.record["parameters"]["threshold"],
            plan.record["objective"] / plan.record["bound"],
        )
        for plan in plans
    )
    assert [(point["line"], point["x"], point["y"]) for point in values(shares.spec, 0)] == expected
    assert [row[:2] for row in shares.table.rows] == [[line, str(x)] for line, x, _ in expected]
    assert len(values(seconds.spec, 0)) == len(seconds.table.rows) == 4


def test_one_threshold_has_no_lines(problem: Problem, make_workload) -> None:
    """Nothing is compared where thresholds are all the same, or the subscribers' own."""
    own = make_workload({"a": 2}, {"x": ["a"]}, thresholds={"x": 1})
    assert by_threshold([*plans_at(problem, 6, 6), solve(Problem(own, "100%")).plan]) == []


def test_capacities_and_workloads_are_told_apart(problem: Problem, make_workload) -> None:
    """Plans for another capacity or workload are on lines of their own."""
    other = Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 2)
    plans = [*plans_at(problem, 2, 6), solve(Problem(problem.workload, 7, 6)).plan, solve(other).plan]
    shares, _ = by_threshold(plans)
    assert len({point["line"] for point in values(shares.spec, 0)}) == 3


def test_plans_without_numbers_are_left_out(problem: Problem, tmp_path: Path) -> None:
    """A plan without a bound has no share; one without readable times has no time."""
    first, second = plans_at(problem, 2, 6)
    (second.path / "run.json").unlink()
    _, seconds = by_threshold([first, second])
    assert [point["x"] for point in values(seconds.spec, 0)] == [2]
    (first.path / "run.json").write_text(json.dumps({"seconds": "many"}))
    assert [chart.title for chart in by_threshold([first, second])] == ["Share of the bound by threshold"]
    assert by_threshold([first, *plans_at(problem, 6, bound="none")])[0].table.rows[0][1] == "2"


def test_weights_are_shown_with_their_workload(make_workload, tmp_path: Path) -> None:
    """w and x weigh 1, y 5 and z nothing; a and b are served, so only z is not satisfied."""
    workload = make_workload(RATES, INTERESTS, weights={"w": 1, "x": 1, "y": 5, "z": 0})
    plan = solve(Problem(workload, 7, 6)).plan
    _, found = sections([plan], [workload])
    (chart,) = found.charts
    assert chart.table.rows == [
        ["0", "1", "0.0 %", "0.0 %"],
        ["1", "2", "100.0 %", "100.0 %"],
        ["5", "1", "100.0 %", "100.0 %"],
    ]
    write_page([plan], tmp_path / "page.html", workloads=[workload])
    assert "Satisfaction by weight" in (tmp_path / "page.html").read_text()


def test_weights_are_not_guessed(make_workload) -> None:
    """Without the workload, with another one, or without weights there is no such chart."""
    workload = make_workload(RATES, INTERESTS, weights=dict.fromkeys(INTERESTS, 2))
    other = make_workload(RATES, {"w": ["a"]}, weights={"w": 2})
    plan = solve(Problem(workload, 7, 6)).plan
    assert sections([plan])[1].charts == sections([plan], [other])[1].charts == ()
    plain = make_workload(RATES, INTERESTS)
    assert sections([solve(Problem(plain, 7, 6)).plan], [plain])[1].charts == ()
