"""A real multi-process Spark: the same answers as one process, also when an executor dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pubplan.engine import map_blocks, spark_session
from pubplan.generate import content_exchange, content_newsgroups, generate, spotify, twitter, uniform, write_raw
from pubplan.pipeline import Ingest, Source, TimeWindow, ingest
from pubplan.problems import assign, federate, overlay, provision
from pubplan.problems.select import Problem, solve, verify

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def cluster():
    """Two executors in processes of their own."""
    with spark_session("local-cluster[2,1,1024]") as session:
        yield session


def executors() -> list[psutil.Process]:
    running = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may end while we look
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                running.append(process)
    return running


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


@pytest.mark.parametrize("objective", ["fb3m", "b3m"])
def test_thresholds_on_the_cluster(cluster, tmp_path: Path, objective: str) -> None:
    """Scale 0.1, a tenth of the interests at a time: within 1 % of the greedy, the same digest as in one process, also
    when an executor is killed on the way.
    """
    problem = Problem(generate(spotify(0.1), tmp_path / "workload"), "10%", 276, objective)
    options = {"parameters": {"pairs": problem.workload.counts.pairs // 10}, "bound": "none"}
    alone = solve(problem, f"blockwise-{objective}", **options)
    assert alone.objective >= 0.99 * solve(problem, f"greedy-{objective}", bound="none").objective
    with Killer(after(3.0)) as killer:
        together = solve(problem, f"blockwise-{objective}", **options, spark=cluster)
    assert killer.has_killed
    assert together.plan.digest == alone.plan.digest


@pytest.mark.parametrize(
    "seen", [".fleet.*/.work-*/*/lengths-*.npy", ".fleet.*/decisions/placements/*.parquet"], ids=["choosing", "placing"]
)
def test_fleets_on_the_cluster(cluster, tmp_path: Path, seen: str) -> None:
    """An executor killed while pairs are chosen, or while they are placed: the digest of one process."""
    workload = generate(twitter(0.02), tmp_path / "workload")
    problem = provision.Problem(workload, ["paper-2013/c3.large"], threshold=100, peak_factor=20_000)
    alone = provision.solve(problem)
    assert alone.plan.decisions(provision.VMS).num_rows > 20
    with Killer(lambda: bool(list(tmp_path.glob(seen)))) as killer:
        together = provision.solve(problem, out=tmp_path / "fleet", spark=cluster)
    assert killer.has_killed
    assert together.plan.digest == alone.plan.digest
    assert provision.verify(problem, together.plan, cluster).ok


def test_overlays_on_the_cluster(cluster, tmp_path: Path) -> None:
    """An executor killed while parts are conquered: the digest of one process."""
    problem = overlay.Problem(generate(uniform(12_000, 1200), tmp_path / "workload"))
    options = {"method": "dcbr-repair", "parameters": {"parts": 12}}
    alone = overlay.solve(problem, **options)
    with Killer(after(2.0)) as killer:
        together = overlay.solve(problem, **options, spark=cluster)
    assert killer.has_killed
    assert together.plan.digest == alone.plan.digest
    assert overlay.verify(problem, together.plan, cluster).ok


def test_assignments_on_the_cluster(cluster, tmp_path: Path) -> None:
    """An executor killed when the first assignments are on disk, before all are verified: the digest of one process."""
    workload = generate(content_newsgroups(400_000, 60), tmp_path / "workload", spark=cluster)
    asked = {"max_delay": "0.3", "load": 2, "max_load": 3}
    alone = assign.solve(assign.Problem(workload, **asked), "gr-star")
    problem = assign.Problem(workload, **asked)
    with Killer(lambda: bool(list(tmp_path.glob(".plan.*/decisions/assignments/*.parquet")))) as killer:
        together = assign.solve(problem, "gr-star", out=tmp_path / "plan", spark=cluster)
    assert killer.has_killed
    assert together.plan.digest == alone.plan.digest
    assert assign.verify(problem, together.plan, cluster).ok


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("steiner-mixing", {}), ("local-moves", {"steps": 20_000, "kicks": 0})],
    ids=["mixing", "moves"],
)
def test_federations_on_the_cluster(cluster, tmp_path: Path, method: str, parameters: dict[str, int]) -> None:
    """An executor killed while clients are read and trees of channels are made, another when the first attachments are
    on disk, before all are verified: the digest of one process.
    """
    workload = generate(content_exchange(70_000, 40), tmp_path / "workload", spark=cluster)
    options = {"parameters": parameters, "bound": "access"}
    alone = federate.solve(federate.Problem(workload), method, **options)
    problem = federate.Problem(workload)
    with (
        Killer(after(1.0)) as first,
        Killer(lambda: bool(list(tmp_path.glob(".plan.*/decisions/attachments/*.parquet")))) as second,
    ):
        together = federate.solve(problem, method, **options, out=tmp_path / "plan", spark=cluster)
    assert first.has_killed
    assert second.has_killed
    assert together.plan.digest == alone.plan.digest
    assert federate.verify(problem, together.plan, cluster).ok


class Killer:
    """Kills one executor while the body runs, as soon as a condition holds."""

    def __init__(self, condition: Callable[[], bool]) -> None:
        self._condition = condition
        self._thread = threading.Thread(target=self._kill)
        self._is_over = threading.Event()
        self.has_killed = False

    def _kill(self) -> None:
        while not self._is_over.wait(0.02):
            running = executors() if self._condition() else []
            if running:
                running[0].kill()
                self.has_killed = not self._is_over.is_set()
                return

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()


def after(seconds: float) -> Callable[[], bool]:
    start = time.monotonic()
    return lambda: time.monotonic() - start > seconds


def test_killed_executors_change_nothing(cluster, tmp_path: Path) -> None:
    """kill -9 of an executor in the middle of generating, ingesting, planning and verifying: the same digests."""
    shape = spotify(0.05, seed=2)
    expected = generate(shape, tmp_path / "expected")

    with Killer(lambda: bool(list(tmp_path.glob(".generated.*/interests/*.parquet")))) as killer:
        generated = generate(shape, tmp_path / "generated", spark=cluster)
    assert killer.has_killed
    assert generated.digest == expected.digest

    # Rates instead of events: at this size a trace would have 150 million of them.
    write_raw(shape, tmp_path / "raw", with_events=False)
    job = Ingest(
        Source("rates", str(tmp_path / "raw" / "rates")),
        Source("subscriptions", str(tmp_path / "raw" / "subscriptions")),
        TimeWindow.parse(shape.window.start, shape.window.end),
    )
    with Killer(lambda: bool(list(tmp_path.glob(".ingested.*/scratch/pairs/*")))) as killer:
        ingested = ingest(cluster, job, tmp_path / "ingested")
    assert killer.has_killed
    assert ingested.digest == expected.digest

    plan = solve(Problem(expected, "10%", 27)).plan
    problem = Problem(ingested, "10%", 27)
    _ = problem.instance
    with Killer(after(5.0)) as killer:  # in the middle of the bound's steps
        assert solve(problem, spark=cluster).plan.digest == plan.digest
    assert killer.has_killed
    with Killer(after(0.1)) as killer:
        assert verify(problem, plan, cluster).ok
    assert killer.has_killed


def test_a_pass_over_blocks_survives(cluster) -> None:
    """Tasks of a killed executor run again: every result arrives once, in order."""

    def slow(block: int) -> int:
        time.sleep(0.2)
        return block * block

    with Killer(after(3.0)) as killer:
        assert list(map_blocks(slow, 64, cluster)) == [block * block for block in range(64)]
    assert killer.has_killed
