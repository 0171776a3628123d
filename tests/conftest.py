"""What all tests share: one Spark session, Hypothesis profiles, small workloads, the command line in process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import pubplan
from pubplan.cli.main import run
from pubplan.engine import spark_session
from pubplan.workload import Workload

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True, "derandomize": True}
settings.register_profile("test", max_examples=12, **_COMMON)
settings.register_profile("soak", max_examples=100, **_COMMON)
settings.load_profile(os.environ.get("PUBPLAN_EXAMPLES", "test"))

MakeWorkload = Callable[..., Workload]


@pytest.fixture(scope="session")
def spark():
    """The one embedded Spark session of a test run."""
    with spark_session("local[2]") as session:
        yield session


@pytest.fixture
def make_workload(tmp_path: Path) -> MakeWorkload:
    """Builds small workloads from plain values, each in a directory of its own."""
    numbers = count()

    def make(rates: Mapping[str, int], interests: Mapping[str, Sequence[str]], **options) -> Workload:
        return pubplan.build_workload(tmp_path / f"workload-{next(numbers)}", rates, interests, **options)

    return make


@pytest.fixture(scope="session")
def spotify(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A Spotify-shaped workload with two blocks of subscribers."""
    return pubplan.generate.generate(pubplan.generate.spotify(0.02), tmp_path_factory.mktemp("spotify") / "workload")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Runs one command in this process."""

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def shared_spark(spark, monkeypatch: pytest.MonkeyPatch):
    """Lets commands that would start Spark use the session of the test run; returns the masters they asked for."""
    asked = []

    @contextmanager
    def borrow(master, conf) -> Iterator[object]:
        asked.append(master)
        yield spark

    monkeypatch.setattr("pubplan.api.session.spark_session", borrow)
    return asked
