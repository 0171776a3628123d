"""``blockwise-fb3m`` and ``blockwise-b3m``: greedy by descending floors of value per cost, in passes over blocks.

For workloads whose interests do not fit one process. Each pass values all topics, and brings the interests of the most
promising ones into this process: those whose value per cost is above a floor. Among these the greedy goes on, with
exact values, until none of them is above the floor any more. The next pass has a lower one.

After A. Badanidiyuru, J. Vondrák: Fast algorithms for maximizing submodular functions. SODA 2014,
doi 10.1137/1.9781611973402.110, with the floor set by what fits into the process instead of by a fixed factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubplan.engine import block_groups, map_blocks, open_store, stage
from pubplan.kernels import count_columns, transpose
from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.select.draft import Choice, draft_of
from pubplan.problems.select.instance import slopes
from pubplan.problems.select.kernels.greedy import eager_greedy, lazy_greedy
from pubplan.problems.select.kernels.values import (
    MAX_KEY,
    MIN_KEY,
    DemandByTopic,
    Run,
    TopicLists,
    block_values,
)
from pubplan.problems.select.problem import Objective, Problem, only_for
from pubplan.problems.select.runs import blank_run
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class BlockwiseParameters:
    """How much of a workload is in memory."""

    pairs: int = field(
        default=64_000_000, metadata={"help": "Interests that are brought into one process at a time, at most."}
    )

    def __post_init__(self) -> None:
        check_int("pairs", self.pairs, 1, 2**31 - 1)


_COLUMNS = {"lengths": np.int64, "topics": np.int32, "rooms": np.int64, "slopes": np.int64, "weights": np.int64}
"""Interests of subscribers who are not satisfied, by subscriber, with the subscribers' state."""


def blockwise_greedy(
    problem: Problem, parameters: BlockwiseParameters, seed: int = 0, spark: SparkSession | None = None
) -> Draft:
    """Greedy by value per cost, in passes over the blocks; the seed is not used.

    For F-B3M values only fall, so a topic that is still above the floor is the best of all topics: the choice is
    exactly that of the greedy by gain per cost, and the best single topic is tried as well. For B3M the value of a
    topic that was left out may rise unseen until the next pass: a heuristic, which is the greedy itself as long as all
    interests fit into this process.
    """
    run = _Run(problem, parameters.pairs, spark)
    with stage("planning over blocks"):
        best = run.choose(problem.first_choices)
        if problem.objective == "fb3m" and run.best_single is not None:
            topic, value = run.best_single
            if value > best.objective - best.start:
                best = run.choose(np.append(problem.first_choices, np.int32(topic)))
    return draft_of(problem, best)


