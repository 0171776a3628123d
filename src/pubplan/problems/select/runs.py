"""Greedy runs in one process: the kernels on a problem's arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_sum
from pubplan.kernels import row_sums
from pubplan.problems.select.draft import Choice
from pubplan.problems.select.instance import start_state
from pubplan.problems.select.kernels.greedy import eager_greedy, lazy_greedy, recomputing_greedy
from pubplan.problems.select.kernels.values import MIN_KEY, Run
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]


def run_lazy(
    problem: Problem,
    *,
    by_ratio: bool,
    first_choices: Int32Array | None = None,
    among: BoolArray | None = None,
) -> Choice:
    """One lazy greedy run for F-B3M: by gain per cost, or by gain; only ``among`` some topics where given."""
    instance = problem.instance
    state, run = start_state(instance.multi_topic.thresholds, is_whole=False), blank_run(instance.num_topics)
    chosen = problem.first_choices if first_choices is None else first_choices
    is_open = problem.is_open if among is None else problem.is_open & among
    num_chosen = lazy_greedy(state, instance.demand, is_open, chosen, run, problem.capacity_cost, by_ratio, MIN_KEY, 0)
    return choice_of(problem, first_of(run, num_chosen), state)


def run_recomputing(problem: Problem, *, by_ratio: bool) -> Choice:
    """One greedy run for F-B3M that values from scratch every topic that shares a subscriber with a choice."""
    instance = problem.instance
    state, run = start_state(instance.multi_topic.thresholds, is_whole=False), blank_run(instance.num_topics)
    num_chosen = recomputing_greedy(
        state,
        instance.demand,
        instance.topic_lists,
        problem.is_open,
        problem.first_choices,
        run,
        problem.capacity_cost,
        by_ratio,
    )
    return choice_of(problem, first_of(run, num_chosen), state)


def run_eager(problem: Problem, *, is_whole: bool, by_ratio: bool = True, among: BoolArray | None = None) -> Choice:
    """One greedy run that corrects every value after each choice, for B3M (``is_whole``) or F-B3M."""
    state = start_state(problem.instance.multi_topic.thresholds, is_whole=is_whole)
    is_open = problem.is_open if among is None else problem.is_open & among
    run = go_on_eager(
        problem, state, is_open, problem.capacity_cost, problem.first_choices, is_whole=is_whole, by_ratio=by_ratio
    )
    return choice_of(problem, run, state)


def go_on_eager(
    problem: Problem,
    state: Int64Array,
    is_open: BoolArray,
    capacity: int,
    first_choices: Int32Array,
    *,
    is_whole: bool = True,
    by_ratio: bool = True,
) -> Run:
    """What the eager greedy chooses from ``state`` on, which it changes."""
    instance, run = problem.instance, blank_run(problem.instance.num_topics)
    num_chosen = eager_greedy(
        state,
        instance.demand,
        instance.topic_lists,
        is_open,
        first_choices,
        run,
        capacity,
        by_ratio,
        is_whole,
        MIN_KEY,
        0,
    )
    return first_of(run, num_chosen)


def run_among(problem: Problem, served: BoolArray) -> Choice:
    """The greedy run that chooses only topics that are ``served``: an order for a plan that another method made."""
    if problem.objective == "b3m":
        return run_eager(problem, is_whole=True, among=served)
    return run_lazy(problem, by_ratio=True, among=served)


def choice_of(problem: Problem, run: Run, state: Int64Array) -> Choice:
    """What a kernel chose, with the objective from the start on; ``state`` is how it left the subscribers."""
    instance = problem.instance
    start = problem.scale * exact_sum(instance.weights[instance.thresholds == 0])
    return Choice(run.order.copy(), run.spent.copy(), run.gained + start, start, would_help(problem, state))


def would_help(problem: Problem, state: Int64Array) -> BoolArray:
    """Which topics have a subscriber who is not satisfied, as far as they are not served."""
    instance, demand = problem.instance, problem.instance.demand
    num_wanting = np.empty(instance.num_topics, dtype=np.int64)
    is_wanting = (state[:, 0] > 0) & (demand.weights > 0)
    row_sums(is_wanting.astype(np.int64), demand.subscribers, demand.offsets, num_wanting)
    return np.asarray(((num_wanting > 0) | (demand.single_topic_weight > 0)) & (instance.events > 0))


def blank_run(num_topics: int) -> Run:
    """Arrays for a run that chooses at most this many topics."""
    return Run(
        np.empty(num_topics, dtype=np.int32),
        np.empty(num_topics, dtype=np.int64),
        np.empty(num_topics, dtype=np.int64),
    )


def first_of(run: Run, num_chosen: int) -> Run:
    """The choices that a kernel has filled in."""
    return Run(run.order[:num_chosen], run.spent[:num_chosen], run.gained[:num_chosen])
