"""Measuring and refusing memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pubplan.engine import available_bytes, require_memory
from pubplan.errors import EngineError

LONG = 2.0
"""Seconds in which several samples are taken, also next to a Spark session whose memory takes long to read."""


def measured_alone(work: str) -> int:
    """How much the peak rises while ``work`` runs, in a process of its own.

    Other tests leave a Spark session here, whose memory comes and goes.
    """
    script = f"""
import subprocess, sys, time
import numpy as np
from pubplan.engine import MemoryMeter
with MemoryMeter(interval=0.01) as idle:
    time.sleep(0.05)
with MemoryMeter(interval=0.01) as meter:
    {work}
print(meter.peak_bytes - idle.peak_bytes)
"""
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return int(answer.stdout)


def test_the_meter_sees_this_process() -> None:
    """An array of 200 MB shows up in the peak, also when it is gone at the end."""
    assert 150e6 < measured_alone(f"block = np.ones(25_000_000); time.sleep({LONG}); del block") < 400e6


def test_the_meter_sees_children() -> None:
    """Memory of processes that this one started counts too; pages of libraries that others share count in part then."""
    held = "import time; held = bytearray(400_000_000); print('ready', flush=True); time.sleep(30)"
    work = (
        f"child = subprocess.Popen([sys.executable, '-c', {held!r}], stdout=subprocess.PIPE); child.stdout.readline(); "
        f"time.sleep({LONG}); child.kill(); child.wait()"
    )
    assert measured_alone(work) > 300e6


def test_too_much_is_refused_with_numbers() -> None:
    """A refusal says what for, how much is needed and how much there is."""
    require_memory(1, "nothing much")
    with pytest.raises(EngineError, match=r"for the moon: it needs 9223372036.85 GB"):
        require_memory(2**63, "the moon")


def test_a_container_limit_counts(monkeypatch, tmp_path) -> None:
    """Where a container allows less than the machine has, that is what is available."""
    monkeypatch.setattr("pubplan.engine.memory._CGROUP", tmp_path)
    (tmp_path / "memory.current").write_text("400\n")
    (tmp_path / "memory.max").write_text("1000\n")
    assert available_bytes() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() > 1000
