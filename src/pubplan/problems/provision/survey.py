"""What one scan of all subscribers tells, for methods and bounds: who needs what, and what it takes at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.problems.provision.kernels.covers import mandatory_topics, simple_needs
from pubplan.problems.provision.methods.gsp import GreedyCovers
from pubplan.problems.provision.methods.least_traffic import least_traffic
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Chooser, Pairs, Totals, room_for, rows_of, scan_subscribers
from pubplan.workload import Int64Array, SubscriberBlock

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Survey:
    """By topic, how many subscribers take it in the covers of ``least-traffic`` and of ``gsp`` (``greedy``), and how
    many cannot do without it (``mandatory``).

    ``outgoing`` is the least traffic that satisfies every subscriber, in units of ``traffic``; ``num_inexact`` how many
    subscribers were too big for that to be exact. ``simple_need`` is what Theorem A.1 has for it, in events.
    ``num_wanting`` is how many subscribers need anything.
    """

    least_traffic: Int64Array
    greedy: Int64Array
    mandatory: Int64Array
    outgoing: int
    num_inexact: int
    simple_need: int
    num_wanting: int


def traffic(problem: Problem) -> Int64Array:
    """A topic's stream, in events if all messages have one size, else in bytes."""
    return problem.instance.rates if problem.instance.common_size is not None else problem.instance.streams


def survey(problem: Problem, limit: int, spark: SparkSession | None) -> Survey:
    """Scan the subscribers, once for every problem and choice of topics that fit."""
    key = ("survey", problem.instance.num_usable(limit))
    if key not in problem.instance.remembered:
        problem.instance.remembered[key] = _survey(problem, problem.instance.usable(limit), spark)
    surveyed = problem.instance.remembered[key]
    assert isinstance(surveyed, Survey)
    return surveyed


def _survey(problem: Problem, events: Int64Array, spark: SparkSession | None) -> Survey:
    choosers: dict[str, Chooser] = {
        "least-traffic": least_traffic(problem, events),
        "greedy": GreedyCovers.of(problem, events),
        "mandatory": _Mandatory(events),
    }
    scanned = scan_subscribers(problem, choosers, spark)
    cheapest, mandatory = scanned["least-traffic"], scanned["mandatory"]
    return Survey(
        least_traffic=cheapest.counts,
        greedy=scanned["greedy"].counts,
        mandatory=mandatory.counts,
        outgoing=cheapest.totals.least_cost,
        num_inexact=cheapest.totals.num_inexact,
        simple_need=mandatory.totals.simple_need,
        num_wanting=mandatory.totals.num_wanting,
    )


@dataclass(frozen=True)
class _Mandatory:
    """Chooses the topics that a subscriber cannot do without; counts simple needs and who needs anything."""

    events: Int64Array

    def __call__(self, rows: SubscriberBlock, block: int = 0) -> tuple[Pairs, Totals]:
        chosen = room_for(rows)
        size = mandatory_topics(rows_of(rows), self.events, chosen)
        totals = Totals(
            simple_need=int(simple_needs(rows_of(rows), self.events)),
            num_wanting=int(np.count_nonzero(rows.thresholds)),
        )
        return Pairs(chosen.lengths, chosen.topics[:size]), totals
