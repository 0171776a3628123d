"""Planning times come from run.json, when it tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubplan.planning import Plan, planning_seconds, stage_seconds


@pytest.mark.parametrize(
    ("run", "seconds"),
    [
        ({"seconds": {"planning": 3.5, "reading": 1.5}}, 2.0),
        ({"seconds": {"planning": 0.0}}, 0.0),
        ({"seconds": {"planning": 1, "reading": 2}}, 0.0),
        ({"seconds": {"writing": 1.0}}, None),
        ({"seconds": {"planning": "long"}}, None),
        ({"seconds": {"planning": True}}, None),
        ({"seconds": {"planning": -1.0}}, None),
        ({"seconds": {"planning": 1.0, "reading": None}}, None),
        ({"seconds": [1.0]}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_seconds_without_reading(tmp_path: Path, run: object, seconds: float | None) -> None:
    """Planning less reading; a file that is absent or odd says nothing."""
    if run is not None:
        (tmp_path / "run.json").write_text(json.dumps(run))
    assert planning_seconds(Plan(tmp_path, {"method": "m"})) == seconds


def test_broken_json_says_nothing(tmp_path: Path) -> None:
    """A file cut short is as good as none."""
    (tmp_path / "run.json").write_text('{"seconds": {')
    assert planning_seconds(Plan(tmp_path, {"method": "m"})) is None


def test_stages_are_told_together_or_not_at_all(tmp_path: Path) -> None:
    """All stages of run.json, as numbers; one that is no time makes none of them believed."""
    (tmp_path / "run.json").write_text('{"seconds": {"planning": 3, "writing": 0.5}}')
    assert stage_seconds(Plan(tmp_path, {"method": "m"})) == {"planning": 3.0, "writing": 0.5}
    (tmp_path / "run.json").write_text('{"seconds": {"planning": 3, "writing": "long"}}')
    assert stage_seconds(Plan(tmp_path, {"method": "m"})) == {}
