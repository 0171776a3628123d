"""Clusters of brokers: sets that are far from all others, and how far.

Brokers are joined at the price of the cheapest link between them, the cheapest first (single linkage). A cluster is
born at the price at which it is joined, and ends where it is joined to others; the difference is its length. To get
into a cluster from outside, a message pays at least its length, and the lengths of nested clusters add up: along any
link, those that it leads into are together no longer than its price.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.workload import Int64Array


@dataclass(frozen=True)
class Clusters:
    """Sets of brokers with their lengths, nested or apart; the set of all brokers is not among them.

    Attributes:
        members: for every cluster its brokers, ascending.
        lengths: above 0.
        height: what the lengths of the clusters around any one broker add up to.
    """

    members: tuple[Int64Array, ...]
    lengths: Int64Array
    height: int

    @property
    def number(self) -> int:
        return len(self.members)

    def member_lists(self) -> tuple[Int64Array, Int64Array]:
        """The brokers of all clusters end to end, as offsets and brokers."""
        offsets = np.cumsum([0, *(len(some) for some in self.members)]).astype(np.int64)
        return offsets, np.concatenate([np.empty(0, np.int64), *self.members])


def clusters_of(prices: Int64Array) -> Clusters:
    """The clusters of a matrix of prices between brokers."""
    number = len(prices)
    sources, targets = np.triu_indices(number, 1)
    order = np.argsort(prices[sources, targets], kind="stable")
    label = np.arange(number)
    born = dict.fromkeys(range(number), 0)
    inside = {broker: [broker] for broker in range(number)}
    members: list[Int64Array] = []
    lengths: list[int] = []
    height = 0
    for link in order.tolist():
        first, second = int(label[sources[link]]), int(label[targets[link]])
        if first == second:
            continue
        price = int(prices[sources[link], targets[link]])
        for cluster in (first, second):
            if price > born[cluster]:
                members.append(np.array(sorted(inside[cluster]), dtype=np.int64))
                lengths.append(price - born[cluster])
        inside[first] += inside.pop(second)
        born[first], height = price, price
        label[inside[first]] = first
        if len(inside[first]) == number:
            break
    return Clusters(tuple(members), np.array(lengths, dtype=np.int64), height)
