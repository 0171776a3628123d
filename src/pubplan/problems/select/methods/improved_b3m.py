"""``improved-b3m``: the greedy for B3M, and then its plan made better step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubplan.engine import is_time_over, stage
from pubplan.kernels import row_sums
from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.select.draft import Choice, draft_of
from pubplan.problems.select.instance import start_state
from pubplan.problems.select.kernels.improvement import drop_idle, removal_losses, replay
from pubplan.problems.select.kernels.values import Run
from pubplan.problems.select.problem import Problem, only_for
from pubplan.problems.select.runs import choice_of, go_on_eager, run_eager
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

FIRST_DROPPED_SHARE = 0.05
"""The share of the capacity whose topics the first round drops."""


@dataclass(frozen=True)
class ImprovedB3mParameters:
    """How long a plan is improved."""

    rounds: int = field(
        default=2, metadata={"help": "How many times the plan is taken apart and put together again, up to 10000."}
    )

    def __post_init__(self) -> None:
        check_int("rounds", self.rounds, 0, 10_000)


def improved_b3m(
    problem: Problem, parameters: ImprovedB3mParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """Improve what ``greedy-b3m`` chooses; the answer is never worse.

    1. Drop topics without which every subscriber stays as satisfied as before, the most expensive first: the greedy
       takes topics for the sake of subscribers whom it cannot satisfy in the end.
    2. Fill up what became free with the greedy, first without the topics just dropped, as often as that helps.
    3. In each round drop the topics that satisfy least for their cost, up to a share of the capacity, then do 1 and 2.
       Go on from the better plan; after a round that did not help, drop half as much.

    Stops after a round when time is over. Runs in one process: the seed and the session are not used.
    """
    return draft_of(problem, improved_choice(problem, parameters.rounds))


def improved_choice(problem: Problem, rounds: int) -> Choice:
    """The choice of ``improved-b3m`` after a number of rounds."""
    improver = Improver(problem)
    best = improver.drop_and_refill(run_eager(problem, is_whole=True).order)
    share = FIRST_DROPPED_SHARE
    with stage("improving", rounds) as advance:
        for _ in range(rounds):
            if is_time_over():
                break
            trial = improver.drop_and_refill(improver.without_worst(best.order, share))
            if trial.objective > best.objective:
                best = trial
            else:
                share /= 2
            advance(1)
    return best


class Improver:
    """Improves plans of one B3M problem, given as orders of topics."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.instance = problem.instance

    def drop_and_refill(self, order: Int32Array) -> Choice:
        """Drop what is idle and fill up again until that no longer helps."""
        best = self.replayed(order)
        while True:
            useful = self._useful(best.order)
            is_idle = np.zeros(self.instance.num_topics, dtype=bool)
            is_idle[best.order] = True
            is_idle[useful] = False
            trial = self.replayed(self._filled(self._filled(useful, without=is_idle)))
            if trial.objective <= best.objective:
                return best
            best = trial
            if is_time_over():
                return best

    def replayed(self, order: Int32Array) -> Choice:
        """The choice of serving topics in this order."""
        instance = self.instance
        state = start_state(instance.multi_topic.thresholds, is_whole=True)
        run = Run(order, np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64))
        replay(state, instance.demand, run)
        return choice_of(self.problem, run, state)

    def without_worst(self, order: Int32Array, share: float) -> Int32Array:
        """The order without the topics whose loss per cost is least, worth a share of the capacity."""
        instance, by_topic = self.instance, self.instance.interests.by_topic
        is_served, received = self._served(order)
        losses = np.empty(instance.num_topics, dtype=np.int64)
        removal_losses(
            received,
            instance.thresholds,
            instance.weights,
            instance.events,
            by_topic.values,
            by_topic.offsets,
            is_served,
            losses,
        )
        free = order[self.problem.is_open[order]]
        worst = free[np.argsort(losses[free] / np.maximum(instance.costs[free], 1), kind="stable")]
        dropped = worst[np.cumsum(instance.costs[worst]) <= share * self.problem.capacity_cost]
        is_served[dropped] = False
        return order[is_served[order]]

    def _useful(self, order: Int32Array) -> Int32Array:
        """The order without idle topics, the most expensive tried first."""
        instance, by_topic = self.instance, self.instance.interests.by_topic
        is_served, received = self._served(order)
        free = order[self.problem.is_open[order]]
        queue = free[np.argsort(-instance.costs[free], kind="stable")]
        drop_idle(received, instance.thresholds, instance.events, by_topic.values, by_topic.offsets, queue, is_served)
        return order[is_served[order]]

    def _filled(self, order: Int32Array, without: npt.NDArray[np.bool_] | None = None) -> Int32Array:
        """The order, and after it what the greedy adds to it, perhaps ``without`` some topics."""
        problem, instance = self.problem, self.instance
        is_served, received = self._served(order)
        is_open = problem.is_open if without is None else problem.is_open & ~without
        state = start_state(instance.multi_topic.thresholds, is_whole=True)
        state[:, 0] = np.maximum(0, state[:, 0] - received[instance.multi_topic.numbers])
        left = problem.capacity_cost - int(instance.costs[order].sum())
        more = go_on_eager(problem, state, is_open & ~is_served, left, order[:0])
        return np.concatenate([order, more.order])

    def _served(self, order: Int32Array) -> tuple[npt.NDArray[np.bool_], Int64Array]:
        """Which topics are served, and what each subscriber receives."""
        instance, rows = self.instance, self.instance.interests.by_subscriber
        is_served = np.zeros(instance.num_topics, dtype=bool)
        is_served[order] = True
        received = np.empty(instance.num_subscribers, dtype=np.int64)
        row_sums(np.where(is_served, instance.events, 0), rows.values, rows.offsets, received)
        return is_served, received


METHOD = Method(
    name="improved-b3m",
    run=improved_b3m,
    guarantee="never worse than greedy-b3m",
    ratio=None,
    complexity="that of greedy-b3m for every round",
    paper="pubplan; starts from Setty et al., INFOCOM 2014, Alg. 1-2",
    applies="B3M with any threshold",
    refusal=only_for("b3m"),
    parameters=ImprovedB3mParameters,
    stops_early=True,
)
