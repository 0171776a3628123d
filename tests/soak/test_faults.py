"""Processes that are killed or interrupted: nothing half-written opens, nothing keeps running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import pubplan
from pubplan.errors import InputError

pytestmark = pytest.mark.soak

# Listens to Ctrl-C also where the tests themselves run in the background and therefore do not.
SCRIPT = """
import signal
from pubplan.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def family_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def wait_for_ready(directory: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not list(directory.glob(pattern)):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def assert_all_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert alive == []


@pytest.mark.parametrize("master", [None, "local[2]"])
def test_kill_9_while_generating(tmp_path: Path, master: str | None) -> None:
    """A generator killed between two blocks leaves no workload, and no Java or Python worker."""
    options = ["--master", master] if master else []
    process = start("generate", "spotify", "--scale", 1, "--out", tmp_path / "workload", *options)
    wait_for_ready(tmp_path, ".workload.*.tmp/interests/*.parquet", process)
    children = family_of(process)
    assert bool(children) == bool(master)
    process.kill()
    process.communicate()
    assert_all_gone(children)
    with pytest.raises(InputError, match="no workload directory"):
        pubplan.read_workload(tmp_path / "workload")
    left = list(tmp_path.glob(".workload.*.tmp"))
    assert len(left) == 1
    with pytest.raises(InputError, match="not a workload"):
        pubplan.read_workload(left[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
@pytest.mark.parametrize("master", [None, "local[2]"])
def test_interrupting_cleans_up(tmp_path: Path, master: str | None, number: int) -> None:
    """Ctrl-C or a terminate signal ends with 130, leaves no file and no process."""
    options = ["--master", master] if master else []
    process = start("generate", "spotify", "--scale", 1, "--out", tmp_path / "workload", *options)
    wait_for_ready(tmp_path, ".workload.*.tmp/interests/*.parquet", process)
    children = family_of(process)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "pubplan: interrupted; nothing was written." in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
    assert_all_gone(children)


def test_an_interrupted_replacement_keeps_the_old_workload(tmp_path: Path) -> None:
    """--replace touches the old workload only when the new one is complete."""
    old = pubplan.generate.generate(pubplan.generate.spotify(0.001), tmp_path / "workload").digest
    process = start("generate", "spotify", "--scale", 1, "--out", tmp_path / "workload", "--replace")
    wait_for_ready(tmp_path, ".workload.*.tmp/interests/*.parquet", process)
    process.kill()
    process.communicate()
    assert pubplan.read_workload(tmp_path / "workload").digest == old


def test_kill_9_at_many_moments_of_planning(tmp_path: Path) -> None:
    """Whenever a planner dies, its plan is absent or whole and verified."""
    workload = pubplan.generate.generate(pubplan.generate.spotify(0.2), tmp_path / "workload")
    options = ["select", workload.path, "--threshold", 27, "--capacity", "10%", "--out"]
    start_time = time.monotonic()
    start(*options, tmp_path / "undisturbed").communicate()
    duration = time.monotonic() - start_time
    assert pubplan.read_plan(tmp_path / "undisturbed").record["verified"] is True
    moments = [duration * share / 10 for share in range(1, 13)]
    for number, moment in enumerate(moments):
        out = tmp_path / f"plan-{number}"
        process = start(*options, out)
        time.sleep(moment)
        process.kill()
        process.communicate()
        if out.exists():
            plan = pubplan.read_plan(out)
            assert plan.record["verified"] is True
            plan.check()
    assert not (tmp_path / "plan-0").exists(), "the first kill came too late to mean anything"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_interrupting_a_solver(tmp_path: Path, number: int) -> None:
    """A signal in the middle of a linear program ends within seconds and leaves no plan."""
    workload = pubplan.generate.generate(pubplan.generate.spotify(0.01), tmp_path / "workload")
    options = ["--threshold", 276, "--capacity", "10%", "--objective", "b3m", "--method", "exact"]
    process = start("select", workload.path, *options, "--out", tmp_path / "plan")
    assert process.stderr is not None
    while "searching all plans" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(3)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "pubplan: interrupted; nothing was written." in errors
    assert [path.name for path in tmp_path.iterdir()] == ["workload"]


@pytest.mark.parametrize(
    "stage",
    ["starting Spark", "counting events", "cleaning subscriptions", "grouping by subscriber", "writing interests"],
)
def test_interrupting_an_ingest(tmp_path: Path, stage: str) -> None:
    """Ctrl-C in any stage ends with 130 and without a traceback; no file and no process is left."""
    raw, temporary = tmp_path / "raw", tmp_path / "tmp"
    temporary.mkdir()
    raw.mkdir()
    (raw / "events.csv").write_text("topic,timestamp\n" + "".join(f"t{n % 1000},{n}\n" for n in range(3_000_000)))
    pairs = "".join(f"s{n // 5},t{n * 7919 % 1000}\n" for n in range(2_000_000))
    (raw / "subscriptions.csv").write_text("subscriber,topic\n" + pairs)
    sources = ["--events", raw / "events.csv", "--subscriptions", raw / "subscriptions.csv"]
    command = [sys.executable, "-c", SCRIPT, "ingest", *map(str, sources), "--out", str(tmp_path / "workload")]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    said = ""
    while stage not in said:
        letter = process.stderr.read(1)
        assert letter, said
        said += letter
    time.sleep(0.3)
    children = family_of(process)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "pubplan: interrupted; nothing was written." in errors
    assert "Traceback" not in errors
    assert "py4j" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw", "tmp"]
    assert list(temporary.iterdir()) == []
    assert_all_gone(children)
