"""The question: which topics should a back-end of limited capacity serve, so that most subscribers are satisfied?

Symbols: topic t publishes rate(t) events per window and costs rate(t) x subscribers(t) deliveries to serve, unless a
column gives its cost. Subscriber v needs tau_v events, the threshold or everything it asked for if that is less. B3M
counts the subscribers who receive tau_v; F-B3M adds up min(1, received / tau_v); both count v as often as its weight
says. A subscriber with tau_v = 0 is satisfied.

F-B3M is counted in fixed point, in units of 2^-32: min(2^32, slope_v * received) with slope_v = ceil(2^32 / tau_v).
That is concave in what is received, so gains never rise as topics are added, and it is exactly 2^32 for a satisfied
subscriber. It exceeds the real value by less than tau_v / 2^32 for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.engine import MAX_INT64, exact_sum
from pubplan.errors import Infeasible, InputError, Reason, unknown_name
from pubplan.kernels import count_columns, transpose
from pubplan.planning import Sense
from pubplan.workload import (
    MAX_THRESHOLD,
    Csr,
    Int32Array,
    Int64Array,
    Interests,
    RowReader,
    Workload,
    checked_threshold,
    satisfying,
    unit_weights,
)

FULL = 2**32

Objective = Literal["b3m", "fb3m"]
OBJECTIVES: tuple[Objective, ...] = ("b3m", "fb3m")
COST_COLUMNS = ("message_bytes", "rate", "subscribers")


@dataclass(frozen=True)
class Problem:
    """Serve the topics that satisfy most subscribers within ``capacity``.

    Args:
        capacity: cost as an integer, or a share of the total cost as ``"10%"``. Costs are deliveries per window unless
            ``cost`` says otherwise.
        threshold: events per window that satisfy a subscriber; None takes the workload's ``threshold`` column.
        objective: ``"fb3m"`` counts fractions of satisfied subscribers, ``"b3m"`` whole ones.
        cost: an integer column of the topics that says what serving each of them costs; None is rate x subscribers.
        must_serve: ids of topics that every plan serves.
        must_not_serve: ids of topics that no plan serves.

    A workload whose subscribers have a ``weight`` counts each of them that many times.

    Raises:
        InputError: a value is out of range, there is no threshold at all, or a listed topic does not exist.
        Infeasible: the topics that must be served cost more than the capacity.
    """

    workload: Workload
    capacity: str | int
    threshold: int | None = None
    objective: Objective = "fb3m"
    cost: str | None = None
    must_serve: Sequence[str] = ()
    must_not_serve: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.workload.kind != "topic":
            raise InputError(f"select plans topic workloads; {self.workload.path} is a {self.workload.kind} workload.")
        if self.objective not in OBJECTIVES:
            raise InputError(f"The objective is b3m or fb3m, not '{self.objective}'.")
        if self.workload.counts.subscribers >= 2**31:
            raise InputError(f"select counts fewer than 2^31 subscribers, not {self.workload.counts.subscribers}.")
        object.__setattr__(self, "capacity", _normalised(self.capacity))
        object.__setattr__(self, "threshold", checked_threshold(self.workload, self.threshold))
        self._check_cost()
        if self.total_weight >= 2**31:
            raise InputError(f"select counts a total weight below 2^31, not {self.total_weight}.")
        for name in ("must_serve", "must_not_serve"):
            object.__setattr__(self, name, _listed(name, getattr(self, name)))
        self._check_lists()

    def _check_cost(self) -> None:
        if self.cost is None:
            return
        columns = [*COST_COLUMNS, *sorted(self.workload.optional_topic_columns)]
        if self.cost not in columns:
            raise InputError(unknown_name("cost column", self.cost, columns))
        if self.total_cost > MAX_INT64:
            raise InputError(f"The column {self.cost} adds up to {self.total_cost}, which does not fit 64 bits.")

    def _check_lists(self) -> None:
        both = sorted(set(self.must_serve) & set(self.must_not_serve))
        if both:
            raise InputError(f"Topic {both[0]!r} must be served and must not be served.")
        self._numbers(self.must_not_serve)
        needed = exact_sum(self.costs[self.first_choices]) if self.must_serve else 0
        if needed > self.capacity_cost:
            excess = needed - self.capacity_cost
            raise Infeasible(
                f"The topics that must be served cost {excess} more than the capacity.",
                [Reason("capacity", needed, self.capacity_cost, f"{len(self.must_serve)} topics that must be served")],
            )

    @property
    def sense(self) -> Sense:
        return "max"

    @property
    def unit(self) -> str:
        return "weighted subscribers" if self.has_weights else "subscribers"

    @property
    def scale(self) -> int:
        """Objectives are integers in units of 1 / scale."""
        return FULL if self.objective == "fb3m" else 1

    @property
    def has_weights(self) -> bool:
        return "weight" in self.workload.optional_columns

    @cached_property
    def total_weight(self) -> int:
        """What satisfying everybody is worth."""
        if not self.has_weights:
            return self.workload.counts.subscribers
        weights = self.workload.subscriber_array("weight")
        if len(weights) and weights.min() < 0:
            raise InputError(f"Weights in {self.workload.path} must not be negative.")
        return exact_sum(weights)

    @cached_property
    def rates(self) -> Int64Array:
        """Events per window, by topic."""
        return self.workload.topic_array("rate")

    @cached_property
    def costs(self) -> Int64Array:
        """What serving each topic costs."""
        if self.cost is None:
            return self.rates * self.workload.topic_array("subscribers")
        costs = self.workload.topic_array(self.cost)
        if len(costs) and costs.min() < 0:
            raise InputError(f"Costs in {self.workload.path} must not be negative.")
        return costs

    @cached_property
    def total_cost(self) -> int:
        return self.workload.totals.cost if self.cost is None else exact_sum(self.costs)

    @property
    def capacity_cost(self) -> int:
        """The capacity as a cost."""
        if isinstance(self.capacity, int):
            return self.capacity
        return min(MAX_INT64, int(Fraction(self.capacity.rstrip("%")) * self.total_cost / 100))

    @cached_property
    def first_choices(self) -> Int32Array:
        """The topics that must be served, ascending."""
        return self._numbers(self.must_serve)

    @cached_property
    def is_open(self) -> npt.NDArray[np.bool_]:
        """Which topics a plan is free to serve or not."""
        is_open = np.ones(self.workload.counts.topics, dtype=bool)
        is_open[self.first_choices] = False
        is_open[self._numbers(self.must_not_serve)] = False
        return is_open

    def _numbers(self, topic_ids: Sequence[str]) -> Int32Array:
        if not topic_ids:
            return np.empty(0, dtype=np.int32)
        known = self.workload.topics("topic_id")["topic_id"].combine_chunks()
        places = pc.index_in(pa.array(topic_ids, pa.string()), value_set=known)
        if places.null_count:
            missing = topic_ids[places.is_null().to_pylist().index(True)]
            raise InputError(f"{self.workload.path} has no topic {missing!r}.")
        return np.sort(places.to_numpy()).astype(np.int32)

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

    @classmethod
    def restore(cls, workload: Workload, parameters: Mapping[str, Any]) -> Problem:
        """The problem that a plan's parameters describe."""
        names = ("capacity", "threshold", "objective", "cost", "must_serve", "must_not_serve")
        return cls(workload, **{name: parameters[name] for name in names})

    @cached_property
    def instance(self) -> Instance:
        """The problem as arrays, read once."""
        return Instance.read(self)

    def rows(self) -> RowReader:
        """Reads the subscribers of one block at a time, here or in a task."""
        return RowReader(self.workload, self.rates, self.threshold, self.has_weights)


