"""``pubplan export``: tables of plans for other programs, with ids instead of numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.questions import OPTIONS, content_example, is_about_content

import pubplan
from pubplan.engine import read_parquet
from pubplan.problems import FAMILIES, family_named
from pubplan.workload import Window, Workload

RATES = {"a": 2, "b, c": 3, "c": 5, "d": 4, "é": 1}
INTERESTS = {"v": ["a", "b, c", "c"], "w": ["b, c", "d"], "x": ["a", "b, c"], "y": ["b, c"], "z": ["c", "d"]}


@pytest.fixture
def workload(request: pytest.FixtureRequest, make_workload, tmp_path: Path) -> Workload:
    if is_about_content(request):
        return content_example(request, tmp_path / "clients")
    return make_workload(RATES, INTERESTS, window=Window(seconds=3600))


@pytest.fixture
def planned(cli, workload: Workload, tmp_path: Path) -> Callable[[str], Path]:
    def plan(family: str, *options: object) -> Path:
        answer = cli(family, workload.path, *OPTIONS[family], *options, "--out", tmp_path / family)
        assert answer.code == 0, answer.err
        return tmp_path / family

    return plan


@pytest.fixture
def rows(cli) -> Callable[[Path, str], list[dict[str, str]]]:
    """The rows of an exported table, from CSV on stdout."""

    def read(plan: Path, table: str) -> list[dict[str, str]]:
        answer = cli("export", plan, "--table", table)
        assert answer.code == 0, answer.err
        return list(csv.DictReader(io.StringIO(answer.out)))

    return read


def test_topics_are_on_one_side(planned, rows, workload: Workload) -> None:
    """Every topic is served or not served, by its id, with its rate, its subscribers and its cost."""
    plan = planned("select")
    served, not_served = rows(plan, "served"), rows(plan, "not-served")
    decided = pubplan.read_plan(plan).decisions("served")
    assert [row["topic_id"] for row in served] == decided["topic_id"].to_pylist()
    assert [int(row["cost"]) for row in served] == decided["cost"].to_pylist()
    assert served
    assert not_served
    assert sorted(row["topic_id"] for row in (*served, *not_served)) == sorted(RATES)
    for row in (*served, *not_served):
        audience = sum(row["topic_id"] in topics for topics in INTERESTS.values())
        assert (int(row["rate"]), int(row["subscribers"])) == (RATES[row["topic_id"]], audience)
        assert int(row["cost"]) == RATES[row["topic_id"]] * audience


def test_pairs_are_placed_by_name(planned, rows) -> None:
    """Every subscriber gets topics that it wants, enough for its threshold, from VMs that exist."""
    plan = planned("provision")
    placed, vms = rows(plan, "placements"), rows(plan, "vms")
    assert {row["vm"] for row in placed} == {row["vm"] for row in vms}
    assert placed == sorted(placed, key=lambda row: (int(row["vm"]), row["topic_id"], row["subscriber_id"]))
    for subscriber, topics in INTERESTS.items():
        sent = [row["topic_id"] for row in placed if row["subscriber_id"] == subscriber]
        assert set(sent) <= set(topics)
        assert sum(RATES[topic] for topic in sent) >= min(4, sum(RATES[topic] for topic in topics))
    assert len(placed) == sum(int(row["pairs"]) for row in vms)


def test_topics_are_forwarded_by_name(planned, rows) -> None:
    """Every node gets each of its topics from a neighbour that has it too, except at the root."""
    plan = planned("overlay")
    links = {frozenset((row["node_id"], row["other_id"])) for row in rows(plan, "links")}
    forwarded = rows(plan, "forwarding")
    assert {(row["node_id"], row["topic_id"]) for row in forwarded} == {
        (node, topic) for node, topics in INTERESTS.items() for topic in topics
    }
    roots = {row["topic_id"]: row["root_id"] for row in rows(plan, "topics")}
    for row in forwarded:
        if row["parent_id"]:
            assert frozenset((row["node_id"], row["parent_id"])) in links
            assert row["topic_id"] in INTERESTS[row["parent_id"]]
        else:
            assert roots[row["topic_id"]] == row["node_id"]
    assert sum(not row["parent_id"] for row in forwarded) == len({row["topic_id"] for row in forwarded})
    assert roots["é"] == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_formats_hold_the_same(cli, planned, tmp_path: Path, family: str) -> None:
    """CSV, JSON lines and Parquet have the columns and rows of the table; the format follows the name of the file."""
    plan = planned(family)
    for table, described in family_named(family).exports.items():
        paths = {ending: tmp_path / f"{table}.{ending}" for ending in ("csv", "jsonl", "parquet")}
        for path in paths.values():
            answer = cli("export", plan, "--table", table, "--out", path)
            assert (answer.code, f"written to {path}" in answer.out) == (0, True), answer.err
        read = read_parquet(paths["parquet"])
        assert read.schema.equals(described.schema)
        assert [json.loads(line) for line in paths["jsonl"].read_text().splitlines()] == read.to_pylist()
        with open(paths["csv"], newline="") as handle:
            header, *lines = csv.reader(handle)
        assert header == described.schema.names
        assert lines == [[_in_csv(value) for value in row.values()] for row in read.to_pylist()]
        assert cli("export", plan, "--table", table, "--format", "json").out == paths["jsonl"].read_text()


def _in_csv(value: Any) -> str:
    return "" if value is None else str(value)


def test_what_cannot_be_exported(cli, planned, tmp_path: Path, workload: Workload, make_workload) -> None:
    """A sentence, an exit code and no file."""
    plan, out = planned("select"), tmp_path / "table.csv"
    other = make_workload({"a": 1}, {"x": ["a"]})
    for options, code, said in (
        ([], 2, "Name a table with --table: plans of select have served, not-served."),
        (["--table", "serve"], 2, "Did you mean 'served'"),
        (["--table", "served", "--format", "xml"], 2, "no format 'xml'"),
        (["--table", "served", "--format", "parquet"], 2, "pass --out"),
        (["--table", "served", "--out", tmp_path / "table.xls"], 2, "pass --format"),
        (["--table", "served", "--out", plan / "table.csv"], 2, "contain each other"),
        (["--table", "served", "--out", workload.path / "table.csv"], 2, "contain each other"),
        (["--table", "served", "--out", out, "--workload", other.path], 5, "stale"),
    ):
        answer = cli("export", plan, *options)
        assert (answer.code, said in answer.err, answer.out) == (code, True, ""), answer.err
    assert not out.exists()
    out.write_text("precious")
    assert cli("export", plan, "--table", "served", "--out", out).code == 2
    assert out.read_text() == "precious"
    assert cli("export", plan, "--table", "served", "--out", out, "--replace").code == 0
    assert out.read_text().startswith("topic_id,rate,subscribers,cost\n")


def test_exports_are_whole_or_absent(cli, planned, tmp_path: Path, monkeypatch) -> None:
    """A failure on the way leaves neither the file nor a part of it."""
    plan = planned("select")
    before = sorted(tmp_path.iterdir())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    answer = cli("export", plan, "--table", "served", "--out", tmp_path / "table.csv")
    assert (answer.code, "No space left" in answer.err) == (2, True)
    assert sorted(tmp_path.iterdir()) == before


def test_unverified_plans_are_exported_with_a_note(cli, planned) -> None:
    """The rows are on stdout, the note on stderr."""
    answer = cli("export", planned("select", "--no-verify"), "--table", "served")
    assert (answer.code, "NOT verified" in answer.err, "verified" in answer.out) == (0, True, False)
