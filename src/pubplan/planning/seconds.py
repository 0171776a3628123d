"""How long a method took, as the plan's ``run.json`` has it."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pubplan.engine import PLANNING, READING
from pubplan.errors import InputError
from pubplan.files import read_json_object
from pubplan.planning.plan import RUN, Plan


def stage_seconds(plan: Plan) -> dict[str, float]:
    """Seconds by the keys of stages; nothing where ``run.json`` does not say."""
    try:
        stages = read_json_object(plan.path / RUN).get("seconds")
    except InputError:
        return {}
    if not isinstance(stages, dict) or not all(map(_is_time, stages.values())):
        return {}
    return {name: float(seconds) for name, seconds in stages.items()}


def planning_seconds(plan: Plan) -> float | None:
    """Seconds that planning took, without reading the workload; None where ``run.json`` does not say."""
    stages = stage_seconds(plan)
    planning = stages.get(PLANNING)
    if planning is None:
        return None
    return max(0.0, planning - stages.get(READING, 0.0))


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
