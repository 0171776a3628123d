"""The page: self-contained, complete, and safe to open whatever the names in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path

import pytest

from pubplan.planning import Plan
from pubplan.problems.select import Problem, solve
from pubplan.report import write_page
from pubplan.report.frame import Chart, Section, Sheet, Table, page, percent_up
from pubplan.report.select import MAX_POINTS, curve, labels

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"


@pytest.fixture
def plan(make_workload, tmp_path: Path) -> Plan:
    workload = make_workload({HOSTILE: 2, "b": 3}, {"x": [HOSTILE], "y": ["b"]})
    return solve(Problem(workload, "50%", 2), out=tmp_path / HOSTILE.replace("/", "|")).plan


@pytest.fixture
def text(plan: Plan, tmp_path: Path) -> str:
    size = write_page([plan, plan], tmp_path / "page.html")
    content = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert size == len(content.encode())
    return content


def markup(text: str) -> str:
    """The page without the code and data inside its script elements."""
    return re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)


def test_nothing_is_fetched(text: str) -> None:
    """No address in any attribute but the empty icon; the policy forbids every request."""
    assert re.findall(r"""(?:src|href|action)=["']([^"']*)""", markup(text)) == ["data:,"]
    assert "default-src 'none'" in text.replace("&#x27;", "'")


def test_scripts_are_allowed_by_hash_only(text: str) -> None:
    """Every script that runs has its hash in the policy, and nothing else may run."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#x27;", "'")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts} == allowed
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1]


def test_hostile_names_are_inert(text: str) -> None:
    """A name full of markup appears escaped in the page and cannot end the data it stands in."""
    assert "<img" not in markup(text)
    assert "alert(1)" in text  # the plan's directory is shown, as text
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, flags=re.DOTALL)
    assert len(data) == 1
    assert "<" not in data[0]
    json.loads(data[0])


def test_the_numbers_are_on_the_page(text: str, plan: Plan) -> None:
    """Objective, bound, gap, verdict and digests, readable without scripts."""
    shown = markup(text)
    for part in ("verified", plan.digest, plan.record["workload"]["digest"], percent_up(plan.record["gap"])):
        assert part in shown
    assert "<table>" in shown


def test_an_unverified_plan_is_marked(make_workload, tmp_path: Path) -> None:
    """The page does not call verified what was not."""
    plan = solve(Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 1), verify=False, bound="none").plan
    write_page([plan], tmp_path / "page.html")
    shown = markup((tmp_path / "page.html").read_text())
    assert '<dd class="bad">not verified</dd>' in shown
    assert "no bound" in shown


def test_long_curves_are_thinned(spotify) -> None:
    """A trajectory of thousands of choices becomes a few hundred points that keep both ends."""
    plan = solve(Problem(spotify, "10%", 27)).plan
    trajectory = plan.trajectory()
    chart = curve([plan], ["plan"])
    points = chart.spec["layer"][0]["data"]["values"]
    assert trajectory.num_rows > 1000 > MAX_POINTS >= len(points) > 100
    assert points[0]["cost"] == trajectory["cost"][0].as_py()
    assert points[-1] == {"plan": "plan", "cost": trajectory["cost"][-1].as_py(), "satisfied": plan.record["objective"]}
    assert [point["cost"] for point in points] == sorted({point["cost"] for point in points})


def test_empty_plans_have_a_page(make_workload, tmp_path: Path) -> None:
    """A plan that serves nothing still has its numbers and its reason."""
    plan = solve(Problem(make_workload({"a": 5}, {"x": ["a"]}), 3, 1)).plan
    write_page([plan], tmp_path / "page.html")
    assert "needs 5, has 3" in (tmp_path / "page.html").read_text()


def test_plans_are_told_apart(plan: Plan, make_workload) -> None:
    """Plans with the same parameters are labelled by their directory."""
    other = solve(Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 1)).plan
    assert len(set(labels([plan, other]))) == 2
    assert labels([other]) == ["greedy-fb3m, threshold 1, capacity 1"]


def test_a_page_without_charts_runs_no_script() -> None:
    """The library is shipped only where it draws something."""
    text = page("title", "lead", [Section("heading", ["a sentence"])])
    assert "<script" not in text
    chart = Chart("t", "c", {"mark": "bar"}, Table(["a"], [["1"]]))
    assert "vegaEmbed" in page("title", "lead", [Section("heading", charts=[chart])])


def test_a_sheet_is_shown_as_it_is() -> None:
    """Title, caption and cells are there, escaped; nothing is drawn, and charts beside it keep their numbers."""
    sheet = Sheet(HOSTILE, "caption", Table(["a", "b"], [["x", HOSTILE]]))
    text = page("title", "lead", [Section("heading", charts=[sheet])])
    assert "vegaEmbed" not in text
    assert text.count(html.escape(HOSTILE)) == 2
    assert "<th>b</th>" in text
    chart = Chart("t", "c", {"mark": "bar"}, Table(["a"], [["1"]]))
    both = page("title", "lead", [Section("heading", charts=[sheet, chart])])
    assert both.count('data-spec="spec-0"') == both.count('id="spec-0"') == 1
