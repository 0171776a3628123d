"""What no plan can beat: the bound of Theorems V.7 and VI.4 of Setty et al. (INFOCOM 2014), for normalised costs.

Whatever v receives costs at least as many deliveries, and a subscriber who receives anything receives at least its
smallest topic. So satisfying v costs c_v = max(tau_v, smallest rate in T_v) at least, and a fraction of v costs at
least that fraction of c_v: no plan is worth more than the fractional knapsack of items with value 1 and weight c_v.
The paper fills the knapsack with whole items, smallest first, and adds 1 for F-B3M.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import exact_sum
from pubplan.kernels import row_positive_minima
from pubplan.planning import Certificate, Exact
from pubplan.problems.select.problem import FULL, Instance, Problem
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def paper_bound(problem: Problem, spark: SparkSession | None = None) -> Certificate:
    """The paper's bound, never more than the number of subscribers.

    The evidence is the weight of the first item that does not fit: with it, anybody can evaluate the knapsack's dual
    in one pass without sorting. For F-B3M the bound also covers what fixed point adds to the real objective.
    """
    instance = problem.instance
    num_subscribers, capacity = instance.num_subscribers, problem.capacity_cost
    weights = np.sort(least_deliveries(instance))
    num_whole = _num_fitting(weights, capacity)
    everybody = Exact(num_subscribers * problem.scale, problem.scale)
    if num_whole == num_subscribers:
        return Certificate("paper", everybody, {"cut_weight": None})
    cut_weight = int(weights[num_whole])
    if problem.objective == "b3m":
        value = num_whole
    else:
        left = capacity - exact_sum(weights[:num_whole])
        fraction = -(-FULL * left // cut_weight)
        value = FULL * num_whole + max(FULL, fraction + fixed_point_excess(instance.thresholds))
    return Certificate("paper", Exact(min(value, everybody.value), problem.scale), {"cut_weight": cut_weight})


def least_deliveries(instance: Instance) -> Int64Array:
    """c_v = max(tau_v, smallest rate in T_v), 0 for a subscriber who is satisfied with nothing."""
    rows = instance.interests.by_subscriber
    smallest = np.empty(rows.num_rows, dtype=np.int64)
    row_positive_minima(instance.rates, rows.values, rows.offsets, smallest)
    return np.where(instance.thresholds > 0, np.maximum(instance.thresholds, smallest), 0)


def fixed_point_excess(thresholds: Int64Array) -> int:
    """The most by which the fixed-point objective of any plan exceeds the real one, in units of 2^-32."""
    wanting = thresholds[thresholds > 0]
    return exact_sum(-(-FULL // wanting) * wanting - FULL)


def _num_fitting(weights: Int64Array, capacity: int) -> int:
    """How many of the ascending weights fit, smallest first.

    Weights are summed as upper and lower halves, so that no prefix wraps.
    """
    lower = np.cumsum(weights & 0xFFFFFFFF)
    upper = np.cumsum(weights >> 32) + (lower >> 32)
    lower &= 0xFFFFFFFF
    limit_upper, limit_lower = divmod(capacity, 2**32)
    fits = (upper < limit_upper) | ((upper == limit_upper) & (lower <= limit_lower))
    return int(np.count_nonzero(fits))
