"""The question: which topics should a back-end of limited capacity serve, so that most subscribers are satisfied?

Symbols: topic t publishes rate(t) events per window and costs rate(t) x subscribers(t) deliveries to serve. Subscriber
v needs tau_v events, the threshold or everything it asked for if that is less. B3M counts the subscribers who receive
tau_v; F-B3M adds up min(1, received / tau_v). A subscriber with tau_v = 0 is satisfied.

F-B3M is counted in fixed point, in units of 2^-32: min(2^32, slope_v * received) with slope_v = ceil(2^32 / tau_v).
That is concave in what is received, so gains never rise as topics are added, and it is exactly 2^32 for a satisfied
subscriber. It exceeds the real value by less than tau_v / 2^32 for the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np

from pubplan.engine import MAX_INT64
from pubplan.errors import InputError
from pubplan.kernels import row_sums
from pubplan.planning import Sense
from pubplan.workload import Int64Array, Interests, Workload

FULL = 2**32
MAX_THRESHOLD = 2**31 - 1

Objective = Literal["b3m", "fb3m"]
OBJECTIVES: tuple[Objective, ...] = ("b3m", "fb3m")


@dataclass(frozen=True)
class Problem:
    """Serve the topics that satisfy most subscribers within ``capacity``.

    Args:
        capacity: deliveries per window as an integer, or a share of the total cost as ``"10%"``.
        threshold: events per window that satisfy a subscriber; None takes the workload's ``threshold`` column.
        objective: ``"fb3m"`` counts fractions of satisfied subscribers, ``"b3m"`` whole ones.

    Raises:
        InputError: a value is out of range, or there is no threshold at all.
    """

    workload: Workload
    capacity: str | int
    threshold: int | None = None
    objective: Objective = "fb3m"

    def __post_init__(self) -> None:
        if self.workload.kind != "topic":
            raise InputError(f"select plans topic workloads; {self.workload.path} is a {self.workload.kind} workload.")
        if self.objective not in OBJECTIVES:
            raise InputError(f"The objective is b3m or fb3m, not '{self.objective}'.")
        if self.workload.counts.subscribers >= 2**31:
            raise InputError(f"select counts fewer than 2^31 subscribers, not {self.workload.counts.subscribers}.")
        if "weight" in self.workload.optional_columns:
            raise InputError(f"{self.workload.path} gives its subscribers weights, which select does not know yet.")
        object.__setattr__(self, "capacity", _normalised(self.capacity))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", _whole(self.threshold))
        if self.threshold is None and "threshold" not in self.workload.optional_columns:
            raise InputError("No threshold: pass --threshold, or give the workload's subscribers a threshold column.")
        if self.threshold is not None and not 0 <= self.threshold <= MAX_THRESHOLD:
            raise InputError(f"The threshold must be between 0 and {MAX_THRESHOLD} events, not {self.threshold}.")

    @property
    def sense(self) -> Sense:
        return "max"

    @property
    def unit(self) -> str:
        return "subscribers"

    @property
    def scale(self) -> int:
        """Objectives are integers in units of 1 / scale."""
        return FULL if self.objective == "fb3m" else 1

    @property
    def capacity_cost(self) -> int:
        """The capacity in deliveries per window."""
        if isinstance(self.capacity, int):
            return self.capacity
        return min(MAX_INT64, int(Fraction(self.capacity.rstrip("%")) * self.workload.totals.cost / 100))

    def to_parameters(self) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "threshold": self.threshold,
            "capacity": self.capacity,
            "capacity_cost": self.capacity_cost,
        }

    @classmethod
    def restore(cls, workload: Workload, parameters: Mapping[str, Any]) -> Problem:
        """The problem that a plan's parameters describe."""
        return cls(workload, parameters["capacity"], parameters["threshold"], parameters["objective"])

    @cached_property
    def instance(self) -> Instance:
        """The problem as arrays, read once."""
        return Instance.read(self)


@dataclass(frozen=True)
class Instance:
    """A problem in memory: interests both ways, rates and costs by topic, tau_v by subscriber."""

    interests: Interests
    rates: Int64Array
    costs: Int64Array
    thresholds: Int64Array

    @classmethod
    def read(cls, problem: Problem) -> Instance:
        workload = problem.workload
        interests = workload.csr()
        rates = workload.topic_array("rate")
        wanted = np.empty(workload.counts.subscribers, dtype=np.int64)
        row_sums(rates, interests.by_subscriber.values, interests.by_subscriber.offsets, wanted)
        asked = problem.threshold if problem.threshold is not None else workload.subscriber_array("threshold")
        thresholds = np.minimum(asked, wanted)
        if len(thresholds) and (thresholds.max() > MAX_THRESHOLD or thresholds.min() < 0):
            raise InputError(f"Thresholds in {workload.path} must be between 0 and {MAX_THRESHOLD} events.")
        return cls(interests, rates, rates * np.diff(interests.by_topic.offsets), thresholds)

    @property
    def num_subscribers(self) -> int:
        return len(self.thresholds)


def _normalised(capacity: str | int) -> str | int:
    """The two forms of a capacity: an integer, or a share like ``"10%"``."""
    is_form = isinstance(capacity, (str, Integral)) and not isinstance(capacity, bool)
    text = str(capacity).strip() if is_form else ""
    if re.fullmatch(r"[0-9]{1,19}", text) and int(text) <= MAX_INT64:
        return int(text)
    share = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)\s*%", text)
    if share:
        return f"{share[1]}%"
    try:
        as_share = float(capacity)
    except (TypeError, ValueError):
        as_share = -1.0
    hint = f" Did you mean '{as_share * 100:g}%'?" if 0 < as_share <= 1 else ""
    raise InputError(
        f"The capacity is a share of the total cost such as 10%, or a whole number of deliveries per window, "
        f"not '{str(capacity)[:40]}'.{hint}"
    )


def _whole(threshold: object) -> int:
    if not isinstance(threshold, Integral) or isinstance(threshold, bool):
        raise InputError(f"The threshold is a whole number of events, not {threshold!r}.")
    return int(threshold)
