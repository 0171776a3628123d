"""What one pass over all subscribers tells, for methods and bounds: who needs what, and what it takes at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.problems.provision.exact import least_traffic
from pubplan.problems.provision.gsp import GreedyCovers
from pubplan.problems.provision.kernels import mandatory_topics, simple_needs
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Chooser, Pairs, pass_over
from pubplan.workload import Int64Array, Rows

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Survey:
    """By topic, how many subscribers take it in the covers of ``exact`` and ``greedy``, and how many cannot do without
    it (``mandatory``).

    ``outgoing`` is the least traffic that satisfies everybody, in units of ``traffic``; ``inexact`` how many
    subscribers were too big for that to be exact. ``simple`` is what Theorem A.1 has for it, in events. ``wanting`` is
    how many subscribers need anything.
    """

    exact: Int64Array
    greedy: Int64Array
    mandatory: Int64Array
    outgoing: int
    inexact: int
    simple: int
    wanting: int


def traffic(problem: Problem) -> Int64Array:
    """A topic's stream, in events if all messages have one size, else in bytes."""
    return problem.rates if problem.size is not None else problem.streams


def survey(problem: Problem, limit: int, spark: SparkSession | None) -> Survey:
    """Pass over the subscribers, once for every problem and choice of topics that fit."""
    key = ("survey", problem.num_usable(limit))
    if key not in problem.remembered:
        problem.remembered[key] = _survey(problem, problem.usable(limit), spark)
    found = problem.remembered[key]
    assert isinstance(found, Survey)
    return found


def _survey(problem: Problem, events: Int64Array, spark: SparkSession | None) -> Survey:
    choosers: dict[str, Chooser] = {
        "exact": least_traffic(problem, events),
        "greedy": GreedyCovers.of(problem, events),
        "mandatory": _Mandatory(events),
    }
    found = pass_over(problem, choosers, spark)
    sums = found["exact"].sums
    return Survey(
        exact=found["exact"].counts,
        greedy=found["greedy"].counts,
        mandatory=found["mandatory"].counts,
        outgoing=int(sums[1]) if len(sums) else 0,
        inexact=int(sums[2]) if len(sums) else 0,
        simple=int(found["mandatory"].sums[:1].sum()),
        wanting=int(found["mandatory"].sums[1:].sum()),
    )


@dataclass(frozen=True)
class _Mandatory:
    """Names the topics that a subscriber cannot do without; adds up max(tau_v, its smallest topic) and who needs."""

    events: Int64Array

    def __call__(self, rows: Rows, block: int = 0) -> tuple[Pairs, Int64Array]:
        lengths, chosen = np.empty(len(rows.thresholds), np.int32), np.empty(len(rows.topics), np.int32)
        size = mandatory_topics(rows.offsets, rows.topics, self.events, rows.thresholds, lengths, chosen)
        simple = simple_needs(rows.offsets, rows.topics, self.events, rows.thresholds)
        return Pairs(lengths, chosen[:size]), np.array([simple, np.count_nonzero(rows.thresholds)])
