"""Workload directories: what is written is read back, and nothing else is taken for one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.engine import read_block
from pubplan.errors import InputError
from pubplan.files import digest_table
from pubplan.workload import TopicWorkload

from .conftest import copy_of


def test_incomplete_directories_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """A missing manifest, table or directory is named."""
    with pytest.raises(InputError, match="no workload directory"):
        pubplan.read_workload(tmp_path / "nowhere")
    copy = copy_of(tiny, tmp_path)
    (copy / "topics" / "00000.parquet").unlink()
    with pytest.raises(InputError, match=r"incomplete: topics/00000.parquet is missing"):
        pubplan.read_workload(copy)
    (copy / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"no manifest\.json"):
        pubplan.read_workload(copy)


def test_foreign_directories_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """Other formats and files that do not belong are named."""
    copy = copy_of(tiny, tmp_path)
    (copy / "interests" / "00001.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"does not list: interests/00001.parquet"):
        pubplan.read_workload(copy)
    (copy / "manifest.json").write_text('{"format": "something/2"}')
    with pytest.raises(InputError, match="something/2"):
        pubplan.read_workload(copy)


def test_a_grown_file_is_refused_at_once(tiny: TopicWorkload, tmp_path: Path) -> None:
    """Sizes are compared when a workload is opened."""
    copy = copy_of(tiny, tmp_path)
    with open(copy / "topics" / "00000.parquet", "ab") as handle:
        handle.write(b"x")
    with pytest.raises(InputError, match="size"):
        pubplan.read_workload(copy)


def test_check_notices_false_totals(tiny: TopicWorkload) -> None:
    """A manifest that promises ten times the cost, digest and all, does not survive the check."""
    false = replace(tiny.manifest, totals=replace(tiny.totals, cost=10 * tiny.totals.cost))
    with pytest.raises(InputError, match="other totals"):
        TopicWorkload(tiny.path, false).check()


def test_check_notices_a_changed_file_of_the_same_size(tiny: TopicWorkload, tmp_path: Path) -> None:
    """check() recomputes the digests."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    table = pq.read_table(path)
    changed = table.set_column(2, "rate", pa.array([0, 3, 5, 9], pa.int64()))
    pq.write_table(changed, path)
    entry = tiny.manifest.blocks["topics"][0]
    manifest = replace(
        tiny.manifest, blocks={**tiny.manifest.blocks, "topics": (replace(entry, bytes=path.stat().st_size),)}
    )
    assert manifest.digest == tiny.manifest.digest
    with pytest.raises(InputError, match="changed"):
        TopicWorkload(copy, manifest).check()
    assert digest_table(read_block(copy / "topics", 0)) != entry.digest
