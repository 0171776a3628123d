"""What programs read: --json says what the sentences say, also when a command fails."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest
from oracles.questions import OPTIONS, content_example, is_about_content

import pubplan
from pubplan.errors import EngineError
from pubplan.problems import FAMILIES
from pubplan.text import dollars_up, traffic
from pubplan.workload import Window, Workload

ROOT = Path(__file__).parents[2]


@pytest.fixture
def workload(request: pytest.FixtureRequest, make_workload, tmp_path: Path) -> Workload:
    if is_about_content(request):
        return content_example(request, tmp_path / "clients")
    rates = {"a": 2, "b": 3, "c": 5, "d": 4}
    interests = {"v": ["a", "b", "c"], "w": ["b", "d"], "x": ["a", "b"], "y": ["b"], "z": ["c", "d"]}
    return make_workload(rates, interests, window=Window(seconds=3600))


def test_select_says_the_same_in_json(cli, workload: Workload) -> None:
    """Topics, subscribers, capacity, bound and the capacity that is ruled out are in both answers."""
    options = ["select", workload.path, "--threshold", 4, "--satisfy", "95%"]
    said, summary = cli(*options).out, json.loads(cli(*options, "--json").out)["summary"]
    least = summary["least_capacity"]
    assert f"Serving {summary['topics_served']} of {summary['topics']} topics" in said
    assert f"of {summary['satisfiable']} {summary['unit']} ({100 * summary['satisfied_share']:.1f} %)" in said
    assert f"takes {summary['capacity_used']} of {summary['capacity']} {summary['capacity_unit']}" in said
    assert f"{least['share']} takes a capacity of {least['capacity']}" in said
    assert least["ruled_out"] is not None
    assert f"no plan does it with {least['ruled_out']} or less" in said
    assert summary["satisfied"] <= summary["bound"]


def test_provision_says_the_same_in_json(cli, workload: Workload) -> None:
    """Fleet, costs by part, traffic, other types and the budget's verdict are in both answers."""
    options = ["provision", workload.path, "--threshold", 4, "--vm-type", "c3.large,c3.xlarge", "--budget", 100]
    said, summary = cli(*options).out, json.loads(cli(*options, "--json").out)["summary"]
    assert f"{summary['vms']} VM of {summary['vm_type']} satisfies all {summary['subscribers']} subscribers" in said
    assert dollars_up(summary["cost_microusd"]) in said
    parts = [summary[f"{part}_cost_microusd"] for part in ("vm", "incoming", "outgoing")]
    assert sum(parts) == summary["cost_microusd"]
    assert f"{traffic(summary['incoming_bytes'])} in" in said
    assert f"{traffic(summary['outgoing_bytes'])} out" in said
    (other,) = summary["other_types"]
    assert f"{other['vm_type']} would cost {dollars_up(other['cost_microusd'])}" in said
    assert summary["window_seconds"] == 3600
    assert summary["fill"]["min"] <= summary["fill"]["mean"] <= summary["fill"]["max"] <= 1
    assert summary["bound_microusd"] <= summary["cost_microusd"]
    assert summary["budget"] == {"budget_microusd": 100_000_000, "verdict": "yes"}


def test_every_key_is_documented(cli, workload: Workload) -> None:
    """The reference names every key of a summary."""
    reference = (ROOT / "docs" / "reference.md").read_text()
    for family in ("select", "provision"):
        summary = json.loads(cli(family, workload.path, *OPTIONS[family], "--json").out)["summary"]
        rows = re.findall(rf"^\| `{family}` \| ([^|]*) \|", reference, flags=re.MULTILINE)
        documented = set(re.findall(r"`(\w+)`", " ".join(rows)))
        assert set(summary) <= documented


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_kept_without_out(cli, workload: Workload, tmp_path: Path, monkeypatch, family: str) -> None:
    """The answer is the same, says that nothing was kept, and no directory stays behind."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    answer = cli(family, workload.path, *OPTIONS[family])
    assert (answer.code, "Verified. Nothing was kept: pass --out" in answer.out) == (0, True)
    assert list(temporary.iterdir()) == []
    shown = json.loads(cli(family, workload.path, *OPTIONS[family], "--json").out)
    kept = json.loads(cli(family, workload.path, *OPTIONS[family], "--json", "--out", tmp_path / "plan").out)
    assert (shown["path"], kept["path"]) == (None, str(tmp_path / "plan"))
    assert shown["digest"] == kept["digest"] == pubplan.read_plan(tmp_path / "plan").digest


def test_failures_are_json_too(cli, workload: Workload, make_workload, tmp_path: Path, monkeypatch) -> None:
    """Kind, message and reasons on stdout; the sentence on stderr and the exit code are those of every other answer."""
    select, plan = ["select", workload.path, "--threshold", 4], tmp_path / "plan"
    assert cli(*select, "--capacity", 14, "--out", plan).code == 0
    other = make_workload({"a": 1}, {"x": ["a"]})
    must = ["--must-serve", "a", "--capacity", 0]
    for command, code, kind in (
        ([*select, "--capacity", "much"], 2, "input"),
        ([*select, "--capacity", 14, "--capacty", 1], 2, "usage"),
        ([*select, "--capacity", 14, "--objective", "b3m", "--method", "greedy-max"], 2, "not_applicable"),
        ([*select, *must], 3, "infeasible"),
        (["verify", plan, "--workload", other.path], 5, "stale"),
        (["show", tmp_path / "nothing"], 2, "input"),
    ):
        plain, answer = cli(*command), cli(*command, "--json")
        error = json.loads(answer.out)["error"]
        assert (plain.code, answer.code, error["kind"]) == (code, code, kind)
        assert plain.out == ""
        assert answer.err.splitlines()[-1] == plain.err.splitlines()[-1]
        assert error["message"]
    reasons = json.loads(cli(*select, *must, "--json").out)["error"]["reasons"]
    assert [(reason["limit"], reason["need"], reason["have"]) for reason in reasons] == [("capacity", 4, 0)]
    assert "4 deliveries per window needed" in reasons[0]["sentence"]

    def fail(*_: object) -> None:
        raise EngineError("Spark is tired.")

    monkeypatch.setattr("pubplan.workload.read_workload", fail)
    answer = cli(*select, "--capacity", 14, "--json")
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (1, "engine")


def test_a_changed_plan_is_json_too(cli, workload: Workload, tmp_path: Path) -> None:
    """The violation says what was changed."""
    plan = tmp_path / "plan"
    assert cli("overlay", workload.path, "--out", plan).code == 0
    raw = json.loads((plan / "plan.json").read_text())
    (plan / "plan.json").write_text(json.dumps({**raw, "objective": 1.0}))
    answer = cli("show", plan, "--json")
    error = json.loads(answer.out)["error"]
    assert (answer.code, error["kind"], error["reasons"][0]["where"]) == (4, "verification_failed", "plan.json")
