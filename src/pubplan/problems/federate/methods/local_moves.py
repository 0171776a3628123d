"""Local moves: single clients move and brokers are closed while that lowers the cost, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.engine import map_blocks, stage
from pubplan.errors import NotApplicable
from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.federate.draft import draft_of
from pubplan.problems.federate.methods.clustering import clustered_brokers
from pubplan.problems.federate.methods.random import random_brokers
from pubplan.problems.federate.methods.steiner_mixing import mixed_brokers
from pubplan.problems.federate.packing import Packed, cheapest_brokers
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.search import Found, Search
from pubplan.problems.federate.stages import ATTACHING, SEARCHING
from pubplan.workload import Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

NAME = "local-moves"

NUM_MADE = 4
"""Starts that are attachments of the other methods: fewer would not keep what is promised."""


@dataclass(frozen=True)
class LocalMovesParameters:
    """How long attachments are improved."""

    steps: int = field(
        default=400_000,
        metadata={"help": "How often a client is looked at, or trees of a channel are weighed anew, at most."},
    )
    starts: int = field(default=8, metadata={"help": "From how many attachments the search starts, at most."})
    kicks: int = field(default=40, metadata={"help": "How often the best attachment is changed at random, at most."})

    def __post_init__(self) -> None:
        check_int("steps", self.steps, 0, 10**12)
        check_int("starts", self.starts, NUM_MADE, 10_000)
        check_int("kicks", self.kicks, 0, 1_000_000)


def run(problem: Problem, parameters: LocalMovesParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The cheapest attachment that moves lead to, from those of all other methods and from random ones.

    A client moves to another broker if that lowers the total cost; a broker is closed, its clients being attached
    elsewhere, if that does. When nothing helps any more from any start, the best attachment is changed at random a few
    times, and improved again. The seed decides starts and changes; Spark reads and routes.

    Raises:
        NotApplicable: no start was found that keeps the capacities.
    """
    problem.instance.load(spark)
    network = Network(problem)
    moved = moved_brokers(network, parameters, seed, spark)
    return draft_of(network, moved.brokers, moved.tree, deterministic=not moved.is_stopped, spark=spark)


def moved_brokers(network: Network, parameters: LocalMovesParameters, seed: int, spark: SparkSession | None) -> Found:
    """The cheapest attachment that moves lead to, as it is routed in the end.

    Raises:
        NotApplicable: no start was found that keeps the capacities.
    """
    with stage(ATTACHING):
        starts = _starts(network, seed, parameters.starts, spark)
    search = Search(network, seed, parameters.steps)
    with stage(SEARCHING, parameters.steps) as advance:
        best: Found | None = None
        for start in starts:
            before = search.steps
            improved = search.improve(start)
            advance(search.steps - before)
            if best is None or improved.cost < best.cost:
                best = improved
        assert best is not None
        if not search.is_over:
            best = search.improve(best.brokers, parameters.kicks)
    candidates = [best, *(Found(start, 0) for start in starts)]
    costs = [network.access_cost(each.brokers) + network.route(each.brokers, each.tree).cost for each in candidates]
    chosen = min(range(len(candidates)), key=lambda number: (costs[number], number))
    return Found(candidates[chosen].brokers, costs[chosen], candidates[chosen].tree, search.is_stopped)


def _starts(network: Network, seed: int, number: int, spark: SparkSession | None) -> list[Int32Array]:
    """The attachments of the other methods, then random ones, drawn as Spark tasks where there is a session; those that
    find no room are left out.

    Raises:
        NotApplicable: none finds room.
    """
    makers: tuple[Callable[[], Packed], ...] = (
        lambda: cheapest_brokers(network, NAME),
        lambda: clustered_brokers(network),
        lambda: mixed_brokers(network, seed, spark),
    )
    starts = [start for start in map(_unless_full, makers) if start is not None]

    def draw(index: int) -> Int32Array | None:
        return _unless_full(lambda: random_brokers(network, seed, index))

    num_draws = number - len(makers)
    starts += [start for start in map_blocks(draw, num_draws, spark) if start is not None]
    if not starts:
        cheapest_brokers(network, NAME)  # says how many clients found no room
    return starts


def _unless_full(make: Callable[[], Packed]) -> Int32Array | None:
    """An attachment; None where clients are left without room."""
    try:
        return make().brokers
    except NotApplicable:
        return None


METHOD = Method(
    name=NAME,
    run=run,
    guarantee="never worse than greedy-packing, clustering, steiner-mixing and random with the same seed",
    ratio=None,
    complexity="O(C B N) for a sweep over C clients, B brokers and N channels of a client; a few sweeps per start",
    paper="Zhao, Wu 2011, section IV-C, with closings, kicks and several starts by pubplan",
    applies="the least cost",
    parameters=LocalMovesParameters,
    stops_early=True,
)
