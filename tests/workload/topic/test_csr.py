"""Interests in memory, in both directions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.engine import BLOCK_ROWS
from pubplan.errors import EngineError, InputError
from pubplan.workload import TopicWorkload

from ..conftest import copy_of


def test_both_directions(tiny: TopicWorkload) -> None:
    """csr() gives topics by subscriber and subscribers by topic, ascending."""
    interests = tiny.csr()
    assert [interests.by_subscriber.row(v).tolist() for v in range(4)] == [[1], [1, 2], [0, 1, 3], []]
    assert [interests.by_topic.row(t).tolist() for t in range(4)] == [[2], [0, 1, 2], [1], [2]]
    assert interests.by_subscriber.offsets.dtype == interests.by_topic.offsets.dtype == np.int64
    assert interests.by_subscriber.values.dtype == interests.by_topic.values.dtype == np.int32


def test_empty_workloads_open(make_workload) -> None:
    """No topics, no subscribers: still a workload."""
    nothing = make_workload({}, {})
    assert nothing.csr().by_topic.num_rows == 0
    assert nothing.topic_array("rate").tolist() == []
    quiet = make_workload({"a": 1}, {})
    assert quiet.csr().by_topic.row(0).tolist() == []


def test_many_blocks(spotify: TopicWorkload) -> None:
    """Reading over block borders gives what the blocks hold."""
    assert len(spotify.interests_blocks) == 2
    rows = spotify.csr().by_subscriber
    for block in range(2):
        lists = spotify.interests_block(block, "topics")["topics"].to_pylist()
        for offset in (0, 1, len(lists) - 1):
            assert rows.row(block * BLOCK_ROWS + offset).tolist() == lists[offset]
    spotify.check()


def test_interests_of_another_type_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """Topics that are not lists of integers, and topics that do not exist."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "interests" / "00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "topics", pa.array(["a"] * 4)), path)
    with pytest.raises(InputError, match="list of int32"):
        TopicWorkload(copy, tiny.manifest).csr()
    pq.write_table(table.set_column(2, "topics", pa.array([[9, 9], [9], [9, 9], [9]], pa.list_(pa.int32()))), path)
    with pytest.raises(InputError, match="outside"):
        TopicWorkload(copy, tiny.manifest).csr()
    pq.write_table(table.slice(0, 2), path)
    with pytest.raises(InputError, match="size its manifest says"):
        TopicWorkload(copy, tiny.manifest).csr()


def test_interests_that_contradict_the_topics_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """csr() does not trust the counted subscribers of a table that was tampered with."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    table = pq.read_table(path)
    counts = pa.array([1, 2, 2, 1], pa.int64())
    pq.write_table(table.set_column(3, table.schema.field("subscribers"), counts), path)
    with pytest.raises(InputError, match="counts other subscribers"):
        TopicWorkload(copy, tiny.manifest).csr()
    pq.write_table(table.set_column(3, "subscribers", counts.cast(pa.int32())), path)
    with pytest.raises(InputError, match="other columns"):
        TopicWorkload(copy, tiny.manifest).csr()


def test_too_little_memory_is_said_before_reading(tiny: TopicWorkload, monkeypatch) -> None:
    """csr() asks for the size of its arrays, and refuses with it where that is too much."""
    asked = []
    monkeypatch.setattr("pubplan.workload.topic.csr.require_memory", lambda need, purpose: asked.append(need))
    tiny.csr()
    # 6 pairs twice at 4 bytes, 5 + 5 offsets at 8, and room to work
    assert 6 * 8 + 10 * 8 <= asked[0] < 10_000
    monkeypatch.undo()
    monkeypatch.setattr("pubplan.engine.memory.available_bytes", lambda: 100)
    with pytest.raises(EngineError, match=r"6 interests .* needs .* GB"):
        tiny.csr()
