"""Taking load from the busiest nodes of an overlay.

Lower and lower maximum degrees are tried. In a round, nodes with more links than the one tried lose some of those that
contribute least: links are taken again in an order that puts theirs last, and these nodes stay some links below the
cap. What is then missing is linked greedily: by nodes that stay below the cap, then within it, and beyond it where
nothing else helps. A round that leaves less excess, or as much, is kept. If a round brings nothing, more links are
given up in the next, also at neighbours, and busy nodes get what they themselves miss before other nodes may use them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pubplan.engine import is_time_over, random_stream, stage
from pubplan.problems.overlay.entries import common_entries, components_of, degrees_of, entries_by_topic
from pubplan.problems.overlay.greedy import Greedy
from pubplan.problems.overlay.kernels.components import CommonEntries, Links, join_links
from pubplan.problems.overlay.overlay import REPAIR, Overlay
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.stages import REPAIRING
from pubplan.workload import Int32Array, Int64Array

MAX_FAILED_ROUNDS = 12
"""A cap is given up after more rounds in a row that brought nothing."""

EXTRA_LINKS_DROPPED = 3
"""A busy node drops up to this many links more than it has to, and two more for every round that brought nothing."""

NEIGHBOUR_LINKS_DROPPED = 2
"""A neighbour of a busy node drops up to this many links after rounds that brought nothing."""

BUSY_NODE_DIVISOR = 16
"""The first cap is one that at most one in this many nodes exceeds."""

TRIAL_ROUNDS = 3
TRIAL_EXCESS_DIVISOR = 4
"""A cap is given up if after TRIAL_ROUNDS more than one in TRIAL_EXCESS_DIVISOR excess links is left."""

NEXT_CAP_WORK_RATIO = 2
"""A lower cap is tried if at least this many times the work is left that the last one took."""

MIN_WORK = 1 << 25
"""Steps that may be spent on any overlay: about a tenth of a second."""

STEPS_PER_ENTRY = 20
"""Steps that a round takes for every entry, in addition to those of the greedy choice."""


def repair(problem: Problem, overlay: Overlay, effort: float, seed: int) -> Overlay:
    """An overlay with no more links at its busiest nodes, and often fewer; the same for the same seed.

    Ends after a round when time is over.

    Args:
        effort: how much work may be spent, in multiples of what the overlay took.
    """
    with stage(REPAIRING):
        repairer = _Repairer(problem, overlay, int(effort * overlay.work) + MIN_WORK, seed)
        while not is_time_over() and repairer.lower():
            pass
    return replace(overlay, links=repairer.best.links, phases=repairer.best.phases)


@dataclass(frozen=True)
class _State:
    """Links, when they were chosen, and the degrees of nodes; ``starts`` and ``stops`` say where the entries of every
    link are in the repairer's lists.
    """

    links: Links
    phases: npt.NDArray[np.int8]
    starts: Int64Array
    stops: Int64Array
    degrees: Int32Array

    def excess(self, cap: int) -> int:
        """Links that nodes have beyond a cap."""
        return int(np.maximum(self.degrees - cap, 0).sum())


class _Repairer:
    """The best overlay so far, the work that is left, and the entries of all links that any round has seen.

    Entries of links are listed once, when a link is new: most links are in every round.
    """

    def __init__(self, problem: Problem, overlay: Overlay, budget: int, seed: int) -> None:
        self._topics_by_node = problem.instance.topics_by_node
        self._by_topic = entries_by_topic(self._topics_by_node, problem.num_topics)
        self._work_left = budget
        self._seed = seed
        self._round = 0
        common = common_entries(self._topics_by_node, overlay.links)
        self._left_entries, self._right_entries = common.left, common.right
        degrees = degrees_of(overlay.links, problem.num_nodes)
        self.best = _State(overlay.links, overlay.phases, common.starts, common.stops, degrees)

    def lower(self) -> bool:
        """Try to take load from the busiest nodes; returns whether that went well enough to be tried again."""
        state = self.best
        cap, work_before = self._next_cap(state.degrees), self._work_left
        first_excess, num_rounds, num_failed = state.excess(cap), 0, 0
        while cap >= 1 and state.excess(cap) > 0:
            if is_time_over():
                return False
            repaired = self._round_from(state, cap, num_failed)
            if repaired is None:
                return False
            if repaired.degrees.max() < self.best.degrees.max():
                self.best = repaired
            num_rounds += 1
            num_failed = 0 if repaired.excess(cap) < state.excess(cap) else num_failed + 1
            if repaired.excess(cap) <= state.excess(cap):
                state = repaired
            is_hopeless = num_rounds == TRIAL_ROUNDS and TRIAL_EXCESS_DIVISOR * state.excess(cap) > first_excess
            if num_failed > MAX_FAILED_ROUNDS or is_hopeless:
                return False
        return cap >= 1 and self._work_left >= NEXT_CAP_WORK_RATIO * (work_before - self._work_left)

    def _next_cap(self, degrees: Int32Array) -> int:
        """The least maximum degree that few nodes exceed, or one less than there is."""
        ranked = np.sort(degrees)[::-1]
        return min(int(ranked[0]) - 1, int(ranked[len(ranked) // BUSY_NODE_DIVISOR])) if len(ranked) else 0

    def _round_from(self, state: _State, cap: int, num_failed: int) -> _State | None:
        """One round: what it leads to, or None if it would take more work than there is left."""
        self._round += 1
        generator = random_stream(self._seed, "overlay/repair", self._round)
        caps = self._caps(state, cap, num_failed, generator)
        is_dropping = caps < cap
        is_last = is_dropping[state.links.nodes] | is_dropping[state.links.others]
        order = np.lexsort((generator.permutation(state.links.num_links), -state.links.contributions, is_last))
        links, starts, stops = state.links.take(order), state.starts[order], state.stops[order]
        components = components_of(self._topics_by_node)
        degrees = np.zeros(self._topics_by_node.num_rows, dtype=np.int32)
        common = CommonEntries(self._left_entries, self._right_entries, starts, stops)
        is_kept = join_links(components, links, common, degrees, caps)
        greedy = Greedy(components, self._by_topic, degrees)
        if greedy.work_ahead(cap - 1) > self._work_left:
            return None
        if num_failed:
            greedy.serve(np.flatnonzero(state.degrees > cap).astype(np.int32), cap)
        greedy.phase(cap - 1, looks_at_degrees=True)
        greedy.run(cap)
        self._work_left -= greedy.work + STEPS_PER_ENTRY * len(self._topics_by_node.values)
        new_starts, new_stops = self._list_entries(greedy.links)
        new_phases = np.full(greedy.links.num_links, REPAIR, dtype=np.int8)
        return _State(
            Links.concatenated([links.take(is_kept), greedy.links]),
            np.concatenate([state.phases[order][is_kept], new_phases]),
            np.concatenate([starts[is_kept], new_starts]),
            np.concatenate([stops[is_kept], new_stops]),
            degrees,
        )

    def _list_entries(self, links: Links) -> tuple[Int64Array, Int64Array]:
        """Append the entries of new links to the lists; returns where those of each link start and stop."""
        common, size = common_entries(self._topics_by_node, links), len(self._left_entries)
        self._left_entries = np.concatenate([self._left_entries, common.left])
        self._right_entries = np.concatenate([self._right_entries, common.right])
        return common.starts + size, common.stops + size

    def _caps(self, state: _State, cap: int, num_failed: int, generator: np.random.Generator) -> Int32Array:
        """How many of its links each node may keep."""
        links, degrees = state.links, state.degrees
        caps = np.full(len(degrees), cap, dtype=np.int32)
        is_over = degrees > cap
        max_dropped = min(cap, EXTRA_LINKS_DROPPED + 2 * num_failed)
        caps[is_over] -= generator.integers(1, max_dropped + 1, np.count_nonzero(is_over), dtype=np.int32)
        if num_failed:
            at_over = is_over[links.nodes] | is_over[links.others]
            is_near = np.zeros(len(degrees), dtype=np.bool_)
            is_near[links.nodes[at_over]] = is_near[links.others[at_over]] = True
            is_near &= ~is_over & (generator.random(len(degrees)) < min(0.5, 0.15 * num_failed))
            num_near = np.count_nonzero(is_near)
            caps[is_near] -= generator.integers(1, NEIGHBOUR_LINKS_DROPPED + 1, num_near, dtype=np.int32)
        return np.maximum(caps, 1)
