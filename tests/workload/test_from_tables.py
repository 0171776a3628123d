"""Workloads from tables in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pubplan
from pubplan.errors import InputError

TOPICS = {"topic_id": ["b", "a"], "rate": [3, 2]}
INTERESTS = {"subscriber_id": ["y", "x", "x", "y"], "topic_id": ["b", "a", "b", "b"]}

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@given(
    rates=st.dictionaries(IDS, st.integers(0, 2**40), max_size=6),
    rows=st.lists(st.tuples(IDS, st.integers(0, 5)), max_size=12),
)
def test_tables_give_what_values_give(tmp_path_factory, rates: dict[str, int], rows: list[tuple[str, int]]) -> None:
    """The tables of the workload are those that plain Python values give, whatever the order and the ids."""
    names = sorted(rates)
    pairs = [(subscriber, names[number % len(names)]) for subscriber, number in rows] if names else []
    interests: dict[str, list[str]] = {}
    for subscriber, topic in pairs:
        interests.setdefault(subscriber, []).append(topic)
    directory = tmp_path_factory.mktemp("workloads")
    by_hand = pubplan.build_workload(directory / "by hand", rates, interests)
    from_tables = pubplan.workload_from_tables(
        directory / "from tables",
        pa.table({"topic_id": pa.array(rates, pa.string()), "rate": pa.array(rates.values(), pa.int64())}),
        pa.table(
            {
                "subscriber_id": pa.array([pair[0] for pair in pairs], pa.string()),
                "topic_id": pa.array([pair[1] for pair in pairs], pa.string()),
            }
        ),
    )
    assert from_tables.digest == by_hand.digest
    assert from_tables.counts.duplicates == by_hand.counts.duplicates


class Stream:
    """A table of another library: all that is known of it is Arrow's protocol."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, Stream, dict], ids=["arrow", "pandas", "stream", "dict"])
def test_tables_of_any_library_will_do(tmp_path: Path, library: Any) -> None:
    """Arrow, pandas, what speaks Arrow's protocol (Polars, DuckDB), or columns by name."""
    workload = pubplan.workload_from_tables(
        tmp_path / "w",
        library({**TOPICS, "message_bytes": [20, 10], "cost": [7, 5]}),
        library(INTERESTS),
        library({"subscriber_id": ["z", "y", "x"], "threshold": [3, 2, 1], "weight": [1, 1, 4]}),
    )
    assert (workload.counts.topics, workload.counts.subscribers, workload.counts.pairs) == (2, 3, 3)
    assert workload.counts.duplicates == 1
    assert workload.topics("topic_id", "rate", "message_bytes", "cost").to_pylist() == [
        {"topic_id": "a", "rate": 2, "message_bytes": 10, "cost": 5},
        {"topic_id": "b", "rate": 3, "message_bytes": 20, "cost": 7},
    ]
    assert workload.subscriber_array("threshold").tolist() == [1, 2, 3]
    assert workload.subscriber_array("weight").tolist() == [4, 1, 1]


def test_categories_are_text(tmp_path: Path) -> None:
    """Ids of pandas are often categories."""
    interests = pd.DataFrame(INTERESTS).astype("category")
    assert pubplan.workload_from_tables(tmp_path / "w", TOPICS, interests).counts.pairs == 3


@pytest.mark.parametrize(
    ("topics", "interests", "subscribers", "sentence"),
    [
        ({"topic_id": ["a", "a"], "rate": [1, 2]}, INTERESTS, None, "topics.topic_id has 'a' twice"),
        ({"topic": ["a"], "rate": [1]}, INTERESTS, None, "The topics have no column topic_id; they have topic, rate."),
        ({"topic_id": ["a", None], "rate": [1, 2]}, INTERESTS, None, "topics.topic_id has 1 nulls"),
        ({"topic_id": [1, 2], "rate": [1, 2]}, INTERESTS, None, "topics.topic_id must be text, not int64"),
        ({"topic_id": ["a", "b"], "rate": [1.5, 2]}, INTERESTS, None, "topics.rate must be whole numbers, not double"),
        ({"topic_id": ["a"], "rate": [1]}, INTERESTS, None, "The interests name 'b', which the topics do not have."),
        (TOPICS, INTERESTS, {"subscriber_id": ["x"], "weight": [1]}, "The interests name 'y', which the subscribers"),
        (TOPICS, INTERESTS, {"subscriber_id": ["x", "x"], "weight": [1, 2]}, "subscribers.subscriber_id has 'x' twice"),
        (TOPICS, 5, None, "The interests are not a table"),
        ({"topic_id": ["a", "b"], "rate": [-1, 2]}, INTERESTS, None, "must not be negative"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, topics: Any, interests: Any, subscribers: Any, sentence: str) -> None:
    """The sentence names the table, the column and what is wrong; nothing is written."""
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        pubplan.workload_from_tables(tmp_path / "w", topics, interests, subscribers)
    assert list(tmp_path.iterdir()) == []
