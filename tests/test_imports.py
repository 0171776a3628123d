"""What importing a part of pubplan does not bring along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pubplan.problems import FAMILIES


@pytest.mark.parametrize(
    "module",
    ["workload", "planning.solve", "problems", *(f"problems.{name}.family" for name in FAMILIES)]
    + [f"{part}.{name}" for part in ("pages", "reproduce") for name in FAMILIES],
)
def test_spark_is_not_imported(module: str) -> None:
    """Reading workloads, planning, pages and reproductions start without PySpark; it is imported when it is used."""
    script = f"import sys, pubplan.{module}; print(sorted({{name.split('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'pyspark'" not in run.stdout


def test_sources_are_refused_without_what_reads_them(tmp_path: Path) -> None:
    """What is wrong with a path or a header is said before solvers, pandas or Spark are imported."""
    (tmp_path / "events.csv").write_text("topc,timestamp\nnews,2026-01-01T00:00:00Z\n", encoding="utf-8")
    (tmp_path / "fans.csv").write_text("subscriber,topic\nann,news\n", encoding="utf-8")
    sources = ["--events", str(tmp_path / "events.csv"), "--subscriptions", str(tmp_path / "fans.csv")]
    arguments = ["ingest", *sources, "--out", str(tmp_path / "workload")]
    script = f"import sys; from pubplan.cli.main import run; print(run({arguments})); print('imported', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, _, imported = run.stdout.partition("imported ")
    assert code == "2\n"
    assert "has no column 'topic'" in run.stderr
    assert {"scipy.sparse", "pyspark", "pandas"} & set(imported.split()) == set()


@pytest.mark.parametrize("arguments", [["methods"], ["methods", "select", "--json"]])
def test_methods_are_listed_without_what_plans(arguments: list[str]) -> None:
    """The list is static: neither arrays, compilers, solvers nor tables are imported for it."""
    script = f"import sys; from pubplan.cli.main import run; run({arguments}); print('imported', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    listed, _, imported = run.stdout.rpartition("imported ")
    assert "greedy-fb3m" in listed
    assert {"numpy", "numba", "scipy", "pyarrow", "pyspark", "pandas"} & set(imported.split()) == set()
