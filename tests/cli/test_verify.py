"""``pubplan verify`` on plans that somebody changed: exit code 2 or 4 and a sentence, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracles.forge import forge

import pubplan
from pubplan.workload import Window, Workload


@pytest.fixture
def workload(make_workload) -> Workload:
    rates = {"a": 2, "b": 3, "c": 5, "d": 4}
    interests = {"v": ["a", "b", "c"], "w": ["b", "d"], "x": ["a", "b"], "y": ["b"], "z": ["c", "d"]}
    return make_workload(rates, interests, window=Window(seconds=3600))


OPTIONS = {"select": ["--threshold", 4, "--capacity", 14], "provision": ["--threshold", 4], "overlay": []}


@pytest.fixture
def planned(cli, workload: Workload, tmp_path: Path) -> Callable[[str], Path]:
    def plan(family: str) -> Path:
        answer = cli(family, workload.path, *OPTIONS[family], "--out", tmp_path / family)
        assert answer.code == 0, answer.err
        return tmp_path / family

    return plan


def one_null(table: pa.Table) -> pa.Table:
    column = pa.array([None, *table["joined"].to_pylist()[1:]], pa.int32())
    return table.set_column(2, "joined", column)


@pytest.mark.parametrize(
    ("family", "changes", "code"),
    [
        ("select", {"record": {"exact": {"value": 10**39, "scale": 1}}}, 4),
        ("select", {"record": {"exact": {"value": 10**41, "scale": 1}}}, 2),
        ("overlay", {"record": {"exact": {"value": -1, "scale": 1}}}, 4),
        ("overlay", {"record": {"exact": {"value": 10**9, "scale": 1}}}, 4),
        ("overlay", {"tables": {"trajectory.parquet": one_null}}, 4),
        ("provision", {"tables": {"certificate/prices-charged/00000.parquet": lambda t: t.rename_columns(["t"])}}, 2),
        ("provision", {"certificates": {"prices": lambda raw: {**raw, "evidence": {}}}}, 4),
    ],
    ids=["large", "endless", "negative", "links", "null", "column", "evidence"],
)
def test_changed_plans_end_in_a_sentence(
    cli, workload: Workload, planned: Callable[[str], Path], tmp_path: Path, family: str, changes: Any, code: int
) -> None:
    """Whatever was written into a plan, under hashes that fit it."""
    plan = pubplan.read_plan(planned(family))
    forge(plan, tmp_path / "forged", **changes, opened=False)
    answer = cli("verify", tmp_path / "forged", "--workload", workload.path)
    assert (answer.code, "pubplan: " in answer.err, "Traceback" in answer.err) == (code, True, False)


def test_capacities_without_end_are_refused(cli, workload: Workload, planned: Callable[[str], Path]) -> None:
    """A number of 400 digits in the parameters is not read."""
    path = planned("select") / "plan.json"
    path.write_text(path.read_text().replace('"capacity": 14', '"capacity": 1' + "0" * 400))
    answer = cli("verify", path.parent, "--workload", workload.path)
    assert (answer.code, "more than 40 digits" in answer.err) == (2, True)


@pytest.mark.parametrize("family", OPTIONS)
def test_plans_are_made_again(
    cli, workload: Workload, planned: Callable[[str], Path], tmp_path: Path, family: str
) -> None:
    """--replan confirms how a plan was made; without its reasons it exits with 4, in words and in JSON."""
    plan = planned(family)
    answer = cli("verify", plan, "--workload", workload.path, "--replan")
    assert (answer.code, "makes the same plan again" in answer.out) == (0, True)
    raw = json.loads((plan / "plan.json").read_text())
    reason = {"limit": "a lack of luck", "need": 1, "have": 0, "where": "", "sentence": ""}
    forge(pubplan.read_plan(plan), tmp_path / "forged", record={"reasons": [*raw["reasons"], reason]})
    assert cli("verify", tmp_path / "forged", "--workload", workload.path).code == 0
    answer = cli("verify", tmp_path / "forged", "--workload", workload.path, "--replan")
    assert (answer.code, "planning again gives another value (reasons)" in answer.err) == (4, True)
    answer = cli("verify", tmp_path / "forged", "--workload", workload.path, "--replan", "--json")
    assert (answer.code, json.loads(answer.out)["violations"][0]["where"]) == (4, "reasons")


def test_plans_stopped_by_a_clock_are_not_made_again(
    cli, workload: Workload, planned: Callable[[str], Path], tmp_path: Path
) -> None:
    """That is said, and exits with 2."""
    forge(pubplan.read_plan(planned("select")), tmp_path / "forged", record={"deterministic": False})
    answer = cli("verify", tmp_path / "forged", "--workload", workload.path, "--replan")
    assert (answer.code, "cannot be made again" in answer.err) == (2, True)


def test_questions_that_no_plan_answers_are_damage(cli, workload: Workload, tmp_path: Path) -> None:
    """Parameters that ask for more than the capacity allows are refused when the plan is read, not found infeasible."""
    options = ["--threshold", 4, "--capacity", 14, "--must-serve", "a"]
    assert cli("select", workload.path, *options, "--out", tmp_path / "plan").code == 0
    plan = pubplan.read_plan(tmp_path / "plan")
    forge(plan, tmp_path / "forged", record={"parameters": {**plan.record["parameters"], "capacity": 1}})
    answer = cli("verify", tmp_path / "forged", "--workload", workload.path)
    assert (answer.code, "its parameters ask for what no plan can do" in answer.err) == (2, True)


@pytest.mark.parametrize("family", OPTIONS)
def test_verify_finds_the_workload(cli, workload: Workload, planned: Callable[[str], Path], family: str) -> None:
    """A plan knows where its workload was; without that, --workload is asked for."""
    plan = planned(family)
    assert "keeps its promises" in cli("verify", plan).out
    (plan / "run.json").unlink()
    answer = cli("verify", plan)
    assert (answer.code, "pass --workload" in answer.err) == (2, True)
    assert cli("verify", plan, "--workload", workload.path).code == 0


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("select", "decisions/served.parquet"),
        ("provision", "decisions/placements/00000.parquet"),
        ("overlay", "certificate/joins.json"),
    ],
)
def test_files_that_cannot_be_read_were_changed(cli, planned: Callable[[str], Path], family: str, name: str) -> None:
    """A file that no longer has its hash is a violation, exit code 4, whether or not it can still be read."""
    path = planned(family) / name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    answer = cli("verify", path.parents[len(Path(name).parts) - 1])
    assert (answer.code, f"file changed since it was written ({name})" in answer.err) == (4, True), answer.err
    answer = cli("verify", path.parents[len(Path(name).parts) - 1], "--json")
    assert (answer.code, json.loads(answer.out)["violations"][0]["where"]) == (4, name)
