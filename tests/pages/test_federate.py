"""The page of federate: costs that add up, loads, traffic as line widths, and plans beside each other."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert
from oracles.federate_example import ASKED, BROKERS, TERABYTE, hub
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.generate import content_exchange, generate
from pubplan.pages import write_page
from pubplan.pages.federate import asked, figures, labels, reduction_ratios, section, sections
from pubplan.pages.federate_charts import MAX_BARS, costs, fills, load_bars, traffic_drawing
from pubplan.pages.federate_lists import busiest_brokers, busiest_channels, busiest_links
from pubplan.pages.federate_tables import Tables
from pubplan.pages.frame import Chart
from pubplan.planning import Plan
from pubplan.problems.federate import Problem, solve
from pubplan.workload import ContentWorkload


@pytest.fixture
def workload(tmp_path: Path) -> ContentWorkload:
    return hub(tmp_path / "hub")


@pytest.fixture
def plan(workload: ContentWorkload) -> Plan:
    """$9 between clients and brokers, $90 over the hub."""
    return solve(Problem(workload, routing="steiner", **ASKED), "exact").plan


@pytest.fixture
def loose(workload: ContentWorkload) -> Plan:
    """$128.40, of which $69 are proven."""
    return solve(Problem(workload, **ASKED), "greedy-packing").plan


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> ContentWorkload:
    """Brokers with coordinates, more of them than have bars, and traffic that costs less than a cent."""
    return generate(content_exchange(100, 24, niche="10%"), tmp_path_factory.mktemp("exchange") / "workload")


def read(plan: Plan, workload: ContentWorkload | None) -> Tables:
    return Tables.read(plan, workload)


def drawn(chart: Chart) -> bool:
    return str(vl_convert.vegalite_to_svg({**chart.spec, "width": 300})).startswith("<svg")


def amount(text: str) -> int:
    """Dollars as whole micro-dollars."""
    return round(float(text.lstrip("$").replace(",", "")) * 1e6)


def test_figures_add_up(plan: Plan, workload: ContentWorkload) -> None:
    """9 + 90 = 99 per day, 99 x 30.4375 = 3,013.3125 per month; who meets the bound has the same figure twice."""
    assert dict(section(read(plan, workload), "plan").figures) == {
        "cost per window": "$99.00",
        "cost per month": "$3,013.32",
        "between clients and brokers": "$9.00",
        "between brokers": "$90.00",
        "no plan costs less than": "$99.00",
        "gap": "0.00 %",
        "clients": "3 on 3 of 4 brokers",
        "verdict": "verified",
    }


def test_small_figures_add_up(exchange: ContentWorkload) -> None:
    """To the micro-dollar, in figures, bars and the table below them."""
    plan = solve(Problem(exchange, channels=10), "greedy-packing").plan
    tables = read(plan, exchange)
    shown = figures(tables)
    parts = [amount(shown[name]) for name in ("between clients and brokers", "between brokers")]
    assert sum(parts) == amount(shown["cost per window"]) < 10_000
    (chart,) = costs([tables], ["plan"])
    bars = {bar["part"]: round(bar["value"] * 1e6) for bar in chart.spec["layer"][0]["data"]["values"]}
    assert bars["between clients and brokers"] + bars["between brokers"] == sum(parts)
    assert bars["proven"] == amount(shown["no plan costs less than"])
    assert drawn(chart)


def test_what_was_asked_is_said(plan: Plan) -> None:
    """In full, with the method and its bounds."""
    assert asked(plan) == {
        "channels": "at most 2, ranges of equal width",
        "routing": "a Steiner tree per channel, over other brokers where that is cheaper",
        "traffic": "a message crosses a link once",
        "message size": "1,000 bytes",
        "method": "exact (search_nodes 2000000)",
        "bounds computed": "search, access, laminar",
        "seed": "0",
    }


def test_costs_by_part(plan: Plan, loose: Plan, workload: ContentWorkload) -> None:
    """Bounds that differ say for which plans they hold, each in a bar of its own."""
    (chart,) = costs([read(plan, workload), read(loose, workload)], ["star", "tree"])
    bars = [(bar["name"], bar["part"], bar["value"]) for bar in chart.spec["layer"][0]["data"]["values"]]
    assert bars == [
        ("star", "between clients and brokers", 9.0),
        ("star", "between brokers", 90.0),
        ("tree", "between clients and brokers", 9.0),
        ("tree", "between brokers", 119.4),
        ("no plan costs less (star)", "proven", 99.0),
        ("no plan costs less (tree)", "proven", 69.0),
    ]
    assert chart.table.rows == [
        ["star", "$9.00", "$90.00", "$99.00", "$99.00"],
        ["tree", "$9.00", "$119.40", "$128.40", "$69.00"],
    ]
    assert drawn(chart)


def test_loads_against_capacities(plan: Plan, workload: ContentWorkload) -> None:
    """3 of 9 TB at three brokers, nothing at hub; the axis ends at the capacity."""
    (chart,) = load_bars(read(plan, workload))
    load = ["3,000,000,000", "9,000,000,000", "33.3 %", "1"]
    assert chart.table.rows == [
        ["east", *load],
        ["north", *load],
        ["south", *load],
        ["hub", "0", "9,000,000,000", "0.0 %", "0"],
    ]
    assert chart.spec["layer"][0]["encoding"]["x"]["scale"] == {"domain": [0, 1]}
    assert drawn(chart)


def test_brokers_without_capacities_have_no_bars(tmp_path: Path) -> None:
    """There is nothing to hold loads against; the list says so."""
    brokers = {name: replace(broker, capacity=0) for name, broker in BROKERS.items()}
    workload = hub(tmp_path / "open", brokers=brokers)
    tables = read(solve(Problem(workload, **ASKED), "greedy-packing").plan, workload)
    assert (load_bars(tables), fills([tables], ["plan"])) == ([], [])
    (brokers_list,) = busiest_brokers(tables)
    assert [row[3] for row in brokers_list.table.rows] == ["no limit"] * 4


def test_more_brokers_than_bars(exchange: ContentWorkload) -> None:
    """The fullest have bars, a line shows all, and the caption says how many there are."""
    tables = read(solve(Problem(exchange, channels=10), "random").plan, exchange)
    (bars,) = load_bars(tables)
    assert len(bars.table.rows) == MAX_BARS
    assert bars.caption.endswith("The 20 fullest of 24 brokers.")
    (line,) = fills([tables], ["plan"])
    assert line.spec["data"]["values"][-1]["at"] == 24
    assert drawn(line)


def test_traffic_is_the_width_of_lines(plan: Plan, workload: ContentWorkload) -> None:
    """Three links of three TB each, both ways together; without coordinates neighbours lie close to each other."""
    (chart,) = traffic_drawing(read(plan, workload))
    lines, dots, names = chart.spec["layer"]
    assert [(line["link"], line["messages"], line["cost"]) for line in lines["data"]["values"]] == [
        ("east – hub", 3 * TERABYTE, "$30.00"),
        ("hub – north", 3 * TERABYTE, "$30.00"),
        ("hub – south", 3 * TERABYTE, "$30.00"),
    ]
    assert lines["encoding"]["strokeWidth"]["field"] == "messages"
    assert [dot["clients"] for dot in dots["data"]["values"]] == [1, 0, 1, 1]
    assert names["encoding"]["text"]["field"] == "broker"
    assert "Neighbours lie close to each other." in chart.caption
    assert drawn(chart)


def test_brokers_lie_where_they_are(exchange: ContentWorkload) -> None:
    """The leftmost broker of the workload is at 0, the rightmost at 1."""
    tables = read(solve(Problem(exchange, channels=10), "random").plan, exchange)
    (chart,) = traffic_drawing(tables)
    dots = chart.spec["layer"][1]["data"]["values"]
    xs = exchange.brokers.coordinates[:, 0]
    assert (dots[int(xs.argmin())]["x"], dots[int(xs.argmax())]["x"]) == (0, 1)
    assert "Brokers lie where their first two coordinates say." in chart.caption
    assert drawn(chart)


def test_links_that_are_not_drawn_are_counted(exchange: ContentWorkload, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caption says how many."""
    monkeypatch.setattr("pubplan.pages.federate_charts.MAX_DRAWN_LINKS", 5)
    tables = read(solve(Problem(exchange, channels=10), "random").plan, exchange)
    (chart,) = traffic_drawing(tables)
    assert len(chart.spec["layer"][0]["data"]["values"]) == 5
    assert f" {len(tables.links) - 5} links with less traffic are not drawn." in chart.caption


