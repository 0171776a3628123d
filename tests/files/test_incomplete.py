"""Directories that are not complete are known, and can be removed while they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubplan.files import OwnedDirectory, atomic_directory, discard_unfinished, finished_directories, unfinished


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the directories of the test run itself."""
    monkeypatch.setattr("pubplan.files.incomplete._unfinished", set())


def test_unfinished_directories_are_removed(tmp_path: Path) -> None:
    """What is being written, owned or temporary goes, with its contents; what is complete stays."""
    with atomic_directory(tmp_path / "complete", marker="m") as staging:
        (staging / "m").write_text("pubplan")
    owned = OwnedDirectory()
    scratch = tmp_path / "scratch"
    (scratch / "below").mkdir(parents=True)

    def write_and_discard() -> None:
        with atomic_directory(tmp_path / "half", marker="m") as staging, unfinished(scratch):
            (staging / "m").write_text("pubplan")
            discard_unfinished()
            assert [path.name for path in tmp_path.iterdir()] == ["complete"]
            assert not owned.path.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_discard()
    assert [path.name for path in tmp_path.iterdir()] == ["complete"]


def test_finished_directories_are_listed(tmp_path: Path) -> None:
    """A directory is finished when it was moved to its target, and no longer when it was removed."""
    with atomic_directory(tmp_path / "one", marker="m") as staging:
        assert tmp_path / "one" not in finished_directories()
        (staging / "m").write_text("pubplan")
    assert tmp_path / "one" in finished_directories()
    (tmp_path / "one" / "m").unlink()
    (tmp_path / "one").rmdir()
    assert tmp_path / "one" not in finished_directories()


def test_directories_are_forgotten_after_their_use(tmp_path: Path) -> None:
    """What is no longer unfinished is not removed."""
    kept = tmp_path / "kept"
    kept.mkdir()
    with unfinished(kept):
        pass
    discard_unfinished()
    assert kept.exists()
