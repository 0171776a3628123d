"""Greedy runs in one process: the kernels on a problem's arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_sum
from pubplan.kernels import row_sums
from pubplan.problems.select.kernels import ANY_KEY, eager_greedy, lazy_greedy, recomputing_greedy
from pubplan.problems.select.plan import Choice
from pubplan.problems.select.problem import Problem, start_state
from pubplan.workload import Int32Array, Int64Array


def run_lazy(
    problem: Problem,
    *,
    by_ratio: bool,
    first_choices: Int32Array | None = None,
    among: npt.NDArray[np.bool_] | None = None,
) -> Choice:
    """One lazy greedy run for F-B3M: by gain per cost, or by gain; only ``among`` some topics where given."""
    instance, shared = problem.instance, problem.instance.shared
    state = start_state("fb3m", shared.thresholds)
    order, spent, gained = blank(instance.num_topics)
    chosen = problem.first_choices if first_choices is None else first_choices
    is_open = problem.is_open if among is None else problem.is_open & among
    num_chosen = lazy_greedy(
        state,
        shared.weights,
        instance.events,
        instance.costs,
        shared.own,
        shared.by_topic.values,
        shared.by_topic.offsets,
        is_open,
        chosen,
        order,
        spent,
        gained,
        problem.capacity_cost,
        by_ratio,
        ANY_KEY,
        0,
    )
    return choice_of(problem, order[:num_chosen], spent[:num_chosen], gained[:num_chosen], state)


def run_recomputing(problem: Problem, *, by_ratio: bool) -> Choice:
    """One greedy run for F-B3M that values from scratch every topic that shares a subscriber with a choice."""
    instance, shared = problem.instance, problem.instance.shared
    state = start_state("fb3m", shared.thresholds)
    order, spent, gained = blank(instance.num_topics)
    num_chosen = recomputing_greedy(
        state,
        shared.weights,
        instance.events,
        instance.costs,
        shared.own,
        shared.by_topic.values,
        shared.by_topic.offsets,
        shared.by_subscriber.values,
        shared.by_subscriber.offsets,
        problem.is_open,
        problem.first_choices,
        order,
        spent,
        gained,
        problem.capacity_cost,
        by_ratio,
    )
    return choice_of(problem, order[:num_chosen], spent[:num_chosen], gained[:num_chosen], state)


def run_eager(
    problem: Problem, *, is_whole: bool, by_ratio: bool = True, among: npt.NDArray[np.bool_] | None = None
) -> Choice:
    """One greedy run that corrects every value after each choice, for B3M (``is_whole``) or F-B3M."""
    state = start_state("b3m" if is_whole else "fb3m", problem.instance.shared.thresholds)
    is_open = problem.is_open if among is None else problem.is_open & among
    order, spent, gained = go_on_eager(
        problem, state, is_open, problem.capacity_cost, problem.first_choices, is_whole=is_whole, by_ratio=by_ratio
    )
    return choice_of(problem, order, spent, gained, state)


def go_on_eager(
    problem: Problem,
    state: Int64Array,
    is_open: npt.NDArray[np.bool_],
    capacity: int,
    first_choices: Int32Array,
    *,
    is_whole: bool = True,
    by_ratio: bool = True,
) -> tuple[Int32Array, Int64Array, Int64Array]:
    """What the eager greedy chooses from ``state`` on, which it changes; with cost and gain so far."""
    instance, shared = problem.instance, problem.instance.shared
    order, spent, gained = blank(instance.num_topics)
    num_chosen = eager_greedy(
        state,
        shared.weights,
        instance.events,
        instance.costs,
        shared.own,
        shared.by_topic.values,
        shared.by_topic.offsets,
        shared.by_subscriber.values,
        shared.by_subscriber.offsets,
        is_open,
        first_choices,
        order,
        spent,
        gained,
        capacity,
        by_ratio,
        is_whole,
        ANY_KEY,
        0,
    )
    return order[:num_chosen], spent[:num_chosen], gained[:num_chosen]


def run_among(problem: Problem, served: npt.NDArray[np.bool_]) -> Choice:
    """The greedy run that chooses only topics that are ``served``: an order for a plan found otherwise."""
    if problem.objective == "b3m":
        return run_eager(problem, is_whole=True, among=served)
    return run_lazy(problem, by_ratio=True, among=served)


def choice_of(problem: Problem, order: Int32Array, spent: Int64Array, gained: Int64Array, state: Int64Array) -> Choice:
    """What a kernel chose, with the objective from the start on; ``state`` is how it left those who share."""
    instance = problem.instance
    start = problem.scale * exact_sum(instance.weights[instance.thresholds == 0])
    return Choice(order.copy(), spent.copy(), gained + start, start, would_help(problem, state))


def would_help(problem: Problem, state: Int64Array) -> npt.NDArray[np.bool_]:
    """Which topics have a subscriber who is not satisfied, as far as they are not served."""
    instance, shared = problem.instance, problem.instance.shared
    num_wanting = np.empty(instance.num_topics, dtype=np.int64)
    is_wanting = (state[:, 0] > 0) & (shared.weights > 0)
    row_sums(is_wanting.astype(np.int64), shared.by_topic.values, shared.by_topic.offsets, num_wanting)
    return np.asarray(((num_wanting > 0) | (shared.own > 0)) & (instance.events > 0))


def blank(num_topics: int) -> tuple[Int32Array, Int64Array, Int64Array]:
    """Room for the order, the costs and the gains of a run."""
    return (
        np.empty(num_topics, dtype=np.int32),
        np.empty(num_topics, dtype=np.int64),
        np.empty(num_topics, dtype=np.int64),
    )
