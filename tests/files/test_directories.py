"""A directory is there whole, or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pubplan.errors import InputError
from pubplan.files import atomic_directory, check_disjoint


def write(target: Path, text: str = "new", *, replace: bool = False) -> None:
    with atomic_directory(target, marker="marker.json", replace=replace) as staging:
        (staging / "marker.json").write_text(f"pubplan {text}")


def test_the_target_appears_at_the_end(tmp_path) -> None:
    """Nothing is at the target while it is being written."""
    target = tmp_path / "deep" / "target"
    with atomic_directory(target, marker="marker.json") as staging:
        (staging / "marker.json").write_text("pubplan new")
        assert not target.exists()
        assert staging.parent == target.parent
    assert (target / "marker.json").read_text() == "pubplan new"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_a_failure_leaves_nothing(tmp_path) -> None:
    """An exception removes what was written so far; an interrupt does too."""
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), atomic_directory(tmp_path / "target", marker="marker.json") as staging:
            (staging / "half").write_text("half")
            raise error
        assert list(tmp_path.iterdir()) == []


def test_an_existing_target_is_refused(tmp_path) -> None:
    """Without replace nothing is overwritten, and the refusal comes before the work."""
    write(tmp_path / "target", "old")
    with pytest.raises(InputError, match="replace=True"), atomic_directory(tmp_path / "target", marker="marker.json"):
        pytest.fail("the body ran")
    assert (tmp_path / "target" / "marker.json").read_text() == "pubplan old"


def test_replace_puts_the_new_one_in_place(tmp_path) -> None:
    """The old directory is gone, the new one is whole."""
    write(tmp_path / "target", "old")
    write(tmp_path / "target", "new", replace=True)
    assert (tmp_path / "target" / "marker.json").read_text() == "pubplan new"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_failed_replacement_keeps_the_old_one(tmp_path) -> None:
    """Work that fails does not cost what was there before."""
    write(tmp_path / "target", "old")
    with (
        pytest.raises(ValueError, match="boom"),
        atomic_directory(tmp_path / "target", marker="marker.json", replace=True),
    ):
        raise ValueError("boom")
    assert (tmp_path / "target" / "marker.json").read_text() == "pubplan old"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("kind", ["directory", "file", "marked"])
def test_foreign_things_are_never_replaced(tmp_path, kind: str) -> None:
    """A directory or file that pubplan did not write survives even --replace."""
    target = tmp_path / "home"
    if kind != "file":
        target.mkdir()
        (target / "thesis.tex").write_text("precious")
        if kind == "marked":  # a file of that name, but somebody else's
            (target / "marker.json").write_text('{"name": "browser extension"}')
    else:
        target.write_text("precious")
    with pytest.raises(InputError, match="not written by pubplan"):
        write(target, replace=True)
    assert target.exists()


def test_leftovers_of_killed_tasks_are_dropped(tmp_path) -> None:
    """Temporary files of tasks that died do not become part of the directory."""
    with atomic_directory(tmp_path / "target", marker="marker.json") as staging:
        (staging / ".00001.parquet.abc.tmp").touch()
        (staging / "00001.parquet").touch()
    assert [path.name for path in (tmp_path / "target").iterdir()] == ["00001.parquet"]


def test_a_link_keeps_pointing_to_what_was_replaced(tmp_path) -> None:
    """Writing through a symbolic link replaces what it points to."""
    write(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", "new", replace=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "marker.json").read_text() == "pubplan new"


@pytest.mark.parametrize(("out", "given"), [("w/plan", "w"), ("w", "w/plan"), ("w", "w"), ("x/../w/p", "w")])
def test_outputs_and_inputs_lie_apart(tmp_path, out: str, given: str) -> None:
    """An output inside an input would damage it, around it would replace it."""
    (tmp_path / "x").mkdir()
    with pytest.raises(InputError, match="contain each other"):
        check_disjoint(tmp_path / out, tmp_path / given)
    check_disjoint(tmp_path / "w2", tmp_path / "w")


def test_an_unwritable_place_is_an_input_error(tmp_path) -> None:
    """A parent that is a file cannot hold the target."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot write"):
        write(tmp_path / "file" / "target")


@pytest.mark.parametrize("moment", ["writing", "before the move"])
def test_kill_9_leaves_no_half_directory(tmp_path, moment: str) -> None:
    """A process killed while writing leaves the target absent; a second try succeeds."""
    script = textwrap.dedent(
        f"""
        import os, pathlib, time
        from pubplan.files import directories
        from pubplan.files import atomic_directory
        def stop(*_):
            pathlib.Path("ready").touch(); time.sleep(60)
        if {moment == "before the move"}:
            directories._move_to_target = lambda *a, **k: stop()
        with atomic_directory(pathlib.Path("target"), marker="marker.json") as staging:
            (staging / "marker.json").write_text("half")
            if {moment == "writing"}:
                stop()
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "ready").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "target").exists()
    write(tmp_path / "target")
    assert (tmp_path / "target" / "marker.json").read_text() == "pubplan new"
