"""Clients that one of few leaves must serve: whichever it is, its filters get larger, so all cases are tried.

A *shared* client has a few candidates. In each case, every shared client is at one of its candidates and counts as a
further witness of the brokers on the path there. What filters measure at least in the best case is a bound. Shared
clients are chosen one after the other, each time the one that adds most to the case that is the best so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pubplan.problems.assign.forced import Witnesses, is_too_fine, least_measure
from pubplan.problems.assign.instance import Instance
from pubplan.problems.assign.kernels.witnesses import UNSOLVED, farthest_rectangles
from pubplan.workload import Int64Array

MAX_SHARED = 24
MAX_CANDIDATES = 5
"""Of a shared client."""

NUM_KEPT = 8
"""Of the witnesses that a broker has in every case, this many count beside the shared clients."""

MAX_CASES = 2_000
"""Cases, complete or not, that are looked at for one choice of shared clients."""

MAX_FILTERS = 160
"""Different filters of brokers in these cases."""

_MAX_SOLVED = 1_000
"""Filters that are solved for, for all choices together."""

_MAX_SEARCH_TERMS = 1 << 13
_MAX_POOL = 96
_PER_SET = 16
"""Of clients with the same candidates, at most this many are considered, those that are farthest apart."""


class _TooLong(Exception):
    """There are too many cases, or a filter takes too long to solve for."""


class _Total(NamedTuple):
    """What all filters measure at least, with regard to the union of all subscriptions, and without: before filters
    reach the union, a larger measure is a step on the way.
    """

    bound: int
    measures: int


@dataclass(frozen=True)
class _Shared:
    """A client with few candidates: its rectangle, and the brokers on the path to each of them."""

    client: int
    rectangle: int
    paths: tuple[tuple[int, ...], ...]


@dataclass
class Cases:
    """All cases of shared clients, and what filters measure at least in them.

    Attributes:
        union: what the filters of each of the first ``num_common_levels`` levels measure at least together.
    """

    instance: Instance
    num_boxes: int
    witnesses: list[Witnesses]
    union: int
    num_common_levels: int
    _known: dict[tuple[int, frozenset[int]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kept = {some.broker: self.instance.rectangle[some.clients[:NUM_KEPT]].tolist() for some in self.witnesses}
        self._known |= {(some.broker, frozenset()): some.measure for some in self.witnesses}
        self._num_solved = 0

    def choose(self) -> tuple[list[int], int]:
        """Shared clients, in the order in which cases are told apart, and what filters measure in the best case."""
        chosen: list[_Shared] = []
        pool = list(self._pool())
        total, sets = self._best_case(chosen)
        while pool and len(chosen) < MAX_SHARED:
            gains = [self._gain(shared, sets, total) for shared in pool]
            if max(gains) <= (0, 0):
                break
            shared = pool.pop(gains.index(max(gains)))
            try:
                total, sets = self._best_case([*chosen, shared])
            except _TooLong:
                continue  # another one may tell fewer cases apart
            chosen.append(shared)
        return [shared.client for shared in chosen], total.bound

    def _pool(self) -> Iterator[_Shared]:
        """Clients with few candidates, the fewest first."""
        instance = self.instance
        num_candidates = np.diff(instance.candidate_offsets)
        by_set: dict[tuple[int, ...], list[int]] = {}
        for group in np.flatnonzero((num_candidates > 1) & (num_candidates <= MAX_CANDIDATES)).tolist():
            first, last = instance.candidate_offsets[group : group + 2]
            by_set.setdefault(tuple(instance.candidates[first:last].tolist()), []).append(group)
        sets = sorted(by_set, key=lambda leaves: (len(leaves), leaves))[:_MAX_POOL]
        is_wanted = np.isin(instance.group, [group for leaves in sets for group in by_set[leaves]])
        clients = np.flatnonzero(is_wanted)
        number = 0
        for leaves in sets:
            some = clients[np.isin(instance.group[clients], by_set[leaves])]
            distinct, firsts = np.unique(instance.rectangle[some], return_index=True)
            paths = tuple(self._path(leaf) for leaf in leaves)
            for position in farthest_rectangles(instance.lows[distinct], instance.highs[distinct], _PER_SET).tolist():
                if number < _MAX_POOL:
                    yield _Shared(int(some[firsts[position]]), int(distinct[position]), paths)
                number += 1

    def _path(self, leaf: int) -> tuple[int, ...]:
        path = [leaf]
        while self.instance.parents[path[-1]] >= 0:
            path.append(int(self.instance.parents[path[-1]]))
        return tuple(path)

    def _gain(self, shared: _Shared, sets: dict[int, frozenset[int]], total: _Total) -> tuple[int, int]:
        """By how much a shared client enlarges the best case."""
        try:
            larger = min(self._total(self._with(sets, shared, path)) for path in shared.paths)
        except _TooLong:
            return 0, 0
        return larger.bound - total.bound, larger.measures - total.measures

    @staticmethod
    def _with(sets: dict[int, frozenset[int]], shared: _Shared, path: tuple[int, ...]) -> dict[int, frozenset[int]]:
        return {**sets, **{broker: sets.get(broker, frozenset()) | {shared.rectangle} for broker in path}}

    def _best_case(self, chosen: list[_Shared]) -> tuple[_Total, dict[int, frozenset[int]]]:
        """The least measure of all filters, and which rectangles brokers have then; depth first, the cheapest first."""
        best: tuple[_Total, dict[int, frozenset[int]]] | None = None
        waiting: list[tuple[_Total, int, dict[int, frozenset[int]]]] = [(self._total({}), 0, {})]
        num_cases = 0
        filters: set[tuple[int, frozenset[int]]] = set()
        while waiting:
            total, depth, sets = waiting.pop()
            num_cases += 1
            filters.update(sets.items())
            if num_cases > MAX_CASES or len(filters) > MAX_FILTERS:
                raise _TooLong
            if best is not None and total >= best[0]:
                continue
            if depth == len(chosen):
                best = total, sets
                continue
            options = [self._with(sets, chosen[depth], path) for path in chosen[depth].paths]
            ordered = sorted(((self._total(each), number) for number, each in enumerate(options)), reverse=True)
            waiting += [(value, depth + 1, options[number]) for value, number in ordered]
        assert best is not None  # every client has a candidate
        return best

    def _total(self, sets: dict[int, frozenset[int]]) -> _Total:
        """What all filters measure at least if brokers have these rectangles besides their witnesses."""
        levels = [0] * int(self.instance.levels.max())
        for broker in {*self._kept, *sets}:
            levels[self.instance.levels[broker] - 1] += self._measure(broker, sets.get(broker, frozenset()))
        common = [max(self.union, value) for value in levels[: self.num_common_levels]]
        return _Total(sum(common) + sum(levels[self.num_common_levels :]), sum(levels))

    def _measure(self, broker: int, added: frozenset[int]) -> int:
        key = broker, added
        if key not in self._known:
            self._num_solved += 1
            if self._num_solved > _MAX_SOLVED:
                raise _TooLong
            rectangles: Int64Array = np.array([*self._kept.get(broker, []), *sorted(added)])
            if len(rectangles) > 1 and is_too_fine(len(rectangles), self.instance.dims):
                raise _TooLong
            lows, highs = self.instance.lows[rectangles], self.instance.highs[rectangles]
            least = least_measure(lows, highs, self.instance.measure, self.num_boxes, _MAX_SEARCH_TERMS)
            self._known[key] = max(least, self._known.get((broker, frozenset()), 0)) if least != UNSOLVED else UNSOLVED
        if self._known[key] == UNSOLVED:
            raise _TooLong
        return self._known[key]
