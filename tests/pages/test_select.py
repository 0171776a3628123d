"""The charts of select: what is drawn, when it is drawn, and from which numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.pages import write_page
from pubplan.pages.frame import Sheet
from pubplan.pages.select import sections
from pubplan.pages.select_charts import by_threshold, curve, curves
from pubplan.planning import Plan
from pubplan.problems.select import FAMILY, Problem, solve
from pubplan.problems.select.curve import curve_of

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


def test_the_curve_has_bound_and_knee(problem: Problem) -> None:
    """The dashed line is the trajectory's bound and ends at the capacity; the diamond is the knee of curve_of.

    Without the workload, or with a capacity below the knee, there is no diamond.
    """
    plan = solve(problem).plan
    trajectory = plan.trajectory()
    chart = curve([plan], ["plan"], {problem.workload.digest: problem.workload})
    spec = chart.spec
    bounds = values(spec, 1)
    assert [point["cost"] for point in bounds[:-1]] == trajectory["cost"].to_pylist()
    assert [point["bound"] for point in bounds[:-1]] == trajectory["bound"].to_pylist()
    assert bounds[-1] == {"plan": "plan", "cost": 12, "bound": plan.record["bound"]}
    knee = curve_of(problem, plan).knee
    assert values(spec, 3) == [{"plan": "plan", "cost": knee.cost, "satisfied": knee.satisfied}]
    assert len(spec["layer"]) == 4
    assert len(curve([plan], ["plan"]).spec["layer"]) == 3
    assert "Diamond" in chart.caption
    assert "Diamond" not in curve([plan], ["plan"]).caption
    small = solve(problem.at_capacity(3)).plan
    assert len(curve([small], ["plan"], {problem.workload.digest: problem.workload}).spec["layer"]) == 3


def test_the_table_has_the_knee(spotify) -> None:
    """A long trajectory is cut to a few rows; the knee comes with them, marked once."""
    problem = Problem(spotify, "20%", 27)
    plan = solve(problem, bound="none").plan
    chart = curve([plan], ["plan"], {spotify.digest: spotify})
    marked = [row for row in chart.table.rows if "(knee)" in row[0]]
    assert [row[1] for row in marked] == [f"{curve_of(problem, plan).knee.cost:,}"]
    assert len(chart.table.rows) <= 11


def test_without_a_bound_nothing_is_dashed(problem: Problem) -> None:
    """No bound was computed: no line says what cannot be beaten."""
    chart = curve([solve(problem, bound="none").plan], ["plan"])
    assert [layer for layer in chart.spec["layer"] if "strokeDash" in layer["mark"]] == []
    assert {row[-1] for row in chart.table.rows} == {""}


def test_other_costs_and_other_subscribers_have_other_axes(problem: Problem, make_workload) -> None:
    """Deliveries, subscribers and weights are not drawn on one axis, nor are whole subscribers with fractions."""
    weighted = make_workload(RATES, INTERESTS, weights=dict.fromkeys(INTERESTS, 2))
    problems = [
        problem,
        Problem(problem.workload, 5, 6),
        Problem(problem.workload, 3, 6, cost="subscribers"),
        Problem(problem.workload, 12, 6, "b3m"),
        Problem(weighted, 12, 6),
    ]
    charts = curves([solve(each).plan for each in problems], [str(number) for number in range(5)])
    axes = [tuple(chart.spec["layer"][0]["encoding"][axis]["title"] for axis in ("x", "y")) for chart in charts]
    assert axes == [
        ("deliveries per window", "satisfied subscribers, with fractions"),
        ("subscribers", "satisfied subscribers, with fractions"),
        ("deliveries per window", "satisfied subscribers"),
        ("deliveries per window", "satisfied weighted subscribers, with fractions"),
    ]
    assert [entry.name for entry in charts[0].legend[:2]] == ["0", "1"]
    assert charts[1].table.header[1] == "subscribers"
    assert [chart.title.partition(": ")[2] for chart in charts] == [
        "with fractions, capacity in deliveries per window",
        "with fractions, capacity in subscribers",
        "whole ones, capacity in deliveries per window",
        "with fractions, capacity in deliveries per window",
    ]
    assert len({chart.title for chart in charts}) == 4


def test_a_damaged_trajectory_is_refused(problem: Problem, tmp_path: Path) -> None:
    """Other columns than a trajectory's are named."""
    plan = solve(problem).plan
    forged = forge(plan, tmp_path / "f", tables={"trajectory.parquet": lambda table: pa.table({"cost": table["cost"]})})
    with pytest.raises(InputError, match="trajectory is damaged"):
        curve([forged], ["plan"])


def test_two_thresholds_have_lines(problem: Problem) -> None:
    """Share of the bound and planning time, a line per method and objective, from the records of the plans."""
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
    """Nothing is compared where thresholds are all the same, or differ by subscriber."""
    given = make_workload({"a": 2}, {"x": ["a"]}, thresholds={"x": 1})
    assert by_threshold([*plans_at(problem, 6, 6), solve(Problem(given, "100%")).plan]) == []


