"""What importing a part of pubplan does not bring along."""

from __future__ import annotations

import subprocess
import sys

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


@pytest.mark.parametrize("arguments", [["methods"], ["methods", "select", "--json"]])
def test_methods_are_listed_without_what_plans(arguments: list[str]) -> None:
    """The list is static: neither arrays, compilers, solvers nor tables are imported for it."""
    script = f"import sys; from pubplan.cli.main import run; run({arguments}); print('imported', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    listed, _, imported = run.stdout.rpartition("imported ")
    assert "greedy-fb3m" in listed
    assert {"numpy", "numba", "scipy", "pyarrow", "pyspark", "pandas"} & set(imported.split()) == set()
