"""A real multi-process Spark: the same answers as one process, also when an executor dies."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pubplan.engine import map_blocks, spark_session
from pubplan.generate import generate, spotify
from pubplan.problems.select import Problem, solve, verify

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def cluster():
    """Two executors in processes of their own."""
    with spark_session("local-cluster[2,1,1024]") as session:
        yield session


def executors() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may end while we look
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                found.append(process)
    return found


def test_the_cluster_gives_the_digests_of_one_process(cluster, tmp_path: Path) -> None:
    """Generate, select and verify over two executors."""
    shape = spotify(0.1)
    alone = generate(shape, tmp_path / "alone")
    together = generate(shape, tmp_path / "together", spark=cluster)
    assert together.digest == alone.digest
    together.check(cluster)
    first, second = Problem(alone, "10%", 27), Problem(together, "10%", 27)
    plan = solve(second, spark=cluster).plan
    assert plan.digest == solve(first).plan.digest
    assert verify(first, plan, cluster) == verify(first, plan)


def test_a_killed_executor_changes_nothing(cluster) -> None:
    """kill -9 of an executor in the middle of a pass: its tasks run again, every result arrives once, in order."""
    before = executors()
    assert len(before) == 2

    def slow(block: int) -> int:
        time.sleep(0.2)
        return block * block

    killer = threading.Timer(3.0, before[0].kill)
    killer.start()
    assert list(map_blocks(slow, 64, cluster)) == [block * block for block in range(64)]
    killer.join()
    assert before[0].pid not in [process.pid for process in executors()]
