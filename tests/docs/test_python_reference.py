"""The page about Python is what the docstrings say, and what they say holds."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pubplan
from pubplan.problems import FAMILIES

SCRIPT = Path(__file__).parents[2] / "scripts" / "python_reference.py"

RUN = """
import doctest, runpy, sys
from pathlib import Path

script = runpy.run_path(sys.argv[1])
for name, content in script["FILES"].items():
    Path(name).write_text(content)
names = {"Path": Path}
exec(script["EXAMPLE"], names)
runner = doctest.DocTestRunner()
for test in script["examples"](names):
    runner.run(test, clear_globs=False)
print(runner.summarize(verbose=False))
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("python_reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(script: ModuleType) -> None:
    """'make docs' would write docs/python.md as it is."""
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_every_public_function_is_on_the_page(script: ModuleType) -> None:
    """What ``pubplan`` offers has an entry, except for the packages, which have headings."""
    packages = {"__version__", "generate", *FAMILIES}
    assert {f"pubplan.{name}" for name in set(pubplan.__all__) - packages} <= set(script.documented())
    assert [name for name in packages - {"__version__"} if f"\n## pubplan.{name}\n" not in script.page()] == []


def test_every_entry_is_a_contract(script: ModuleType) -> None:
    """Functions and classes of the page have an example, and functions say of every argument what it is."""
    for name, value in script.documented().items():
        text = inspect.getdoc(value) or ""
        assert doctest.DocTestParser().get_examples(text), name
        undescribed = [each for each in inspect.signature(value).parameters if not re.search(rf"\b{each}\b", text)]
        assert inspect.isclass(value) or undescribed == [], name


@pytest.mark.java
def test_examples_hold(tmp_path: Path) -> None:
    """Every example of the docstrings gives what it shows, each with the names that the page begins with."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", RUN, str(SCRIPT)]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "\nTestResults(failed=0, " in f"\n{run.stdout}", run.stdout + run.stderr
