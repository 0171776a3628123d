"""What no plan can beat: the bound of Setty et al., and a tighter one from Lagrangian duality.

*The paper's bound* (Theorems V.7 and VI.4, INFOCOM 2014; costs must be rate x subscribers). Whatever v receives costs
at least as many deliveries, and a subscriber who receives anything receives at least its smallest topic. So satisfying
v costs c_v = max(tau_v, smallest rate in T_v) at least, and a fraction of v costs at least that fraction of c_v: no
plan is worth more than the fractional knapsack of items with the weights of the subscribers as values and c_v as sizes.

*The Lagrangian bound*. Let every subscriber v decide by itself which of its topics are served (y_tv), and let it pay
lambda_tv to the topic for each. For any lambda >= 0, no plan is worth more than

    sum over v of max over y of (satisfaction of v with y - sum of lambda_tv y_tv)
    + max over x within the capacity of sum over t of x_t p_t,      p_t = sum over v of lambda_tv

because a plan is one choice y = x in which the payments cancel. The first part is a small problem per subscriber, the
second a knapsack, of which the fractional value is taken. The best lambda is approached by subgradient steps; the start
shares a topic's cost evenly among its subscribers, which already gives the paper's bound or less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.engine import Store, block_range, exact_sum, map_blocks, open_store, stage
from pubplan.kernels import row_positive_minima
from pubplan.planning import BlockTable, Exact
from pubplan.problems.select.draft import CurveCertificate
from pubplan.problems.select.kernels.dual import MULTIPLIER_SCALE, cut_price, lagrangian_pass
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.problems.select.plan import MULTIPLIERS, MULTIPLIERS_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int64Array, SubscriberReader

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

FloatArray = npt.NDArray[np.float64]

MAX_STEPS = 30
MOMENTUM = 0.6
"""The part of the last direction that the next one keeps."""

PATIENCE = 6
"""After this many steps without progress, steps become shorter by STEP_FACTOR."""

STEP_FACTOR = 0.7
MAX_GROUPS = 16
"""Blocks are evaluated in at most this many groups, whose payments are added up."""

SAMPLED_SUBSCRIBERS = 1 << 13
"""The first price is chosen on about this many subscribers."""

_FLOAT_MARGIN = 1 + 1e-9
"""Covers the float error of a curve."""


def paper_bound(problem: Problem, reached: Exact, spark: SparkSession | None = None) -> CurveCertificate:
    """The paper's bound, never more than the total weight.

    The evidence is one item, the first that does not fit: with it, the knapsack's dual can be evaluated in one pass
    without sorting. For F-B3M the bound also covers what fixed point adds to the real objective.
    """
    reader = problem.instance.reader()

    def read(block: int) -> tuple[Int64Array, Int64Array, int]:
        rows = reader.read(block)
        smallest = np.empty(len(rows.thresholds), dtype=np.int64)
        row_positive_minima(reader.rates, rows.topics, rows.offsets, smallest)
        needs = np.where(rows.thresholds > 0, np.maximum(rows.thresholds, smallest), 0)
        wanting = np.maximum(rows.thresholds, 1)
        surplus = np.where(rows.thresholds > 0, -(-FIXED_POINT_ONE // wanting) * wanting - FIXED_POINT_ONE, 0)
        return needs, rows.weights, int(np.dot(surplus.astype(object), rows.weights)) if surplus.any() else 0

    scans = list(map_blocks(read, problem.workload.num_blocks, spark))
    nothing = np.empty(0, np.int64)
    needs = np.concatenate([nothing, *(scan[0] for scan in scans)])
    weights = np.concatenate([nothing, *(scan[1] for scan in scans)])
    excess = sum(scan[2] for scan in scans) if problem.objective == "fb3m" else 0
    curve = _paper_curve(problem, needs, weights, excess)
    total = Exact(problem.total_weight * problem.scale, problem.scale)
    cut = _cut_item(needs, weights, problem.capacity_cost)
    if cut is None:
        return CurveCertificate("paper", total, {"cut_need": None, "cut_weight": None}, curve=curve)
    cut_need, cut_weight = cut
    # A weight of w pays at the cut's price when it needs less than w * cut_need / cut_weight.
    sizes, inverse = np.unique(weights, return_inverse=True)
    limits = np.array([min(2**63 - 1, -(-int(size) * cut_need // cut_weight)) for size in sizes], dtype=np.int64)
    pays = needs < limits[inverse]
    left = problem.capacity_cost - exact_sum(needs[pays])
    dual = exact_sum(weights[pays]) + Fraction(cut_weight * left, cut_need)
    value = floor(dual)
    if problem.objective == "fb3m":
        value = max(FIXED_POINT_ONE * (value + 1), ceil(FIXED_POINT_ONE * dual) + excess)
    evidence = {"cut_need": cut_need, "cut_weight": cut_weight}
    return CurveCertificate("paper", Exact(min(value, total.value), problem.scale), evidence, curve=curve)


def paper_refusal(problem: Problem) -> str | None:
    if problem.cost is None:
        return None
    return f"it holds for costs of rate x subscribers, not for {problem.cost}."


def _cut_item(needs: Int64Array, weights: Int64Array, capacity: int) -> tuple[int, int] | None:
    """Need and weight of the first subscriber that does not fit, most weight per need first."""
    counts = (weights > 0) & (needs > 0)
    needs, weights = needs[counts], weights[counts]
    order = np.argsort(needs / weights, kind="stable")
    # Summed as upper and lower halves, so that no prefix wraps.
    lower = np.cumsum(needs[order] & 0xFFFFFFFF)
    upper = np.cumsum(needs[order] >> 32) + (lower >> 32)
    limit_upper, limit_lower = divmod(capacity, 2**32)
    fits = (upper < limit_upper) | ((upper == limit_upper) & (lower & 0xFFFFFFFF <= limit_lower))
    num_whole = int(np.count_nonzero(fits))
    if num_whole == len(needs):
        return None
    return int(needs[order[num_whole]]), int(weights[order[num_whole]])


def _paper_curve(
    problem: Problem, needs: Int64Array, weights: Int64Array, excess: int
) -> Callable[[Int64Array], FloatArray]:
    def curve(capacities: Int64Array) -> FloatArray:
        values = _knapsack_curve(weights, needs, capacities)
        return np.minimum(problem.total_weight, values * _FLOAT_MARGIN + excess / FIXED_POINT_ONE)

    return curve


def _knapsack_curve(values: Int64Array, sizes: Int64Array, capacities: Int64Array) -> FloatArray:
    """The fractional knapsack of these items for every capacity."""
    counts = values > 0
    values, sizes = values[counts], sizes[counts]
    with np.errstate(divide="ignore"):
        order = np.argsort(-(values / sizes), kind="stable")
    filled = np.concatenate([[0.0], np.cumsum(sizes[order], dtype=np.float64)])
    worth = np.concatenate([[0.0], np.cumsum(values[order], dtype=np.float64)])
    last_of_size = np.append(np.diff(filled) > 0, True)  # items that cost nothing are in from the start
    return np.asarray(np.interp(capacities, filled[last_of_size], worth[last_of_size]))


@dataclass(frozen=True)
class _DualEvaluation:
    """What one pass over all subscribers gives: their worth after payment, what they pay each topic (``prices``), and
    the squared length of the step, which the next step is scaled by.
    """

    worth: int
    prices: Int64Array
    length: float


@dataclass(frozen=True)
class _Topics:
    """The topics, most subscribers first, as the passes number them: popular ones then share the cache."""

    rank: npt.NDArray[np.int32]
    events: Int64Array
    costs: Int64Array
    is_first_choice: npt.NDArray[np.bool_]
    candidates: npt.NDArray[np.int32]
    shares: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> _Topics:
        subscribers = problem.workload.topic_array("subscribers")
        order = np.argsort(-subscribers, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        left = problem.capacity_cost - exact_sum(problem.costs[problem.first_choices])
        may_be_served = (problem.is_open & (problem.costs <= left))[order]
        is_first_choice = np.zeros(len(order), dtype=bool)
        is_first_choice[rank[problem.first_choices]] = True
        return cls(
            rank=rank,
            events=problem.instance.events[order],
            costs=problem.costs[order],
            is_first_choice=is_first_choice,
            candidates=np.flatnonzero(may_be_served).astype(np.int32),
            shares=(problem.costs / np.maximum(subscribers, 1))[order],
        )


class _Passes:
    """Passes over all subscribers, with what they leave for each other in a store."""

    def __init__(self, problem: Problem, spark: SparkSession | None) -> None:
        self.num_blocks = problem.workload.num_blocks
        self.num_groups = min(self.num_blocks, MAX_GROUPS)
        self.reader: SubscriberReader = problem.instance.reader()
        self.topics = _Topics.of(problem)
        self.is_whole = problem.objective == "b3m"
        self.store: Store = open_store(spark)
        self.spark = spark

    def sampled_worths(self, prices: FloatArray, stride: int) -> list[int]:
        """The worth of every ``stride``-th subscriber when topics share their cost at each of these prices per cost."""
        reader, topics, is_whole = self.reader, self.topics, self.is_whole

        def value(block: int) -> list[int]:
            rows = reader.read(block)
            lengths = np.diff(rows.offsets)
            first, _ = block_range(block, 2**62)
            picked = np.arange(-first % stride, len(lengths), stride)
            offsets = np.concatenate([[0], np.cumsum(lengths[picked])])
            entries = np.arange(offsets[-1]) + np.repeat(rows.offsets[picked] - offsets[:-1], lengths[picked])
            ranks = topics.rank[rows.topics[entries]]
            blank = np.zeros(len(ranks), dtype=np.float32)
            paid = np.zeros(len(topics.events), dtype=np.int64)
            return [
                lagrangian_pass(
                    offsets,
                    ranks,
                    topics.events,
                    rows.thresholds[picked],
                    rows.weights[picked],
                    is_whole,
                    blank,
                    0.0,
                    0.0,
                    _even_multipliers(topics.shares[ranks], price),
                    blank,
                    blank.copy(),
                    paid,
                )[0]
                for price in prices
            ]

        return [sum(map(int, worths)) for worths in zip(*map_blocks(value, self.num_blocks, self.spark), strict=True)]

    def start(self, price: float) -> _DualEvaluation:
        """Read the subscribers and let topics share their cost at a price per cost."""
        reader, topics, store = self.reader, self.topics, self.store

        def prepare(block: int) -> None:
            rows = reader.read(block)
            ranks = topics.rank[rows.topics]
            blank = np.zeros(len(ranks), dtype=np.float32)
            multipliers = _even_multipliers(topics.shares[ranks], price)
            store.put(block, offsets=rows.offsets, topics=ranks, thresholds=rows.thresholds, weights=rows.weights)
            store.put(block, multipliers0=multipliers, direction0=blank, answers0=blank, best=multipliers)

        list(map_blocks(prepare, self.num_blocks, self.spark))
        store.put(0, events=topics.events)
        served = np.zeros(len(topics.events), dtype=np.float32)
        return self.move(0, served, 0.0, keep=False)

    def move(self, number: int, served: npt.NDArray[np.float32], step: float, *, keep: bool) -> _DualEvaluation:
        """Move the multipliers by one step, ``keep`` those from before it as the best, and evaluate again.

        What is read and what is written have different ranks, so that a task that is run again finds its input.
        """
        store, is_whole = self.store, self.is_whole
        num_blocks, num_groups, num_topics = self.num_blocks, self.num_groups, len(self.topics.events)
        now, then = number % 2, (number + 1) % 2
        store.put(0, served=served)  # small tasks: what all of them need is in the store

        def evaluate_rows(group: int) -> list[tuple[int, float]]:
            prices = np.zeros(num_topics, dtype=np.int64)
            events, served = store.get(0, "events"), store.get(0, "served")
            worth_and_length = []
            for block in range(num_blocks * group // num_groups, num_blocks * (group + 1) // num_groups):
                offsets, ranks, thresholds, weights, multipliers, direction, answers = (
                    store.get(block, name)
                    for name in (
                        *("offsets", "topics", "thresholds", "weights"),
                        *(f"multipliers{now}", f"direction{now}", f"answers{now}"),
                    )
                )
                if keep:
                    store.put(block, best=multipliers)
                moved = [multipliers.copy(), direction.copy(), answers.copy()]
                worth_and_length.append(
                    lagrangian_pass(
                        offsets,
                        ranks,
                        events,
                        thresholds,
                        weights,
                        is_whole,
                        served,
                        step,
                        MOMENTUM,
                        moved[0],
                        moved[1],
                        moved[2],
                        prices,
                    )
                )
                values = zip(("multipliers", "direction", "answers"), moved, strict=True)
                store.put(block, **{f"{name}{then}": array for name, array in values})
            store.put(group, prices=prices)
            return worth_and_length

        pairs = [pair for group in map_blocks(evaluate_rows, num_groups, self.spark) for pair in group]
        prices = np.zeros(num_topics, dtype=np.int64)
        for group in range(num_groups):
            prices += store.get(group, "prices")
        return _DualEvaluation(sum(int(worth) for worth, _ in pairs), prices, sum(float(length) for _, length in pairs))

    def keep(self, number: int) -> None:
        """Keep the multipliers after ``number`` moves as the best ones."""
        store, name = self.store, f"multipliers{number % 2}"
        list(map_blocks(lambda block: store.put(block, best=store.get(block, name)), self.num_blocks, self.spark))

    def table(self) -> BlockTable:
        store = self.store
        return BlockTable(
            self.num_blocks,
            lambda block: pa.Table.from_arrays([pa.array(store.get(block, "best"))], schema=MULTIPLIERS_SCHEMA),
        )


def _even_multipliers(shares: FloatArray, price: float) -> npt.NDArray[np.int32]:
    return np.minimum(MULTIPLIER_SCALE, MULTIPLIER_SCALE * price * shares).astype(np.int32)


@dataclass(frozen=True)
class _DualValue:
    """A value of the dual in units of 2^-20, the price per cost it was taken at, and which topics are served there.

    Topics at the cut are served in part, so that the capacity is just used up.
    """

    value: int
    price: float
    served: npt.NDArray[np.float32]


def _dual_value(topics: _Topics, evaluation: _DualEvaluation, capacity: int) -> _DualValue:
    """Fill the knapsack: at a price m per cost it is worth at most m * capacity + sum of max(0, p_t - m * cost_t)."""
    chosen, prices = topics.candidates, evaluation.prices
    first = topics.is_first_choice
    left = capacity - exact_sum(topics.costs[first])
    price = float(cut_price(prices, topics.costs, chosen, left))
    # Floats only ever lower what is subtracted: three roundings of 2^-53 are less than 2^-50.
    charges = np.floor(topics.costs[chosen].astype(np.float64) * price * (1 - 2.0**-50))
    reduced_costs = prices[chosen] - np.minimum(charges, prices[chosen]).astype(np.int64)
    value = evaluation.worth + exact_sum(prices[first]) + exact_sum(reduced_costs) + ceil(Fraction(price) * left)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = prices[chosen] / topics.costs[chosen]
    above, at_cut = chosen[ratios > price], chosen[ratios == price]
    free, tied = left - exact_sum(topics.costs[above]), exact_sum(topics.costs[at_cut])
    served = first.astype(np.float32)
    served[above] = 1.0
    served[at_cut] = min(1.0, max(0, free) / tied) if tied else 1.0
    return _DualValue(value, price, served)


def lagrangian_bound(problem: Problem, reached: Exact, spark: SparkSession | None = None) -> CurveCertificate:
    """The Lagrangian bound after a fixed number of steps, or when it meets what a plan has ``reached``.

    1. Choose the price per cost to start from on a sample of the subscribers.
    2. Step towards the plan's value: Polyak's step, shortened when the bound does not fall for a while.

    The evidence is the price at the knapsack's cut and the multipliers of all interests, as integers: the dual can
    be evaluated at them exactly.
    """
    passes = _Passes(problem, spark)
    topics, capacity = passes.topics, problem.capacity_cost
    target = float(reached)
    with stage("bounding: first prices"):
        evaluation = passes.start(_start_price(problem, passes))  # 1
    dual = best = _dual_value(topics, evaluation, capacity)
    best_evaluation = evaluation
    length = 0.5 * problem.workload.counts.pairs  # a guess; then that of the step before
    factor, idle, keep, number = 1.0, 0, True, 1
    with stage("bounding: steps", MAX_STEPS) as advance:  # 2
        while number <= MAX_STEPS and best.value / MULTIPLIER_SCALE > target + 0.5 / problem.scale and length > 0.0:
            step = factor * (dual.value - MULTIPLIER_SCALE * target) / length
            evaluation = passes.move(number, dual.served, step, keep=keep)
            advance(1)
            dual = _dual_value(topics, evaluation, capacity)
            length = evaluation.length
            idle = 0 if dual.value < best.value - 0.001 * (best.value - MULTIPLIER_SCALE * target) else idle + 1
            keep = dual.value < best.value
            if keep:
                best, best_evaluation = dual, evaluation
            if idle == PATIENCE:
                factor, idle = factor * STEP_FACTOR, 0
            number += 1
    if keep:
        passes.keep(number)
    value = min(_in_units_of(problem, best.value), problem.total_weight * problem.scale)
    return CurveCertificate(
        "lagrangian",
        Exact(value, problem.scale),
        {"price": best.price},
        blocks={MULTIPLIERS: passes.table()},
        curve=_lagrangian_curve(problem, topics, best_evaluation),
    )


def _in_units_of(problem: Problem, value: int) -> int:
    """From units of 2^-20 to those of the objective; B3M is whole."""
    return value // MULTIPLIER_SCALE if problem.objective == "b3m" else value * (FIXED_POINT_ONE // MULTIPLIER_SCALE)


def _start_price(problem: Problem, passes: _Passes) -> float:
    """The price per cost at which even shares give the least bound, on a sample of the subscribers."""
    stride = max(1, problem.workload.counts.subscribers // SAMPLED_SUBSCRIBERS)
    prices = 2.0 ** np.arange(-46.0, 4.0, 0.25)
    worths = passes.sampled_worths(prices, stride)
    if not worths:
        return 0.0
    estimates = stride * np.array(worths, dtype=np.float64) / MULTIPLIER_SCALE + prices * problem.capacity_cost
    return float(prices[np.argmin(estimates)])


def _lagrangian_curve(
    problem: Problem, topics: _Topics, evaluation: _DualEvaluation
) -> Callable[[Int64Array], FloatArray]:
    """The bound for other capacities at the same multipliers."""

    def curve(capacities: Int64Array) -> FloatArray:
        chosen, first = topics.candidates, topics.is_first_choice
        worth = evaluation.worth + exact_sum(evaluation.prices[first])
        left = np.maximum(0, capacities - exact_sum(topics.costs[first]))
        filled = _knapsack_curve(evaluation.prices[chosen], topics.costs[chosen], left)
        return np.minimum(problem.total_weight, (worth + filled) / MULTIPLIER_SCALE * _FLOAT_MARGIN)

    return curve
