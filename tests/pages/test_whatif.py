"""What-if tables on the page: the cheapest of every question is marked, refusals say why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from pubplan.errors import InputError
from pubplan.pages import write_page
from pubplan.pages.frame import Marked
from pubplan.pages.provision_whatif import MAX_BARS, MAX_SENTENCES
from pubplan.pages.whatif import read_what_if, section
from pubplan.problems.provision import what_if
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.problems.select import what_if as what_if_select

CASE = {
    "threshold": 10,
    "rate_factor": "1",
    "vm_type": "mine/small",
    "cost": 2.5,
    "vms": 2,
    "bound": 2.0,
    "gap": 0.25,
    "refused": "",
}


def test_the_cheapest_is_marked() -> None:
    """Of two types at one threshold the one for $2; another threshold has its own; what cannot be done says why."""
    cases: list[dict[str, Any]] = [
        {**CASE, "cost_per_month": 7.5},
        {**CASE, "vm_type": "mine/large", "cost": 2.0, "gap": 0.0, "cost_per_month": 6.0},
        {**CASE, "threshold": None, "cost_per_month": 7.5},
        {**CASE, "vm_type": "mine/tiny", "cost": None, "vms": None, "bound": None, "gap": None, "refused": "too small"},
    ]
    shown = section(cases, "grid.json")
    assert shown.sentences == [
        "Threshold 10, rates x 1: mine/large is the cheapest, at $2.00 per window or $6.00 per month.",
        "Thresholds by subscriber, rates x 1: mine/small is the cheapest, at $2.50 per window or $7.50 per month.",
        "Threshold 10, rates x 1: mine/tiny cannot do it: too small.",
    ]
    grid, sheet, chart = shown.charts
    assert grid.title == "Cost per month by VM type"
    assert grid.table.header == ["VM type", "threshold 10, rates x 1", "thresholds by subscriber, rates x 1"]
    assert grid.table.rows == [
        ["mine/small", "$7.50", "$7.50"],
        ["mine/large", "$6.00", ""],
        ["mine/tiny", "cannot", ""],
    ]
    marked = [cell for row in grid.table.rows for cell in row if isinstance(cell, Marked)]
    assert [(cell, cell.why) for cell in marked] == [("$7.50", "cheapest"), ("$6.00", "cheapest")]
    few = section([case for case in cases if case["vm_type"] != "mine/tiny"], "grid.json").charts[0]
    assert few.table.header == ["question", "mine/small", "mine/large"]
    assert few.table.rows == [
        ["threshold 10, rates x 1", "$7.50", "$6.00"],
        ["thresholds by subscriber, rates x 1", "$7.50", ""],
    ]
    assert [row[0] for row in sheet.table.rows] == [
        "mine/small",
        "mine/large (cheapest)",
        "mine/small (cheapest)",
        "mine/tiny",
    ]
    assert sheet.table.rows[0][3:5] == ["$2.50", "$7.50"]
    assert [row[1] for row in chart.table.rows] == ["$2.00", "$2.50", "$2.50"]
    assert [entry.name for entry in chart.legend] == ["cheapest", "others"]
    assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")


def test_many_questions_are_answered_at_once() -> None:
    """A sentence per type that is the cheapest somewhere, most often first; of many, the cheapest have bars."""
    many = MAX_SENTENCES + 1
    cases = [{**CASE, "threshold": number, "cost": 1.0 + number} for number in range(many)]
    cases.append({**CASE, "threshold": many, "vm_type": "mine/large", "cost": 0.5})
    assert section(cases, "grid.json").sentences == [
        "mine/small is the cheapest in 4 of 5 questions, for $1.00 to $4.00 per window.",
        "mine/large is the cheapest in 1 of 5 questions, for $0.50 per window.",
    ]
    assert section(cases[:many], "grid.json").sentences == [
        "mine/small is the cheapest in all 4 questions, for $1.00 to $4.00 per window."
    ]
    crowd = [{**CASE, "vm_type": f"mine/{number}", "cost": 1.0 + number} for number in range(MAX_BARS + 1)]
    assert len(section(crowd, "grid.json").charts[-1].table.rows) == 1
    assert len(section(crowd[:-1], "grid.json").charts[-1].table.rows) == MAX_BARS


def test_a_bound_that_is_met_is_written_like_the_cost() -> None:
    """$2.504 is shown as $2.51 paid, and as no less proven: there is no cent between them."""
    (sheet, _) = section([{**CASE, "cost": 2.504, "bound": 2.504, "gap": 0.0}], "grid.json").charts
    assert sheet.table.rows[0][3:] == ["$2.51", "2", "$2.51", "0.00 %"]


def test_what_the_command_prints_becomes_a_page(make_workload, tmp_path: Path, cli) -> None:
    """The JSON of what_if is read as it is, alone on a page or beside plans."""
    workload = make_workload({"a": 2}, {"x": ["a"]}, message_bytes=1)
    vm_type = VmType("mine/small", 100, 8 * 60, Tariff(3600, (Tier(None, 1),), (Tier(None, 1),)))
    cases = what_if(workload, thresholds=[1, 2], vm_types=[vm_type], window_seconds=3600)
    (tmp_path / "grid.json").write_text(json.dumps([case.to_dict() for case in cases]))
    write_page([], tmp_path / "page.html", comparisons=[tmp_path / "grid.json"])
    text = (tmp_path / "page.html").read_text()
    assert "mine/small is the cheapest" in text
    assert "1 comparison." in text
    assert cli("report", tmp_path / "grid.json", "--out", tmp_path / "other.html").code == 0
    assert (tmp_path / "other.html").read_text() == text


def test_cases_of_select_become_a_page(make_workload, tmp_path: Path) -> None:
    """A row per threshold and capacity, a line per threshold over the capacity, and why a case has no plan."""
    workload = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]})  # a costs 2, b costs 6
    cases = what_if_select(workload, thresholds=[1, "all"], capacities=["25%", 8], must_serve=["b"])
    (tmp_path / "grid.json").write_text(json.dumps([case.to_dict() for case in cases]))
    shown = section(read_what_if(tmp_path / "grid.json"), "grid.json")
    assert [sentence.partition(":")[0] for sentence in shown.sentences] == ["Threshold 1, capacity 25%", "Threshold"]
    (sheet,) = shown.charts  # only one capacity has plans
    assert [row[0] for row in sheet.table.rows] == ["1", "1", "all events", "all events"]
    assert sheet.table.rows[3][1:5] == ["8", "8 deliveries per window", "2 subscribers", "100.0 %"]
    cases = what_if_select(workload, thresholds=["all"], capacities=["25%", "100%"])
    (tmp_path / "grid.json").write_text(json.dumps([case.to_dict() for case in cases]))
    _, chart = section(read_what_if(tmp_path / "grid.json"), "grid.json").charts
    assert chart.table.rows == [
        ["threshold: all events", "25.0 %", "20.0 %"],
        ["threshold: all events", "100.0 %", "100.0 %"],
    ]
    assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")
    write_page([], tmp_path / "page.html", comparisons=[tmp_path / "grid.json"])
    assert "threshold: all events" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("content", ["[]", "{}", "[1]", "[{}]", "nonsense", json.dumps([{**CASE, "cost": "much"}])])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    """A file that holds no such table is named."""
    (tmp_path / "grid.json").write_text(content)
    with pytest.raises(InputError, match=r"grid\.json"):
        read_what_if(tmp_path / "grid.json")
