"""Whether filters measure at least what is said, whichever of its candidates serves each shared client."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.problems.assign.verifier.clients import Witness
from pubplan.problems.assign.verifier.covers import MAX_CELLS, least_measure
from pubplan.problems.assign.verifier.evidence import Forced
from pubplan.problems.assign.verifier.tree import Tree
from pubplan.workload import Int64Array

NUM_KEPT = 8
"""Of the witnesses of a broker, this many count beside the shared clients that it serves."""

MAX_CASES = 20_000
"""Cases that are looked at before a proof is refused."""


@dataclass(frozen=True)
class Cases:
    """What brokers have to let through, and which clients make cases.

    Attributes:
        union: what the filters of each of the first ``num_common_levels`` levels measure at least together.
    """

    tree: Tree
    witnesses: dict[int, Witness]
    forced: Forced
    union: int
    num_common_levels: int
    density: Int64Array
    widths: tuple[int, ...]
    num_boxes: int

    def is_proven(self, position: int) -> bool:
        """Whether the witnesses of a broker prove what its filter is said to measure."""
        stated = int(self.forced.measures[position])
        return self._least(self.forced.clients[position].tolist(), stated) >= stated

    def reach(self, bound: int) -> bool:
        """Whether all filters together measure at least ``bound`` in every case.

        A case is given up as soon as it does; one that never does disproves the bound.
        """
        brokers = self.forced.brokers.tolist()
        clients = dict(zip(brokers, (some.tolist() for some in self.forced.clients), strict=True))
        measures = dict(zip(brokers, self.forced.measures.tolist(), strict=True))
        known: dict[tuple[int, frozenset[int]], tuple[int, int]] = {}  # a measure, and the most that was asked for
        num_cases = 0
        waiting: list[tuple[int, dict[int, frozenset[int]], dict[int, int]]] = [(0, {}, measures)]
        while waiting:
            depth, added, measures = waiting.pop()
            num_cases += 1
            if num_cases > MAX_CASES:
                return False
            if self._total(measures) >= bound:
                continue
            if depth == len(self.forced.shared):
                return False
            client = int(self.forced.shared[depth])
            for leaf in self.witnesses[client].leaves.tolist():
                more, larger = added.copy(), measures.copy()
                for broker in self.tree.path(leaf):
                    more[broker] = added.get(broker, frozenset()) | {client}
                    # With a measure that reaches the bound, the case is done: no need to know how large it is.
                    lacking = bound - self._total(larger)
                    most = larger.get(broker, 0) + max(0, lacking) + self.union
                    least, asked = known.get((broker, more[broker]), (0, 0))
                    if least == asked < most:
                        kept = clients.get(broker, [])[:NUM_KEPT]
                        least = self._least([*kept, *sorted(more[broker])], most)
                        known[broker, more[broker]] = least, most
                    larger[broker] = max(larger.get(broker, 0), least)
                waiting.append((depth + 1, more, larger))
        return True

    def _total(self, measures: dict[int, int]) -> int:
        """What all filters measure, given some of them."""
        levels = [0] * int(self.tree.levels.max())
        for broker, measure in measures.items():
            levels[self.tree.levels[broker] - 1] += measure
        common = levels[: self.num_common_levels]
        return sum(max(value, self.union) for value in common) + sum(levels[self.num_common_levels :])

    def _least(self, clients: list[int], most: int) -> int:
        """What a filter around the rectangles of these clients measures at least; 0 where they are too many."""
        if len(clients) > 1 and (4 * len(clients)) ** len(self.widths) > MAX_CELLS:
            return 0
        some = [self.witnesses[client] for client in clients]
        lows, highs = np.array([each.low for each in some]), np.array([each.high for each in some])
        return least_measure(lows, highs, self.density, self.widths, self.num_boxes, most)
