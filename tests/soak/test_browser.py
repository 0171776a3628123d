"""The page in a real browser."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import pubplan
from pubplan.pages import write_page
from pubplan.problems.select import Problem, solve

pytestmark = pytest.mark.soak

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def page_path(spotify, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    plans = [solve(Problem(spotify, "10%", 27), out=directory / HOSTILE.replace("/", "|")).plan]
    plans += [solve(Problem(spotify, "10%", threshold)).plan for threshold in (27, 2763)]
    write_page(plans, directory / "page.html")
    return directory / "page.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1200, 900), (360, 740)], ids=["desk", "phone"])
def test_the_chart_is_drawn(browser, page_path: Path, scheme: str, size: tuple[int, int]) -> None:
    """No console message, no error, no request but the page itself; lines are drawn; nothing sticks out sideways."""
    trouble: list[str] = []
    requests: list[str] = []
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_path.as_uri())
    page.wait_for_function("document.querySelectorAll('.chart:not([data-drawn])').length === 0", timeout=30_000)

    assert trouble == []
    assert requests == [page_path.as_uri()]
    assert page.title() == "pubplan report"
    curve = page.locator(".chart").first
    lines = curve.locator("svg .mark-line.role-mark path")
    assert lines.count() == 6
    assert all(len(lines.nth(number).get_attribute("d")) > 500 for number in range(6))
    assert len([line for line in lines.all() if line.get_attribute("stroke-dasharray")]) == 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, background.removeprefix("rgb(").rstrip(")").split(","))) / 3
    assert (brightness > 128) == (scheme == "light")
    context.close()


def test_values_appear_under_the_pointer(browser, page_path: Path) -> None:
    """Pointing at the chart shows the numbers."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(page_path.as_uri())
    page.wait_for_selector('.chart[data-drawn="true"]')
    page.locator(".chart svg").first.scroll_into_view_if_needed()
    box = page.locator(".chart svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#vg-tooltip-element.visible", timeout=10_000)
    assert "deliveries per window" in page.locator("#vg-tooltip-element").inner_text()
    page.close()


def test_switching_to_dark_draws_again(browser, page_path: Path) -> None:
    """The chart follows the reader's colours without a reload."""
    page = browser.new_page(color_scheme="light")
    page.goto(page_path.as_uri())
    page.wait_for_selector('.chart[data-drawn="true"]')
    colour = "document.querySelector('.chart svg .mark-line.role-mark path').getAttribute('stroke')"
    before = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    deadline = time.monotonic() + 10
    while page.evaluate(colour) == before:
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)
    page.close()


def test_without_scripts_the_numbers_are_there(browser, page_path: Path) -> None:
    """A reader without scripts sees every number as text."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_path.as_uri())
    assert "verified" in page.locator("main").inner_text()
    assert page.locator("table tr").count() > 10
    context.close()


def test_pages_of_assign_are_drawn(browser, tmp_path: Path) -> None:
    """Neither a message nor a request: frames over the heat map, the map, and bars are drawn without a warning."""
    clients = pubplan.generate.generate(pubplan.generate.content_newsgroups(1000, 20, num_sites=100), tmp_path / "news")
    problem = pubplan.assign.Problem(clients, max_delay="0.5", load=3, max_load=6)
    write_page([pubplan.assign.solve(problem, "gr-star").plan], tmp_path / "page.html", workloads=[clients])
    trouble: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_function("document.querySelectorAll('.chart:not([data-drawn])').length === 0", timeout=30_000)
    assert trouble == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
