"""Ctrl-C and terminate signals end commands, also where the main thread is in compiled code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STUCK = """
import signal, subprocess, sys, threading
import numba, numpy
from pubplan.cli import interruption
from pubplan.cli.main import main
from pubplan.planning import solve

@numba.njit(nogil=True)
def spin(values):
    while values[0] >= 0:
        values[0] += 1
    return values[0]

def plan_into(directory, *_):
    (directory / "half").write_text("of a plan")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    spin(-numpy.ones(1))
    # By then the main thread is in the kernel.
    threading.Timer(1, lambda: print(f"stuck {child.pid}", flush=True)).start()
    spin(numpy.zeros(1))

solve.plan_into = plan_into
interruption.PATIENCE_SECONDS = 0.5
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_a_running_kernel_is_left(make_workload, tmp_path: Path, number: int) -> None:
    """A signal in the middle of a kernel that never returns ends with 130; no file and no process is left."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    workload = make_workload({"a": 1, "b": 2}, {"x": ["a", "b"]})
    options = ["select", str(workload.path), "--threshold", "1", "--capacity", "2", "--out", str(tmp_path / "plan")]
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stdout is not None
    word, _, child = process.stdout.readline().partition(" ")
    assert word == "stuck"
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "pubplan: interrupted; nothing was written."
    assert "Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tmp", workload.path.name]
    assert list(temporary.iterdir()) == []
    assert not _runs(int(child))


def _runs(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_what_was_complete_is_named(cli, tmp_path: Path, monkeypatch) -> None:
    """A command that is interrupted after its first output says that this one is there."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pubplan.generate.write_raw", interrupt)
    out = tmp_path / "workload"
    answer = cli(
        "generate", "uniform", "--nodes", 5, "--topics", 4, "--sizes", 2, "--out", out, "--raw", tmp_path / "raw"
    )
    assert answer.code == 130
    assert answer.err.splitlines()[-1].startswith("pubplan: interrupted; complete: ")
    assert str(out) in answer.err
