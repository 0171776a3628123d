"""The page of assign: figures with what they are a part of, what is drawn, and what is broken."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import vl_convert
from oracles.assign_example import ASKED, SPACE, example, tree
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.generate import content_newsgroups, generate
from pubplan.pages import write_page
from pubplan.pages.assign import asked, broken, labels, section, sections
from pubplan.pages.assign_charts import MAX_DRAWN_FILTERS, bandwidths, boxes_chart, delays, fills, serving_map
from pubplan.pages.assign_lists import busiest_leaves, largest_filters
from pubplan.pages.assign_tables import Tables
from pubplan.pages.frame import Chart
from pubplan.planning import Plan
from pubplan.problems.assign import Problem, solve
from pubplan.workload import ContentWorkload


@pytest.fixture
def workload(tmp_path: Path) -> ContentWorkload:
    return example(tmp_path / "workload")


@pytest.fixture
def plan(workload: ContentWorkload) -> Plan:
    """3 + 4 of 12 steps, two clients each, nobody later than the shortest way."""
    return solve(Problem(workload, **ASKED), "gr-star").plan


@pytest.fixture
def overloaded(workload: ContentWorkload) -> Plan:
    """12 + 2 steps; north serves three clients and may serve two."""
    return solve(Problem(workload, **ASKED), "closest-unbalanced").plan


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Two attributes, sites and brokers with coordinates, two levels, more leaves than are drawn."""
    made = generate(content_newsgroups(600, 24, levels=2, num_sites=60), tmp_path_factory.mktemp("news") / "workload")
    return solve(Problem(made, max_delay="0.5", load=3, max_load=8), "gr-star").plan


def read(plan: Plan, workload: ContentWorkload | None) -> Tables:
    return Tables.read(plan, workload)


def drawn(chart: Chart) -> bool:
    return str(vl_convert.vegalite_to_svg({**chart.spec, "width": 300})).startswith("<svg")


def test_figures_have_wholes(plan: Plan, workload: ContentWorkload) -> None:
    """7 of 12 steps are 0.5833 brokers per event; a plan that meets its bound has the same figure twice."""
    assert dict(section(read(plan, workload), "plan").figures) == {
        "brokers per event on average": "0.584 of 2",
        "no assignment is below": "0.584",
        "gap": "0.00 %",
        "limits broken": "none",
        "load factor": "1 of at most 1",
        "largest delay": "0.0 % of at most 50.0 %",
        "clients": "4 on 2 of 2 leaves",
        "verdict": "verified",
    }


def test_what_was_asked_is_said(plan: Plan) -> None:
    """In full, with the method and its bounds."""
    assert asked(plan) == {
        "boxes per filter": "at most 1",
        "delay": "at most 50.0 % more than the shortest way",
        "load factor": "1 if possible, at most 1",
        "latency": "the whole path from the publisher",
        "method": "gr-star",
        "bounds computed": "union, capacity, forced",
        "seed": "0",
    }


def test_broken_limits_are_seen(overloaded: Plan, workload: ContentWorkload) -> None:
    """In the figures, in the sentences, and above the dashed line: three of two clients are 150 %."""
    assert broken(overloaded) == "load (1 leaf)"
    tables = read(overloaded, workload)
    shown = section(tables, "plan")
    assert shown.figures["limits broken"] == "load (1 leaf)"
    assert any(sentence.startswith("Broken: 1 leaf broker of 2 is overloaded") for sentence in shown.sentences)
    (chart,) = fills([tables], ["plan"])
    assert chart.table.rows == [["plan", "1", "150.00 %"], ["plan", "2", "50.00 %"]]
    assert [entry.name for entry in chart.legend] == ["plan", "as full as allowed"]
    assert drawn(chart)


def test_late_clients_are_seen(tmp_path: Path) -> None:
    """carl is served after 30 us instead of 10: 200 % longer, where half more is allowed."""
    workload = example(tmp_path / "other", {"carl": {"box": [(0, 2)]}})
    plan = solve(Problem(workload, boxes=1, max_delay="0.5", load=2, max_load=2), "gr-no-latency").plan
    assert broken(plan) == "latency (1 client)"
    (chart,) = delays([read(plan, workload)], ["plan"])
    assert chart.table.rows == [["0", "3"], ["200", "1"]]
    assert [entry.name for entry in chart.legend] == ["longest delay allowed"]
    assert drawn(chart)


def test_without_its_workload_a_plan_says_less(overloaded: Plan, tmp_path: Path) -> None:
    """Bandwidth is in grid steps then; what is broken is said all the same, and nothing fails."""
    moved = tmp_path / "moved"
    shutil.copytree(overloaded.path, moved)
    tables = read(overloaded, None)
    shown = section(tables, "plan")
    assert shown.figures["bandwidth"] == "14 grid steps of all filters"
    assert shown.figures["no assignment is below"] == "7 grid steps of all filters"
    assert shown.sentences[-1].startswith("Broken: 1 leaf broker of 2 is overloaded")
    assert (bandwidths([tables], ["plan"]), delays([tables], ["plan"]), boxes_chart(tables)) == ([], [], [])
    assert len(fills([tables], ["plan"])) == 1


