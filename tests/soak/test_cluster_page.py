"""The page about clusters does what it says: its commands run as they are printed, and other file systems work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import pubplan
from pubplan.engine import spark_session
from pubplan.pipeline import Ingest, Source, ingest

pytestmark = pytest.mark.soak

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md"


def commands() -> str:
    printed = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(printed) == 1
    return printed[0]


def session_of(leader: int) -> list[psutil.Process]:
    """The shell's session: the shell, the master, the worker, and the commands."""
    members = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == leader:
                members.append(process)
    return members


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """In a shell with the environment's programs and no Spark or Java variables: every command succeeds, everything
    ends with the last one, and the cluster gives the digests of this process.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "JAVA", "PYSPARK"))}
    environment = {**kept, "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}"}
    script = f"set -e\n{commands()}wait\n"
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", script], cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        assert process.wait(timeout=540) == 0, (tmp_path / "log").read_text()
        _, alive = psutil.wait_procs(session_of(process.pid), timeout=30)
        assert alive == []
    finally:
        for left in session_of(process.pid):
            left.kill()
    workload = pubplan.read_workload(tmp_path / "workload")
    assert workload.digest == pubplan.read_workload(tmp_path / "generated").digest
    problem = pubplan.select.Problem(workload, capacity="10%", threshold=5)
    assert pubplan.select.solve(problem).plan.digest == pubplan.read_plan(tmp_path / "plan").digest


def test_a_default_file_system_that_is_not_local(tmp_path: Path) -> None:
    """With a viewfs as Spark's default, sources by path and by address give one digest, rejected rows included."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "events.csv").write_text("topic,timestamp\n" + "".join(f"t{n % 7},{n}\n" for n in range(500)) + "x\n")
    (data / "subs.jsonl").write_text(
        "".join(f'{{"subscriber": "s{n % 40}", "topic": "t{n % 9}"}}\n' for n in range(300))
    )
    mounted = {
        "spark.hadoop.fs.defaultFS": "viewfs://cluster/",
        "spark.hadoop.fs.viewfs.mounttable.cluster.link./data": data.as_uri(),
    }
    digests = []
    with spark_session("local[2]", mounted) as spark:
        for number, base in enumerate((str(data), "viewfs://cluster/data")):
            sources = Source("events", f"{base}/events.csv"), Source("subscriptions", f"{base}/subs.jsonl")
            job = Ingest(*sources, max_rejected=0.5)
            digests.append(ingest(spark, job, tmp_path / f"w{number}").digest)
    assert digests[0] == digests[1]
    assert pubplan.read_workload(tmp_path / "w0").counts.rejected == {"malformed": 1, "unknown_topic": 66}
