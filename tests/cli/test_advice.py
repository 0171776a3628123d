"""Sentences that say what to do when something else was probably meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubplan.workload import Window, Workload


@pytest.fixture
def workload(make_workload) -> Workload:
    rates = {"a": 2000, "b": 3000, "c": 50_000}
    return make_workload(rates, {"v": ["a", "b"], "w": ["b", "c"], "x": ["a"]}, window=Window(seconds=864_000))


def test_what_is_not_a_workload_is_named(cli, workload: Workload, tmp_path: Path) -> None:
    """A plan, raw files, a file and an empty directory each get the advice that helps."""
    plan, raw, empty = tmp_path / "plan", tmp_path / "raw", tmp_path / "empty"
    assert cli("overlay", workload.path, "--out", plan).code == 0
    raw.mkdir()
    empty.mkdir()
    (raw / "events.csv").write_text("topic,timestamp\n")
    for path, said in (
        (plan, "It is a plan: name the workload that it was made for"),
        (raw, "It holds raw files: make a workload of them with 'pubplan ingest'"),
        (raw / "events.csv", "is a file, not a workload. Make a workload of raw files with 'pubplan ingest'"),
        (empty, "Make one of your own data with 'pubplan ingest'"),
    ):
        answer = cli("describe", path)
        assert (answer.code, said in answer.err) == (2, True), answer.err
    answer = cli("show", workload.path)
    assert (answer.code, "It is a workload: look at it with 'pubplan describe'" in answer.err) == (2, True)


def test_a_capacity_that_looks_like_a_share(cli, workload: Workload) -> None:
    """A small number that serves next to nothing is answered, with the hint that a share has a percent sign."""
    options = ["select", workload.path, "--threshold", 4]
    assert "For a share, write the capacity as 10%." in cli(*options, "--capacity", 10).out
    (hint,) = json.loads(cli(*options, "--capacity", 10, "--json").out)["summary"]["hints"]
    assert "less than 0.1 % of the 60,000 deliveries per window" in hint
    for capacity in ("10%", 0, 101, 60_000):
        assert "Hint" not in cli(*options, "--capacity", capacity).out


def test_a_window_that_is_far_off(cli, workload: Workload) -> None:
    """A window ten times as long or short as the workload's is used, with a hint."""
    options = ["provision", workload.path, "--threshold", 4, "--window"]
    assert (
        "counted over 10 days, but the window is 10 seconds: events come 86,400 times as fast" in cli(*options, 10).out
    )
    assert "events come 10 times as slow" in cli(*options, "100d").out
    for window in ("10d", "2d"):
        assert "Hint" not in cli(*options, window).out
