"""What is compiled ahead is what commands need, and compiling that has to be done anyway is announced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import pubplan
from pubplan.cli.compile import QUESTIONS
from pubplan.cli.progress import COMPILING, showing_progress
from pubplan.problems import FAMILIES

SESSION = """
import json, sys
from pubplan.cli.main import run
from pubplan.kernels.decorator import compiled_kernels

def signatures():
    return {f"{one.__module__}.{one.__name__}{signature}" for one in compiled_kernels() for signature in one.signatures}

assert run(["compile", "--quiet"]) == 0
before = signatures()
for command in json.loads(sys.argv[1]):
    assert run([*command, "--quiet"]) == 0, command
print(json.dumps([len(before), sorted(signatures() - before)]))
"""


def test_commands_need_nothing_but_what_is_compiled_ahead(tmp_path: Path) -> None:
    """After ``pubplan compile``, planning, verifying, explaining and comparing call no kernel with other types."""
    workload, nodes = str(tmp_path / "workload"), str(tmp_path / "nodes")
    served = str(tmp_path / "select")
    whole = ["--threshold", "3", "--capacity", "5%", "--objective", "b3m"]
    tiny = str(tmp_path / "tiny")  # one subscriber asks for several topics
    pubplan.build_workload(tiny, {"a": 2, "b": 1}, {"ann": ["a", "b"], "bob": ["b"]})
    weighted = str(tmp_path / "weighted")
    fans = {f"s{number}": ["a", "b", "c"][number % 3 :] for number in range(9)}
    pubplan.build_workload(weighted, {"a": 3, "b": 2, "c": 1}, fans, weights=dict.fromkeys(fans, 2))
    commands = [
        ["select", tiny, "--threshold", "2", "--capacity", "60%"],
        ["select", tiny, "--threshold", "2", "--capacity", "60%", "--objective", "b3m"],
        ["select", weighted, "--threshold", "2", "--capacity", "60%"],
        ["select", weighted, "--threshold", "2", "--capacity", "60%", "--objective", "b3m"],
        ["generate", "spotify", "--scale", "0.002", "--out", workload],
        ["generate", "zipf", "--nodes", "300", "--topics", "100", "--out", nodes],
        ["describe", workload],
        ["select", workload, "--threshold", "27", "--capacity", "10%", "--out", served],
        ["select", workload, "--threshold", "27", "--satisfy", "60%", "--out", str(tmp_path / "least")],
        ["select", workload, *whole, "--out", str(tmp_path / "b3m")],
        ["verify", served, "--workload", workload],
        ["explain", served, "--topic", "t000000001"],
        ["provision", workload, "--threshold", "10", "--out", str(tmp_path / "fleet")],
        ["provision", workload, "--threshold", "10,100", "--vm-type", "c3.large"],
        ["overlay", nodes, "--out", str(tmp_path / "overlay")],
    ]
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    script = [sys.executable, "-c", SESSION, json.dumps(commands)]
    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    num_ahead, others = json.loads(answer.stdout.splitlines()[-1])
    assert num_ahead > 50
    assert others == []


def test_every_family_is_compiled_ahead() -> None:
    """There are questions to every family."""
    assert set(QUESTIONS) == set(FAMILIES)


def test_compiling_is_announced_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Kernels that are compiled while a command runs are announced in one line; compiled ones are not."""

    @numba.njit
    def double(values):
        return values * 2

    @numba.njit
    def triple(values):
        return double(values) + values

    values = np.arange(3)
    with showing_progress(quiet=False):
        assert triple(values).tolist() == [0, 3, 6]
        assert double(values.astype(np.float64)).tolist() == [0, 2, 4]
    assert capsys.readouterr().err == f"{COMPILING.label} …\n"
    with showing_progress(quiet=False):
        triple(values)
    assert capsys.readouterr().err == ""
