"""Content workloads on a phone: the heat map and the map have a width, and nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubplan.generate import content_adversarial, content_newsgroups, generate
from pubplan.pages import write_page

pytestmark = pytest.mark.soak

WIDTH = 390

EXTENT = """chart => {
  const frame = chart.getBoundingClientRect();
  const shown = [...chart.querySelectorAll("svg text, svg .role-mark path")]
    .filter(each => each.getAttribute("opacity") !== "0").map(each => each.getBoundingClientRect());
  return { left: Math.min(...shown.map(box => box.left)) - frame.left,
           right: Math.max(...shown.map(box => box.right)) - frame.left, width: frame.width };
}"""
"""From where to where texts and marks of a chart go, in pixels."""


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    workloads = [
        generate(content_newsgroups(20_000, 60, levels=2), directory / "newsgroups"),
        generate(content_adversarial(36, 3), directory / "adversarial"),
    ]
    write_page([], directory / "page.html", workloads=workloads)
    return directory / "page.html"


@pytest.fixture
def phone(browser, page_path: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": WIDTH, "height": 844})
    page.goto(page_path.as_uri())
    page.wait_for_function("document.querySelectorAll('.chart:not([data-drawn])').length === 0", timeout=60_000)
    yield page
    page.close()


def test_nothing_sticks_out(phone) -> None:
    """The page is as wide as the screen, and so is everything that is drawn."""
    assert phone.evaluate("document.documentElement.scrollWidth") == WIDTH
    charts = phone.locator(".chart").all()
    assert len(charts) == 9
    for chart in charts:
        extent = chart.evaluate(EXTENT)
        assert extent["left"] >= -1, chart.get_attribute("aria-label")
        assert extent["right"] <= extent["width"] + 1, chart.get_attribute("aria-label")


@pytest.mark.parametrize("title", ["Subscriptions over u and v", "Map of sites and brokers"])
def test_drawings_take_the_width(phone, title: str) -> None:
    """Cells and dots go over more than half of the screen."""
    extent = phone.locator(f'.chart[aria-label^="{title}"]').first.evaluate(EXTENT)
    assert extent["right"] - extent["left"] > WIDTH / 2


def test_every_drawing_has_its_numbers(phone) -> None:
    """Opened, each table has rows, and scrolls inside itself."""
    for details in phone.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    assert phone.evaluate("document.documentElement.scrollWidth") == WIDTH
    assert all(table.locator("tbody tr").count() for table in phone.locator("details table").all())
