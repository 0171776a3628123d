"""``report`` and ``export``: pages and tables from plans in any form."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.errors import InputError, VerificationFailed
from pubplan.planning import Result
from pubplan.workload import TopicWorkload


@pytest.fixture
def workload(make_workload) -> TopicWorkload:
    interests = {"ann": ["news"], "bob": ["news", "sport"], "cat": ["news", "sport"], "dan": ["chess"]}
    return make_workload({"chess": 2, "news": 3, "sport": 5}, interests)


@pytest.fixture
def result(workload: TopicWorkload, tmp_path: Path) -> Result:
    return pubplan.select.solve(pubplan.select.Problem(workload, capacity=9, threshold=3), out=tmp_path / "plan")


@pytest.fixture
def fleet(workload: TopicWorkload) -> Result:
    return pubplan.provision.solve(pubplan.provision.Problem(workload, threshold=3, window_seconds=3600))


def test_tables_have_ids(fleet: Result) -> None:
    """Who gets what from where, by names; tables in blocks too."""
    rows = pubplan.export(fleet, "placements").to_pylist()
    pairs = {(row["topic_id"], row["subscriber_id"]) for row in rows}
    assert pairs == {("news", "ann"), ("news", "bob"), ("news", "cat"), ("chess", "dan")}


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_files_are_what_the_command_writes(cli, result: Result, tmp_path: Path, name: str) -> None:
    """The same bytes, and the number of rows."""
    written = pubplan.export(result, "not-served", out=tmp_path / name)
    assert (written.path, written.num_rows) == (tmp_path / name, 2)
    other = tmp_path / f"other-{name}"
    assert cli("export", result.plan.path, "--table", "not-served", "--out", other).code == 0
    assert other.read_bytes() == written.path.read_bytes()


def test_empty_tables_keep_their_columns(workload: TopicWorkload) -> None:
    """A plan that serves nothing has a table without rows."""
    nothing = pubplan.select.solve(pubplan.select.Problem(workload, capacity=0, threshold=3))
    table = pubplan.export(nothing, "served")
    assert isinstance(table, pa.Table)
    assert (table.num_rows, table.column_names) == (0, ["topic_id", "rate", "subscribers", "cost"])


def test_export_refuses_in_python(result: Result, tmp_path: Path) -> None:
    """Unknown tables and formats come with what there is; files are not overwritten unasked."""
    with pytest.raises(InputError, match=r"^Name a table with table: plans of select have served, not-served"):
        pubplan.export(result)
    with pytest.raises(InputError, match="Did you mean 'served'"):
        pubplan.export(result, "serve")
    with pytest.raises(InputError, match="pass format, one of csv, json, parquet"):
        pubplan.export(result, "served", out=tmp_path / "served.txt")
    out = tmp_path / "served.parquet"
    pubplan.export(result, "served", out=out)
    with pytest.raises(InputError, match="pass replace=True to overwrite a file"):
        pubplan.export(result, "served", out=out)
    pubplan.export(result, "not-served", out=out, replace=True)
    assert pq.read_table(out)["topic_id"].to_pylist() == ["chess", "sport"]
    with pytest.raises(InputError, match="must not contain each other"):
        pubplan.export(result, "served", out=result.plan.path / "served.csv")


def test_a_page_of_everything(result: Result, fleet: Result, workload: TopicWorkload, tmp_path: Path) -> None:
    """Results, paths, workloads and what-if files in one list; one alone needs no list."""
    cases = [case.to_dict() for case in pubplan.provision.what_if(workload, thresholds=[1, 3], window_seconds=3600)]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    page = pubplan.report([result, fleet.plan, workload, tmp_path / "cases.json"], tmp_path / "page.html")
    assert page.num_bytes == page.path.stat().st_size
    assert "1 comparison, 2 plans with bounds and verdicts, 1 workload described" in page.path.read_text()
    assert f'href="{page.path}"' in page._repr_html_()
    with pytest.raises(InputError, match="pass replace=True"):
        pubplan.report(result, page.path)
    assert pubplan.report(str(result.plan.path), page.path, replace=True).num_bytes < page.num_bytes
    with pytest.raises(InputError, match="is not a table of cases"):
        pubplan.report(result.plan.path / "plan.json", tmp_path / "other.html")


def test_changed_plans_have_no_page(result: Result, tmp_path: Path) -> None:
    """A plan whose file was changed is refused."""
    plan_file = result.plan.path / "plan.json"
    plan_file.write_text(plan_file.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(VerificationFailed):
        pubplan.report(result.plan.path, tmp_path / "page.html")
