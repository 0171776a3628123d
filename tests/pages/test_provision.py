"""The charts of provision: what is drawn, when it is drawn, and from which numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.pages import write_page
from pubplan.pages.fill import MAX_POINTS
from pubplan.pages.frame import Chart
from pubplan.pages.lists import MAX_ROWS
from pubplan.pages.provision import labels, sections, topics_on_several_vms, vms
from pubplan.pages.provision_charts import by_part, by_threshold, by_type, fill, gaps
from pubplan.planning import Plan
from pubplan.problems.provision import Problem, solve
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.text import dollars_down, dollars_up

RATES = {"a": 20, "b": 10}
INTERESTS = {"x": ["a", "b"], "y": ["a", "b"], "z": ["b"]}
"""With messages of a byte, everything takes 70 bytes out and at least 30 in."""

TARIFF = Tariff(3600, (Tier(None, 10**9),), (Tier(None, 2 * 10**9),))
"""A micro-dollar for each byte in, two for each byte out."""

SMALL, LARGE = VmType("mine/small", 100, 8 * 60, TARIFF), VmType("mine/large", 150, 8 * 100, TARIFF)
"""In a window of a second, 60 and 100 bytes; in an hour, 100 and 150 micro-dollars."""


@pytest.fixture
def ask(make_workload):
    workload = make_workload(RATES, INTERESTS, message_bytes=1)

    def problem(*vm_types: VmType, threshold: int = 30, **options: Any) -> Problem:
        return Problem(
            workload, vm_types or (SMALL, LARGE), threshold, window_seconds=3600, peak_factor=3600, **options
        )

    return problem


def values(chart: Chart) -> list[dict[str, Any]]:
    return chart.spec.get("layer", [chart.spec])[0]["data"]["values"]


def bars(chart: Chart) -> list[tuple[str, str, int]]:
    return [(bar["name"], bar["part"], round(bar["value"] * 10**6)) for bar in values(chart)]


def test_cost_is_shown_by_part(ask) -> None:
    """One large VM carries all: 150 of rent, 30 bytes in at 1, 70 out at 2."""
    plan = solve(ask()).plan
    chart = by_part([plan], ["plan"])
    assert bars(chart) == [("plan", "VMs", 150), ("plan", "bytes in", 30), ("plan", "bytes out", 140)]
    assert chart.table.rows == [["plan", "$0.000150", "$0.000030", "$0.000140", "$0.000320", "1"]]


def test_prices_are_shown_with_their_origin(ask) -> None:
    """Provider, region, date and source of the catalogue; types made by hand have none."""
    problem = ask()
    by_hand, listed = (sections([solve(asked).plan])[0] for asked in (problem, replace(problem, vm_types=["c3.large"])))
    assert "(" not in by_hand.asked["price"]
    assert "(Amazon Web Services, us-east-1, 2013-12-01)" in listed.asked["price"]
    assert listed.facts["source of the prices"].startswith("V. Setty")
    assert "source of the prices" not in by_hand.facts


def test_the_gap_is_shown_by_part(ask) -> None:
    """At threshold 10 b is enough for all: 30 bytes out, 10 in. rsp sends a to x and y instead: 50 out, 30 in."""
    (chart,) = gaps([solve(ask(LARGE, threshold=10), "rsp+level").plan], ["plan"])
    assert bars(chart) == [
        ("plan", "VMs above", 0),
        ("plan", "bytes in above", 20),
        ("plan", "bytes out above", 40),
    ]
    assert chart.table.rows == [["plan", "$0.000220", "$0.00", "$0.000020", "$0.000040", "$0.000280", "27.28 %"]]


def test_a_plan_without_a_bound_has_no_gap(ask) -> None:
    """The others are still drawn."""
    plan = solve(ask(), bound="none").plan
    above = solve(ask(LARGE, threshold=10), "rsp+level").plan
    assert gaps([plan], ["plan"]) == []
    assert len(gaps([plan, above], ["one", "other"])[0].table.rows) == 1


def test_plans_that_no_plan_is_below_have_no_gap_to_draw(ask) -> None:
    """The bound is the cost: bars of nothing are left out."""
    plan = solve(ask()).plan
    assert plan.record["gap"] == 0
    assert gaps([plan], ["plan"]) == []


def test_vms_are_drawn_by_fill(ask) -> None:
    """Two small VMs with 60 and 40 of 60 bytes, the fuller one first."""
    (chart,) = fill([solve(ask(SMALL)).plan], ["plan"])
    assert [(point["at"], round(point["share"], 4)) for point in values(chart)] == [(1, 1.0), (2, 0.6667)]
    assert [row[1:] for row in chart.table.rows] == [["1", "100.00 %"], ["2", "66.67 %"]]


def test_large_fleets_are_thinned_out(make_workload) -> None:
    """Of a thousand VMs some hundreds are drawn, the fullest and the emptiest among them."""
    workload = make_workload({"a": 1}, {f"s{number:04}": ["a"] for number in range(1000)})
    tiny = VmType("mine/tiny", 1, 8 * 400, TARIFF)
    (chart,) = fill([solve(Problem(workload, [tiny], 1, window_seconds=1), bound="paper").plan], ["plan"])
    drawn = [point["at"] for point in values(chart)]
    assert (drawn[0], drawn[-1], len(drawn)) == (1, 1000, MAX_POINTS)


def test_thresholds_have_lines(ask) -> None:
    """Cost and bound of each, the bound dashed; one threshold makes no line."""
    plans = [solve(ask(threshold=threshold)).plan for threshold in (30, 10)]
    (chart,) = by_threshold(plans)
    dashed, solid = (layer["data"]["values"] for layer in chart.spec["layer"])
    assert [(mark["x"], mark["y"]) for mark in solid] == [(10, plans[1].exact.value / 1e6), (30, 0.00032)]
    assert {mark["kind"] for mark in dashed} == {"bound"}
    assert by_threshold(plans[:1]) == []


def test_lines_differ_by_what_differs(ask) -> None:
    """Another peak factor is another line."""
    plans = [solve(ask(threshold=threshold)).plan for threshold in (10, 30)]
    plans.append(solve(replace(ask(), peak_factor=1800)).plan)
    (chart,) = by_threshold(plans)
    assert len({row[0] for row in chart.table.rows}) == 2
    assert any("peak factor 1800" in row[0] for row in chart.table.rows)


def test_other_types_come_with_their_cost_or_refusal(ask) -> None:
    """A VM of 30 bytes holds no pair of a, whose stream comes in and goes out: it is listed with the reason."""
    narrow = VmType("mine/narrow", 1, 8 * 30, TARIFF)
    (chart,) = by_type(solve(ask(narrow, SMALL, LARGE)).plan)
    assert [row[0] for row in chart.table.rows] == ["mine/large (chosen)", "mine/small", "mine/narrow"]
    assert "1 topic fits no VM of type mine/narrow" in chart.table.rows[2][-1]
    assert "mine/narrow" in chart.caption
    assert {bar["name"] for bar in values(chart)} == {"mine/large", "mine/small"}
    assert by_type(solve(ask(SMALL)).plan) == []


def test_names_tell_plans_apart(ask, tmp_path: Path) -> None:
    """Method with its steps, threshold and VM type; directories where that is the same."""
    plans = [
        solve(ask(), "gsp+cbp", parameters={"steps": "bc"}).plan,
        solve(ask(), out=tmp_path / "one").plan,
        solve(ask(), out=tmp_path / "other").plan,
    ]
    assert labels(plans) == [
        "gsp+cbp (bc), threshold 30, mine/large",
        "joint+level, threshold 30, mine/large (one)",
        "joint+level, threshold 30, mine/large (other)",
    ]


def test_a_plan_of_nothing_is_shown(make_workload, tmp_path: Path) -> None:
    """Nothing is published: no VM, no cost, no gap, and the page says so."""
    workload = make_workload({"a": 0}, {"x": ["a"]})
    plan = solve(Problem(workload, [SMALL], 10, window_seconds=1)).plan
    (shown,) = sections([plan])
    assert [chart.title for chart in shown.charts] == ["What is paid for"]
    assert shown.figures["cost per 1 second"] == shown.figures["no plan is below"] == "$0.00"
    assert shown.figures["filled"] == "no VM is needed"
    assert shown.facts["binding"] == "nothing"
    write_page([plan], tmp_path / "page.html")


def test_the_page_has_the_numbers(ask, tmp_path: Path) -> None:
    """Cost, bound, verdict and binding reason stand in the page, readable without scripts."""
    plan = solve(ask(budget=1)).plan
    write_page([plan], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for part in (
        "$0.000320",
        "verified",
        "binding",
        "one VM is needed to carry",
        plan.digest,
        "1 <small>of mine/large</small>",
        "<dd>$1 per window</dd>",
    ):
        assert part in text


def test_a_plan_says_what_was_asked(ask) -> None:
    """Everything that makes another question is there; a window of an hour is paid 730.5 times a month."""
    (shown,) = sections([solve(ask(LARGE, rate_factor="1", headroom="0%", message_bytes=1)).plan])
    assert shown.asked == {
        "threshold": "30 events per window",
        "VM types": "mine/large",
        "price": "$0.00015 per hour of mine/large",
        "window": "1 hour",
        "message size": "1 byte",
        "rate factor": "1",
        "peak factor": "3600",
        "head-room": "0%",
        "budget": "none",
        "method": "joint+level (rounds 1)",
        "bounds computed": shown.asked["bounds computed"],
        "seed": "0",
    }
    assert shown.figures["cost per 1 hour"] == "$0.000320"
    assert shown.figures["cost per month"] == "$0.24"  # 730.5 x 0.00032 = 0.23376
    assert shown.figures["VMs"] == "1 of mine/large"
    assert "satisfies all 3 subscribers" in shown.sentences[0]


def test_vms_are_listed_with_what_they_carry(ask) -> None:
    """Two small VMs: 60 and 40 of 60 bytes. All pairs of both topics are on one of them."""
    (shown,) = sections([solve(ask(SMALL)).plan])
    (vms,) = [sheet for sheet in shown.charts if sheet.title == "The VMs"]
    assert [row[1] for row in vms.table.rows] == ["100.0 %", "66.7 %"]
    assert sum(int(row[3]) for row in vms.table.rows) == 5
    assert not vms.is_searchable


def test_rent_and_price_are_exact(make_workload) -> None:
    """An hour at $1 is not "$1."; 240 of them at $0.0363 are $8.712, which a bill may show as $8.71."""
    workload = make_workload({"a": 1}, {"ann": ["a"]})
    for micros, price, rent in ((1_000_000, "$1.00", "$240.00"), (36_300, "$0.0363", "$8.712")):
        vm_type = VmType("mine/tiny", micros, 10**9, TARIFF)
        plan = solve(Problem(workload, [vm_type], 1, window_seconds=864_000)).plan
        (shown,) = sections([plan])
        assert shown.asked["price"].startswith(f"{price} per hour of mine/tiny")
        (listed,) = vms(plan)
        assert [row[-1] for row in listed.table.rows] == [rent]


def test_long_lists_are_cut_and_say_so(make_workload) -> None:
    """Of a thousand VMs the page lists a hundred; a field narrows them down."""
    workload = make_workload({"a": 1}, {f"s{number:04}": ["a"] for number in range(1000)})
    tiny = VmType("mine/tiny", 1, 8 * 400, TARIFF)
    plan = solve(Problem(workload, [tiny], 1, window_seconds=1), bound="paper").plan
    (listed,) = vms(plan)
    assert (len(listed.table.rows), listed.is_searchable) == (MAX_ROWS, True)
    assert "900 more rows are left out" in listed.caption
    (split,) = topics_on_several_vms(plan)
    assert split.table.rows == [["a", "1,000", "1,000"]]


def test_pictures_are_drawn(ask) -> None:
    """Every chart is a picture that Vega-Lite can draw."""
    plans: list[Plan] = [solve(ask(threshold=threshold)).plan for threshold in (10, 30)]
    plans += [solve(ask(SMALL)).plan, solve(ask(LARGE, threshold=10), "rsp+level").plan]
    charts = [chart for part in sections(plans) for chart in part.charts if isinstance(chart, Chart)]
    assert len({chart.title for chart in charts}) == 5
    for chart in charts:
        assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")


def test_a_damaged_table_is_refused(ask, tmp_path: Path) -> None:
    """Without a chosen VM type nothing can be shown."""
    plan = solve(ask()).plan

    def none_chosen(table):
        return table.slice(0, 0)

    forged = forge(plan, tmp_path / "forged", tables={"decisions/types.parquet": none_chosen})
    with pytest.raises(InputError, match="0 VM types are chosen"):
        sections([forged])


def test_money_is_rounded_to_the_safe_side() -> None:
    """Costs up, bounds down, in cents from a cent on, in micro-dollars below."""
    assert (dollars_up(1_230_001), dollars_down(1_239_999)) == ("$1.24", "$1.23")
    assert (dollars_up(2_000_000_000), dollars_down(999_999), dollars_up(0)) == ("$2,000.00", "$0.99", "$0.00")
    assert (dollars_up(9_999), dollars_down(9_999), dollars_up(1)) == ("$0.009999", "$0.009999", "$0.000001")
