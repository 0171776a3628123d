"""pubplan describe on the command line, and described workloads on the page."""

from __future__ import annotations

import json
from pathlib import Path


def test_describe(cli, spotify) -> None:
    """A summary in words, everything in JSON."""
    answer = cli("describe", spotify.path)
    assert answer.code == 0
    assert "22,000 topics, 98,000 subscribers" in answer.out
    assert "subscribers per topic" in answer.out
    description = json.loads(cli("describe", spotify.path, "--json").out)
    assert description["topics_per_subscriber"]["number"] == 98_000
    assert description["subscribers_per_topic"]["shares"][0] == 1.0


def test_workloads_on_the_page(cli, spotify, tmp_path: Path) -> None:
    """report draws workloads too, alone or with plans."""
    page = tmp_path / "page.html"
    assert cli("report", spotify.path, "--out", page).code == 0
    text = page.read_text()
    for title in ("Rate against popularity", "Subscription cardinality against topics per subscriber", "98,000"):
        assert title in text


def test_content_workloads(cli, tmp_path: Path) -> None:
    """Distributions in words with what an assignment can reach; everything in JSON."""
    made = cli(
        "generate", "content-adversarial", "--clients", 24, "--brokers", 3, "--out", tmp_path / "hard", "--quiet"
    )
    assert made.code == 0, made.err
    answer = cli("describe", tmp_path / "hard", "--quiet")
    assert answer.code == 0, answer.err
    assert "24 clients at 12 sites, 3 brokers, of which 3 serve clients" in answer.out
    assert "leaves per client with a max delay of 0.3" in answer.out
    assert "The least load factor of any assignment with a max delay of 0.3: 1." in answer.out
    description = json.loads(cli("describe", tmp_path / "hard", "--json", "--quiet").out)
    # Nine squares with two brokers and three with three, of two clients each: 2 x (9 x 2 + 3 x 3) = 54.
    assert description["candidates"]["total"] == 54
    assert description["least_load"]["exact"] == "1"
