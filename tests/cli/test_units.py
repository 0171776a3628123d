"""Units and lists of values on the command line and in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubplan.workload import Window, Workload

MINUTE = Window("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", 60.0)


@pytest.fixture
def workload(make_workload) -> Workload:
    return make_workload({"a": 2, "b": 30}, {"x": ["a", "b"], "y": ["b"]}, message_bytes=10, window=MINUTE)


def test_capacity_per_second(cli, workload: Workload, tmp_path: Path) -> None:
    """The answer has the capacity as it was asked for and per window, in sentences and in JSON; so has the plan."""
    options = ("--threshold", "all", "--objective", "b3m", "--out", tmp_path / "plan")
    answer = cli("select", workload.path, *options, "--capacity", "0.5 kB/s")
    assert "satisfies 2 of 2 subscribers (100.0 %) with all their events." in answer.out
    assert "That takes 620 of 30,000 bytes per window (0.5 kB/s over 60 seconds)." in answer.out
    shown = json.loads(cli("show", tmp_path / "plan", "--json").out)
    assert (shown["summary"]["capacity_asked"], shown["summary"]["capacity"]) == ("0.5 kB/s", 30_000)
    asked = shown["parameters"]
    assert (asked["threshold"], asked["capacity"], asked["capacity_cost"], asked["cost"]) == (
        "all",
        "0.5 kB/s",
        30_000,
        "bytes",
    )
    assert cli("verify", tmp_path / "plan").code == 0
    page = tmp_path / "page.html"
    assert cli("report", tmp_path / "plan", "--out", page).code == 0
    assert "0.5 kB/s, 30,000 bytes per window" in page.read_text()
    assert "all events that it asked for" in page.read_text()


def test_all_events_in_a_file_and_in_provision(cli, workload: Workload, tmp_path: Path) -> None:
    """TOML has the same words; a fleet for all events carries every interest."""
    (tmp_path / "p.toml").write_text('[select]\nthreshold = "all"\ncapacity = "1 msg/s"\n')
    answer = cli("select", workload.path, "--parameters", tmp_path / "p.toml", "--json", "--quiet")
    assert json.loads(answer.out)["parameters"]["capacity_cost"] == 60
    fleet = cli("provision", workload.path, "--threshold", "all", "--out", tmp_path / "fleet")
    assert "satisfies all 2 subscribers with all their events for" in fleet.out
    assert cli("verify", tmp_path / "fleet").code == 0
    explained = cli("explain", tmp_path / "fleet", "--subscriber", "x")
    assert "x needs 32 events per window and is sent 32" in explained.out


def test_lists_give_a_table(cli, workload: Workload, tmp_path: Path) -> None:
    """A row per threshold and capacity, in text and in JSON; no plan is written."""
    options = ("--threshold", "10,all", "--capacity", "5%,1 msg/s,1 kB/s")
    lines = cli("select", workload.path, *options).out.splitlines()
    assert len(lines) == 8
    assert [line.split()[0] for line in lines[1:7]] == ["10"] * 3 + ["all"] * 3
    rows = json.loads(cli("select", workload.path, *options, "--json", "--quiet").out)
    assert [row["capacity"] for row in rows[:3]] == ["5%", "1 msg/s", "1 kB/s"]
    assert [row["capacity_cost"] for row in rows[:3]] == [3, 60, 60_000]
    refused = cli("select", workload.path, *options, "--out", tmp_path / "plan")
    assert (refused.code, "A comparison writes no plan" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--capacity", "0.1"], "not '0.1'. Did you mean '10%'?"),
        (["--satisfy", "0.6"], "not '0.6'. Did you mean '60%'?"),
        (["--satisfy", "60"], "not '60'. Did you mean '60%'?"),
        (["--capacity", "64 Mb/s"], "1200 msg/s or 64 Mbit/s, not '64 Mb/s'"),
        (["--capacity", "5%,ten"], "not 'ten'"),
        (["--capacity", "5%,10%", "--curve"], "--curve is asked of one plan"),
        (["--threshold", "1,2", "--satisfy", "60%"], "--satisfy is asked of one plan"),
    ],
)
def test_refusals_repeat_the_value(cli, workload: Workload, options: list[str], said: str) -> None:
    """The sentence has what was given, and where a number is near a share, the hint."""
    given = options if "--threshold" in options else ["--threshold", "1", *options]
    answer = cli("select", workload.path, *given)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("select", ["--threshold", "1", "--capacity", "much"], "--capacity is a share of the total cost such as 10%"),
        ("select", ["--threshold", "-1", "--capacity", "5%"], "--threshold must be between 0 and 2147483647 events"),
        ("select", ["--threshold", "1", "--satisfy", "120%"], "--satisfy is a share such as 80%, not '120%'"),
        ("select", ["--threshold", "1", "--capacity", "5%", "--objective", "x"], "--objective is b3m or fb3m, not 'x'"),
        ("provision", ["--threshold", "1", "--peak-factor", "0.5"], "--peak-factor must be at least 1, not 0.5"),
        ("provision", ["--threshold", "1", "--headroom", "120%"], "--headroom is a share below 100% such as 20%"),
        ("provision", ["--threshold", "1", "--message-bytes", "9G"], "--message-bytes is a whole number of bytes"),
    ],
)
def test_refusals_name_the_option(cli, workload: Workload, command: str, options: list[str], said: str) -> None:
    """Whatever is wrong with a value, the sentence begins with the option that it was given for."""
    answer = cli(command, workload.path, *options)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"pubplan: {said}")


def test_commas_between_thousands_are_not_a_list(cli, workload: Workload) -> None:
    """What pubplan prints can be pasted: 1,000,000 and 1,200 msg/s are one capacity each."""
    for text, cost in (("1,000,000", 1_000_000), ("1,200 msg/s", 72_000)):
        answer = cli("select", workload.path, "--threshold", 1, "--capacity", text, "--json", "--quiet")
        assert json.loads(answer.out)["parameters"]["capacity_cost"] == cost


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        (["uniform", "--nodes", "1k", "--topics", "1,000", "--sizes", "3"], {"topics": 1000, "subscribers": 1000}),
        (["spotify", "--scale", "0.1%", "--seed", "1_000"], {"topics": 1100, "subscribers": 4900}),
    ],
)
def test_numbers_of_generate(cli, tmp_path: Path, arguments: list[str], counts: dict[str, int]) -> None:
    """Numbers and shares are written as everywhere."""
    answer = cli("generate", *arguments, "--out", tmp_path / "workload", "--json", "--quiet")
    made = json.loads(answer.out)["counts"]
    assert {name: made[name] for name in counts} == counts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["uniform", "--nodes", "1.5"], "'--nodes': a whole number such as 4000, 4,000 or 4k is expected, not '1.5'."),
        (["spotify", "--scale", "ten"], "'--scale': a share such as 0.01 or 1% is expected, not 'ten'."),
        (["zipf", "--seed", "x"], "'--seed': a whole number"),
    ],
)
def test_wrong_numbers_of_generate(cli, tmp_path: Path, arguments: list[str], said: str) -> None:
    """The refusal has the option, what is expected and what was given."""
    answer = cli("generate", *arguments, "--out", tmp_path / "workload")
    assert (answer.code, said in answer.err) == (2, True)
