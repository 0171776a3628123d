"""How long a method took, as the plan's ``run.json`` tells it."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pubplan.engine import read_json_object
from pubplan.errors import InputError
from pubplan.planning.plan import RUN, Plan

READING = ("reading interests", "turning interests around")


def planning_seconds(plan: Plan) -> float | None:
    """Seconds that planning took, without reading the workload; None where ``run.json`` does not tell."""
    try:
        stages = read_json_object(plan.path / RUN).get("seconds")
    except InputError:
        return None
    planned = f"planning with {plan.method}"
    if not isinstance(stages, dict) or planned not in stages:
        return None
    planning, *reading = stages[planned], *(stages.get(name, 0.0) for name in READING)
    if not all(map(_is_time, (planning, *reading))):
        return None
    return max(0.0, float(planning - sum(reading)))


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