def test_plans_without_traffic_are_not_drawn(tmp_path: Path) -> None:
    """Everybody is at hub."""
    prices = {site: dict.fromkeys(BROKERS, 100) | {"hub": 0} for site in ("amiens", "bergen", "cadiz")}
    workload = hub(tmp_path / "together", prices=prices)
    tables = read(solve(Problem(workload, **ASKED), "greedy-packing").plan, workload)
    assert (traffic_drawing(tables), busiest_links(tables)) == ([], [])


def test_lists(loose: Plan, workload: ContentWorkload) -> None:
    """Links by traffic both ways, channels with their ranges, brokers by load."""
    tables = read(loose, workload)
    (links,), (channels,), (brokers,) = busiest_links(tables), busiest_channels(tables), busiest_brokers(tables)
    assert links.table.rows == [
        ["east – north", "2,000,000,000", "1,000,000,000", "$59.70"],
        ["east – south", "2,000,000,000", "1,000,000,000", "$59.70"],
    ]
    assert channels.table.rows == [["0: price 0.0 to 5.0", "3,000,000,000", "3"], ["1: price 5.0 to 10.0", "0", "0"]]
    assert [row[0] for row in brokers.table.rows] == ["east", "north", "south", "hub"]


def test_without_its_workload_a_plan_says_less(loose: Plan, tmp_path: Path) -> None:
    """No month and no values of attributes; costs, loads and traffic are in the plan."""
    moved = tmp_path / "moved"
    shutil.copytree(loose.path, moved)
    tables = read(loose, None)
    shown = section(tables, "plan")
    assert shown.figures["cost per window"] == "$128.40"
    assert "cost per month" not in shown.figures
    assert busiest_channels(tables)[0].table.rows[0][0] == "0: price grid line 0 to grid line 10"
    assert [chart.title for chart in shown.charts][:2] == [
        "Brokers and the traffic between them",
        "Load against capacity",
    ]


