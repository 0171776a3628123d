"""Workloads from plain values are checked."""

from __future__ import annotations

import pandas as pd
import pytest

from pubplan.errors import InputError


def test_unknown_topics_and_missing_values_are_refused(make_workload) -> None:
    """Values given by hand are checked."""
    with pytest.raises(InputError, match="b"):
        make_workload({"a": 1}, {"x": ["b"]})
    with pytest.raises(InputError, match="every subscriber"):
        make_workload({"a": 1}, {"x": ["a"], "y": []}, thresholds={"x": 1})
    with pytest.raises(InputError, match=r"weight .* every subscriber"):
        make_workload({"a": 1}, {"x": ["a"], "y": []}, weights={"x": 1})
    with pytest.raises(InputError, match=r"cost .* every topic"):
        make_workload({"a": 1, "b": 1}, {"x": ["a"]}, costs={"a": 1})
    with pytest.raises(InputError, match=r"cost .* every topic"):
        make_workload({"a": 1}, {"x": ["a"]}, costs={"a": 1, "c": 1})
    for sizes in ({"a": 1}, {"a": 1, "b": 1, "c": 1}):
        with pytest.raises(InputError, match=r"message size .* every topic"):
            make_workload({"a": 1, "b": 1}, {"x": ["a"]}, message_bytes=sizes)
    for sizes in (-1, 2.5, True, {"a": -1}, {"a": 2.5}, {"a": 2**63}):
        with pytest.raises(InputError, match="message size of 'a'"):
            make_workload({"a": 1}, {"x": ["a"]}, message_bytes=sizes)
    for rates, interests in (({"a": 2.9}, {}), ({"a": True}, {}), ({1: 1}, {}), ({"a": 1}, {7: ["a"]})):
        with pytest.raises(InputError):
            make_workload(rates, interests)
    twice = make_workload({"a": 1}, {"x": ["a", "a", "a"]})
    assert (twice.counts.rows_in, twice.counts.kept, twice.counts.duplicates) == (3, 1, 2)


def test_tables_and_text_are_not_mappings(make_workload) -> None:
    """A column would be read as ids, and a text as topics of one letter: both are refused with what to do."""
    with pytest.raises(
        InputError, match=r"rates is a mapping by id, not a Series: pubplan\.workload_from_tables takes"
    ):
        make_workload(pd.Series([3, 5], index=["news", "sport"]), {"ann": ["news"]})
    with pytest.raises(InputError, match="The topics of 'ann' must be a list of ids, not the text 'news'"):
        make_workload({"news": 3}, {"ann": "news"})


def test_messages_have_one_size_or_one_per_topic(make_workload) -> None:
    """A number for all topics, or one for each, in the order of the topics: 3 x 2 x 10 + 5 x 1 x 7 bytes go out."""
    rates, interests = {"b": 5, "a": 3}, {"x": ["a", "b"], "y": ["a"]}
    assert make_workload(rates, interests, message_bytes=9).topic_array("message_bytes").tolist() == [9, 9]
    by_topic = make_workload(rates, interests, message_bytes={"b": 7, "a": 10})
    assert by_topic.topic_array("message_bytes").tolist() == [10, 7]
    assert by_topic.totals.bytes == 95
    by_topic.check()


@pytest.mark.parametrize("name", ["weights", "costs"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "3", None, 2**63])
def test_weights_and_costs_are_counts(make_workload, name: str, value: object) -> None:
    """Whole numbers from 0 that fit 64 bits; anything else is named with its owner."""
    with pytest.raises(InputError, match=rf"The {name[:-1]} of 'a' must be .*, not {value!r}"):
        make_workload({"a": 1}, {"a": ["a"]}, **{name: {"a": value}})
