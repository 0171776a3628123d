"""select by the definitions: plain Python, all subsets, no cleverness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from hypothesis import strategies as st

FULL = 2**32


@dataclass(frozen=True)
class Case:
    """An instance as plain values; topics and subscribers are in id order."""

    rates: Mapping[str, int]
    interests: Mapping[str, tuple[str, ...]]
    threshold: int
    capacity: int

    @property
    def topics(self) -> list[str]:
        return sorted(self.rates)

    def cost(self, topic: str) -> int:
        return self.rates[topic] * sum(topic in wanted for wanted in self.interests.values())

    def needed(self, subscriber: str) -> int:
        return min(self.threshold, sum(self.rates[topic] for topic in self.interests[subscriber]))

    def received(self, subscriber: str, served: Iterable[str]) -> int:
        chosen = set(served)
        return sum(self.rates[topic] for topic in self.interests[subscriber] if topic in chosen)

    def fixed_satisfaction(self, subscriber: str, served: Iterable[str]) -> int:
        needed = self.needed(subscriber)
        if needed == 0:
            return FULL
        slope = -(-FULL // needed)
        return min(FULL, slope * min(needed, self.received(subscriber, served)))

    def value(self, served: Iterable[str], objective: str) -> int:
        """The objective in its own units: 2^-32 for fb3m, 1 for b3m."""
        chosen = set(served)
        if objective == "fb3m":
            return sum(self.fixed_satisfaction(subscriber, chosen) for subscriber in self.interests)
        return sum(self.received(s, chosen) >= self.needed(s) for s in self.interests)


def cases(max_topics: int = 6, max_subscribers: int = 7) -> st.SearchStrategy[Case]:
    """Small instances, odd ones included: zero rates, no interests, capacity 0 or more than everything."""

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        num_topics = draw(st.integers(1, max_topics))
        topics = [f"t{number}" for number in range(num_topics)]
        rates = {topic: draw(st.integers(0, 12)) for topic in topics}
        interests = {
            f"s{number}": tuple(sorted(draw(st.sets(st.sampled_from(topics), max_size=num_topics))))
            for number in range(draw(st.integers(1, max_subscribers)))
        }
        case = Case(rates, interests, draw(st.integers(0, 30)), 0)
        everything = sum(case.cost(topic) for topic in topics)
        return Case(rates, interests, case.threshold, draw(st.integers(0, everything + 2)))

    return build()


def subsets(case: Case) -> Iterable[tuple[str, ...]]:
    """Every set of topics that fits."""
    for size in range(len(case.topics) + 1):
        for chosen in combinations(case.topics, size):
            if sum(map(case.cost, chosen)) <= case.capacity:
                yield chosen


def best_value(case: Case, objective: str) -> int:
    return max(case.value(chosen, objective) for chosen in subsets(case))


def eager_greedy(case: Case, *, by_ratio: bool) -> list[str]:
    """Value every topic in every round; the best one goes, served if it fits, dropped if not."""
    waiting, served, spent = case.topics, [], 0
    while waiting:
        now = case.value(served, "fb3m")
        keys = {}
        for topic in waiting:
            gain = case.value([*served, topic], "fb3m") - now
            keys[topic] = gain if gain == 0 or not by_ratio else float(gain) / float(case.cost(topic))
        best = min(waiting, key=lambda topic: (-keys[topic], topic))
        if keys[best] == 0:
            break
        waiting = [topic for topic in waiting if topic != best]
        if spent + case.cost(best) <= case.capacity:
            served.append(best)
            spent += case.cost(best)
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
