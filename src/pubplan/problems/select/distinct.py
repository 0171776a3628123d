"""The subscribers as the exact search sees them: equal ones merged, without what is decided in a part of all plans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_dot, exact_sum
from pubplan.problems.select.instance import slopes
from pubplan.problems.select.kernels.search import FREE, SERVED
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array

StateArray = npt.NDArray[np.int8]


@dataclass(frozen=True)
class DistinctRows:
    """Distinct subscribers with free topics; topics are numbered 0 … len(costs) - 1 here.

    Attributes:
        offsets, topics: the free topics of each row.
        needed: the events that satisfy a row; ``sure`` of them it receives whatever is decided next.
        weights: the sum of the weights of the subscribers that a row stands for.
        events, costs, single_weights: by topic; the last is the weight of the subscribers who want it alone.
        base: the objective that is certain, in units of 2^-32, with every row at what it is sure to receive left out.
        topic_numbers, entries: the topics and the interests of the whole problem that these are.
    """

    offsets: Int64Array
    topics: Int32Array
    needed: Int64Array
    sure: Int64Array
    weights: Int64Array
    events: Int64Array
    costs: Int64Array
    single_weights: Int64Array
    base: int
    topic_numbers: Int64Array
    entries: Int64Array
    is_whole: bool

    @classmethod
    def of(cls, problem: Problem) -> DistinctRows:
        """The distinct subscribers of a problem who want several topics, in order of their first subscriber."""
        instance = problem.instance
        lists, needed = instance.interests.by_subscriber, instance.thresholds
        lengths = np.diff(lists.offsets)
        weight_of: dict[tuple[bytes, int], int] = {}
        for row in np.flatnonzero((lengths > 1) & (needed > 0) & (instance.weights > 0)):
            key = (lists.row(int(row)).tobytes(), int(needed[row]))
            weight_of[key] = weight_of.get(key, 0) + int(instance.weights[row])
        members = [np.frombuffer(topics, dtype=np.int32) for topics, _ in weight_of]
        sizes = np.array([len(topics) for topics in members], dtype=np.int64)
        return cls(
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            topics=np.concatenate([np.empty(0, np.int32), *members]),
            needed=np.array([need for _, need in weight_of], dtype=np.int64),
            sure=np.zeros(len(members), dtype=np.int64),
            weights=np.array(list(weight_of.values()), dtype=np.int64),
            events=instance.events,
            costs=instance.costs,
            single_weights=instance.single_topic_weight,
            base=FIXED_POINT_ONE * exact_sum(instance.weights[needed == 0]),
            topic_numbers=np.arange(instance.num_topics),
            entries=np.arange(int(sizes.sum())),
            is_whole=problem.objective == "b3m",
        )

    @property
    def row_of_entry(self) -> Int64Array:
        return np.repeat(np.arange(len(self.needed)), np.diff(self.offsets))

    def satisfaction(self, row: Int64Array, received: Int64Array) -> Int64Array:
        """What rows that receive so much count for, in units of 2^-32."""
        needed = self.needed[row]
        partial = np.zeros_like(needed) if self.is_whole else slopes(needed) * np.minimum(received, needed)
        return np.asarray(np.where(received >= needed, FIXED_POINT_ONE, np.minimum(FIXED_POINT_ONE, partial)))

    def reduced(self, state: StateArray) -> DistinctRows:
        """What is left when topics are served or closed as ``state`` says: free topics, and rows that they can help."""
        owner, free = self.row_of_entry, state == FREE
        brings = np.minimum(self.events[self.topics], self.needed[owner])
        sure, offered = self.sure.copy(), np.zeros_like(self.sure)
        np.add.at(sure, owner[state[self.topics] == SERVED], brings[state[self.topics] == SERVED])
        np.add.at(offered, owner[free[self.topics]], brings[free[self.topics]])
        sure = np.minimum(sure, self.needed)
        is_open = (sure < self.needed) & (offered > 0)
        if self.is_whole:
            is_open &= sure + offered >= self.needed
        kept = is_open[owner] & free[self.topics] & (brings > 0)
        closed = np.flatnonzero(~is_open)
        number = np.cumsum(free) - 1
        return DistinctRows(
            offsets=np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(sure))[is_open])]),
            topics=number[self.topics[kept]].astype(np.int32),
            needed=self.needed[is_open],
            sure=sure[is_open],
            weights=self.weights[is_open],
            events=self.events[free],
            costs=self.costs[free],
            single_weights=self.single_weights[free],
            base=self.base
            + FIXED_POINT_ONE * exact_sum(self.single_weights[state == SERVED])
            + exact_dot(self.satisfaction(closed, sure[closed]), self.weights[closed]),
            topic_numbers=self.topic_numbers[free],
            entries=self.entries[kept],
            is_whole=self.is_whole,
        )
