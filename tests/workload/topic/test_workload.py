"""A topic workload gives its topics and subscribers as tables and arrays."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.workload import TopicWorkload

from ..conftest import INTERESTS, RATES, copy_of


def test_ids_are_numbered_by_their_bytes(tiny: TopicWorkload) -> None:
    """Dense numbers follow the UTF-8 order of the ids, for topics and subscribers."""
    assert tiny.topics("topic_id")["topic_id"].to_pylist() == ["art", "news", "sport", "ünïcode"]
    assert tiny.interests_block(0, "subscriber_id")["subscriber_id"].to_pylist() == ["ann", "bob", "carl", "zoe"]


def test_optional_columns(make_workload) -> None:
    """A workload may bring a threshold and a weight per subscriber."""
    plain = make_workload({"a": 1}, {"x": ["a"], "y": []})
    assert plain.optional_columns == frozenset()
    thresholds_only = make_workload({"a": 1}, {"x": ["a"], "y": []}, thresholds={"x": 3, "y": 5})
    assert thresholds_only.optional_columns == {"threshold"}
    assert thresholds_only.subscriber_array("threshold").tolist() == [3, 5]
    assert thresholds_only.digest != plain.digest
    both = make_workload({"a": 1}, {"x": ["a"], "y": []}, weights={"y": 0, "x": 4}, thresholds={"x": 3, "y": 5})
    assert both.optional_columns == {"threshold", "weight"}
    assert both.subscriber_array("weight").tolist() == [4, 0]
    assert both.subscriber_array("threshold").tolist() == [3, 5]
    both.check()


def test_costs(make_workload) -> None:
    """A workload may bring a cost per topic; the totals stay those of its deliveries."""
    plain = make_workload(RATES, INTERESTS)
    assert plain.optional_topic_columns == frozenset()
    assert "cost" not in plain.topics().column_names
    priced = make_workload(RATES, INTERESTS, costs={"sport": 7, "news": 0, "ünïcode": 9, "art": 2**40})
    assert priced.optional_topic_columns == {"cost"}
    assert priced.optional_columns == frozenset()
    assert priced.topic_array("cost").tolist() == [2**40, 0, 7, 9]  # art, news, sport, ünïcode
    assert priced.topics().schema.field("cost") == pa.field("cost", pa.int64(), nullable=False)
    assert priced.topics("cost", "topic_id").to_pylist()[2] == {"cost": 7, "topic_id": "sport"}
    assert priced.totals == plain.totals
    assert priced.digest != plain.digest
    priced.check()


def test_columns_that_are_not_there_are_named(tiny: TopicWorkload, make_workload) -> None:
    """Asking the topics for a column they lack says which they have, also where there are no topics."""
    for workload in (tiny, make_workload({}, {}, costs={})):
        with pytest.raises(InputError, match=r"'cost'.*Known: message_bytes, rate, subscribers, topic, topic_id\."):
            workload.topic_array("cost")
    with pytest.raises(InputError, match="Did you mean 'rate'"):
        tiny.topics("topic_id", "rates")


def test_damaged_interests_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """A file of the right size with other content ends in a sentence, whatever reads it."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "interests" / "00000.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    opened = pubplan.read_workload(copy)
    for read in (lambda: opened.optional_columns, opened.csr, opened.check):
        with pytest.raises(InputError, match="cannot be read"):
            read()


def test_damaged_topics_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
    """The same for a file of topics."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    opened = pubplan.read_workload(copy)
    for read in (lambda: opened.optional_topic_columns, opened.topics, opened.check):
        with pytest.raises(InputError, match="cannot be read"):
            read()


def test_the_spark_frame_is_the_table(spotify: TopicWorkload, spark) -> None:
    """DataFrame users see every subscriber with its topics."""
    frame = spotify.interests_frame(spark)
    assert frame.columns == ["subscriber", "subscriber_id", "topics"]
    assert frame.count() == spotify.counts.subscribers
    assert frame.selectExpr("sum(size(topics))").first()[0] == spotify.counts.pairs
    spotify.check(spark)