@dataclass(frozen=True)
class Instance:
    """A problem in memory: interests both ways, rates and costs by topic, tau_v and weights by subscriber.

    ``events`` are the rates cut to what any subscriber can need, so that products with slopes fit 64 bits.
    """

    interests: Interests
    events: Int64Array
    costs: Int64Array
    thresholds: Int64Array
    weights: Int64Array

    @classmethod
    def read(cls, problem: Problem) -> Instance:
        workload = problem.workload
        interests = workload.csr()
        rows = interests.by_subscriber
        asked = problem.threshold if problem.threshold is not None else workload.subscriber_array("threshold")
        thresholds = satisfying(workload, problem.rates, asked, rows.offsets, rows.values)
        weights = workload.subscriber_array("weight") if problem.has_weights else unit_weights(len(thresholds))
        return cls(interests, np.minimum(problem.rates, MAX_THRESHOLD), problem.costs, thresholds, weights)

    @cached_property
    def shared(self) -> Shared:
        """The subscribers who want several topics, and the weight of the others."""
        return Shared.of(self)

    @property
    def num_subscribers(self) -> int:
        return len(self.thresholds)

    @property
    def num_topics(self) -> int:
        return len(self.events)


@dataclass(frozen=True)
class Shared:
    """The subscribers who want something and more than one topic, numbered anew: there lies all the work.

    ``rows`` are their numbers in the workload, ``own`` the weight by topic of those who want that topic alone.
    """

    rows: Int64Array
    own: Int64Array
    by_subscriber: Csr
    by_topic: Csr
    thresholds: Int64Array
    weights: Int64Array

    @classmethod
    def of(cls, instance: Instance) -> Shared:
        lists = instance.interests.by_subscriber
        lengths = np.diff(lists.offsets)
        wants = instance.thresholds > 0
        single = np.flatnonzero(wants & (lengths == 1))
        own = np.zeros(instance.num_topics, dtype=np.int64)
        np.add.at(own, lists.values[lists.offsets[single]], instance.weights[single])
        rows = np.flatnonzero(wants & (lengths > 1))
        row_offsets = np.concatenate([[0], np.cumsum(lengths[rows])]).astype(np.int64)
        values = lists.values[np.repeat(wants & (lengths > 1), lengths)]
        counted = np.zeros(instance.num_topics, dtype=np.int64)
        count_columns(values, counted)
        offsets = np.concatenate([[0], np.cumsum(counted)]).astype(np.int64)
        subscribers = np.empty(len(values), dtype=np.int32)
        transpose(values, row_offsets, offsets, subscribers)
        weights = instance.weights[rows] if instance.weights.strides[0] else unit_weights(len(rows))
        return cls(rows, own, Csr(row_offsets, values), Csr(offsets, subscribers), instance.thresholds[rows], weights)


