"""The Spark session as a user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pubplan.engine import LazySpark, spark_session, started
from pubplan.engine.session import QUICK_START
from pubplan.errors import EngineError, InputError

SCRIPT = """
import os, psutil
from pubplan.engine import map_blocks, spark_session
with spark_session(conf={"spark.sql.shuffle.partitions": "3"}) as spark:
    print(list(map_blocks(lambda block: block * block, 5, spark)))
    print(spark.conf.get("spark.sql.session.timeZone"), spark.conf.get("spark.sql.shuffle.partitions"))
print(psutil.Process().children(recursive=True), os.environ.get("JAVA_HOME"))
"""


@pytest.mark.java
def test_spark_runs_quietly_without_any_java_on_the_machine(tmp_path: Path) -> None:
    """No java on PATH, no JAVA_HOME: Spark runs on the bundled one, prints nothing, and leaves no process behind."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for directory in ("/bin", "/usr/bin"):
        for tool in Path(directory).iterdir() if Path(directory).is_dir() else []:
            if not tool.name.startswith("java") and not (tools / tool.name).is_symlink():
                (tools / tool.name).symlink_to(tool)
    kept = ("HOME", "LANG", "NUMBA_CACHE_DIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {"PATH": str(tools)}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.stderr == ""
    assert answer.stdout == "[0, 1, 4, 9, 16]\nUTC 3\n[] None\n"
    assert [path.name for path in tmp_path.iterdir()] == ["bin"], "Spark left files in the working directory"


def test_a_second_session_is_refused(spark) -> None:
    """Two sessions in one process would share one Java; the second is an error that says so."""
    with pytest.raises(EngineError, match="already"), spark_session():
        pass
    assert spark.range(3).count() == 3


@pytest.mark.parametrize(
    "master", ["foo", "local[", "sc:/x", "spark:7077", "local[0]", "local[x]", "local-cluster[0,1,1024]"]
)
def test_a_wrong_master_is_refused_at_once(master: str) -> None:
    """What is not a master URL never reaches Spark; the error lists what would be one."""
    with pytest.raises(InputError, match="local-cluster"), spark_session(master):
        pass


@pytest.mark.java
def test_directories_for_temporary_files_may_have_any_name(tmp_path: Path) -> None:
    """A TMPDIR with spaces and quotes: Spark starts, runs tasks, and leaves nothing there."""
    temporary = tmp_path / "it's a directory"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.stdout.startswith("[0, 1, 4, 9, 16]\nUTC 3\n"), answer.stderr
    assert list(temporary.iterdir()) == []


def test_a_lazy_session_starts_once(spark) -> None:
    """It starts when somebody asks for it, with the settings of the first who does; a session is itself."""
    asked: list[dict[str, str]] = []

    def start(defaults: dict[str, str]) -> object:
        asked.append(defaults)
        return spark

    lazy = LazySpark(start)
    assert asked == []
    assert started(lazy, is_for_little=True) is spark
    assert started(lazy) is spark
    assert asked == [QUICK_START]
    assert started(spark) is spark
