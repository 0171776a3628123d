"""The charts of overlay: what is drawn, when it is drawn, and from which numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import vl_convert
from oracles.forge import forge

import pubplan
from pubplan.errors import InputError
from pubplan.pages import write_page
from pubplan.pages.distribution import MAX_BARS, MAX_PLANS_SIDE_BY_SIDE, NAME_SHARE, TABLE_ROWS, Limit, distribution
from pubplan.pages.drawing import HEIGHT_PIXELS, PIXELS_PER_NAME, spring_layout
from pubplan.pages.frame import Chart
from pubplan.pages.overlay import (
    MAX_DRAWN_NODES,
    Tables,
    by_size,
    degrees,
    distances,
    drawn,
    labels,
    section,
    sections,
)
from pubplan.planning import Plan, stage_seconds
from pubplan.problems.overlay import FAMILY, Problem, solve
from pubplan.problems.overlay.stages import CHOOSING_LINKS, LINKING, SPANNING
from pubplan.workload import Workload

RATES = dict.fromkeys(("t1", "t2", "t3", "t4"), 1)
INTERESTS = {"A": ["t1", "t2", "t3"], "B": ["t2"], "C": ["t2", "t3", "t4"], "D": ["t4"], "E": ["t1", "t2"]}
"""GM-M links A-C, B-E, A-E and C-D: degrees 2, 1, 2, 1, 2. docs/overlay.md has the steps."""


@pytest.fixture
def workload(make_workload) -> Workload:
    return make_workload(RATES, INTERESTS)


@pytest.fixture
def plan(workload: Workload) -> Plan:
    return solve(Problem(workload), "gm-m").plan


def path_of(make_workload, num_nodes: int) -> Workload:
    """Every node shares a topic with the next one: the only overlay is a path."""
    topics = [f"t{number:03}" for number in range(num_nodes + 1)]
    wanted = {f"s{number:03}": topics[number : number + 2] for number in range(num_nodes)}
    return make_workload(dict.fromkeys(topics, 1), wanted)


def lines(chart: Chart) -> dict[str, list[tuple[int, int]]]:
    """Value and number of each point, by line."""
    points: dict[str, list[tuple[int, int]]] = {}
    layers = chart.spec["layer"]
    for point in layers[0].get("data", chart.spec.get("data"))["values"]:
        points.setdefault(point["plan"], []).append((point["value"], point["number"]))
    return points


def marks(chart: Chart, kind: str) -> list[tuple[str, float, float]]:
    layers = [layer.get("data", chart.spec.get("data"))["values"] for layer in chart.spec["layer"]]
    return [(mark["line"], mark["x"], mark["y"]) for layer in layers for mark in layer if mark["kind"] == kind]


def record_seconds(path: Path, seconds: dict[str, float]) -> None:
    (path / "run.json").write_text(json.dumps({"seconds": {"planning": sum(seconds.values()), **seconds}}))


def test_nodes_are_counted_by_links(plan: Plan) -> None:
    """Two nodes have one link, three have two; the rule stands at the bound, 2."""
    (chart,) = degrees([Tables.read(plan)], ["plan"])
    assert lines(chart) == {"plan": [(1, 2), (2, 3)]}
    assert [point["share"] for point in chart.spec["layer"][0]["data"]["values"]] == [0.4, 0.6]
    assert chart.spec["layer"][1]["data"]["values"] == [{"value": 2, "plans": "plan"}]
    assert chart.table.header == ["links", "plan"]
    assert chart.table.rows == [["1", "2"], ["2", "3"]]


def test_plans_share_a_chart(workload: Workload, plan: Plan) -> None:
    """The ring of t2 has four links and the topics of two nodes one each; both plans have the same bound, one rule."""
    ring = solve(Problem(workload), "ring-per-topic").plan
    (chart,) = degrees([Tables.read(plan), Tables.read(ring)], ["one", "other"])
    counted = lines(chart)
    assert counted["one"] == [(1, 2), (2, 3)]
    assert sum(links * nodes for links, nodes in counted["other"]) == 2 * ring.decisions("links").num_rows
    assert chart.spec["layer"][1]["data"]["values"] == [{"value": 2, "plans": "one, other"}]


def test_without_a_bound_there_is_no_rule(workload: Workload) -> None:
    """Nothing is proven: nothing is dashed, and the section says so."""
    tables = Tables.read(solve(Problem(workload), "gm-m", bound="none").plan)
    (chart,) = degrees([tables], ["plan"])
    assert len(chart.spec["layer"]) == 1
    shown = section(tables, "plan")
    assert (shown.figures["no plan is below"], shown.figures["gap"]) == ("no bound", "unknown")
    assert (shown.figures["links of the busiest node"], shown.facts["bounds"]) == ("2", "none")


def test_gaps_between_values_are_gaps() -> None:
    """Nobody has 2: no bar is drawn there, and its column stays."""
    (chart,) = distribution("t", "c", {"a": np.array([1, 1, 3])}, ("links", "nodes"))
    assert lines(chart) == {"a": [(1, 2), (3, 1)]}
    assert chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [1, 2, 3]


def test_values_are_bars_while_bars_have_room() -> None:
    """Two plans have two bars for a value; where bars would be too many or far apart, each plan has a row of them."""
    most = MAX_BARS // 2
    few, many, far = (
        distribution("t", "c", {"a": np.arange(1, last + 1), "b": np.array([1])}, ("links", "nodes"))[0]
        for last in (most, most + 1, 300)
    )
    assert [chart.spec["layer"][0]["mark"]["type"] for chart in (few, many, far)] == ["bar"] * 3
    assert [[entry.style for entry in chart.legend] for chart in (few, many, far)] == [["bar", "bar"], [], []]
    assert few.spec["layer"][0]["encoding"]["xOffset"]["sort"] == ["a", "b"]


def test_many_plans_have_rows() -> None:
    """Each plan has a row with its name, its bars stand on the row's line, the highest just below its name."""
    plans = {f"plan {number}": np.array([1, 2, 2, 2 + number]) for number in range(MAX_PLANS_SIDE_BY_SIDE + 1)}
    (chart,) = distribution("t", "c", plans, ("links", "nodes"), [Limit(2, ["plan 0", "plan 3"])])
    bars, lines_below, names, dashed = (layer["data"]["values"] for layer in chart.spec["layer"])
    assert names[0]["title"] == "plan 0: most often 2 (75%)"
    assert {bar["plan"]: bar["base"] for bar in bars} == {f"plan {number}": number + 1 for number in range(4)}
    assert min(bar["top"] for bar in bars) == pytest.approx(NAME_SHARE)
    assert all(bar["base"] - 1 + NAME_SHARE <= bar["top"] + 1e-9 < bar["base"] for bar in bars)
    assert [(rule["from"], rule["base"]) for rule in dashed] == [(2, 1), (2, 4)]
    assert len(lines_below) == 4
    assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")


