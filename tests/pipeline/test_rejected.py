"""Rejected rows are kept, whatever source they come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pubplan.engine import read_block
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import BAD_RATE, MALFORMED, REASON_NAMES
from pubplan.pipeline.rejected import Rejects, samples, write_rejected

KINDS = ("rates", "follows", "subscriptions")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Two tasks of each of three sources reject a row for its rate and a malformed record each."""
    directory = tmp_path / "rejected-by-task"
    directory.mkdir()
    for kind in KINDS:
        for task in range(2):
            rejects = Rejects(directory, kind, task)
            reasons = np.array([0, 1 + REASON_NAMES.index(BAD_RATE)], dtype=np.uint8)
            raw = [f"{kind} {task} row {row}" for row in range(2)]
            batch = Batch({}, 2, 3, lambda rows, raw=raw: [raw[row] for row in rows], [f"{kind} {task} broken"])
            rejects.add(batch, reasons)
            rejects.write()
    return directory


def test_rows_of_three_sources_are_kept(written: Path, tmp_path: Path) -> None:
    """All of them, in the order of source, reason and text."""
    (block,) = write_rejected(written, KINDS, {BAD_RATE: 6, MALFORMED: 6}, tmp_path)
    table = read_block(tmp_path / "rejected", 0)
    expected = [
        (kind, reason, f"{kind} {task} {text}")
        for kind in sorted(KINDS)
        for reason, text in ((BAD_RATE, "row 1"), (MALFORMED, "broken"))
        for task in range(2)
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == expected
    assert block.rows == 12


def test_other_counts_are_noticed(written: Path, tmp_path: Path) -> None:
    """A source that was not counted, or not listed, does not pass."""
    for kinds, counts in ((KINDS, {BAD_RATE: 4, MALFORMED: 4}), (KINDS[:2], {BAD_RATE: 6, MALFORMED: 6})):
        with pytest.raises(AssertionError, match="were rejected, but"):
            write_rejected(written, kinds, counts, tmp_path)


def test_nothing_rejected_is_no_table(tmp_path: Path) -> None:
    """Without rejected rows there is no directory."""
    assert write_rejected(tmp_path, KINDS, {}, tmp_path / "out") == ()
    assert not (tmp_path / "out").exists()


def test_samples_are_the_first_rows(written: Path) -> None:
    """The same rows in every run, no more than asked for."""
    assert samples(written, "follows", BAD_RATE, 1) == ["follows 0 row 1"]
    assert samples(written, "follows", BAD_RATE, 5) == ["follows 0 row 1", "follows 1 row 1"]
