"""``pubplan show``: a plan once more, with its workload or without."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.questions import OPTIONS, content_example, is_about_content

from pubplan.problems import FAMILIES
from pubplan.workload import Window, Workload


@pytest.fixture
def workload(request: pytest.FixtureRequest, make_workload, tmp_path: Path) -> Workload:
    if is_about_content(request):
        return content_example(request, tmp_path / "clients")
    rates = {"a": 2, "b": 3, "c": 5, "d": 4}
    interests = {"v": ["a", "b", "c"], "w": ["b", "d"], "x": ["a", "b"], "y": ["b"], "z": ["c", "d"]}
    return make_workload(rates, interests, window=Window(seconds=3600))


@pytest.fixture
def planned(cli, workload: Workload, tmp_path: Path) -> Callable[..., tuple[Path, str]]:
    """Plans of a family and what was said when they were made."""

    def plan(family: str, *options: object) -> tuple[Path, str]:
        answer = cli(family, workload.path, *OPTIONS[family], *options, "--out", tmp_path / family)
        assert answer.code == 0, answer.err
        return tmp_path / family, answer.out

    return plan


@pytest.mark.parametrize("family", FAMILIES)
def test_show_says_what_was_said(cli, planned, workload: Workload, family: str) -> None:
    """A plan says the same sentences as when it was made, in words and in JSON, and that it is as it was."""
    plan, said = planned(family)
    answer = cli("show", plan)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[:-1] == said.splitlines()[:-1]
    last = answer.out.splitlines()[-1]
    assert (last.startswith("Verified when it was made, unchanged since"), str(workload.path) in last) == (True, True)
    shown = json.loads(cli("show", plan, "--json").out)
    record = json.loads((plan / "plan.json").read_text())
    assert {name: shown[name] for name in record} == record
    assert (shown["path"], shown["unchanged"], shown["fresh"]) == (str(plan), True, True)


@pytest.mark.parametrize("family", FAMILIES)
def test_show_does_without_the_workload(cli, planned, workload: Workload, tmp_path: Path, family: str) -> None:
    """Where the workload is gone the plan's own numbers are shown, and how to name the workload."""
    plan, said = planned(family, "--no-verify")
    moved = shutil.move(workload.path, tmp_path / "moved")
    answer = cli("show", plan)
    assert answer.code == 0, answer.err
    for part in (f"A plan of {family} by", "NOT verified", "is not known", "pass --workload"):
        assert part in answer.out
    assert json.loads(cli("show", plan, "--json").out)["fresh"] is None
    assert cli("show", plan, "--workload", moved).out.splitlines()[:-1] == said.splitlines()[:-1]
    assert cli("show", plan, "--workload", tmp_path / "nowhere").code == 2


def test_show_says_that_a_plan_is_stale(cli, planned, make_workload) -> None:
    """With another workload the plan's own numbers are shown, and that it must be made again."""
    plan, _ = planned("select")
    other = make_workload({"a": 1}, {"x": ["a"]})
    answer = cli("show", plan, "--workload", other.path)
    assert (answer.code, "STALE" in answer.out, "Plan again" in answer.out) == (0, True, True)
    assert json.loads(cli("show", plan, "--workload", other.path, "--json").out)["fresh"] is False


def test_show_refuses_a_changed_plan(cli, planned) -> None:
    """What somebody edited is not repeated; exit code 4."""
    plan, _ = planned("overlay")
    raw = json.loads((plan / "plan.json").read_text())
    (plan / "plan.json").write_text(json.dumps({**raw, "objective": 1.0}))
    answer = cli("show", plan)
    assert (answer.code, answer.out, "was changed" in answer.err) == (4, "", True)