def test_cost_reduction_ratios(workload: ContentWorkload, plan: Plan, loose: Plan) -> None:
    """Against the random plan that was asked the same: one with spanning trees does not count for Steiner trees."""
    by_lot = solve(Problem(workload, **ASKED), "random").plan
    tables = [read(each, workload) for each in (by_lot, loose, plan)]
    ratios = reduction_ratios(tables)
    assert ratios[0] == 1
    assert ratios[1] == tables[0].total / tables[1].total > 1
    assert ratios[2] is None
    assert figures(tables[0], ratios[0])["cost reduction ratio"] == "1"
    assert "cost reduction ratio" not in figures(tables[2], ratios[2])


def test_plans_are_compared(workload: ContentWorkload, loose: Plan) -> None:
    """Both in one table with their ratios, and in the same charts."""
    by_lot = solve(Problem(workload, **ASKED), "random").plan
    overview, *of_plans = sections([loose, by_lot], [workload])
    assert [each.heading for each in of_plans] == ["greedy-packing", "random"]
    compared, *charts = overview.charts
    assert "cost reduction ratio" in compared.table.header
    assert len(compared.table.header) <= 10
    assert [chart.title for chart in charts] == ["Cost by part", "How full the brokers are"]


def test_names_are_told_apart(workload: ContentWorkload, plan: Plan, loose: Plan) -> None:
    """By what was asked where plans differ in it, else by their directories."""
    finer = solve(Problem(workload, channels=1, message_bytes=1000), "greedy-packing").plan
    assert labels([plan, loose]) == ["exact, steiner", "greedy-packing, spanning"]
    assert labels([loose, finer]) == ["greedy-packing, 2 channels", "greedy-packing, 1 channels"]
    assert len(set(labels([plan, plan]))) == 2


def test_damaged_tables_are_refused(plan: Plan, tmp_path: Path) -> None:
    """Links of brokers that do not exist."""
    damaged = forge(plan, tmp_path / "forged", tables={"decisions/brokers.parquet": lambda rows: rows.slice(0, 1)})
    with pytest.raises(InputError, match="'links' are damaged: they name brokers that do not exist"):
        sections([damaged])


def test_the_page_names_its_drawings(exchange: ContentWorkload, tmp_path: Path) -> None:
    """Every drawing has a name and its numbers as a table."""
    plan = solve(Problem(exchange, channels=10), "greedy-packing", out=tmp_path / "plan").plan
    write_page([plan], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    names = re.findall(r'class="chart"[^>]*role="img" aria-label="([^"]+)"', text)
    assert names == [
        "Cost by part",
        "How full the brokers are",
        "Brokers and the traffic between them",
        "Load against capacity",
    ]
