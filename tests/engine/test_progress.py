"""Stages reach their listeners."""

from __future__ import annotations

import pytest

from pubplan.engine import Timings, listening, stage, unheard


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def started(self, stage: str, total: int | None) -> None:
        self.events.append(("started", stage, total))

    def advanced(self, stage: str, done: int, total: int | None) -> None:
        self.events.append(("advanced", stage, done, total))

    def ended(self, stage: str, seconds: float) -> None:
        self.events.append(("ended", stage))


def test_listeners_hear_every_stage() -> None:
    """Start, progress and end are heard by everybody who listens, and by nobody afterwards."""
    first, second = Heard(), Heard()
    with listening(first), listening(second), stage("counting", 3) as advance:
        advance(1)
        advance(2)
    with stage("unheard"):
        pass
    counted = [("advanced", "counting", 1, 3), ("advanced", "counting", 3, 3)]
    assert first.events == second.events == [("started", "counting", 3), *counted, ("ended", "counting")]


def test_stages_can_go_unheard() -> None:
    """Nobody hears what happens inside, even if it fails; afterwards everybody listens again."""
    heard = Heard()
    with listening(heard):
        with pytest.raises(KeyError), unheard(), stage("inside", 1) as advance:
            advance(1)
            raise KeyError
        with stage("outside"):
            pass
    assert heard.events == [("started", "outside", None), ("ended", "outside")]


def test_a_failing_stage_ends() -> None:
    """An exception ends the stage for its listeners too."""
    heard = Heard()
    with listening(heard), pytest.raises(ValueError, match="boom"), stage("failing"):
        raise ValueError("boom")
    assert heard.events[-1] == ("ended", "failing")


def test_timings_add_up() -> None:
    """Stages of the same name are summed."""
    timings = Timings()
    timings.ended("reading", 1.5)
    timings.ended("reading", 0.5)
    assert timings.seconds == {"reading": 2.0}