def slopes(thresholds: Int64Array) -> Int64Array:
    """What one event adds to a subscriber in units of 2^-32; nothing where tau_v is 0."""
    return np.where(thresholds > 0, -(-FULL // np.maximum(thresholds, 1)), 0)


def start_state(objective: Objective, thresholds: Int64Array) -> Int64Array:
    """Room and slope per subscriber before anything is served, as the kernels have it."""
    state = np.empty((len(thresholds), 2), dtype=np.int64)
    if objective == "b3m":
        state[:, 0], state[:, 1] = thresholds, 1
    else:
        state[:, 0], state[:, 1] = np.where(thresholds > 0, FULL, 0), slopes(thresholds)
    return state


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
    except (OverflowError, TypeError, ValueError):
        as_share = -1.0
    hint = f" Did you mean '{as_share * 100:g}%'?" if 0 < as_share <= 1 else ""
    raise InputError(
        f"The capacity is a share of the total cost such as 10%, or a whole number of deliveries per window, "
        f"not '{str(capacity)[:40]}'.{hint}"
    )


def _listed(name: str, topic_ids: Sequence[str]) -> tuple[str, ...]:
    if isinstance(topic_ids, str) or not all(isinstance(topic_id, str) for topic_id in topic_ids):
        raise InputError(f"{name} is a list of topic ids, not {topic_ids!r}.")
    return tuple(sorted(set(topic_ids), key=lambda topic_id: topic_id.encode("utf-8")))


def only_for(objective: Objective) -> Callable[[Problem], str | None]:
    """The refusal of a method that answers one objective."""

    def refusal(problem: Problem) -> str | None:
        return None if problem.objective == objective else f"it maximises {objective}, not {problem.objective}."

    return refusal
