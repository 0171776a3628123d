"""Random streams depend on what they are for."""

from __future__ import annotations

from pubplan.engine import draws


def test_streams_repeat_and_differ() -> None:
    """The same key gives the same numbers; another seed, purpose or block gives others."""
    first = draws(1, "rates", 2).random(4).tolist()
    assert draws(1, "rates", 2).random(4).tolist() == first
    others = [draws(2, "rates", 2), draws(1, "topics", 2), draws(1, "rates", 3)]
    assert all(other.random(4).tolist() != first for other in others)


def test_the_stream_is_pinned() -> None:
    """Digests of generated workloads rest on these numbers: they must not change unnoticed."""
    assert draws(0, "pinned").integers(0, 1000, 5).tolist() == [705, 430, 91, 232, 551]
