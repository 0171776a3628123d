"""The question: which topics should a back-end of limited capacity serve, so that most subscribers are satisfied?

Symbols: topic t publishes rate(t) events per window and costs rate(t) x subscribers(t) deliveries to serve, unless
bytes are counted or a column gives its cost. Subscriber v needs tau_v events, the threshold or everything it asked for
if that is less. B3M counts the subscribers who receive tau_v; F-B3M adds up min(1, received / tau_v); both count v as
often as its weight says. A subscriber with tau_v = 0 is satisfied.

F-B3M is counted in fixed point, in units of 2^-32: min(2^32, slope_v * received) with slope_v = ceil(2^32 / tau_v).
That is concave in what is received, so gains never rise as topics are added, and it is exactly 2^32 for a satisfied
subscriber. It exceeds the real value by less than tau_v / 2^32 for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pubplan.arguments import argument
from pubplan.engine import MAX_INT64, exact_sum
from pubplan.errors import Infeasible, InputError, Reason, unknown_name
from pubplan.planning import Sense
from pubplan.problems.select.instance import BYTES, Instance
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.quantities import Rate, read_rate, share_fraction, share_hint, share_text
from pubplan.text import counted
from pubplan.workload import (
    TOPIC,
    Int32Array,
    Int64Array,
    Threshold,
    TopicWorkload,
    checked_threshold,
    require_kind,
)

Objective = Literal["b3m", "fb3m"]
OBJECTIVES: tuple[Objective, ...] = ("b3m", "fb3m")
DEFAULT_METHODS: dict[Objective, str] = {"fb3m": "greedy-fb3m", "b3m": "greedy-b3m"}
COST_COLUMNS = ("message_bytes", "rate", "subscribers")
_COST_UNITS = {
    None: "deliveries per window",
    BYTES: "bytes per window",
    "message_bytes": "bytes per message",
    "rate": "events per window",
    "subscribers": "subscribers",
}


@dataclass(frozen=True)
class Problem:
    """Serve the topics that satisfy most subscribers within ``capacity``.

    Args:
        capacity: cost as an integer, a share of the total cost as ``"10%"``, deliveries per second as ``"1200 msg/s"``,
            or a bandwidth as ``"64 Mbit/s"`` or ``"8 MB/s"``. Costs are deliveries per window unless ``cost`` says
            otherwise; a bandwidth counts bytes.
        threshold: events per window that satisfy a subscriber; ``"all"`` is everything that it asked for, None takes
            the workload's ``threshold`` column.
        objective: ``"fb3m"`` counts fractions of satisfied subscribers, ``"b3m"`` whole ones.
        cost: an integer column of the topics that says what serving each of them costs; ``"bytes"`` is rate x
            subscribers x message size, None is rate x subscribers, or bytes where the capacity is a bandwidth.
        must_serve: ids of topics that every plan serves.
        must_not_serve: ids of topics that no plan serves.

    A workload whose subscribers have a ``weight`` counts each of them that many times. Asking reads no table:
    :meth:`check` does, and refuses what the workload has no answer to. ``instance`` holds what was read.

    Raises:
        InputError: a value is out of range, a topic is on both lists, or the capacity is per second but costs are
            not, or the workload does not say how long its window is.

    >>> tenth = pubplan.select.Problem(workload, capacity="10%", threshold=3, objective="b3m")
    >>> tenth.capacity_cost
    2
    """

    workload: TopicWorkload
    capacity: str | int
    threshold: Threshold = None
    objective: Objective = "fb3m"
    cost: str | None = None
    must_serve: Sequence[str] = ()
    must_not_serve: Sequence[str] = ()

    instance: Instance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind(self.workload, TOPIC, "select")
        if self.objective not in OBJECTIVES:
            raise InputError(f"{argument('objective')} is b3m or fb3m, not '{self.objective}'.")
        if self.workload.counts.subscribers >= 2**31:
            raise InputError(f"select counts fewer than 2^31 subscribers, not {self.workload.counts.subscribers}.")
        object.__setattr__(self, "capacity", _normalised(self.capacity))
        if self.rate is not None:
            object.__setattr__(self, "cost", self._cost_per_second(self.rate))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", checked_threshold(self.workload, self.threshold))
        for name in ("must_serve", "must_not_serve"):
            object.__setattr__(self, name, _sorted_ids(name, getattr(self, name)))
        in_both = sorted(set(self.must_serve) & set(self.must_not_serve))
        if in_both:
            raise InputError(f"Topic {in_both[0]!r} must be served and must not be served.")
        object.__setattr__(self, "instance", Instance(self.workload, self.threshold, self.cost))

    def _cost_per_second(self, rate: Rate) -> str | None:
        """What topics cost where the capacity is a rate: what the rate counts, over the window."""
        if self.workload.manifest.window.seconds is None:
            raise InputError(
                f"{self.workload.path} does not say how long its window is, so the capacity cannot be {rate.text}: "
                "give it as a share such as 10%, or per window."
            )
        counted_cost = BYTES if rate.of == "bytes" else None
        if self.cost is None or self.cost == counted_cost:
            return counted_cost
        expected = f"pass {argument('cost', BYTES)}" if rate.of == "bytes" else f"leave out {argument('cost')}"
        raise InputError(
            f"A capacity of {rate.text} counts {rate.of}, but topics cost {cost_unit(self.cost)} ({self.cost}): "
            f"{expected}, or give the capacity in the same unit."
        )

    def check(self) -> None:
        """Read what it takes to see that the question can be answered, and refuse it otherwise.

        Raises:
            InputError: there is no threshold at all, the cost column or a listed topic does not exist, a cost or a
                weight is negative, or costs or weights add up to more than can be counted.
            Infeasible: the topics that must be served cost more than the capacity.
        """
        checked_threshold(self.workload, self.threshold)
        self._check_costs()
        if self.total_weight >= 2**31:
            raise InputError(f"select counts a total weight below 2^31, not {self.total_weight}.")
        self._check_lists()

    def _check_costs(self) -> None:
        if self.cost is None:
            return
        columns = [BYTES, *COST_COLUMNS, *sorted(self.workload.optional_topic_columns)]
        if self.cost not in columns:
            raise InputError(unknown_name("cost", self.cost, columns))
        if self.total_cost > MAX_INT64:
            raise InputError(f"The column {self.cost} adds up to {self.total_cost}, which does not fit 64 bits.")

    def _check_lists(self) -> None:
        self.instance.topic_numbers(self.must_not_serve)
        needed = exact_sum(self.costs[self.first_choices]) if self.must_serve else 0
        if needed > self.capacity_cost:
            excess = needed - self.capacity_cost
            listed = f"{counted(len(self.must_serve), 'topic')} that must be served"
            raise Infeasible(
                f"The topics that must be served cost {excess} more than the capacity.",
                [self.capacity_reason(needed, self.capacity_cost, listed)],
            )

    def at_capacity(self, capacity: str | int) -> Problem:
        """The same question for another capacity; it shares what was read for this one."""
        return self._sharing_instance(replace(self, capacity=capacity))

    def with_must_serve(self, topic_id: str) -> Problem:
        """The same question with one more topic that must be served; it shares what was read for this one."""
        return self._sharing_instance(replace(self, must_serve=(*self.must_serve, topic_id)))

    def _sharing_instance(self, other: Problem) -> Problem:
        if other.cost == self.cost:  # a bandwidth counts bytes, whatever the capacity was before
            object.__setattr__(other, "instance", self.instance)
        return other

    def capacity_reason(self, needed: int, left: int, where: str) -> Reason:
        """The capacity as a limit, in the unit of costs."""
        sentence = f"capacity: {counted_cost(needed, self.cost)} needed, {left:,} left, for {where}"
        return Reason("capacity", needed, left, where, sentence)

    @property
    def sense(self) -> Sense:
        return "max"

    @property
    def unit(self) -> str:
        return "weighted subscribers" if self.has_weights else "subscribers"

    @property
    def scale(self) -> int:
        """Objectives are integers in units of 1 / scale."""
        return FIXED_POINT_ONE if self.objective == "fb3m" else 1

    @property
    def has_weights(self) -> bool:
        return self.instance.has_weights

    @property
    def total_weight(self) -> int:
        """What satisfying every subscriber is worth."""
        return self.instance.total_weight

    @property
    def rates(self) -> Int64Array:
        """Events per window, by topic."""
        return self.instance.rates

    @property
    def costs(self) -> Int64Array:
        """What serving each topic costs."""
        return self.instance.costs

    @property
    def total_cost(self) -> int:
        """What serving all topics costs."""
        return self.instance.total_cost

    @property
    def capacity_cost(self) -> int:
        """The capacity as a cost."""
        if isinstance(self.capacity, int):
            return self.capacity
        if self.rate is not None:
            return min(MAX_INT64, int(self.rate.amount * self.window_seconds))
        return min(MAX_INT64, int(share_fraction(self.capacity) * self.total_cost))

    @property
    def rate(self) -> Rate | None:
        """The capacity per second, if it was given so."""
        return read_rate(self.capacity)

    @property
    def window_seconds(self) -> Fraction:
        """How long the window is that costs are counted over."""
        return Fraction(str(self.workload.manifest.window.seconds))

    @cached_property
    def first_choices(self) -> Int32Array:
        """The topics that must be served, ascending."""
        return self.instance.topic_numbers(self.must_serve)

    @cached_property
    def is_open(self) -> npt.NDArray[np.bool_]:
        """Which topics a plan is free to serve or not."""
        is_open = np.ones(self.workload.counts.topics, dtype=bool)
        is_open[self.first_choices] = False
        is_open[self.instance.topic_numbers(self.must_not_serve)] = False
        return is_open

    def to_parameters(self) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "threshold": self.threshold,
            "capacity": self.capacity,
            "capacity_cost": self.capacity_cost,
            "cost": self.cost,
            "must_serve": list(self.must_serve),
            "must_not_serve": list(self.must_not_serve),
        }


def _normalised(capacity: str | int) -> str | int:
    """The forms of a capacity: an integer, a share like ``"10%"``, or a rate like ``"1200 msg/s"``."""
    is_whole = isinstance(capacity, Integral) and not isinstance(capacity, bool)
    text = str(capacity).strip() if is_whole or isinstance(capacity, str) else ""
    if re.fullmatch(r"[0-9]{1,19}", text) and int(text) <= MAX_INT64:
        return int(text)
    share, rate = share_text(capacity), read_rate(capacity)
    if share is not None:
        return share
    if rate is not None:
        return rate.text
    raise InputError(
        f"{argument('capacity')} is a share of the total cost such as 10%, a whole number of deliveries per window, or "
        f"a rate such as 1200 msg/s or 64 Mbit/s, not '{str(capacity)[:40]}'.{share_hint(capacity)}"
    )


def _sorted_ids(name: str, topic_ids: Sequence[str]) -> tuple[str, ...]:
    if isinstance(topic_ids, str) or not all(isinstance(topic_id, str) for topic_id in topic_ids):
        raise InputError(f"{argument(name)} is a list of topic ids, not {topic_ids!r}.")
    return tuple(sorted(set(topic_ids), key=lambda topic_id: topic_id.encode("utf-8")))


def cost_unit(column: str | None) -> str:
    """What costs count, when they come from a column or are rate x subscribers."""
    return _COST_UNITS.get(column, "units of cost")


def counted_cost(cost: int, column: str | None) -> str:
    """A cost with what it counts."""
    unit = cost_unit(column)
    if cost == 1:
        counted_noun, _, rest = unit.partition(" ")
        singular = "delivery" if counted_noun == "deliveries" else counted_noun.removesuffix("s")
        unit = f"{singular} {rest}".rstrip()
    return f"{cost:,} {unit}"


def only_for(objective: Objective) -> Callable[[Problem], str | None]:
    """The refusal of a method that answers one objective."""

    def refusal(problem: Problem) -> str | None:
        return None if problem.objective == objective else f"it maximises {objective}, not {problem.objective}."

    return refusal
