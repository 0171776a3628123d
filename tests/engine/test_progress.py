"""Stages reach their listeners."""

from __future__ import annotations

import pytest

from pubplan.engine import Stage, Timings, muted, observed_by, stage


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def started(self, stage: Stage, total: int | None) -> None:
        self.events.append(("started", stage.label, total))

    def advanced(self, stage: Stage, done: int, total: int | None) -> None:
        self.events.append(("advanced", stage.label, done, total))

    def ended(self, stage: Stage, seconds: float) -> None:
        self.events.append(("ended", stage.label))


def test_listeners_hear_every_stage() -> None:
    """Every listener is called for start, progress and end, and none afterwards."""
    first, second = Heard(), Heard()
    with observed_by(first), observed_by(second), stage("counting", 3) as advance:
        advance(1)
        advance(2)
    with stage("muted"):
        pass
    counted = [("advanced", "counting", 1, 3), ("advanced", "counting", 3, 3)]
    assert first.events == second.events == [("started", "counting", 3), *counted, ("ended", "counting")]


def test_stages_can_go_unheard() -> None:
    """No listener is called for stages inside, even if they fail; afterwards all are called again."""
    heard = Heard()
    with observed_by(heard):
        with pytest.raises(KeyError), muted(), stage("inside", 1) as advance:
            advance(1)
            raise KeyError
        with stage("outside"):
            pass
    assert heard.events == [("started", "outside", None), ("ended", "outside")]


def test_a_failing_stage_ends() -> None:
    """An exception ends the stage for its listeners too."""
    heard = Heard()
    with observed_by(heard), pytest.raises(ValueError, match="boom"), stage("failing"):
        raise ValueError("boom")
    assert heard.events[-1] == ("ended", "failing")


def test_timings_add_up() -> None:
    """Stages with the same key are summed."""
    timings = Timings()
    timings.ended(Stage("reading interests", "reading"), 1.5)
    timings.ended(Stage("reading interests", "reading"), 0.5)
    assert timings.seconds == {"reading": 2.0}


def test_timings_leave_out_what_is_excluded() -> None:
    """Of stages within each other, each leaves out what the clock of excluded time says it contained."""
    clock = [0.0]
    timings = Timings(excluded=lambda: clock[0])
    outer, inner = Stage("planning", "planning"), Stage("reading interests", "reading")
    timings.started(outer, None)
    clock[0] = 1.0
    timings.started(inner, None)
    clock[0] = 3.0
    timings.ended(inner, 2.5)
    timings.ended(outer, 5.0)
    assert timings.seconds == {"planning": 2.0, "reading": 0.5}
