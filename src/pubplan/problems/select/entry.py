"""What it takes to have a topic served: the capacity at which a method takes it, and what forcing it in loses.

Both are planned, not estimated. What a plan lacks to pay for a topic would let it in only if nothing else wanted the
capacity: a run with that much more spends it on better topics first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import exact_sum, muted, stage
from pubplan.planning import Exact
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem

if TYPE_CHECKING:
    from pubplan.planning import Draft

MAX_RUNS = 16
"""How often a method is run, at most, to narrow a capacity down."""

MAX_SECONDS = 20.0
"""No further run begins that would end after this, once there were MIN_RUNS."""

MIN_RUNS = 2
NUM_PROBES = 6
"""Capacities that are tried when the largest one does not serve a topic."""

Plans = Callable[[Problem], "Draft"]
"""Plans for a problem with the method, the parameters and the seed of the plan that is explained."""


@dataclass(frozen=True)
class Entry:
    """What was learnt about a topic by planning with more capacity.

    Attributes:
        capacity: one at which the topic is served, the least that was tried; None if none of them serves it.
        not_at: the largest capacity below it that was tried, and does not serve it.
        num_runs: how many capacities were tried.
        is_cut_short: whether the search stopped for time, so that much less capacity may be enough.
    """

    capacity: int | None
    not_at: int
    num_runs: int
    is_cut_short: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "capacity": self.capacity,
            "not_at": self.not_at,
            "runs": self.num_runs,
            "cut_short": self.is_cut_short,
        }


def entry_of(problem: Problem, topic: int, plans: Plans) -> Entry:
    """The capacity above the problem's at which a topic comes in.

    1. Plan for everything; what is spent when the topic is chosen is the next capacity to try.
    2. A topic that comes too late to bring anything there may be served with less: probe in between.
    3. Narrow the range between a capacity that serves the topic and one that does not.

    More capacity does not always keep a topic: a method fills up with what fits.
    """
    started, num_runs, slowest = time.monotonic(), 0, 0.0

    def spent_at_choice(capacity: int) -> int | None:
        """What a run for ``capacity`` has spent when it chooses the topic; None if it does not."""
        nonlocal num_runs, slowest
        before = time.monotonic()
        draft = plans(problem.at_capacity(capacity))
        num_runs, slowest = num_runs + 1, max(slowest, time.monotonic() - before)
        return _spent_at_choice(draft, topic, capacity)

    def is_over() -> bool:
        return num_runs >= MIN_RUNS and time.monotonic() - started + slowest > MAX_SECONDS

    low, high = problem.capacity_cost, problem.total_cost
    if high <= low:
        return Entry(None, low, 0, False)
    with stage("looking for the capacity that serves it"), muted():
        spent = spent_at_choice(high)  # 1
        probes = [] if spent is not None else _between(low, high)
        for probe in probes:  # 2
            if is_over():
                return Entry(None, low, num_runs, True)
            spent = spent_at_choice(probe)
            if spent is not None:
                high = probe
                break
            low = probe
        if spent is None:
            return Entry(None, low, num_runs, False)
        low, high = narrowed(low, high, spent, spent_at_choice, is_over)  # 3
    return Entry(high, low, num_runs, is_over() and not _is_narrow(low, high))


def _between(low: int, high: int) -> list[int]:
    """Capacities between two others, ascending, by equal factors."""
    probes = np.geomspace(max(1, low), high, NUM_PROBES + 2)[1:-1].astype(np.int64).tolist()
    return sorted({probe for probe in probes if low < probe < high})


def _is_narrow(low: int, high: int) -> bool:
    return high - low <= max(1, high // 1000)


def narrowed(
    low: int,
    high: int,
    reached: int | None,
    reaching: Callable[[int], int | None],
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """A range of capacities made smaller, to a thousandth: the lower one is not enough, the upper one is.

    Args:
        reached: what the run for ``high`` had spent when it reached its goal, which is the next capacity to try.
        reaching: the same for a capacity; None where it is not enough.
    """
    for _ in range(MAX_RUNS):
        if _is_narrow(low, high) or is_over():
            break
        trial = (low + high) // 2 if reached is None or not low < reached < high else reached
        reached = reaching(trial)
        low, high = (trial, high) if reached is None else (low, trial)
    return low, high


def objective_with(problem: Problem, topic_id: str, plans: Plans) -> Exact | None:
    """What a plan for the same capacity reaches that must serve one more topic; None if it cannot pay for it."""
    forced = problem.with_must_serve(topic_id)
    if exact_sum(forced.costs[forced.first_choices]) > forced.capacity_cost:
        return None
    with stage("planning with it"), muted():
        return plans(forced).claimed


def _spent_at_choice(draft: Draft, topic: int, capacity: int) -> int | None:
    served: Any = draft.decisions[SERVED]
    if topic not in served["topic"].to_numpy():
        return None
    if draft.trajectory is None:
        return capacity
    position = int(np.flatnonzero(draft.trajectory["topic"].to_numpy() == topic)[0])
    return int(draft.trajectory["cost"][position].as_py())
