"""Branch and bound over the topics, with a Lagrangian bound in exact integers at every node.

A node serves some topics and closes others; topics that cost more than what is left of the capacity are closed with
them. Its bound, for any multipliers, is what the rows are worth after payment plus a fractional knapsack of what topics
are paid (see ``bound.py``), over the topics that are still free. A node whose bound is within the cutoff, the objective
of the best plan known, is a leaf. Elsewhere the multipliers may *tighten* the node: a topic that the knapsack takes (or
leaves) so clearly that no plan without it (or with it) exceeds the cutoff is served (or closed) in all its children.

The tree is the proof: its leaves divide among them all plans that could exceed the cutoff, and the multipliers can be
evaluated again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_dot, exact_sum, stage
from pubplan.problems.select.distinct import DistinctRows, StateArray
from pubplan.problems.select.hull import HullProgram, NoAnswer, OutOfTime, Relaxed, partial_multipliers
from pubplan.problems.select.kernels.search import CLOSED, FREE, SERVED, row_worths
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]

NOTHING = -1
"""For a node without parent, topic or vector of multipliers."""

MAX_PRICING_ROUNDS = 30
MAX_STORED_MULTIPLIERS = 2**25
RELATIVE_TOLERANCE = 10**8
"""For F-B3M the cutoff exceeds the best plan by this part of it: ties in fixed point are not worth searching."""

REBUILD_SHARE = 0.8
"""The program is made anew when no more than this share of its topics is still free."""

_FLOAT_MARGIN = 2.0**-40


@dataclass(frozen=True)
class StopRule:
    """When to stop: after a number of nodes, and by the clock where ``deadline`` (of time.monotonic) is given."""

    max_nodes: int
    deadline: float | None = None

    def is_reached(self, num_nodes: int) -> bool:
        return num_nodes >= self.max_nodes or (self.deadline is not None and time.monotonic() > self.deadline)


@dataclass(frozen=True)
class Node:
    """A part of all plans: those of ``parent`` that serve ``topic``, or do not; all of them without a topic.

    The multipliers of ``vector``, at a price of ``payment`` per ``cost``, bound a leaf and tighten another node.
    """

    parent: int = NOTHING
    topic: int = NOTHING
    is_served: bool = False
    vector: int = NOTHING
    payment: int = 0
    cost: int = 1


@dataclass(frozen=True)
class Vector:
    """Multipliers in units of 2^-32 of some ``entries``, the interests that are not decided yet."""

    entries: Int64Array
    multipliers: npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Proof:
    """A tree of nodes, the root first, that bounds all plans by ``value``, in units of 2^-32."""

    nodes: list[Node]
    vectors: list[Vector]
    value: int
    is_complete: bool


@dataclass(frozen=True)
class _Evaluation:
    """The bound of a node at multipliers, in units of 2^-32, with all that led to it."""

    value: int
    multipliers: Int64Array
    payments: Int64Array
    price: tuple[int, int]
    worths: Int64Array
    taken: BoolArray


@dataclass(frozen=True)
class _OpenNode:
    """A node that waits, with the best multipliers of its parent. ``state`` has the topics of ``Search.rows``."""

    number: int
    state: StateArray
    left: int
    multipliers: Int64Array


class Search:
    """One search for the best plan of a problem.

    Args:
        best: the objective of the best plan known, in units of the problem.
        complete: makes a plan that serves at least some topics, given by number, and returns its objective.
    """

    def __init__(self, problem: Problem, stop_rule: StopRule, best: int, complete: Callable[[Int32Array], int]) -> None:
        self.problem = problem
        self.stop_rule = stop_rule
        self.best = best
        self.complete = complete
        self.is_whole = problem.objective == "b3m"
        self.rows = DistinctRows.of(problem)
        self.served: list[int] = problem.first_choices.tolist()
        self.nodes: list[Node] = []
        self.vectors: list[Vector] = []
        self.num_stored = 0
        self.value = 0
        self.is_out_of_time = False

    @property
    def cutoff(self) -> int:
        """What leaves may reach, in units of 2^-32: B3M is whole, so anything below one more counts for nothing."""
        if self.is_whole:
            return (self.best + 1) * FIXED_POINT_ONE - 1
        return self.best + self.best // RELATIVE_TOLERANCE

    def run(self) -> Proof:
        """Divide all plans until every part is within the cutoff, or the search has to stop."""
        is_complete = True
        with stage("searching all plans") as advance:
            waiting, program = self._root()
            while waiting:
                node = waiting.pop()
                evaluation = self._evaluate(node, node.multipliers)
                children: list[_OpenNode] = []
                is_single = not (node.state == FREE).any()
                if evaluation.value > self.cutoff and is_single:
                    self._try(node.state == SERVED)  # a single plan, the best so far
                if evaluation.value > self.cutoff:
                    if is_single or program is None or self._is_stopped(len(waiting)):
                        is_complete = False
                    else:
                        evaluation, children = self._work_on(node, evaluation, program)
                if not children:
                    self._close(node.number, evaluation)
                waiting += children
                advance(1)
        # Plans within the cutoff were cut away where a node was tightened: the best one may be in no leaf.
        value = max(self.value, self.best * FIXED_POINT_ONE if self.is_whole else self.cutoff)
        return Proof(self.nodes, self.vectors, value, is_complete and not self.is_out_of_time)

    def _root(self) -> tuple[list[_OpenNode], HullProgram | None]:
        """Tighten the root until that hardly fixes topics any more.

        1. Leave out what is decided already.
        2. Multipliers from the small program; then from the exact one, made anew for what is left each time.
        """
        problem = self.problem
        state = np.where(problem.is_open, FREE, CLOSED).astype(np.int8)
        state[problem.first_choices] = SERVED
        left = problem.capacity_cost - exact_sum(problem.costs[problem.first_choices])
        state[(state == FREE) & (problem.costs > left)] = CLOSED
        self.rows = self.rows.reduced(state)  # 1
        self.nodes.append(Node())
        node = self._blank(0, left)
        program = None
        if len(self.rows.costs):
            node = replace(node, multipliers=self._first_multipliers(left))  # 2
        while len(self.rows.costs):
            evaluation = self._evaluate(node, node.multipliers)
            if evaluation.value > self.cutoff and program is not None:
                evaluation, relaxed = self._improve(node, evaluation, program)
                if relaxed is not None:
                    self._try(_served_whole(node, relaxed))
            node = replace(node, multipliers=evaluation.multipliers)
            if evaluation.value <= self.cutoff or self._is_stopped(0):
                break
            num_topics = len(self.rows.costs)
            tightened = self._tightened(node, evaluation)
            if tightened is not None:
                node = self._restarted(node, tightened, evaluation)
            elif program is not None:
                break
            is_settled = program is not None and len(self.rows.costs) > REBUILD_SHARE * num_topics
            program = HullProgram(self.rows, node.left, self.stop_rule.deadline) if len(self.rows.costs) else None
            if is_settled:
                break
        return [node], program

    def _first_multipliers(self, capacity: int) -> Int64Array:
        try:
            return partial_multipliers(self.rows, capacity, self.stop_rule.deadline)
        except OutOfTime:
            self.is_out_of_time = True
        except NoAnswer:
            pass
        return np.zeros(len(self.rows.topics), dtype=np.int64)

    def _blank(self, number: int, left: int) -> _OpenNode:
        nothing = np.zeros(len(self.rows.topics), dtype=np.int64)
        return _OpenNode(number, np.full(len(self.rows.costs), FREE, dtype=np.int8), left, nothing)

    def _restarted(self, node: _OpenNode, state: StateArray, evaluation: _Evaluation) -> _OpenNode:
        """Go on with what is left after the root was tightened; its multipliers go along."""
        self._hold(node.number, evaluation)
        number = len(self.nodes)
        self.nodes.append(Node(parent=node.number))
        entries, rows = self.rows.entries, self.rows
        self.served += rows.topic_numbers[state == SERVED].tolist()
        left = node.left - exact_sum(rows.costs[state == SERVED])
        self.rows = rows.reduced(state)
        kept = evaluation.multipliers[np.searchsorted(entries, self.rows.entries)]
        return replace(self._blank(number, left), multipliers=kept)

    def _is_stopped(self, num_waiting: int) -> bool:
        is_full = self.num_stored + (num_waiting + 2) * len(self.rows.topics) > MAX_STORED_MULTIPLIERS
        return is_full or self.is_out_of_time or self.stop_rule.is_reached(len(self.nodes))

    def _work_on(
        self, node: _OpenNode, evaluation: _Evaluation, program: HullProgram
    ) -> tuple[_Evaluation, list[_OpenNode]]:
        """Improve the bound of a node by the program; where that is not enough, tighten and divide it.

        1. Multipliers from the program, as far as it has answers; out of time, the node stays as it is.
        2. Try the topics that it serves whole as the beginning of a plan.
        3. Tighten.
        4. Branch on the topic that is most undecided.
        """
        evaluation, relaxed = self._improve(node, evaluation, program)  # 1
        if self.is_out_of_time:
            return evaluation, []
        if evaluation.value > self.cutoff and relaxed is not None:
            self._try(_served_whole(node, relaxed))  # 2
        if evaluation.value <= self.cutoff:
            return evaluation, []
        tightened = self._tightened(node, evaluation)  # 3
        state, left = node.state, node.left
        if tightened is not None:
            left -= exact_sum(self.rows.costs[(tightened == SERVED) & (node.state == FREE)])
            state = tightened
            self._hold(node.number, evaluation)
        topic = self._undecided(state, relaxed)  # 4
        if topic == NOTHING:  # tightened to a single plan
            self.nodes.append(Node(node.number))
            return evaluation, [_OpenNode(len(self.nodes) - 1, state, left, evaluation.multipliers)]
        children = []
        for is_served in (False, True):
            below = state.copy()
            below[topic] = SERVED if is_served else CLOSED
            remaining = left - (int(self.rows.costs[topic]) if is_served else 0)
            below[(below == FREE) & (self.rows.costs > remaining)] = CLOSED
            children.append(_OpenNode(len(self.nodes), below, remaining, evaluation.multipliers))
            self.nodes.append(Node(node.number, int(self.rows.topic_numbers[topic]), is_served))
        return evaluation, children

    def _improve(
        self, node: _OpenNode, evaluation: _Evaluation, program: HullProgram
    ) -> tuple[_Evaluation, Relaxed | None]:
        """Solve, evaluate the multipliers exactly, let sets enter that they make worth more; again while sets enter."""
        program.fix(node.state)
        relaxed: Relaxed | None = None
        for _ in range(MAX_PRICING_ROUNDS):
            try:
                relaxed = program.solve()
            except OutOfTime:
                self.is_out_of_time = True
                break
            except NoAnswer:
                break
            trial = self._evaluate(node, relaxed.multipliers)
            if trial.value < evaluation.value:
                evaluation = trial
            if evaluation.value <= self.cutoff:
                break
            if not program.enter_taken(relaxed, trial.worths, trial.taken, node.state):
                break
        return evaluation, relaxed

    def _try(self, is_served: BoolArray) -> None:
        """Make a plan that begins with these topics, if it can pay for them."""
        numbers = np.concatenate([self.served, self.rows.topic_numbers[is_served]]).astype(np.int32)
        if exact_sum(self.problem.costs[numbers]) <= self.problem.capacity_cost:
            self.best = max(self.best, self.complete(numbers))

    def _tightened(self, node: _OpenNode, evaluation: _Evaluation) -> StateArray | None:
        """The state of a node with the topics fixed that every plan beyond the cutoff decides alike; None without any.

        At the price m per cost of the knapsack, the other choice for a topic loses at least |payment - m * cost|. That
        is estimated here with a margin for floats.
        """
        rows = self.rows
        price = evaluation.price[0] / evaluation.price[1]
        reduced_costs = evaluation.payments - price * rows.costs
        margin = _FLOAT_MARGIN * (evaluation.payments + price * rows.costs)
        is_fixed = (node.state == FREE) & (np.abs(reduced_costs) - margin >= evaluation.value - self.cutoff)
        if not is_fixed.any():
            return None
        state = node.state.copy()
        state[is_fixed] = np.where(reduced_costs[is_fixed] > 0, SERVED, CLOSED)
        left = node.left - exact_sum(rows.costs[(state == SERVED) & (node.state == FREE)])
        state[(state == FREE) & (rows.costs > left)] = CLOSED
        return state if left >= 0 else None

    def _undecided(self, state: StateArray, relaxed: Relaxed | None) -> int:
        """The free topic to branch on: the most fractional one by the weight of its subscribers, else the heaviest."""
        free = np.flatnonzero(state == FREE)
        if not len(free):
            return NOTHING
        weight = self.rows.single_weights.copy()
        np.add.at(weight, self.rows.topics, self.rows.weights[self.rows.row_of_entry])
        share = np.zeros(len(free)) if relaxed is None else relaxed.served[free]
        undecided = np.minimum(share, 1 - share)
        scores = np.where(undecided > 1e-6, undecided, 1e-9) * (1.0 + weight[free])
        return int(free[np.argmax(scores)])

    def _hold(self, number: int, evaluation: _Evaluation) -> None:
        """Give a node its multipliers; nodes that follow each other may share them."""
        vector = Vector(self.rows.entries, evaluation.multipliers.astype(np.uint32))
        last = self.vectors[-1] if self.vectors else None
        if last is None or last.entries is not vector.entries or np.any(last.multipliers != vector.multipliers):
            self.vectors.append(vector)
            self.num_stored += len(vector.entries)
        payment, cost = evaluation.price
        self.nodes[number] = replace(self.nodes[number], vector=len(self.vectors) - 1, payment=payment, cost=cost)

    def _close(self, number: int, evaluation: _Evaluation) -> None:
        self._hold(number, evaluation)
        self.value = max(self.value, evaluation.value)

    def _evaluate(self, node: _OpenNode, multipliers: Int64Array) -> _Evaluation:
        """The bound of a node at multipliers: rows after payment, and the knapsack of what free topics are paid."""
        rows = self.rows
        worths = np.empty(len(rows.needed), dtype=np.int64)
        taken = np.empty(len(rows.topics), dtype=bool)
        payments = rows.single_weights * FIXED_POINT_ONE
        row_worths(
            *(rows.offsets, rows.topics, rows.events, rows.needed, rows.sure, rows.weights, node.state),
            *(multipliers, self.is_whole, worths, taken, payments),
        )
        certain = rows.base + FIXED_POINT_ONE * exact_sum(rows.single_weights[node.state == SERVED])
        free = node.state == FREE
        filled, price = fill_knapsack(payments[free], rows.costs[free], node.left)
        value = certain + exact_dot(worths, rows.weights) + filled
        return _Evaluation(value, multipliers, payments, price, worths, taken)


def _served_whole(node: _OpenNode, relaxed: Relaxed) -> BoolArray:
    """The topics that a node serves, or that the program serves whole."""
    return np.asarray((node.state == SERVED) | ((node.state == FREE) & (relaxed.served > 1 - 1e-6)))


def fill_knapsack(payments: Int64Array, costs: Int64Array, capacity: int) -> tuple[int, tuple[int, int]]:
    """A bound on the most that items of total cost ``capacity`` are paid, and the price (payment, cost) it is taken at.

    At the price m it is m * capacity + sum of max(0, payment - m * cost), rounded up. The price is that of the first
    item that no longer fits, best paid per cost first; it is 0 where all items fit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(costs > 0, payments / costs, np.inf)
    order = np.argsort(-ratios, kind="stable")
    running = np.cumsum(costs[order].astype(np.float64))
    beyond = np.flatnonzero((running > capacity) & (payments[order] > 0) & (costs[order] > 0))
    if exact_sum(costs[payments > 0]) <= capacity or not len(beyond):
        return exact_sum(payments), (0, 1)
    cut = int(order[beyond[0]])
    payment, cost = int(payments[cut]), int(costs[cut])
    # Ratios are off by less than 2^-51: what is nearer to the cut than that is compared in integers.
    near = np.abs(ratios - ratios[cut]) <= ratios[cut] * 2.0**-50
    above = (ratios > ratios[cut]) & ~near
    total = exact_sum(payments[above]) * cost - payment * exact_sum(costs[above])
    for item in np.flatnonzero(near):
        total += max(0, int(payments[item]) * cost - payment * int(costs[item]))
    return -(-(total + payment * capacity) // cost), (payment, cost)
