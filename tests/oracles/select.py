"""select by the definitions: plain Python, all subsets, no cleverness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

from hypothesis import strategies as st

import pubplan
from pubplan.problems.select import Problem

FIXED_POINT_ONE = 2**32


@dataclass(frozen=True)
class Case:
    """An instance as plain values; topics and subscribers are in id order."""

    rates: Mapping[str, int]
    interests: Mapping[str, tuple[str, ...]]
    threshold: int | Literal["all"] | None
    capacity: int
    thresholds: Mapping[str, int] | None = None
    weights: Mapping[str, int] | None = None
    costs: Mapping[str, int] | None = None
    must_serve: tuple[str, ...] = ()
    must_not_serve: tuple[str, ...] = field(default=())

    @property
    def topics(self) -> list[str]:
        return sorted(self.rates)

    @property
    def open_topics(self) -> list[str]:
        return [topic for topic in self.topics if topic not in (*self.must_serve, *self.must_not_serve)]

    def cost(self, topic: str) -> int:
        if self.costs is not None:
            return self.costs[topic]
        return self.rates[topic] * sum(topic in wanted for wanted in self.interests.values())

    def total_cost(self, topics: Iterable[str]) -> int:
        return sum(map(self.cost, topics))

    def weight(self, subscriber: str) -> int:
        return 1 if self.weights is None else self.weights[subscriber]

    def needed(self, subscriber: str) -> int:
        everything = sum(self.rates[topic] for topic in self.interests[subscriber])
        if self.thresholds is not None:
            return min(self.thresholds[subscriber], everything)
        return everything if self.threshold == "all" else min(self.threshold, everything)

    def received(self, subscriber: str, served: Iterable[str]) -> int:
        chosen = set(served)
        return sum(self.rates[topic] for topic in self.interests[subscriber] if topic in chosen)

    def fixed_satisfaction(self, subscriber: str, served: Iterable[str]) -> int:
        needed = self.needed(subscriber)
        if needed == 0:
            return FIXED_POINT_ONE
        slope = -(-FIXED_POINT_ONE // needed)
        return min(FIXED_POINT_ONE, slope * min(needed, self.received(subscriber, served)))

    def value(self, served: Iterable[str], objective: str) -> int:
        """The objective in its own units: 2^-32 for fb3m, 1 for b3m."""
        chosen = set(served)
        if objective == "fb3m":
            return sum(self.weight(s) * self.fixed_satisfaction(s, chosen) for s in self.interests)
        return sum(self.weight(s) * (self.received(s, chosen) >= self.needed(s)) for s in self.interests)

    def problem(self, directory: Path, objective: str = "fb3m", rename=lambda name: name) -> Problem:
        """The case as a workload on disk, its ids changed by a function, and the question about it."""

        def named(values: Mapping[str, int] | None) -> dict[str, int] | None:
            return None if values is None else {rename(name): value for name, value in values.items()}

        workload = pubplan.build_workload(
            directory / "workload",
            named(self.rates),
            {rename(subscriber): [rename(topic) for topic in wanted] for subscriber, wanted in self.interests.items()},
            thresholds=named(self.thresholds),
            weights=named(self.weights),
            costs=named(self.costs),
        )
        return Problem(
            workload,
            self.capacity,
            None if self.thresholds is not None else self.threshold,
            objective,
            cost=None if self.costs is None else "cost",
            must_serve=[rename(topic) for topic in self.must_serve],
            must_not_serve=[rename(topic) for topic in self.must_not_serve],
        )


def cases(max_topics: int = 6, max_subscribers: int = 7, *, plain: bool = False) -> st.SearchStrategy[Case]:
    """Small instances, odd ones included: zero rates, no interests, capacity 0 or more than everything.

    Unless ``plain``, some have thresholds, weights, costs or lists of their own.
    """

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        num_topics = draw(st.integers(1, max_topics))
        topics = [f"t{number}" for number in range(num_topics)]
        rates = {topic: draw(st.integers(0, 12)) for topic in topics}
        interests = {
            f"s{number}": tuple(sorted(draw(st.sets(st.sampled_from(topics), max_size=num_topics))))
            for number in range(draw(st.integers(1, max_subscribers)))
        }
        case = Case(rates, interests, draw(st.integers(0, 32).map(lambda number: number if number <= 30 else "all")), 0)
        if not plain:
            case = replace(
                case,
                thresholds=draw(st.none() | st.fixed_dictionaries({s: st.integers(0, 30) for s in interests})),
                weights=draw(st.none() | st.fixed_dictionaries({s: st.integers(0, 4) for s in interests})),
                costs=draw(st.none() | st.fixed_dictionaries({t: st.integers(0, 9) for t in topics})),
                must_serve=tuple(sorted(draw(st.sets(st.sampled_from(topics), max_size=1)))),
            )
            free = [topic for topic in topics if topic not in case.must_serve]
            if free:
                case = replace(case, must_not_serve=tuple(sorted(draw(st.sets(st.sampled_from(free), max_size=1)))))
        least, everything = case.total_cost(case.must_serve), case.total_cost(topics)
        return replace(case, capacity=draw(st.integers(least, max(least, everything + 2))))

    return build()


def subsets(case: Case) -> Iterable[tuple[str, ...]]:
    """Every set of topics that fits and keeps the lists."""
    for size in range(len(case.open_topics) + 1):
        for chosen in combinations(case.open_topics, size):
            if case.total_cost((*case.must_serve, *chosen)) <= case.capacity:
                yield (*case.must_serve, *chosen)


def best_value(case: Case, objective: str) -> int:
    return max(case.value(chosen, objective) for chosen in subsets(case))


def eager_greedy(case: Case, *, by_ratio: bool) -> list[str]:
    """Value every topic in every round for F-B3M; the best one goes, served if it fits, dropped if not."""

    def gain(topic: str, served: list[str]) -> int:
        return case.value([*served, topic], "fb3m") - case.value(served, "fb3m")

    return _rounds(case, gain, by_ratio=by_ratio)


def naive_greedy_b3m(case: Case) -> list[str]:
    """GreedyB3M: value every topic in every round by the shares of what is missing that it fills, in units of 2^-32."""

    def value(topic: str, served: list[str]) -> int:
        total = 0
        for subscriber, wanted in case.interests.items():
            missing = case.needed(subscriber) - case.received(subscriber, served)
            if topic in wanted and missing > 0:
                total += case.weight(subscriber) * (FIXED_POINT_ONE * min(missing, case.rates[topic]) // missing)
        return total

    return _rounds(case, value, by_ratio=True)


def _rounds(case: Case, value, *, by_ratio: bool) -> list[str]:
    waiting, served = case.open_topics, list(case.must_serve)
    while waiting:
        values = {topic: value(topic, served) for topic in waiting}

        def key(topic: str, values=values) -> float:
            if not by_ratio or values[topic] == 0:
                return values[topic]
            return float(values[topic]) / float(case.cost(topic)) if case.cost(topic) else float("inf")

        best = min(waiting, key=lambda topic: (-key(topic), topic))
        if values[best] == 0:
            break
        waiting = [topic for topic in waiting if topic != best]
        if case.total_cost([*served, best]) <= case.capacity:
            served.append(best)
    return served


def paper_knapsack(case: Case) -> int:
    """Algorithm 3: subscribers by the fewest deliveries that satisfy them, as long as they fit."""
    least = []
    for subscriber, wanted in case.interests.items():
        needed = case.needed(subscriber)
        positive = [case.rates[topic] for topic in wanted if case.rates[topic]]
        least.append(max(needed, min(positive)) if needed else 0)
    filled = spent = 0
    for weight in sorted(least):
        if spent + weight > case.capacity:
            break
        filled, spent = filled + 1, spent + weight
    return filled
