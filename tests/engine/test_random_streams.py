"""Random streams depend on what they are for."""

from __future__ import annotations

from pubplan.engine import random_stream


def test_streams_repeat_and_differ() -> None:
    """The same key gives the same numbers; another seed, purpose or block gives others."""
    first = random_stream(1, "rates", 2).random(4).tolist()
    assert random_stream(1, "rates", 2).random(4).tolist() == first
    others = [random_stream(2, "rates", 2), random_stream(1, "topics", 2), random_stream(1, "rates", 3)]
    assert all(other.random(4).tolist() != first for other in others)


def test_the_stream_is_pinned() -> None:
    """Digests of generated workloads rest on these numbers: they must not change unnoticed."""
    assert random_stream(0, "pinned").integers(0, 1000, 5).tolist() == [705, 430, 91, 232, 551]
