"""``--time-limit``: methods that can stop early do, and all others are ended like Ctrl-C ends them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import pubplan
from pubplan.cli import plan as plan_command
from pubplan.errors import InputError, NotApplicable
from pubplan.problems import FAMILIES, family_named
from pubplan.problems.select import FAMILY, Problem, solve
from pubplan.workload import Workload

SLOW = """
import hashlib, sys
from dataclasses import replace
from pubplan.cli import main
from pubplan.problems.select import FAMILY

def run(problem, parameters, seed, spark):
    print("computing", file=sys.stderr, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in compiled code, where no signal is handled

FAMILY.methods["greedy-fb3m"] = replace(FAMILY.methods["greedy-fb3m"], run=run)
main.main()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    shape = pubplan.generate.spotify(0.001)
    return pubplan.generate.generate(shape, tmp_path_factory.mktemp("made") / "workload")


def sleep(problem, parameters, seed, spark):
    """A method that takes its time."""
    for _ in range(600):
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("select", ["--objective", "b3m", "--method", "improved-b3m", "--set", "rounds=10000", "--time-limit", "1s"]),
        ("overlay", ["--set", "effort=1000", "--time-limit", "0.001s"]),
        ("provision", ["--threshold", "10", "--set", "rounds=20", "--time-limit", "0.001"]),
    ],
)
def test_the_best_plan_so_far(cli, made: Workload, tmp_path: Path, family: str, options: list[str]) -> None:
    """It is verified like any other, says that it was stopped, and that it may differ from run to run."""
    asked = ["--threshold", 27, "--capacity", "10%"] if family == "select" else []
    answer = cli(family, made.path, *asked, *options, "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    assert "was stopped by its time limit of" in answer.out
    record = pubplan.read_plan(tmp_path / "plan").record
    assert (record["deterministic"], record["verified"]) == (False, True)
    assert "time limit" in [reason["limit"] for reason in record["reasons"]]
    assert cli("verify", tmp_path / "plan").code == 0
    again = cli("verify", tmp_path / "plan", "--replan")
    assert (again.code, "stopped by a clock" in again.err) == (2, True)


def test_a_limit_that_is_not_reached(cli, made: Workload) -> None:
    """The plan is the same as without, but does not promise to be: on a slower machine it would be another."""
    options = ["overlay", made.path, "--json", "--quiet"]
    limited, unlimited = (json.loads(cli(*options, *more).out) for more in (["--time-limit", "10min"], []))
    assert (limited["deterministic"], unlimited["deterministic"]) == (False, True)
    assert limited["objective"] == unlimited["objective"]
    assert limited["reasons"] == unlimited["reasons"]


@pytest.mark.parametrize("stops_early", [False, True])
def test_methods_that_do_not_stop(cli, made: Workload, tmp_path: Path, monkeypatch, stops_early: bool) -> None:
    """Nothing is written, exit code 124, and a sentence says which methods stop early; also in JSON."""
    monkeypatch.setattr(plan_command, "GRACE_SECONDS", 0.2)
    method = replace(FAMILY.methods["greedy-fb3m"], run=sleep, stops_early=stops_early)
    monkeypatch.setitem(FAMILY.methods, "greedy-fb3m", method)
    options = ["--threshold", 27, "--capacity", "10%", "--time-limit", "0.3s", "--out", tmp_path / "plan"]
    started = time.monotonic()
    answer = cli("select", made.path, *options, "--json", "--quiet")
    assert time.monotonic() - started < 30
    assert answer.code == 124
    assert "greedy-fb3m had no plan after 0.3 seconds (--time-limit)." in answer.err
    assert "stop early with the best plan so far:" in answer.err
    assert "improved-b3m, exact" in answer.err
    assert json.loads(answer.out)["error"]["kind"] == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_tables_have_a_limit_too(cli, made: Workload, monkeypatch) -> None:
    """A table of several capacities is ended as a whole."""
    monkeypatch.setitem(FAMILY.methods, "greedy-fb3m", replace(FAMILY.methods["greedy-fb3m"], run=sleep))
    options = ["--threshold", 27, "--capacity", "5%,10%", "--time-limit", "0.3s"]
    answer = cli("select", made.path, *options, "--quiet")
    assert (answer.code, "The table was not complete after 0.3 seconds" in answer.err) == (124, True)


def test_compiled_code_is_ended_too(made: Workload, tmp_path: Path) -> None:
    """Where the main thread handles no signal, the process ends within seconds of the limit nevertheless."""
    options = [
        "--threshold",
        "27",
        "--capacity",
        "10%",
        "--time-limit",
        "5s",
        "--out",
        str(tmp_path / "plan"),
        "--quiet",
    ]
    command = [sys.executable, "-c", SLOW, "select", str(made.path), *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 124
    assert "computing" in run.stderr
    assert "had no plan after 5 seconds (--time-limit)" in run.stderr
    assert run.stderr.endswith("Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_limits_in_python(made: Workload) -> None:
    """The same seconds as an argument; what cannot stop early is refused, for nothing ends it from outside."""
    problem = Problem(made, "10%", 27, "b3m")
    result = solve(problem, "improved-b3m", parameters={"rounds": 10_000}, time_limit=0.5)
    assert not result.plan.record["deterministic"]
    assert result.reasons[-1].limit == "time limit"
    assert solve(problem, "exact", time_limit=5).plan.record["parameters"]["time_limit"] == 5
    with pytest.raises(NotApplicable, match=r"greedy-b3m cannot stop early.*improved-b3m, exact"):
        solve(problem, "greedy-b3m", time_limit=5)
    with pytest.raises(InputError, match="longer than 0 seconds, not 0"):
        solve(problem, "improved-b3m", time_limit=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_methods_that_stop(family: str) -> None:
    """The default methods of provision, overlay and assign do; in select two others."""
    names = {method.name for method in family_named(family).methods.values() if method.stops_early}
    assert names & {"exact", "joint+level", "dcbr-repair", "refined", "local-moves"}
