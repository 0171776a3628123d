"""What ``import pubplan`` offers: functions, families as modules, and nothing else in ``dir``."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import pubplan
from pubplan.problems import FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_modules_of_pubplan(name: str) -> None:
    """``import pubplan.select`` and ``from pubplan import select`` give the same module as the package itself."""
    family = import_module(f"pubplan.{name}")
    assert family is getattr(pubplan, name)
    assert family is import_module(f"pubplan.problems.{name}")
    assert set(dir(family)) == set(family.__all__)
    assert not [each for each in dir(family) if each.startswith("_")]


def test_public_functions_are_functions() -> None:
    """No package of the house hides one, whatever was imported before."""
    import pubplan.pages

    for name in ("ingest", "describe", "explain", "diff", "report", "export"):
        assert getattr(pubplan, name).__name__ == name
        assert name in dir(pubplan)


def test_importing_is_cheap() -> None:
    """Families are known as modules without loading what they plan with."""
    script = "import sys, pubplan.select; print(sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"'numpy'", "'pyarrow'", "'numba'", "'pyspark'"} & set(run.stdout.strip("[]\n").split(", "))
