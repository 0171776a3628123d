"""The package as people install it: a wheel in an environment of its own, away from the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
DATA = """
from importlib.resources import files
from pathlib import Path
import sys
import pubplan

assert Path(pubplan.__file__).is_relative_to(sys.prefix), pubplan.__file__
for package, name in (("engine", "log4j2.properties"), ("pages", "page.css"), ("pages", "page.js")):
    assert files(f"pubplan.{package}").joinpath(name).is_file(), name
assert files("pubplan").joinpath("py.typed").is_file()
"""


def call(*command: object, where: Path) -> str:
    """Run a command as a user would: nothing of this checkout is on its path."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([*map(str, command)], cwd=where, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_plans_outside_the_source_tree(tmp_path: Path) -> None:
    """A wheel builds and installs, and generates, plans, verifies and draws without the checkout."""
    call(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT, where=tmp_path
    )
    (wheel,) = (tmp_path / "dist").glob("pubplan-*.whl")
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    # Dependencies are those of this environment, so nothing is fetched; its own .pth files, which lead to the checkout,
    # have no effect from here.
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    python, pubplan = home / "bin" / "python", home / "bin" / "pubplan"
    call(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, where=tmp_path)
    call(python, "-c", DATA, where=tmp_path)
    assert call(pubplan, "--version", where=tmp_path).startswith("pubplan ")
    call(pubplan, "generate", "spotify", "--scale", "0.001", "--out", "workload", where=tmp_path)
    answer = call(
        pubplan, "select", "workload", "--threshold", "27", "--capacity", "10%", "--out", "plan", where=tmp_path
    )
    assert "Verified. Plan written to plan" in answer
    call(pubplan, "provision", "workload", "--threshold", "10", "--out", "fleet", where=tmp_path)
    call(pubplan, "report", "plan", "fleet", "--out", "page.html", where=tmp_path)
    assert "<!doctype html>" in (tmp_path / "page.html").read_text().lower()[:100]