class _Run:
    """Runs of the greedy on one problem.

    ``best_single`` is the open topic that brings most after the topics that must be served, and what all these bring.
    """

    def __init__(self, problem: Problem, max_pairs: int, spark: SparkSession | None) -> None:
        self.problem = problem
        self.max_pairs = max_pairs
        self.spark = spark
        self.store = open_store(spark)
        self.groups = block_groups(problem.workload.num_blocks, spark)
        self.is_whole = problem.objective == "b3m"
        self.events = problem.instance.events
        self.subscribers = problem.workload.topic_array("subscribers")
        self.best_single: tuple[int, int] | None = None

    def choose(self, first_choices: Int32Array) -> Choice:
        problem = self.problem
        served = np.zeros(len(self.events), dtype=bool)
        order, spent, gained = blank_run(0)
        candidates, floor, begin = np.sort(first_choices), (MIN_KEY, 0), first_choices
        while True:
            if len(candidates):
                self._scan_blocks(served, candidates)
                paid, reached = (int(spent[-1]), int(gained[-1])) if len(order) else (0, 0)
                run = self._continue_greedy(candidates, begin, problem.capacity_cost - paid, floor)
                order = np.concatenate([order, run.order])
                spent, gained = np.append(spent, paid + run.spent), np.append(gained, reached + run.gained)
                served[run.order] = True
            values, idle = self._scan_blocks(served, candidates[:0])
            left = problem.capacity_cost - (int(spent[-1]) if len(order) else 0)
            if self.best_single is None:
                self.best_single = self._best_open(values, left, int(gained[-1]) if len(order) else 0)
            candidates, floor = self._above_floor(values, served, left)
            begin = first_choices[:0]
            if not len(candidates):
                start = idle * problem.scale
                return Choice(order, spent, gained + start, start, values > 0)

    def _scan_blocks(self, served: BoolArray, candidates: Int32Array) -> tuple[Int64Array, int]:
        """Value all topics, leave the interests of ``candidates`` in the store; also the weight that wants nothing."""
        reader, store, events, is_whole = self.problem.instance.reader(), self.store, self.events, self.is_whole
        groups = self.groups
        number_here = np.full(len(events), -1, dtype=np.int32)
        number_here[candidates] = np.arange(len(candidates), dtype=np.int32)

        def value(group: int) -> int:
            values = np.zeros(len(events), dtype=np.int64)
            idle, demand_by_block = 0, []
            for block in groups[group]:
                rows = reader.read(block)
                slope = np.ones_like(rows.thresholds) if is_whole else slopes(rows.thresholds)
                rooms = np.empty_like(rows.thresholds)
                idle += block_values(
                    rows.offsets,
                    rows.topics,
                    events,
                    rows.thresholds,
                    slope,
                    rows.weights,
                    served,
                    is_whole,
                    values,
                    rooms,
                )
                owner = np.repeat(np.arange(len(rooms)), np.diff(rows.offsets))
                numbers = number_here[rows.topics]
                picked = np.flatnonzero((numbers >= 0) & (rooms[owner] > 0))
                wanting, lengths = np.unique(owner[picked], return_counts=True)
                demand_by_block.append(
                    {
                        "lengths": lengths,
                        "topics": numbers[picked],
                        "rooms": rooms[wanting],
                        "slopes": slope[wanting],
                        "weights": rows.weights[wanting],
                    }
                )
            store.put(group, values=values)
            store.put(
                group, **{name: np.concatenate([demand[name] for demand in demand_by_block]) for name in _COLUMNS}
            )
            return int(idle)

        idle = sum(map_blocks(value, len(groups), self.spark))
        total = np.zeros(len(events), dtype=np.int64)
        for group in range(len(groups)):
            total += store.get(group, "values")
        return total, idle

    def _continue_greedy(self, candidates: Int32Array, begin: Int32Array, left: int, floor: tuple[int, int]) -> Run:
        """The greedy among candidates, whose interests are in the store."""
        lengths, topics, rooms, slope, weights = (
            np.concatenate([np.empty(0, kind), *(self.store.get(group, name) for group in range(len(self.groups)))])
            for name, kind in _COLUMNS.items()
        )
        row_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        counted = np.zeros(len(candidates), dtype=np.int64)
        count_columns(topics, counted)
        offsets = np.concatenate([[0], np.cumsum(counted)]).astype(np.int64)
        subscribers = np.empty(len(topics), dtype=np.int32)
        transpose(topics, row_offsets, offsets, subscribers)
        state = np.ascontiguousarray(np.stack([rooms, slope], axis=1))
        run = blank_run(len(candidates))
        is_open = np.full(len(candidates), len(begin) == 0)
        first = np.searchsorted(candidates, begin).astype(np.int32)
        demand = DemandByTopic(
            offsets,
            subscribers,
            weights,
            self.events[candidates],
            self.problem.costs[candidates],
            single_topic_weight=np.zeros(len(candidates), dtype=np.int64),  # all subscribers are in the lists here
        )
        if self.is_whole:
            lists = TopicLists(row_offsets, topics)
            num_chosen = eager_greedy(state, demand, lists, is_open, first, run, left, True, True, *floor)
        else:
            num_chosen = lazy_greedy(state, demand, is_open, first, run, left, True, *floor)
        return Run(candidates[run.order[:num_chosen]], run.spent[:num_chosen], run.gained[:num_chosen])

    def _above_floor(self, values: Int64Array, served: BoolArray, left: int) -> tuple[Int32Array, tuple[int, int]]:
        """The topics with the most value per cost whose interests fit here, and the floor: the first that is not one.

        A floor is a key, and the number among the candidates after which topics with that key come too late.
        """
        costs = self.problem.costs
        may = np.flatnonzero(self.problem.is_open & ~served & (values > 0) & (costs <= left))
        with np.errstate(divide="ignore"):
            keys = (values[may] / costs[may]).view(np.int64)
        keys = np.where(costs[may] == 0, MAX_KEY, keys)
        best_first = np.argsort(-keys, kind="stable")
        num_pairs = np.cumsum(self.subscribers[may[best_first]])
        num_taken = max(1, int(np.searchsorted(num_pairs, self.max_pairs, side="right")))
        taken = np.sort(may[best_first[:num_taken]]).astype(np.int32)
        if num_taken >= len(may):
            return taken, (MIN_KEY, 0)
        first_out = best_first[num_taken]
        return taken, (int(keys[first_out]), int(np.searchsorted(taken, may[first_out])) - 1)

    def _best_open(self, values: Int64Array, left: int, reached: int) -> tuple[int, int] | None:
        """The open topic that fits and has the most value, and what it brings on top of what is ``reached``."""
        may = np.flatnonzero(self.problem.is_open & (values > 0) & (self.problem.costs <= left))
        if not len(may):
            return None
        topic = may[np.argmax(values[may])]
        return int(topic), reached + int(values[topic])


def _method(
    objective: Objective, *, guarantee: str, ratio: float | None
) -> Method[Problem, Draft, BlockwiseParameters]:
    return Method(
        name=f"blockwise-{objective}",
        run=blockwise_greedy,
        guarantee=guarantee,
        ratio=ratio,
        complexity="two passes over P each time that the interests of chosen topics fill one process",
        paper="Badanidiyuru, Vondrák, SODA 2014; Setty et al., INFOCOM 2014",
        applies=f"{'F-B3M' if objective == 'fb3m' else 'B3M'} on workloads that do not fit one process",
        refusal=only_for(objective),
        parameters=BlockwiseParameters,
    )


METHODS = (
    _method("fb3m", guarantee="(1 - 1/e)/2 = 0.316 of the best possible F-B3M value", ratio=(1 - 1 / math.e) / 2),
    _method("b3m", guarantee="none", ratio=None),
)
