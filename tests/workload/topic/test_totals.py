"""What a topic workload counts and adds up."""

from __future__ import annotations

import pytest

from pubplan.errors import InputError
from pubplan.workload import TopicWorkload


def test_totals_are_in_the_manifest(tiny: TopicWorkload) -> None:
    """Cost, rate and bytes are known without reading a table.

    news has 3 subscribers, sport 1, art 1, ünïcode 1: 3*3 + 5*1 + 0*1 + 2*1 = 16 deliveries of 200 bytes.
    """
    assert (tiny.totals.cost, tiny.totals.rate, tiny.totals.bytes) == (16, 10, 3200)
    assert (tiny.counts.topics, tiny.counts.subscribers, tiny.counts.pairs) == (4, 4, 6)


def test_totals_beyond_64_bits_are_refused(make_workload) -> None:
    """A workload whose cost, rate or bytes do not fit is never written."""
    with pytest.raises(InputError, match="cost"):
        make_workload({"a": 2**62}, {"x": ["a"], "y": ["a"]})
    with pytest.raises(InputError, match="rate"):
        make_workload({"a": 2**62, "b": 2**62}, {"x": []})
    with pytest.raises(InputError, match="bytes"):
        make_workload({"a": 2**60}, {"x": ["a"]})
    with pytest.raises(InputError, match="negative"):
        make_workload({"a": -1}, {"x": ["a"]})
    assert make_workload({"a": 2**61}, {"x": ["a"]}, message_bytes=1).totals.cost == 2**61
