"""Pages on a phone, and to those who do not see them: what is drawn has a width, and everything has a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pubplan
from pubplan.pages import write_page
from pubplan.problems.provision.catalogue import find_vm_types

pytestmark = pytest.mark.soak

NAMES = ("aws-us-east-1/m7i.large", "aws-us-east-1/c7g.xlarge", "aws-us-east-1/m7i.2xlarge")

MARKS = """chart => {
  const frame = chart.getBoundingClientRect();
  return [...chart.querySelectorAll("svg .mark-rect.role-mark path")].map(mark => {
    const box = mark.getBoundingClientRect();
    return { left: box.left - frame.left, right: box.right - frame.left, width: box.width };
  });
}"""
"""The drawn bars of a chart, in pixels from its left edge."""

TEXTS = """chart => {
  const frame = chart.getBoundingClientRect();
  const shown = [...chart.querySelectorAll("svg text")].filter(text => text.getAttribute("opacity") !== "0");
  return shown.map(text => {
    const box = text.getBoundingClientRect();
    return { text: text.textContent, left: box.left - frame.left, right: box.right - frame.right };
  });
}"""

TICKS = """axis => [...axis.querySelectorAll(".role-axis-label text")]
  .filter(label => label.getAttribute("opacity") !== "0").map(label => label.textContent)"""


@pytest.fixture(scope="module")
def page_path(spotify, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with plans of all families, with long names."""
    directory = tmp_path_factory.mktemp("page")
    fleets = [
        pubplan.provision.solve(pubplan.provision.Problem(spotify, find_vm_types(NAMES), threshold), method).plan
        for threshold, method in ((100, "joint+level"), (1000, "rsp+level"))
    ]
    served = [pubplan.select.solve(pubplan.select.Problem(spotify, "10%", threshold)).plan for threshold in (27, 276)]
    nodes = pubplan.generate.generate(pubplan.generate.uniform(60, 30), directory / "nodes")
    linked = [pubplan.overlay.solve(pubplan.overlay.Problem(nodes), method).plan for method in ("gm-m", "dcbr-m")]
    clients = pubplan.generate.generate(
        pubplan.generate.content_newsgroups(2000, 30, levels=2, num_sites=200), directory / "clients"
    )
    question = pubplan.assign.Problem(clients, max_delay="0.5", load=3, max_load=6)
    assigned = [pubplan.assign.solve(question, method).plan for method in ("gr-star", "closest-unbalanced")]
    write_page([*fleets, *served, *linked, *assigned], directory / "page.html", workloads=[spotify])
    return directory / "page.html"


@pytest.fixture
def phone(browser, page_path: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(page_path.as_uri())
    page.wait_for_function("document.querySelectorAll('.chart:not([data-drawn])').length === 0", timeout=30_000)
    yield page
    page.close()


def charts_called(page: Any, title: str) -> list[Any]:
    charts = page.locator(f'.chart[aria-label^="{title}"]').all()
    assert charts, title
    return list(charts)


def test_bars_take_the_width(phone) -> None:
    """The longest stack of money goes over more than half of the chart, and begins at its left edge."""
    for title in ("What is paid for", "Where the gap comes from", "Other VM types"):
        for chart in charts_called(phone, title):
            marks = chart.evaluate(MARKS)
            frame = chart.bounding_box()["width"]
            assert max(mark["right"] for mark in marks) - min(mark["left"] for mark in marks) > frame / 2, title
            assert min(mark["left"] for mark in marks) < 20, title
            assert max(mark["right"] for mark in marks) <= frame + 1, title


def test_every_chart_has_marks(phone) -> None:
    """Bars, lines and dots of every chart cover some of its width."""
    for chart in phone.locator(".chart").all():
        boxes = [mark.bounding_box() for mark in chart.locator("svg .role-mark path").all()]
        edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box is not None]
        assert edges, chart.get_attribute("aria-label")
        covered = max(right for _, right in edges) - min(left for left, _ in edges)
        assert covered > chart.bounding_box()["width"] / 4, chart.get_attribute("aria-label")


def test_nothing_is_cut(phone) -> None:
    """Names, ticks and titles of charts lie within them, legends within the page; and no tick is written twice."""
    for chart in phone.locator(".chart").all():
        texts = [text for text in chart.evaluate(TEXTS) if text["text"]]
        assert [text for text in texts if text["left"] < -1 or text["right"] > 1] == []
        for axis in chart.locator("svg .role-axis").all():
            ticks = axis.evaluate(TICKS)
            assert len(ticks) == len(set(ticks)), chart.get_attribute("aria-label")
    widest = phone.evaluate(
        "Math.max(...[...document.querySelectorAll('.legend li')].map(x => x.getBoundingClientRect().right))"
    )
    assert 0 < widest <= 390


def test_charts_are_as_high_as_what_is_drawn(phone) -> None:
    """No blank space is left below a drawing."""
    for chart in phone.locator(".chart").all():
        assert chart.bounding_box()["height"] <= chart.locator("svg").bounding_box()["height"] + 10


def test_charts_and_their_numbers_have_names(phone) -> None:
    """A reader who hears the page hears the title of each chart, and which numbers a disclosure holds."""
    titles = [chart.get_attribute("aria-label") for chart in phone.locator(".chart").all()]
    assert "Vega visualization" not in titles
    assert "Links per node" in titles
    drawings = phone.locator(".chart svg").all()
    assert [drawing.get_attribute("aria-label") for drawing in drawings if drawing.get_attribute("aria-label")] != [
        "Vega visualization"
    ] * len(drawings)
    roles = {chart.get_attribute("role") for chart in phone.locator(".chart").all()}
    assert roles <= {"img", "graphics-document"}
    for chart, title in zip(phone.locator(".chart").all(), titles, strict=True):
        summary = chart.locator("xpath=following-sibling::details[1]/summary")
        assert summary.text_content() == f"Numbers: {title}"


def test_lists_are_narrowed_down(phone) -> None:
    """Typing the first id of a list leaves its row; clearing the field brings all back, and the page says how many."""
    (served, *_) = phone.locator(".sheet.long").all()
    rows = served.locator("tbody tr")
    first = rows.first.locator("td").first.inner_text()
    served.locator("input").fill(first)
    shown = [row for row in rows.all() if row.is_visible()]
    assert [row.locator("td").first.inner_text() for row in shown] == [first]
    assert served.get_by_role("status").inner_text() == f"1 of {rows.count()} rows"
    served.locator("input").fill("")
    assert all(row.is_visible() for row in rows.all())


def test_links_lead_to_sections(phone) -> None:
    """Contents and tables of plans name sections that are there."""
    targets = {link.get_attribute("href") for link in phone.locator("main a").all()}
    assert len(targets) > 6
    assert all(phone.locator(target).count() == 1 for target in targets)
