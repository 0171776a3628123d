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


@pytest.mark.parametrize(("capacity", "taken"), [(0, "0 deliveries"), (1, "1 delivery"), (3999, "3,999 deliveries")])
@pytest.mark.parametrize("objective", ["b3m", "fb3m"])
def test_a_capacity_for_which_nothing_can_be_done(cli, workload: Workload, capacity, taken, objective: str) -> None:
    """It says what the least takes that would help: topic a, of two subscribers; no bound and no gap of 100 %."""
    options = ["--threshold", 4, "--objective", objective, "--capacity", capacity]
    said = cli("select", workload.path, *options).out
    assert f"That takes 0 of {taken} per window." in said
    assert "No plan satisfies anybody: the cheapest topic that would help takes 4,000 deliveries per window" in said
    assert "within" not in said
    assert "No plan satisfies anybody" not in cli("select", workload.path, *options[:-1], 4000).out


def test_one_of_a_unit_is_singular(cli, make_workload) -> None:
    """A topic that costs one delivery, or one byte, is not "1 deliveries"."""
    path = make_workload({"a": 1}, {"v": ["a"]}, message_bytes=1).path
    for cost, unit in (([], "delivery per window"), (["--cost", "bytes"], "byte per window")):
        said = cli("select", path, "--threshold", 1, "--capacity", 0, *cost).out
        assert f"takes 1 {unit}, more than is left" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["overlay", "--threshold", "3"], "--threshold belongs to 'pubplan select', 'pubplan provision' and"),
        (["provision", "--capacity=3"], "No such option of pubplan provision: --capacity belongs to 'pubplan select'"),
        (
            ["describe", "--vm-type", "x"],
            "pubplan describe: --vm-type belongs to 'pubplan provision'",
        ),
        (["overlay", "--methd", "x"], "No such option: --methd (Possible options:"),
    ],
)
def test_options_of_other_commands(cli, workload: Workload, arguments: list[str], said: str) -> None:
    """They are named with the commands that have them; what no command has, with what is spelt alike."""
    command, *options = arguments
    answer = cli(command, workload.path, *options)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert said.startswith("No such option: ") == ("Possible options" in answer.err)


def test_a_window_that_is_far_off(cli, workload: Workload) -> None:
    """A window ten times as long or short as the workload's is used, with a hint."""
    options = ["provision", workload.path, "--threshold", 4, "--window"]
    assert (
        "counted over 10 days, but the window is 10 seconds: events come 86,400 times as fast" in cli(*options, 10).out
    )
    assert "events come 10 times as slow" in cli(*options, "100d").out
    for window in ("10d", "2d"):
        assert "Hint" not in cli(*options, window).out
