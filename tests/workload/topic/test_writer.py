"""Topics are written in blocks, with their optional columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.engine import BLOCK_ROWS, MAX_INT64
from pubplan.errors import InputError
from pubplan.workload import TopicWorkload, Window, finish_workload, numbered_ids


def test_tables_have_the_columns_of_the_contract(tiny: TopicWorkload) -> None:
    """Names and types as others read them."""
    topics = pq.read_schema(tiny.path / "topics" / "00000.parquet")
    assert {field.name: str(field.type) for field in topics} == {
        "topic": "int32",
        "topic_id": "string",
        "rate": "int64",
        "subscribers": "int64",
        "message_bytes": "int64",
    }
    interests = pq.read_schema(tiny.path / "interests" / "00000.parquet")
    assert interests.names == ["subscriber", "subscriber_id", "topics"]
    assert [str(interests.field(name).type) for name in ("subscriber", "subscriber_id")] == ["int64", "string"]
    assert interests.field("topics").type.value_type == pa.int32()


def topics_with(directory: Path, costs: list[int]) -> TopicWorkload:
    """Topics of rate 1 without subscribers, at these costs."""
    number = len(costs)
    finish_workload(
        directory,
        topic_ids=numbered_ids("t", 0, number),
        rates=np.ones(number, dtype=np.int64),
        subscribers=np.zeros(number, dtype=np.int64),
        message_bytes=np.ones(number, dtype=np.int64),
        interests=[],
        window=Window(),
        sources=[],
        optional={"cost": np.array(costs, dtype=np.int64)},
    )
    return pubplan.read_workload(directory)


def test_costs_are_read_over_block_borders(tmp_path: Path) -> None:
    """Each topic has the cost given for it, in the order of the topics, in every block."""
    costs = [(7 * topic) % 1000 for topic in range(BLOCK_ROWS + 5)]
    workload = topics_with(tmp_path, costs)
    assert len(workload.manifest.blocks["topics"]) == 2
    assert workload.topic_array("cost").tolist() == costs
    workload.check()


def test_costs_must_be_counts_that_add_up(tmp_path: Path) -> None:
    """Costs are not negative, and their total fits 64 bits: nothing wraps."""
    with pytest.raises(InputError, match=r"cost of topic 1 is -2"):
        topics_with(tmp_path, [5, -2])
    with pytest.raises(InputError, match=rf"total cost .* is {MAX_INT64 + 1}"):
        topics_with(tmp_path, [MAX_INT64, 1])
    # 2^64 in all would wrap to 0
    with pytest.raises(InputError, match=rf"total cost .* is {2**64}"):
        topics_with(tmp_path, [2**62] * 4)
    assert list(tmp_path.iterdir()) == []
    assert topics_with(tmp_path, [MAX_INT64 - 1, 1]).topic_array("cost").tolist() == [MAX_INT64 - 1, 1]


def test_costs_of_another_type_are_refused(tmp_path: Path) -> None:
    """A table that was rewritten with fractions is not read as whole numbers."""
    workload = topics_with(tmp_path, [5, 6])
    path = tmp_path / "topics" / "00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(5, "cost", pa.array([5.5, 6.5])), path)
    with pytest.raises(InputError, match="other columns"):
        TopicWorkload(workload.path, workload.manifest).topic_array("cost")


def test_too_many_topics_are_refused(tmp_path: Path) -> None:
    """Topic numbers are 32 bits wide."""

    class Long(np.ndarray):
        def __len__(self) -> int:
            return 2**31

    rates = np.empty(1, dtype=np.int64).view(Long)
    with pytest.raises(InputError, match="2147483648 topics"):
        finish_workload(
            tmp_path,
            topic_ids=pa.array([]),
            rates=rates,
            subscribers=rates,
            message_bytes=rates,
            interests=[],
            window=Window(),
            sources=[],
        )
