"""The Spark session: embedded unless a master is named, quiet, and the same on every machine."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pubplan.engine.java import find_java, write_launcher
from pubplan.engine.progress import stage
from pubplan.errors import EngineError, InputError
from pubplan.files.incomplete import unfinished

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_MASTER = "local[*]"

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
QUICK_START = {_JAVA_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Settings for a session with little to do: Java optimizes less, and starts in half the time."""

_CORES = r"(\*|[1-9][0-9]*)"
_MASTER = (
    rf"local(\[{_CORES}(, *[1-9][0-9]*)?\])?|local-cluster\[ *[1-9][0-9]* *(, *[1-9][0-9]* *){{2}}\]"
    r"|yarn|spark://.+|k8s://.+"
)

_DEFAULTS = {
    "spark.app.name": "pubplan",
    "spark.driver.maxResultSize": "4g",
    "spark.driver.memory": "2g",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # day=007 is text
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def spark_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A Spark session for the body; stopped, with everything it started, at the end.

    Args:
        master: a Spark master URL; None is ``local[*]``, Spark embedded in this process.
        conf: further Spark settings, which override pubplan's.

    Raises:
        InputError: ``master`` is not a Spark master URL.
        EngineError: there is no usable Java, a session runs already, or Spark does not start.

    >>> with pubplan.spark_session("local[2]") as spark:
    ...     pubplan.select.verify(problem, plan, spark).ok
    True
    """
    url = check_master(master)
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise EngineError("A Spark session runs in this process already: pass it on, or stop it first.")
    with (
        tempfile.TemporaryDirectory(prefix="pubplan-spark-", ignore_cleanup_errors=True) as scratch,
        unfinished(Path(scratch)),
        _environment(Path(scratch), is_local=url.startswith("local")),
        _quiet_py4j(),
    ):
        try:
            with stage("starting Spark"):
                session = _start(url, dict(conf or {}), Path(scratch))
            yield session
        finally:
            _end_java()


def check_master(master: str | None) -> str:
    """The master URL that is meant.

    Raises:
        InputError: it is not a Spark master URL.
    """
    url = master or LOCAL_MASTER
    if not re.fullmatch(_MASTER, url):
        raise InputError(
            f"'{url}' is not a Spark master URL: use local[*], local[2], local-cluster[2,1,1024], spark://host:7077, "
            "k8s://… or yarn."
        )
    return url


class LazySpark:
    """A session that starts when it is first needed, so that what is refused before costs no wait.

    Args:
        start: starts it, with settings that the user's override.
        is_asked_for: somebody named a master or settings, so that also what is small runs on it.
    """

    def __init__(self, start: Callable[[Mapping[str, str]], SparkSession], *, is_asked_for: bool = False) -> None:
        self._start = start
        self._is_asked_for = is_asked_for
        self._session: SparkSession | None = None

    @property
    def is_at_hand(self) -> bool:
        """It runs already, or will in any case."""
        return self._is_asked_for or self._session is not None

    def session(self, defaults: Mapping[str, str]) -> SparkSession:
        """The session, which runs from now on; if it does not run yet, with ``defaults`` of its settings."""
        if self._session is None:
            self._session = self._start(defaults)
        return self._session


def started(spark: SparkSession | LazySpark, *, is_for_little: bool = False) -> SparkSession:
    """The session behind ``spark``, started if it does not run yet; quickly where it has little to do."""
    if not isinstance(spark, LazySpark):
        return spark
    return spark.session(QUICK_START if is_for_little else {})


def is_at_hand(spark: SparkSession | LazySpark) -> bool:
    """Whether a session runs or was asked for; otherwise small work is done in this process."""
    return spark.is_at_hand if isinstance(spark, LazySpark) else True


def _start(master: str, conf: dict[str, str], scratch: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = _DEFAULTS | _local_paths(scratch, master) | conf | _java_options(scratch, conf)
    spark_conf = SparkConf(loadDefaults=False).setAll(list({**settings, "spark.master": master}.items()))
    log = scratch / "spark.log"
    # What Java and its workers print goes to a file, unless the user asked for Spark's own log.
    with nullcontext() if "spark.log.level" in conf else log.open("wb") as output, _no_orphans():
        try:
            gateway = launch_gateway(spark_conf, {"stdout": output, "stderr": output})
            SparkContext._ensure_initialized(gateway=gateway, conf=spark_conf)
            return SparkSession.builder.config(conf=spark_conf).getOrCreate()
        except Exception as error:  # py4j wraps what Java throws in a special type whose text is a stack trace
            raise EngineError(f"Spark did not start with master '{master}'. {_cause(str(error), log)}") from error


@contextmanager
def _no_orphans() -> Iterator[None]:
    """End the processes that the body started if it fails: Java does not notice while it is still starting."""
    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        for process in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.Error):
                process.kill()
        raise


@contextmanager
def _quiet_py4j() -> Iterator[None]:
    """Keep py4j from logging every connection that breaks when a session is interrupted or stopped.

    It logs some of it to the root logger, which then prints it even where logging was not configured.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)

    def is_other(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    logging.getLogger().addFilter(is_other)
    try:
        yield
    finally:
        logging.getLogger().removeFilter(is_other)


def _cause(message: str, log: Path) -> str:
    """What Java said last, or the first line of the error itself."""
    output = log.read_text(errors="replace") if log.exists() else ""
    lines = [line.strip(" :") for text in (output, message) for line in text.splitlines() if line.strip(" :")]
    errors = [line for line in lines if any(mark in line for mark in ("Spark ERROR", "Exception", "rror:"))]
    return (errors or lines or ["It gave no reason."])[0]


def _end_java() -> None:
    """Stop the session and end the Java process it ran in, so that nothing is left behind and another can start."""
    from pyspark import SparkContext

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if gateway is not None:
        _kill_workers(gateway.proc.pid)
    if context is not None:
        context.stop()
    if gateway is None:
        return
    gateway.shutdown()
    process = gateway.proc
    process.stdin.close()  # Java ends when its parent is gone, which it learns from here
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None


def _kill_workers(java_pid: int) -> None:
    """End the Python workers of an embedded Spark at once; busy ones would print long error messages otherwise."""
    try:
        workers = psutil.Process(java_pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    for worker in workers:
        with suppress(psutil.Error):
            if "pyspark.daemon" in worker.cmdline():
                worker.kill()


@contextmanager
def _environment(scratch: Path, is_local: bool) -> Iterator[None]:
    """What Spark changes or reads in this process, put back afterwards."""
    settings = {
        "JAVA_HOME": str(write_launcher(find_java(), scratch / "java")),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    if is_local:
        settings["SPARK_LOCAL_IP"] = "127.0.0.1"
    before = {name: os.environ.get(name) for name in settings}
    on_interrupt = signal.getsignal(signal.SIGINT)  # Spark sets its own, which outlives the session
    os.environ.update(settings)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, on_interrupt)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _java_options(scratch: Path, conf: Mapping[str, str]) -> dict[str, str]:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(resources.files("pubplan.engine").joinpath("log4j2.properties").read_text())
    (scratch / "java-tmp").mkdir()
    # Spark divides the options at spaces unless they are quoted.
    option = f'"-Dlog4j2.configurationFile={log4j.as_uri()}" "-Djava.io.tmpdir={scratch}/java-tmp"'
    key = _JAVA_OPTIONS
    return {key: f"{option} {conf[key]}" if key in conf else option}


def _local_paths(scratch: Path, master: str) -> dict[str, str]:
    paths = {"spark.sql.warehouse.dir": (scratch / "warehouse").as_uri()}
    if master.startswith("local"):
        paths["spark.local.dir"] = str(scratch / "local")
    return paths