def test_capacities_and_workloads_are_told_apart(problem: Problem, make_workload) -> None:
    """Plans for another capacity or workload have their lines."""
    other = Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 2)
    plans = [*plans_at(problem, 2, 6), solve(Problem(problem.workload, 7, 6)).plan, solve(other).plan]
    shares, _ = by_threshold(plans)
    assert len({point["line"] for point in values(shares.spec, 0)}) == 3


def test_plans_asked_differently_are_told_apart(problem: Problem) -> None:
    """Another cost, or a topic that must be served, is another line; alone, such plans are not compared."""
    forced = solve(Problem(problem.workload, 12, 6, must_serve=("d",))).plan
    costly = solve(Problem(problem.workload, 12, 2, cost="subscribers")).plan
    shares, _ = by_threshold([*plans_at(problem, 2, 6), forced, costly])
    assert list(dict.fromkeys(point["line"] for point in values(shares.spec, 0))) == [
        "greedy-fb3m, fb3m",
        "greedy-fb3m, fb3m, cost subscribers",
        "greedy-fb3m, fb3m, must serve d",
    ]
    assert by_threshold([forced, costly]) == []


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
    (shown,) = sections([plan], [workload])
    (chart,) = [chart for chart in shown.charts if chart.title == "Satisfaction by weight"]
    assert shown.figures["satisfied weighted subscribers"] == "7 of 7 (100.0 %)"
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
    plain = make_workload(RATES, INTERESTS)
    without = [sections([plan]), sections([plan], [other]), sections([solve(Problem(plain, 7, 6)).plan], [plain])]
    titles = [chart.title for shown in without for chart in shown[0].charts]
    assert len(titles) == 9
    assert "Satisfaction by weight" not in titles


def test_a_plan_says_what_it_is_part_of(problem: Problem) -> None:
    """Of 4 topics and 4 subscribers, with the workload where it was; a and b and c cost 12 of 12."""
    (shown,) = sections([solve(problem).plan])
    assert shown.heading == FAMILY.question
    assert shown.sentences[0].startswith("Serving 3 of 4 topics satisfies 3.8 of 4 subscribers")
    assert shown.figures["satisfied subscribers"] == "3.8 of 4 (95.8 %)"
    assert shown.figures["topics served"] == "3 of 4"
    assert shown.figures["capacity used"] == "12 of 12 deliveries per window"


def test_without_its_workload_a_plan_says_less(problem: Problem) -> None:
    """The workload is gone: no share, no list of what is not served, and a sentence that says how to get them."""
    plan = solve(problem).plan
    shutil.rmtree(problem.workload.path)
    (shown,) = sections([plan])
    assert "not where it was" in shown.sentences[0]
    assert (shown.figures["satisfied subscribers"], shown.figures["topics served"]) == ("3.8", "3")
    assert [chart.title for chart in shown.charts][1:] == ["Topics served"]


def test_everything_asked_is_on_the_page(problem: Problem) -> None:
    """Lists of topics, the column of costs, the objective and the method's parameters."""
    asked = Problem(problem.workload, "75%", 6, "fb3m", "subscribers", ("d",), ("a", "b"))
    (shown,) = sections([solve(asked, seed=3).plan])
    expected = {
        "threshold": "6 events per window",
        "capacity": "75% of all, 3 subscribers",
        "what counts": "fb3m: fractions of subscribers count too",
        "cost of a topic": "its column subscribers",
        "must serve": "d",
        "must not serve": "a, b",
        "method": "greedy-fb3m (rule best)",
        "seed": "3",
    }
    assert {name: shown.asked[name] for name in expected} == expected


def test_topics_are_listed(problem: Problem) -> None:
    """Served are a, which brings two subscribers a third each, and b and c; d is wanted and left out."""
    (shown,) = sections([solve(problem).plan])
    served, missing = [sheet for sheet in shown.charts if isinstance(sheet, Sheet)]
    assert served.table.header == [
        "topic",
        "cost in deliveries per window",
        "satisfied more",
        "subscribers",
        "events per window",
    ]
    assert {row[0]: row[1:2] + row[3:] for row in map(list, served.table.rows)} == {
        "a": ["4", "2", "2"],
        "b": ["3", "1", "3"],
        "c": ["5", "1", "5"],
    }
    brought = [float(row[2]) for row in served.table.rows]
    assert brought == sorted(brought, reverse=True)
    assert [list(row) for row in missing.table.rows] == [["d", "1", "7", "7"]]


def test_several_plans_are_compared(problem: Problem) -> None:
    """A row per plan that leads to its section, with the figures of all and what only some were asked."""
    plans = [solve(problem).plan for _ in range(2)]
    plans.append(solve(Problem(problem.workload, 12, 6, must_serve=("d",))).plan)
    overview, *of_plans = sections(plans)
    table = overview.charts[0].table
    assert [row[0].anchor for row in table.rows] == [section.anchor for section in of_plans]
    assert [row[0].note for row in table.rows] == ["", "", "must serve: d"]
    assert [row[-1] for row in table.rows] == ["verified"] * 3
    two = sections(plans[1:])[0].charts[0].table
    assert [row[0].note for row in two.rows] == ["must serve: none", "must serve: d"]
    assert [row[1] for row in table.rows] == [each.figures["satisfied subscribers"] for each in of_plans]
