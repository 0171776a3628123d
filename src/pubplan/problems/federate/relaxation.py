"""The linear program behind the bound ``laminar``, for instances that a solver takes."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from pubplan.engine import stage
from pubplan.problems.federate.kernels.duals import Dual

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def solve_relaxation(dual: Dual) -> tuple[Floats, Floats] | None:
    """Prices of room and shares that are optimal as far as a floating-point solver can tell; None if it cannot.

    Whatever the solver says is only a suggestion: the bound is evaluated exactly from it.
    """
    num_clients, num_brokers = len(dual.demand), len(dual.capacities)
    client, broker = np.nonzero(dual.prices[dual.group] >= 0)
    number = len(client)
    slots, slot_of = np.unique(dual.entry_slot, return_inverse=True)
    num_rows = len(dual.entry_slot)
    costs = dual.demand[client].astype(np.float64) * dual.prices[dual.group[client], broker]
    scale = max(1.0, float(costs.max(initial=0)))
    variable = np.full((num_clients, num_brokers), -1, dtype=np.int64)
    variable[client, broker] = np.arange(number)

    # 1. sum over b in C of x(i, b) - z(C, c) <= 0
    rows, columns = [np.arange(num_rows)], [number + slot_of.reshape(-1)]
    values = [np.full(num_rows, -1.0)]
    of_entry = np.repeat(np.arange(num_clients), np.diff(dual.offsets))
    sizes = np.diff(dual.member_offsets)[dual.entry_cluster]
    entry = np.repeat(np.arange(num_rows), sizes)
    position = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    member = dual.members[dual.member_offsets[dual.entry_cluster[entry]] + position]
    chosen = variable[of_entry[entry], member]
    rows.append(entry[chosen >= 0])
    columns.append(chosen[chosen >= 0])
    values.append(np.ones(int((chosen >= 0).sum())))
    # 2. loads within capacities
    limited = np.flatnonzero(dual.capacities < exact_total(dual))
    row_of = np.full(num_brokers, -1, dtype=np.int64)
    row_of[limited] = num_rows + np.arange(len(limited))
    unit = max(1.0, float(dual.demand.max(initial=0)))
    is_limited = row_of[broker] >= 0
    rows.append(row_of[broker[is_limited]])
    columns.append(np.flatnonzero(is_limited))
    values.append(dual.demand[client[is_limited]] / unit)
    limits = np.concatenate([np.zeros(num_rows), dual.capacities[limited] / unit])
    shape = (num_rows + len(limited), number + len(slots))
    upper = sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    equal = sparse.csr_matrix((np.ones(number), (client, np.arange(number))), shape=(num_clients, shape[1]))
    objective = np.concatenate([costs, dual.budgets[slots].astype(np.float64)]) / scale
    with stage("bounding"):
        answer = linprog(
            objective,
            upper,
            limits,
            equal,
            np.ones(num_clients),
            bounds=(0, None),
            method="highs-ipm",
        )
    if answer.ineqlin is None or answer.ineqlin.marginals is None or not np.isfinite(answer.ineqlin.marginals).all():
        return None
    multipliers = -np.minimum(answer.ineqlin.marginals, 0.0) * scale
    room_prices = np.zeros(num_brokers)
    room_prices[limited] = multipliers[num_rows:] / unit
    return room_prices, multipliers[:num_rows].copy()


def exact_total(dual: Dual) -> int:
    return sum(dual.demand.tolist())
