"""Taking load from the busiest nodes of an overlay.

Lower and lower maximum degrees are tried. In a round, nodes with more links than the one tried lose some of those that
join least: links are taken again in an order that puts theirs last, and room is kept at them. What is then missing is
linked greedily: by nodes that stay below the limit, then within it, and beyond it where nothing else helps. A round
that leaves less excess, or as much, is kept. If a round brings nothing, more links are given up in the next, also at
neighbours, and busy nodes get what they themselves miss before anybody else may use them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pubplan.engine import draws, stage
from pubplan.problems.overlay.conquer import degrees_of
from pubplan.problems.overlay.greedy import Greedy, by_topic_of, common_entries, components_of
from pubplan.problems.overlay.kernels import join_links
from pubplan.problems.overlay.links import REPAIR, Overlay
from pubplan.problems.overlay.problem import Problem
from pubplan.workload import Int32Array, Int64Array

PATIENCE = 12
"""A maximum degree is given up after so many rounds that brought nothing."""

ROOM = 3
"""A busy node gives up to so many links more than it has to, and two more for every round that brought nothing."""

NEIGHBOURS_ROOM = 2

FEW = 16
"""The first maximum degree that is tried is one that at most one in so many nodes exceeds."""

TRIAL_ROUNDS, PROMISING = 3, 4
"""A maximum degree is given up if after so many rounds more than one in so many excess links is left."""

HARDER = 2
"""A lower maximum degree is tried if there is at least so many times the work left that the last one took."""

LEAST_WORK = 1 << 25
"""Steps that may be spent on any overlay: about a tenth of a second."""

ROUND_WORK = 20
"""Steps that a round takes for every entry, beside those of the greedy choice."""


def repair(problem: Problem, overlay: Overlay, effort: float, seed: int) -> Overlay:
    """An overlay with no more links at its busiest nodes, and often fewer.

    Args:
        effort: how much work may be spent, in multiples of what the overlay took.
    """
    with stage("repairing degrees"):
        repairer = _Repairer(problem, overlay, int(effort * overlay.work) + LEAST_WORK, seed)
        while repairer.lower():
            pass
    return replace(overlay, links=repairer.best.links, phases=repairer.best.phases)


@dataclass(frozen=True)
class _State:
    """Links, when they were chosen, where their entries are listed, and the degrees of nodes."""

    links: Int32Array
    phases: npt.NDArray[np.int8]
    spans: Int64Array
    degrees: Int32Array

    def excess(self, cap: int) -> int:
        """Links that nodes have beyond a limit."""
        return int(np.maximum(self.degrees - cap, 0).sum())


class _Repairer:
    def __init__(self, problem: Problem, overlay: Overlay, budget: int, seed: int) -> None:
        self._rows = problem.rows
        self._by_topic = by_topic_of(self._rows, problem.num_topics)
        self._left = budget
        self._seed = seed
        self._round = 0
        self._mine, self._its, spans = common_entries(self._rows, overlay.links)
        self.best = _State(overlay.links, overlay.phases, spans, degrees_of(overlay.links, problem.num_nodes))

    def lower(self) -> bool:
        """Try to take load from the busiest nodes; says whether that went well enough to be tried again."""
        state = self.best
        cap, before = self._next_cap(state.degrees), self._left
        most, rounds, failures = state.excess(cap), 0, 0
        while cap >= 1 and state.excess(cap) > 0:
            found = self._try(state, cap, failures)
            if found is None:
                return False
            if found.degrees.max() < self.best.degrees.max():
                self.best = found
            rounds += 1
            failures = 0 if found.excess(cap) < state.excess(cap) else failures + 1
            if found.excess(cap) <= state.excess(cap):
                state = found
            if failures > PATIENCE or (rounds == TRIAL_ROUNDS and PROMISING * state.excess(cap) > most):
                return False
        return cap >= 1 and self._left >= HARDER * (before - self._left)

    def _next_cap(self, degrees: Int32Array) -> int:
        """The least maximum degree that few nodes exceed, or one less than there is."""
        ranked = np.sort(degrees)[::-1]
        return min(int(ranked[0]) - 1, int(ranked[len(ranked) // FEW])) if len(ranked) else 0

    def _try(self, state: _State, cap: int, failures: int) -> _State | None:
        """One round: what it leads to, or None if it would take more work than there is left."""
        self._round += 1
        generator = draws(self._seed, "overlay/repair", self._round)
        caps = self._caps(state, cap, failures, generator)
        gives = caps < cap
        is_last = gives[state.links[:, 0]] | gives[state.links[:, 1]]
        order = np.lexsort((generator.permutation(len(state.links)), -state.links[:, 2], is_last))
        links, spans = state.links[order], state.spans[order]
        components, degrees = components_of(self._rows), np.zeros(self._rows.num_rows, dtype=np.int32)
        is_kept = join_links(components, links, spans, self._mine, self._its, degrees, caps)
        greedy = Greedy(components, self._by_topic, degrees)
        if greedy.work_ahead(cap - 1) > self._left:
            return None
        if failures:
            greedy.serve(np.flatnonzero(state.degrees > cap).astype(np.int32), cap)
        greedy.phase(cap - 1, looks_at_degrees=True)
        greedy.run(cap)
        self._left -= greedy.work + ROUND_WORK * len(self._rows.values)
        return _State(
            np.concatenate([links[is_kept], greedy.links]),
            np.concatenate([state.phases[order][is_kept], np.full(len(greedy.links), REPAIR, dtype=np.int8)]),
            np.concatenate([spans[is_kept], self._listed(greedy.links)]),
            degrees,
        )

    def _listed(self, links: Int32Array) -> Int64Array:
        """Where the entries of new links are listed."""
        mine, its, spans = common_entries(self._rows, links)
        spans += len(self._mine)
        self._mine, self._its = np.concatenate([self._mine, mine]), np.concatenate([self._its, its])
        return spans

    def _caps(self, state: _State, cap: int, failures: int, generator: np.random.Generator) -> Int32Array:
        """How many of its links each node may keep."""
        links, degrees = state.links, state.degrees
        caps = np.full(len(degrees), cap, dtype=np.int32)
        is_over = degrees > cap
        most = min(cap, ROOM + 2 * failures)
        caps[is_over] -= generator.integers(1, most + 1, np.count_nonzero(is_over), dtype=np.int32)
        if failures:
            at_over = is_over[links[:, 0]] | is_over[links[:, 1]]
            is_near = np.zeros(len(degrees), dtype=np.bool_)
            is_near[links[at_over, :2].ravel()] = True
            is_near &= ~is_over & (generator.random(len(degrees)) < min(0.5, 0.15 * failures))
            caps[is_near] -= generator.integers(1, NEIGHBOURS_ROOM + 1, np.count_nonzero(is_near), dtype=np.int32)
        return np.maximum(caps, 1)
