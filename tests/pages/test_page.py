"""The page: self-contained, complete, and safe to open whatever the names in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path

import pytest

from pubplan.pages import write_page
from pubplan.pages.frame import MAX_COLUMNS, Chart, Link, Marked, Section, Sheet, Table, page
from pubplan.pages.select import labels
from pubplan.pages.select_charts import MAX_POINTS, curve
from pubplan.planning import Plan
from pubplan.problems.select import Problem, solve
from pubplan.text import percent_up

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
    """No address in any attribute but the empty icon and parts of the page; the policy forbids every request."""
    addresses = re.findall(r"""(?:src|href|action)=["']([^"']*)""", markup(text))
    assert [address for address in addresses if not address.startswith("#")] == ["data:,"]
    anchors = {address[1:] for address in addresses if address.startswith("#")}
    assert anchors == set(re.findall(r'<section id="([^"]*)"', text)) == {"section-1", "select-1", "select-2"}
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
    shown = markup(text).replace("&nbsp;", " ")
    for part in ("verified", plan.digest, plan.record["workload"]["digest"], percent_up(plan.record["gap"])):
        assert part in shown
    assert "<table" in shown


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
    assert "5 deliveries per window needed, 3 left" in (tmp_path / "page.html").read_text()


def test_plans_are_told_apart(plan: Plan, make_workload) -> None:
    """Plans with the same parameters are labelled by their directory, and by a number where that is the same."""
    other = solve(Problem(make_workload({"a": 1}, {"x": ["a"]}), 1, 1)).plan
    assert len(set(labels([plan, other]))) == 2
    assert labels([other]) == ["greedy-fb3m, threshold 1, capacity 1"]
    named = f"greedy-fb3m, threshold 1, capacity 1 ({other.path.name})"
    assert labels([other, other]) == [f"{named} 1", f"{named} 2"]


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
    assert text.count(html.escape(HOSTILE)) == 3  # title, name of the region, cell
    assert '<th scope="col">b</th>' in text
    chart = Chart("t", "c", {"mark": "bar"}, Table(["a"], [["1"]]))
    both = page("title", "lead", [Section("heading", charts=[sheet, chart])])
    assert both.count('data-spec="spec-0"') == both.count('id="spec-0"') == 1


def test_everything_heard_has_a_name_of_its_own() -> None:
    """Charts and sheets of one title are told apart by their sections, and within one by a number."""
    table = Table(["a"], [["1"]])
    chart, sheet = Chart("t", "c", {"mark": "bar"}, table), Sheet("s", "c", table, is_searchable=True)
    twin = Chart("t", "c", {"mark": "bar"}, table)
    other = Chart("t", "c", {"mark": "line"}, table)
    text = page("title", "lead", [Section("one", charts=[chart, twin, sheet]), Section("two", charts=[other])])
    named = re.findall(r'data-spec="spec-\d" role="img" aria-label="([^"]*)"', text)
    assert named == ["t, one", "t, one, 2", "t, two"]
    assert re.findall(r'"description": "([^"]*)"', text) == named
    summaries = [re.sub("<[^>]*>", "", each) for each in re.findall("<summary>(.*?)</summary>", text)]
    assert summaries == [f"Numbers: {name}" for name in named]
    regions = re.findall(r'role="region" tabindex="0" aria-label="([^"]*)"', text)
    assert regions == [*summaries[:2], "s", summaries[2]]


def test_wide_tables_name_their_cells() -> None:
    """Four columns become cards on a phone, so cells say which column they are in; three fit, and say nothing."""
    narrow, wide = (Table([f"h{column}" for column in range(n)], [["1"] * n]) for n in (3, 4))
    text, cards = (page("t", "l", [Section("h", charts=[Sheet("s", "c", table)])]) for table in (narrow, wide))
    assert "data-name=" not in text.partition("<main>")[2]
    assert '<table class="cards">' in cards
    assert re.findall(r'<td data-name="([^"]*)">', cards) == ["h1", "h2", "h3"]


def test_very_wide_tables_are_turned() -> None:
    """A line of eleven values has a row for each; with as many lines there is nothing to gain."""
    header = ["x", *(str(number) for number in range(MAX_COLUMNS))]
    row = [f"value {number}" for number in range(MAX_COLUMNS)]
    texts = [
        page("t", "l", [Section("h", charts=[Sheet("s", "c", Table(header, [["line", *row]] * times))])])
        for times in (1, MAX_COLUMNS)
    ]
    assert '<tr><th scope="col">x</th><th scope="col">line</th></tr>' in texts[0]
    assert "<tr><td>3</td><td>value 3</td></tr>" in texts[0]
    assert '<th scope="col">3</th>' in texts[1]


def test_cells_say_more_in_small_letters() -> None:
    """What a share is part of, why a number stands out, what differs about a link; sentences wrap."""
    rows = [[Link("plan", "there", "threshold: 3"), "3 of 7 (42.9 %)"], [Marked("$1", "cheapest"), "long " * 10]]
    shares, plain = (
        page("t", "l", [Section("h", charts=[Sheet("s", "c", Table(["a", "b"], rows, has_wholes=has))])])
        for has in (True, False)
    )
    for text in (shares, plain):
        assert '<a href="#there">plan</a><small>threshold: 3</small>' in text
        assert '<td class="marked">$1 <small>cheapest</small></td>' in text
    assert "<td>3 <small>of 7 (42.9&nbsp;%)</small></td>" in shares
    assert "<td>3 of 7 (42.9 %)</td>" in plain
    assert '<td class="words">long ' in plain


def test_notes_stand_below_a_drawing() -> None:
    """How to read a chart comes before it, what else there is to say after it."""
    chart = Chart("t", "caption", {"mark": "bar"}, Table(["a"], [["1"]]), notes=["a <note>"])
    text = page("title", "lead", [Section("heading", charts=[chart])])
    assert text.index("caption") < text.index('class="chart"') < text.index("<p>a &lt;note&gt;</p>")


def test_long_sheets_can_be_searched() -> None:
    """The field comes with its script, and only then: without scripts it stays hidden."""
    table = Table(["a"], [["1"]])
    text = page("title", "lead", [Section("heading", charts=[Sheet("t", "c", table, is_searchable=True)])])
    assert '<p class="filter" hidden>' in text
    assert 'aria-label="Show rows with (t)"' in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in text
    assert "<script" not in page("title", "lead", [Section("heading", charts=[Sheet("t", "c", table)])])


def test_digests_are_short_until_asked_for() -> None:
    """Twelve digits, and all of them in the disclosure."""
    text = page("title", "lead", [Section("heading", digests={"plan": "0123456789abcdef" * 4})])
    assert "<summary>Digest of the plan: <code>0123456789ab</code>" in text
    assert f"<p><code>{'0123456789abcdef' * 4}</code></p>" in text


def test_several_sections_have_contents() -> None:
    """Links to all of them, in order; a single one needs none."""
    text = page("title", "lead", [Section("one"), Section("other", anchor="there")])
    links = re.findall(r'<li><a href="#([^"]*)">([^<]*)</a></li>', text)
    assert links == [("section-1", "one"), ("there", "other")]
    assert "<nav" not in page("title", "lead", [Section("one")])