def test_large_values_leave_room_for_small_ones() -> None:
    """A ring per topic has many times the links of others: the axis is logarithmic then."""
    near, far = (
        distribution("t", "c", {"a": np.array([1, most])}, ("links", "nodes"), [Limit(2, ["a"])])[0].spec["layer"]
        for most in (9, 900)
    )
    assert near[0]["encoding"]["x"]["type"] == near[1]["encoding"]["x"]["type"] == "ordinal"
    assert far[0]["encoding"]["x"]["scale"] == far[-1]["encoding"]["x"]["scale"]
    assert far[0]["encoding"]["x"]["scale"]["type"] == "symlog"
    assert far[0]["encoding"]["x"]["axis"]["values"] == [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def test_tables_put_many_values_together() -> None:
    """A hundred values are shown as twenty ranges; all that is counted is in one of them."""
    (chart,) = distribution("t", "c", {"a": np.arange(100), "b": np.array([7])}, ("links", "nodes"))
    assert len(chart.table.rows) == TABLE_ROWS
    assert chart.table.rows[0] == ["0 to 4", "5", "0"]
    assert chart.table.rows[1] == ["5 to 9", "5", "1"]
    assert sum(int(row[1]) for row in chart.table.rows) == 100


def test_distances_are_those_of_topics(plan: Plan) -> None:
    """t2 goes C-A-E-B, three links from end to end and two from its root; the others have two nodes each."""
    diameters, depths = distances([Tables.read(plan)], ["plan"])
    assert lines(diameters) == {"plan": [(1, 3), (3, 1)]}
    assert lines(depths) == {"plan": [(1, 3), (2, 1)]}


def test_topics_of_one_node_have_no_distance(make_workload) -> None:
    """Only b has two nodes; a and c, of one and of none, are not counted."""
    plan = solve(Problem(make_workload({"a": 1, "b": 1, "c": 1}, {"x": ["a", "b"], "y": ["b"]}))).plan
    tables = Tables.read(plan)
    assert [lines(chart) for chart in distances([tables], ["plan"])] == [{"plan": [(1, 1)]}, {"plan": [(1, 1)]}]
    assert section(tables, "plan").facts["topic diameters"] == "mean 1.00, worst 1"


@pytest.mark.parametrize(
    ("computed", "expected"),
    [([1, 3, 1, -1], "mean 1.67, worst 3, 1 not computed"), ([-1, -1, -1, -1], "not computed")],
)
def test_diameters_that_were_not_computed_are_left_out(
    plan: Plan, tmp_path: Path, computed: list[int], expected: str
) -> None:
    """-1 is no distance: it does not count, and the page says how many there are."""

    def change(table: pa.Table) -> pa.Table:
        column = table.column_names.index("diameter")
        return table.set_column(column, "diameter", pa.array(computed, pa.int32()))

    tables = Tables.read(forge(plan, tmp_path / "forged", tables={"decisions/topics.parquet": change}))
    charts = distances([tables], ["plan"])
    assert [chart.title for chart in charts] == ["Topic diameters", "Tree depths"][-len(charts) :]
    if len(charts) == 2:
        assert lines(charts[0]) == {"plan": [(1, 2), (3, 1)]}
        assert "1 were too much work" in charts[0].caption
    assert section(tables, "plan").facts["topic diameters"] == expected


def test_the_overlay_is_drawn(plan: Plan) -> None:
    """Five nodes and four links from node to node, each with its names and numbers."""
    (chart,) = drawn(Tables.read(plan))
    links, nodes, names = (layer.get("data", {}).get("values", []) for layer in chart.spec["layer"])
    positions = {node["node"]: (node["x"], node["y"]) for node in nodes}
    assert {node["node"]: (node["links"], node["topics"]) for node in nodes} == {
        "A": (2, 3),
        "B": (1, 1),
        "C": (2, 3),
        "D": (1, 1),
        "E": (2, 2),
    }
    assert [(link["link"], link["topics"], link["trees"]) for link in links] == [
        ("A – C", 2, 2),
        ("A – E", 2, 2),
        ("B – E", 1, 1),
        ("C – D", 1, 1),
    ]
    for link in links:
        one, other = link["link"].split(" – ")
        assert ((link["x"], link["y"]), (link["x2"], link["y2"])) == (positions[one], positions[other])
    assert names == nodes
    assert chart.table.rows[0] == ["A", "2", "3"]


def test_only_small_overlays_are_drawn(make_workload) -> None:
    """A drawing up to some number of nodes, then none; nothing without links."""
    sizes = (MAX_DRAWN_NODES, MAX_DRAWN_NODES + 1)
    drawings = [drawn(Tables.read(solve(Problem(path_of(make_workload, size)), "gm-m").plan)) for size in sizes]
    assert [len(charts) for charts in drawings] == [1, 0]
    assert drawn(Tables.read(solve(Problem(make_workload({"a": 1}, {"x": ["a"]}))).plan)) == []


def test_names_are_shown_where_they_have_room(make_workload) -> None:
    """Twenty nodes have their names on a desk, where the picture is 800 pixels wide, and not on a phone."""
    ((chart,),) = [drawn(Tables.read(solve(Problem(path_of(make_workload, 20)), "gm-m").plan))]
    shown = {}
    for width in (800, 300):
        svg = vl_convert.vegalite_to_svg({**chart.spec, "width": width})
        names = re.findall(r'<text[^>]*text-anchor="middle"[^>]*>', svg)
        shown[width] = sum('opacity="0"' not in name for name in names)
        assert shown[width] == (20 if width * HEIGHT_PIXELS >= 20 * PIXELS_PER_NAME else 0)
    assert shown == {800: 20, 300: 0}


def test_layouts_keep_neighbours_together() -> None:
    """Two triangles with a link between: the nearest of every node is a neighbour; the same again the next time."""
    node, other = np.array([0, 0, 1, 3, 3, 4, 2]), np.array([1, 2, 2, 4, 5, 5, 3])
    positions = spring_layout(6, node, other)
    apart = np.hypot(*(positions[:, None, :] - positions[None, :, :]).transpose(2, 0, 1)) + np.diag(np.full(6, 9.0))
    assert all(one // 3 == nearest // 3 for one, nearest in enumerate(apart.argmin(axis=1)))
    assert (positions.min(axis=0) == 0).all()
    assert (positions.max(axis=0) == 1).all()
    assert np.array_equal(positions, spring_layout(6, node, other))


@pytest.mark.parametrize(("num_nodes", "expected"), [(0, []), (1, [[0.5, 0.5]])])
def test_layouts_of_hardly_anything(num_nodes: int, expected: list[list[float]]) -> None:
    """A single node stands in the middle."""
    assert spring_layout(num_nodes, np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == expected


def test_sizes_have_lines(make_workload) -> None:
    """Degree, bound and time at each size; the time of trees and of reading is not the method's."""
    plans = [solve(Problem(path_of(make_workload, size)), "gm-m").plan for size in (9, 4)]
    for plan, linking in zip(plans, (3.0, 1.0), strict=True):
        record_seconds(plan.path, {LINKING: linking, SPANNING: 0.5, "reading": 0.25})
    links, seconds = by_size([Tables.read(plan) for plan in plans])
    assert marks(links, "plan") == [("gm-m", 4, 2), ("gm-m", 9, 2)]
    assert marks(links, "bound") == [("no plan is below", 4, 2), ("no plan is below", 9, 2)]
    assert marks(seconds, "plan") == [("gm-m", 4, 1.0), ("gm-m", 9, 3.0)]
    assert seconds.table.rows == [["gm-m", "4", "1"], ["gm-m", "9", "3"]]
    assert by_size([Tables.read(plans[0])] * 2) == []


def test_plans_without_times_have_no_line(make_workload) -> None:
    """Without run.json the degrees are still drawn."""
    plans = [solve(Problem(path_of(make_workload, size)), bound="none").plan for size in (4, 9)]
    for plan in plans:
        (plan.path / "run.json").unlink()
    (links,) = by_size([Tables.read(plan) for plan in plans])
    assert marks(links, "bound") == []
    assert section(Tables.read(plans[0]), "plan").facts["seconds"] == "not recorded"


def test_plans_of_one_size_are_averaged_or_told_apart(workload: Workload, make_workload) -> None:
    """Five nodes of a path and five of the example: other topics, other lines; with the same topics, one line."""
    path, small = path_of(make_workload, 5), path_of(make_workload, 2)
    fewer = make_workload(RATES, {**INTERESTS, "A": ["t1"]})
    read = [Tables.read(solve(Problem(each), "gm-m").plan) for each in (workload, path, small)]
    assert {line for line, *_ in marks(by_size(read)[0], "plan")} == {
        "gm-m, 4 topics",
        "gm-m, 6 topics",
        "gm-m, 3 topics",
    }
    same = [Tables.read(solve(Problem(each), "ring-per-topic").plan) for each in (workload, fewer, small)]
    ends = [tables.plan.exact.value for tables in same]
    assert marks(by_size(same)[0], "plan") == [
        ("ring-per-topic", 2, ends[2]),
        ("ring-per-topic", 5, (ends[0] + ends[1]) / 2),
    ]


def test_shapes_are_told_apart_where_they_are_known(tmp_path: Path) -> None:
    """With the workloads on the page, uniform and Zipf are separate lines."""
    shapes = [pubplan.generate.uniform(size, 12) for size in (20, 30)] + [pubplan.generate.zipf(20, 12)]
    workloads = [pubplan.generate.generate(shape, tmp_path / str(n)) for n, shape in enumerate(shapes)]
    read = [Tables.read(solve(Problem(workload), "gm-m").plan) for workload in workloads]
    assert {line for line, *_ in marks(by_size(read, workloads)[0], "plan")} == {"gm-m, uniform", "gm-m, zipf"}
    assert {line for line, *_ in marks(by_size(read)[0], "plan")} == {"gm-m"}


def test_names_tell_plans_apart(workload: Workload, tmp_path: Path) -> None:
    """Method and size, the parameters in which plans differ, then the directory."""
    plans = [
        solve(Problem(workload), "gm-m", out=tmp_path / "one").plan,
        solve(Problem(workload), "gm-m", out=tmp_path / "other").plan,
        solve(Problem(workload), "dcbr-m", parameters={"coverage": 1}).plan,
        solve(Problem(workload), "dcbr-m", parameters={"parts": 2}).plan,
        solve(Problem(workload), "dcb-m").plan,
    ]
    assert labels([Tables.read(plan) for plan in plans]) == [
        "gm-m, 5 nodes (one)",
        "gm-m, 5 nodes (other)",
        "dcbr-m, parts chosen, coverage 1, 5 nodes",
        "dcbr-m, parts 2, coverage 3, 5 nodes",
        "dcb-m, 5 nodes",
    ]


def test_a_plan_comes_with_its_numbers(plan: Plan) -> None:
    """Four links between five nodes: a mean degree of 1.6."""
    record_seconds(plan.path, {LINKING: 1.25, SPANNING: 0.5})
    shown = section(Tables.read(plan), "plan")
    assert shown.figures == {
        "links of the busiest node": "2",
        "no plan is below": "2",
        "gap": "0.00 %",
        "links per node on average": "1.60",
        "links": "4",
        "nodes": "5",
        "topics": "4",
        "verdict": "verified",
    }
    assert shown.asked == {"method": "gm-m", "bounds computed": "forced, joins, node", "seed": "0"}
    expected = {
        "parts": "nodes were not divided",
        "topic diameters": "mean 1.50, worst 3",
        "tree depths": "mean 1.25, worst 2",
        "seconds": "linking nodes 1.250, spanning topics 0.500",
        "bounds": "forced 2, joins 2, node 2",
    }
    assert {name: shown.facts[name] for name in expected} == expected
    assert "eta" not in shown.facts


def test_a_divided_plan_says_how(workload: Workload) -> None:
    """A and C have three topics: bulk. B, D and E are in two parts, and all their topics are wanted elsewhere."""
    plan = solve(Problem(workload), "dcbr-m", parameters={"eta": 2, "parts": 2}).plan
    shown = section(Tables.read(plan), "plan")
    facts = shown.facts
    assert shown.asked["method"] == "dcbr-m (parts 2, model overlaps, eta 2, coverage 3)"
    assert facts["parts"] == "2"
    assert facts["eta"] == "2 topics: nodes with more are bulk"
    assert facts["coverage"] == "3 representatives per topic"
    assert facts["bulk and light nodes"] == "2 and 3"
    assert facts["representatives"] == "3, |R| / |L| = 1.000"
    assert facts["nodes that one has to know"] == "up to 5, pn-ratio 1.000"


def test_a_division_without_light_nodes_or_representatives(workload: Workload) -> None:
    """Nothing is divided by nothing; where all nodes combine parts there are no representatives to tell of."""
    every = section(Tables.read(solve(Problem(workload), "dcbr-m", parameters={"eta": 0}).plan), "plan").facts
    assert (every["bulk and light nodes"], every["representatives"]) == ("5 and 0", "0")
    none = section(Tables.read(solve(Problem(workload), "dcb-m").plan), "plan").facts
    assert none["coverage"] == "all nodes combine parts"
    assert "representatives" not in none


@pytest.mark.parametrize("method", ["gm-m", "dcbr-repair", "ring-per-topic"])
@pytest.mark.parametrize("interests", [{}, {"x": ["a"]}, {"x": ["a"], "y": ["b"]}])
def test_overlays_without_links_are_shown(
    make_workload, tmp_path: Path, interests: dict[str, list[str]], method: str
) -> None:
    """No node, a single one, or nodes without a common topic: no link, no picture, and the page says so."""
    plan = solve(Problem(make_workload({"a": 1, "b": 1}, interests)), method).plan
    (shown,) = sections([plan])
    assert [chart.title for chart in shown.charts] == (["Links per node", "Nodes with most links"] if interests else [])
    assert (shown.figures["links of the busiest node"], shown.figures["gap"]) == ("0", "0.00 %")
    assert shown.figures["no plan is below"] == "0"
    assert shown.figures["links per node on average"] == ("0.00" if interests else "no nodes")
    assert shown.facts["topic diameters"] == shown.facts["tree depths"] == "no topic has two nodes"
    assert shown.facts["binding"] == "nothing"
    write_page([plan], tmp_path / "page.html")


@pytest.mark.parametrize("method", FAMILY.methods)
def test_stages_are_those_that_methods_record(workload: Workload, method: str) -> None:
    """Every method records stages under the names that the page looks for."""
    plan = solve(Problem(workload), method).plan
    recorded = stage_seconds(plan)
    assert SPANNING in recorded
    assert set(CHOOSING_LINKS) & set(recorded)
    assert section(Tables.read(plan), "plan").facts["seconds"].count(", ") == len({*CHOOSING_LINKS} & {*recorded})


def test_the_page_has_the_numbers(plan: Plan, tmp_path: Path) -> None:
    """Degree, bound, verdict and binding reason stand in the page, readable without scripts."""
    write_page([plan], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for part in ("proven at least 2", "verified", "has the most links, 2", plan.digest, "The overlay", "<td>A</td>"):
        assert part in text


def test_pictures_are_drawn(make_workload) -> None:
    """Every chart is a picture that Vega-Lite can draw."""
    plans = [solve(Problem(path_of(make_workload, size)), "dcbr-repair").plan for size in (4, 60)]
    charts = [chart for each in sections(plans) for chart in each.charts if isinstance(chart, Chart)]
    assert len(charts) == 7
    for chart in charts:
        assert vl_convert.vegalite_to_svg({**chart.spec, "width": 300}).startswith("<svg")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("division", lambda table: pa.concat_tables([table, table]), "2 rows"),
        ("nodes", lambda table: table.slice(0, 2), "nodes that do not exist"),
        ("topics", lambda table: table.drop_columns("depth"), "damaged"),
    ],
)
def test_damaged_tables_are_refused(workload: Workload, tmp_path: Path, name: str, change: Any, message: str) -> None:
    """What cannot be true is not drawn."""
    forged = forge(
        solve(Problem(workload), "dcbr-m").plan, tmp_path / "forged", tables={f"decisions/{name}.parquet": change}
    )
    with pytest.raises(InputError, match=message):
        sections([forged])