def test_bandwidth_by_level(tmp_path: Path) -> None:
    """hub lets 12 of 12 steps through, its leaves 7: 1 and 0.583 brokers per event; 19 / 12 is proven."""
    workload = tree(tmp_path / "tree")
    tables = read(solve(Problem(workload, **ASKED), "gr-star").plan, workload)
    (chart,) = bandwidths([tables], ["plan"])
    bars = [(bar["name"], bar["part"], round(bar["value"], 3)) for bar in chart.spec["layer"][0]["data"]["values"]]
    assert bars == [
        ("plan", "level 1", 1.0),
        ("plan", "level 2", 0.583),
        ("no assignment is below", "proven", 1.59),
    ]
    assert chart.table.rows == [["plan", "1.59", "1.59"]]
    assert section(tables, "plan").facts["brokers per event by level"] == "level 1: 1, level 2: 0.584"


def test_plans_are_compared(plan: Plan, overloaded: Plan, workload: ContentWorkload) -> None:
    """Both in one table and in the same charts; bounds that differ say for how many plans they hold."""
    overview, *of_plans = sections([plan, overloaded], [workload])
    assert [each.heading for each in of_plans] == ["gr-star", "closest-unbalanced"]
    compared, *charts = overview.charts
    assert [row[0] for row in compared.table.rows] == [each.heading for each in of_plans]
    assert [chart.title for chart in charts] == ["Bandwidth", "How full the leaves are", "Delays"]
    assert len(compared.table.header) <= 10


def test_names_are_told_apart(plan: Plan, workload: ContentWorkload) -> None:
    """Twice the same method and delay: the directory follows."""
    other = solve(Problem(workload, **{**ASKED, "max_delay": "none"}), "gr-star").plan
    assert labels([plan, other]) == ["gr-star, max delay 0.5", "gr-star, any delay"]
    assert len(set(labels([plan, plan]))) == 2


def test_boxes_over_one_attribute(plan: Plan, workload: ContentWorkload) -> None:
    """A strip: north frames 0 to 3 and south 8 to 12; the table has the same corners."""
    (chart,) = boxes_chart(read(plan, workload))
    frames = chart.spec["layer"][1]["data"]["values"]
    assert frames == [
        {"leaf": "north", "box": 0, "a1": 0.0, "a2": 3.0},
        {"leaf": "south", "box": 0, "a1": 8.0, "a2": 12.0},
    ]
    assert chart.table.header == ["leaf", "box", "price from", "price to"]
    assert chart.table.rows == [["north", "0", "0", "3"], ["south", "0", "8", "12"]]
    assert chart.title == f"Boxes of the filters over {SPACE.attributes[0].name}"
    assert drawn(chart)


def test_boxes_and_map_of_a_larger_plan(news: Plan) -> None:
    """At most twelve leaves are framed, the page says how many are not; no client is missing on the map."""
    from pubplan.workload import CONTENT, read_workload

    workload = read_workload(news.workload_path(), CONTENT)
    tables = read(news, workload)
    (boxes,) = boxes_chart(tables)
    assert len(boxes.legend) == MAX_DRAWN_FILTERS
    assert re.search(r"\d+ leaf brokers? with smaller filters (is|are) not drawn", boxes.caption)
    assert {"a1", "a2", "b1", "b2"} <= set(boxes.spec["layer"][1]["data"]["values"][0])
    (serving,) = serving_map(tables)
    assert "the ones that it serves" in serving.caption
    assert all(drawn(chart) for chart in (boxes, serving))


def test_maps_need_coordinates(plan: Plan, workload: ContentWorkload) -> None:
    """A workload that knows latencies only has no map."""
    assert serving_map(read(plan, workload)) == []


def test_lists(overloaded: Plan, workload: ContentWorkload) -> None:
    """The fullest leaf first, and the broker whose filter lets most through."""
    tables = read(overloaded, workload)
    (leaves,), (filters,) = busiest_leaves(tables), largest_filters(tables)
    assert leaves.table.rows == [["north", "3", "2", "150.0 %", "100 %"], ["south", "1", "2", "50.0 %", "16.7 %"]]
    assert filters.table.rows == [["north", "1", "1", "100 %", "3"], ["south", "1", "1", "16.7 %", "1"]]


def test_damaged_tables_are_refused(plan: Plan, tmp_path: Path) -> None:
    """Boxes of a broker that does not exist."""
    damaged = forge(plan, tmp_path / "forged", tables={"decisions/brokers.parquet": lambda rows: rows.slice(0, 1)})
    with pytest.raises(InputError, match="'filters' are damaged: they name brokers that do not exist"):
        sections([damaged])


def test_the_page_names_its_drawings(news: Plan, tmp_path: Path) -> None:
    """Every drawing has a name and its numbers as a table."""
    write_page([news], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    names = re.findall(r'class="chart"[^>]*role="img" aria-label="([^"]+)"', text)
    assert names == [
        "Bandwidth",
        "How full the leaves are",
        "Delays",
        "Boxes of the filters over u and v",
        "Map of sites and brokers",
    ]
