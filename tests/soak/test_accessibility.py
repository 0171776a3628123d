"""Every kind of page for readers who hear it, enlarge it or hold it in a hand: axe-core, names, and what fits."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from soak.pages import write_pages

from pubplan.pages.bars import BAR_PIXELS

pytestmark = pytest.mark.soak

KINDS = ("select", "provision", "overlay", "assign", "federate", "comparison", "what-if", "workload", "reproduce")
SCHEMES = ("light", "dark")
SIZES = {"desk": (1280, 900), "phone": (390, 844)}

VIOLATIONS = """async () => {
  const { violations, passes } = await axe.run(document);
  const found = violations.map(each => [each.id, each.help, each.nodes.length, each.nodes[0].html.slice(0, 200)]);
  return { found, passed: passes.length };
}"""

CUT = """element => element.scrollWidth > element.clientWidth + 1"""

PAINTED = """async ([picture, least]) => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
  const columns = [];
  for (let x = 0; x < width; x++) {
    let count = 0;
    for (let y = 0; y < height; y++) {
      const [red, green, blue] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 3);
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 50) count++;
    }
    if (count >= least) columns.push(x);
  }
  return { width, columns };
}"""
"""The columns of a picture with at least this many coloured pixels: text, axes and the page are grey."""


@pytest.fixture(scope="module")
def pages(spotify, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_pages(spotify, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def opened(browser, pages: dict[str, Path], kind: str, scheme: str, size: str) -> Iterator[Any]:
    """A drawn page with all disclosures open."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(pages[kind].as_uri())
    for chart in page.locator(".chart").all():
        chart.and_(page.locator("[data-drawn]")).wait_for(timeout=30_000)
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    yield page
    context.close()


def test_all_kinds_are_looked_at(pages: dict[str, Path]) -> None:
    """No kind of page is left out below."""
    assert tuple(pages) == KINDS


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(opened) -> None:
    """No violation of any rule of axe-core. The page allows no script but its own: axe comes by the debugging protocol,
    which the policy of the page does not bind.
    """
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    opened.context.new_cdp_session(opened).send("Runtime.evaluate", {"expression": axe})
    result = opened.evaluate(VIOLATIONS)
    assert result["found"] == []
    assert result["passed"] > 10


@pytest.mark.parametrize(("scheme", "size"), [("light", "desk")])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_name_of_its_own(opened) -> None:
    """No two charts, disclosures, regions or fields are called the same, and none is called what its library is."""
    for role in ("graphics-document", "img"):
        assert opened.get_by_role(role, name="Vega visualization").count() == 0
    named = {
        "charts": [chart.get_attribute("aria-label") for chart in opened.locator(".chart").all()],
        "disclosures": opened.locator("summary").all_text_contents(),
        "regions": [region.get_attribute("aria-label") for region in opened.locator("[role=region]").all()],
        "fields": [field.get_attribute("aria-label") for field in opened.locator("input").all()],
    }
    assert named["charts"]
    for what, names in named.items():
        assert all(names), what
        assert [name for name, number in Counter(names).items() if number > 1] == [], what


@pytest.mark.parametrize(("scheme", "size"), [("light", "phone"), ("light", "desk")])
@pytest.mark.parametrize("kind", KINDS)
def test_no_table_is_cut(opened) -> None:
    """Tables lie within the page, those of open disclosures too: nobody scrolls sideways to read them."""
    regions = opened.locator(".wide").all()
    assert regions
    assert [region.get_attribute("aria-label") for region in regions if region.evaluate(CUT)] == []
    assert opened.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("kind", "scheme", "size"), [("comparison", "light", "phone")])
def test_compared_plans_are_cards_on_a_phone(opened) -> None:
    """Every figure of a plan stands below its name, with what it is; and within the width of the phone."""
    tables = opened.locator('[aria-label^="The plans compared"] table').all()
    assert len(tables) == 3
    for table in tables:
        assert not table.locator("thead").is_visible()
        for row in table.locator("tbody tr").all():
            name, *figures = [cell.bounding_box() for cell in row.locator("td").all()]
            assert len(figures) > 5
            assert all(figure["y"] >= name["y"] + name["height"] for figure in figures)
            assert all(figure["x"] >= 0 and figure["x"] + figure["width"] <= 390 for figure in figures)
        labels = table.locator("td[data-name]").evaluate_all(
            "cells => cells.map(cell => getComputedStyle(cell, '::before').content)"
        )
        assert all(len(label) > 2 and label != "none" for label in labels)


@pytest.mark.parametrize(("scheme", "size"), [("light", "phone"), ("dark", "phone")])
@pytest.mark.parametrize("kind", KINDS)
def test_charts_are_painted(browser, opened) -> None:
    """A picture of each chart on a phone has colour over more than a quarter of its width."""
    # The page under test may not fetch, not even what it is handed.
    reader = browser.new_page()
    for chart in opened.locator(".chart").all():
        name, picture = chart.get_attribute("aria-label"), b64encode(chart.screenshot()).decode("ascii")
        painted = reader.evaluate(PAINTED, [picture, 1])
        first, last = painted["columns"][0], painted["columns"][-1]
        assert last - first > painted["width"] / 4, name
    reader.close()


@pytest.mark.parametrize(("kind", "scheme", "size"), [("provision", "light", "phone"), ("what-if", "light", "phone")])
def test_bars_are_painted_from_the_left_edge(browser, opened) -> None:
    """Bars of money begin at the left, and the longest goes over more than half of the picture, at its full height."""
    reader = browser.new_page()
    titles = {"What is paid for", "Other VM types", "Cost of every case"}
    charts = [chart for chart in opened.locator(".chart").all() if chart.get_attribute("aria-label") in titles]
    assert charts
    for chart in charts:
        picture = b64encode(chart.screenshot()).decode("ascii")
        painted = reader.evaluate(PAINTED, [picture, BAR_PIXELS - 2])
        assert painted["columns"][0] < 20
        assert len(painted["columns"]) > painted["width"] / 2
    reader.close()
