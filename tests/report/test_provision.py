"""The charts of provision: what is drawn, when it is drawn, and from which numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.provision import Problem, solve
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.report import write_page
from pubplan.report.frame import Chart
from pubplan.report.provision import (
    MAX_POINTS,
    by_part,
    by_threshold,
    by_type,
    dollars_down,
    dollars_up,
    fill,
    gaps,
    labels,
    sections,
)

RATES = {"a": 20, "b": 10}
INTERESTS = {"x": ["a", "b"], "y": ["a", "b"], "z": ["b"]}
"""With messages of a byte, everything takes 70 bytes out and at least 30 in."""

TARIFF = Tariff(3600, (Tier(None, 10**9),), (Tier(None, 2 * 10**9),))
"""A micro-dollar for each byte in, two for each byte out."""

SMALL, LARGE = VmType("own/small", 100, 8 * 60, TARIFF), VmType("own/large", 150, 8 * 100, TARIFF)
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
    return chart.spec["data"]["values"]


def bars(chart: Chart) -> list[tuple[str, str, int]]:
    return [(bar["name"], bar["part"], round(bar["dollars"] * 10**6)) for bar in values(chart)]


def test_cost_is_shown_by_part(ask) -> None:
    """One large VM carries all: 150 of rent, 30 bytes in at 1, 70 out at 2."""
    plan = solve(ask()).plan
    chart = by_part([plan], ["plan"])
    assert bars(chart) == [("plan", "VMs", 150), ("plan", "bytes in", 30), ("plan", "bytes out", 140)]
    assert chart.table.rows == [["plan", "$0.000150", "$0.000030", "$0.000140", "$0.000320", "1"]]


def test_the_gap_is_shown_by_part(ask) -> None:
    """At threshold 10 everybody does with b: 30 bytes out, 10 in. rsp sends a to x and y instead: 50 out, 30 in."""
    (chart,) = gaps([solve(ask(LARGE, threshold=10), "rsp+level").plan], ["plan"])
    assert bars(chart) == [
        ("plan", "no plan is below", 150 + 10 + 60),
        ("plan", "VMs above", 0),
        ("plan", "bytes in above", 20),
        ("plan", "bytes out above", 40),
    ]


def test_a_plan_without_a_bound_has_no_gap(ask) -> None:
    """The others are still drawn."""
    plan = solve(ask(), bound="none").plan
    assert gaps([plan], ["plan"]) == []
    assert len(gaps([plan, solve(ask()).plan], ["one", "other"])[0].table.rows) == 1


def test_vms_are_drawn_by_fill(ask) -> None:
    """Two small VMs with 60 and 40 of 60 bytes, the fuller one first."""
    (chart,) = fill([solve(ask(SMALL)).plan], ["plan"])
    assert [(point["vm"], round(point["share"], 4)) for point in values(chart)] == [(1, 1.0), (2, 0.6667)]
    assert [row[1:] for row in chart.table.rows] == [["1", "100.00 %"], ["2", "66.67 %"]]


def test_large_fleets_are_thinned_out(make_workload) -> None:
    """Of a thousand VMs some hundreds are drawn, the fullest and the emptiest among them."""
    workload = make_workload({"a": 1}, {f"s{number:04}": ["a"] for number in range(1000)})
    tiny = VmType("own/tiny", 1, 8 * 400, TARIFF)
    (chart,) = fill([solve(Problem(workload, [tiny], 1, window_seconds=1), bound="paper").plan], ["plan"])
    drawn = [point["vm"] for point in values(chart)]
    assert (drawn[0], drawn[-1], len(drawn)) == (1, 1000, MAX_POINTS)


def test_thresholds_have_lines(ask) -> None:
    """Cost and bound of each, the bound dashed; one threshold is no line."""
    plans = [solve(ask(threshold=threshold)).plan for threshold in (30, 10)]
    (chart,) = by_threshold(plans)
    dashed, solid = (layer["data"]["values"] for layer in chart.spec["layer"])
    assert [(mark["x"], mark["y"]) for mark in solid] == [(10, plans[1].exact.value / 1e6), (30, 0.00032)]
    assert {mark["kind"] for mark in dashed} == {"bound"}
    assert by_threshold(plans[:1]) == []


def test_lines_are_told_apart_by_what_differs(ask) -> None:
    """Another peak factor is another line."""
    plans = [solve(ask(threshold=threshold)).plan for threshold in (10, 30)]
    plans.append(solve(replace(ask(), peak_factor=1800)).plan)
    (chart,) = by_threshold(plans)
    assert len({row[0] for row in chart.table.rows}) == 2
    assert any("peak factor 1800" in row[0] for row in chart.table.rows)


def test_other_types_come_with_their_cost_or_refusal(ask) -> None:
    """A VM of 30 bytes holds no pair of a, whose stream comes in and goes out: it is listed with the reason."""
    narrow = VmType("own/narrow", 1, 8 * 30, TARIFF)
    (chart,) = by_type(solve(ask(narrow, SMALL, LARGE)).plan)
    assert [row[0] for row in chart.table.rows] == ["own/large (chosen)", "own/small", "own/narrow"]
    assert "fit no VM" in chart.table.rows[2][-1]
    assert "own/narrow" in chart.caption
    assert {bar["name"] for bar in values(chart)} == {"own/large", "own/small"}
    assert by_type(solve(ask(SMALL)).plan) == []


def test_names_tell_plans_apart(ask, tmp_path: Path) -> None:
    """Method with its steps, threshold and VM type; directories where that is the same."""
    plans = [
        solve(ask(), "gsp+cbp", parameters={"steps": "bc"}).plan,
        solve(ask(), out=tmp_path / "one").plan,
        solve(ask(), out=tmp_path / "other").plan,
    ]
    assert labels(plans) == [
        "gsp+cbp (bc), threshold 30, own/large",
        "joint+level, threshold 30, own/large (one)",
        "joint+level, threshold 30, own/large (other)",
    ]


def test_a_plan_of_nothing_is_shown(make_workload, tmp_path: Path) -> None:
    """Nobody publishes: no VM, no cost, no gap, and the page says so."""
    workload = make_workload({"a": 0}, {"x": ["a"]})
    plan = solve(Problem(workload, [SMALL], 10, window_seconds=1)).plan
    family, found = sections([plan])
    assert [chart.title for chart in family.charts] == ["What is paid for", "Where the gap comes from"]
    assert found.figures["dollars per window"] == found.figures["no plan is below"] == "$0"
    assert found.facts["filled"] == "no VM is needed"
    assert found.facts["binding"] == "nothing"
    write_page([plan], tmp_path / "page.html")


def test_the_page_has_the_numbers(ask, tmp_path: Path) -> None:
    """Cost, bound, verdict and binding reason stand in the page, readable without scripts."""
    plan = solve(ask(budget=1)).plan
    write_page([plan], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for part in ("$0.000320", "verified", "binding", "what 0 VMs carry", plan.digest, "1 x own/large", "<dd>$1</dd>"):
        assert part in text


def test_pictures_are_drawn(ask) -> None:
    """Every chart is a picture that Vega-Lite can draw."""
    plans: list[Plan] = [solve(ask(threshold=threshold)).plan for threshold in (10, 30)]
    charts = [chart for found in sections(plans) for chart in found.charts]
    assert len(charts) == 6
    for chart in charts:
        assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")


def test_a_damaged_table_is_refused(ask, tmp_path: Path) -> None:
    """Without a chosen VM type nothing can be told."""
    plan = solve(ask()).plan

    def nobody(table):
        return table.slice(0, 0)

    forged = forge(plan, tmp_path / "forged", tables={"decisions/types.parquet": nobody})
    with pytest.raises(InputError, match="0 VM types are chosen"):
        sections([forged])


def test_money_is_rounded_to_the_safe_side() -> None:
    """Costs up, bounds down, in cents from a dollar on, in micro-dollars below."""
    assert (dollars_up(1_230_001), dollars_down(1_239_999)) == ("$1.24", "$1.23")
    assert (dollars_up(2_000_000_000), dollars_down(999_999), dollars_up(0)) == ("$2,000.00", "$0.999999", "$0")
