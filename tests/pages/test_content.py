"""A content workload on the page: drawings with a name each, the same numbers as tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pubplan.generate import content_adversarial, content_exchange, content_newsgroups, generate
from pubplan.pages.content import content_section
from pubplan.pages.frame import Chart, Section
from pubplan.workload import ContentWorkload, describe


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> ContentWorkload:
    shape = content_newsgroups(5000, 40, levels=2, num_sites=300)
    return generate(shape, tmp_path_factory.mktemp("content") / "workload")


@pytest.fixture(scope="module")
def section(workload: ContentWorkload) -> Section:
    return content_section("news", describe(workload))


def chart(section: Section, title: str) -> Chart:
    (titled,) = [each for each in section.charts if each.title == title]
    assert isinstance(titled, Chart)
    return titled


def test_figures_and_facts(section: Section, workload: ContentWorkload) -> None:
    """How many clients, sites, brokers and leaves there are, and what an assignment can reach."""
    assert section.heading == "Workload news"
    assert section.figures == {
        "clients": "5,000",
        "sites": "300",
        "brokers": "40",
        "of them leaves": f"{workload.counts.leaves}",
    }
    assert float(section.facts["least load factor within a max delay of 0.3"]) >= 1
    assert "u from 0 to 1,048,576 in steps of 1" in section.facts["attributes"]


def test_heat_map(section: Section, workload: ContentWorkload) -> None:
    """A coloured cell for each part with subscriptions; the table has the largest number of 8 x 8 cells each."""
    drawn, overlap = chart(section, "Subscriptions over u and v"), describe(workload).overlap
    cells = {(cell["a"], cell["b"]): cell["n"] for cell in drawn.spec["data"]["values"]}
    expected = {(i, j): n for i, row in enumerate(overlap.counts) for j, n in enumerate(row) if n}
    assert cells == expected
    assert len(drawn.table.rows) == 8
    numbers = [[int(cell.replace(",", "")) for cell in row[1:]] for row in drawn.table.rows]
    assert numbers[2][5] == max(overlap.counts[i][j] for i in range(16, 24) for j in range(40, 48))
    assert max(map(max, numbers)) == overlap.most
    assert drawn.table.rows[2][0] == "u from 262,144"
    assert drawn.table.header[6] == "v from 655,360"


def test_map(section: Section, workload: ContentWorkload) -> None:
    """Sites, leaves and other brokers are three kinds of dots; no client is lost where dots stand for several."""
    drawn = chart(section, "Map of sites and brokers")
    dots = [dot for layer in drawn.spec["layer"] for dot in values_of(drawn, layer)]
    assert {dot["kind"] for dot in dots} == {entry.name for entry in drawn.legend}
    for kind in ("sites with clients", "brokers that serve clients"):
        assert sum(dot["clients"] for dot in dots if dot["kind"] == kind) == 5000
    assert drawn.table.header[0] == "broker"
    assert 0 < len(drawn.table.rows) <= 20


def values_of(drawn: Chart, layer: dict) -> list[dict]:
    """The data of a layer, wherever Vega-Lite keeps it."""
    data = layer["data"]
    return data["values"] if "values" in data else drawn.spec["datasets"][data["name"]]


def test_no_map_without_coordinates(tmp_path: Path) -> None:
    """A workload that only knows latencies has the other charts."""
    section = content_section("hard", describe(generate(content_adversarial(12, 3), tmp_path / "workload")))
    titles = [each.title for each in section.charts]
    assert "Map of sites and brokers" not in titles
    assert "Leaves that may serve a client" in titles


def test_every_drawing_has_a_name_and_a_table(cli, workload: ContentWorkload, tmp_path: Path) -> None:
    """The page names its five drawings and has a table for each."""
    assert cli("report", workload.path, "--out", tmp_path / "page.html", "--quiet").code == 0
    text = (tmp_path / "page.html").read_text()
    names = re.findall(r'class="chart"[^>]*role="img" aria-label="([^"]+)"', text)
    assert names == [
        "Subscriptions over u and v",
        "Volume of subscriptions",
        "Leaves that may serve a client",
        "Clients per site and per leaf",
        "Map of sites and brokers",
    ]
    assert text.count("<details><summary>") >= 5


def test_messages_and_prices(tmp_path: Path) -> None:
    """Facts and charts of what clients publish and what traffic costs, where the workload says it."""
    described = describe(generate(content_exchange(200, 8), tmp_path / "workload"))
    section = content_section("exchange", described)
    assert section.heading == "Workload exchange"
    assert section.facts["clients that publish"] == f"{described.published.num_publishers:,}"
    assert section.facts["messages whose publisher is not known"] == "0"
    assert "on average" in section.facts["prices between brokers, in micro-dollars per GB"]
    assert chart(section, "Messages that clients publish").table.rows
    lines = {row[0] for row in chart(section, "Prices of traffic").table.rows}
    assert lines == {f"prices between {what}, in micro-dollars per GB" for what in ("sites and brokers", "brokers")}
