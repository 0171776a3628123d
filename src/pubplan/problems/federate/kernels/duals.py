"""The dual of attaching clients: what brokers' room is worth, and who pays for messages getting into clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

Floats = np.ndarray


class Dual(NamedTuple):
    """Clients that may pay for clusters, and what there is to pay.

    Attributes:
        demand: of every client.
        group: of every client.
        prices: of groups (rows) to brokers (columns); below 0 where forbidden.
        capacities: of brokers.
        member_offsets: where the brokers of each cluster begin in ``members``.
        offsets: where the entries of each client begin.
        entry_cluster: which cluster an entry is about; ascending per client.
        entry_slot: which cluster and channel, as an index of ``budgets``.
        budgets: what can be paid at most for each cluster and channel.
    """

    demand: Int64Array
    group: Int32Array
    prices: Int64Array
    capacities: Int64Array
    member_offsets: Int64Array
    members: Int64Array
    offsets: Int64Array
    entry_cluster: Int32Array
    entry_slot: Int32Array
    budgets: Int64Array


@kernel
def best_brokers(dual: Dual, room_prices: Floats, shares: Floats, chosen: Int32Array) -> float:
    """For every client the broker that is cheapest with everything it would pay there; the sum of these costs."""
    num_brokers = len(dual.capacities)
    costs = np.empty(num_brokers, dtype=np.float64)
    total = 0.0
    for client in range(len(dual.demand)):
        row, demand = dual.prices[dual.group[client]], float(dual.demand[client])
        for broker in range(num_brokers):
            costs[broker] = demand * (float(row[broker]) + room_prices[broker]) if row[broker] >= 0 else np.inf
        entry, last = dual.offsets[client], dual.offsets[client + 1]
        while entry < last:
            cluster, share = dual.entry_cluster[entry], 0.0
            while entry < last and dual.entry_cluster[entry] == cluster:
                share += shares[entry]
                entry += 1
            if share > 0.0:
                for position in range(dual.member_offsets[cluster], dual.member_offsets[cluster + 1]):
                    costs[dual.members[position]] += share
        best = np.argmin(costs)
        chosen[client] = best
        total += costs[best]
    return total


@kernel
def ascend(dual: Dual, room_prices: Floats, shares: Floats, target: float, constant: float, num_steps: int) -> float:
    """Steps up the dual function by subgradients, towards ``target``; the best value met, with its multipliers left in
    ``room_prices`` and ``shares``.

    The step is a share of the distance to the target; it is halved after some steps without gain.
    """
    num_brokers, num_slots = len(dual.capacities), len(dual.budgets)
    chosen = np.empty(len(dual.demand), dtype=np.int32)
    loads, paid = np.empty(num_brokers, dtype=np.float64), np.empty(num_slots, dtype=np.float64)
    best_prices, best_shares = room_prices.copy(), shares.copy()
    best, boldness, idle = -np.inf, 1.0, 0
    signs = np.empty(len(shares), dtype=np.int8)
    for _ in range(num_steps):
        value = best_brokers(dual, room_prices, shares, chosen) + constant
        loads[:] = 0.0
        paid[:] = 0.0
        for client in range(len(chosen)):
            loads[chosen[client]] += float(dual.demand[client])
        for entry in range(len(shares)):
            paid[dual.entry_slot[entry]] += shares[entry]
        for broker in range(num_brokers):
            value -= room_prices[broker] * float(dual.capacities[broker])
        for slot in range(num_slots):
            value += min(0.0, float(dual.budgets[slot]) - paid[slot])
        if best == -np.inf or value > best:
            best, idle = value, 0
            best_prices[:] = room_prices
            best_shares[:] = shares
        else:
            idle += 1
            if idle >= 12:
                boldness, idle = boldness / 2, 0
                room_prices[:] = best_prices
                shares[:] = best_shares
                if boldness < 1e-4:
                    break
                continue
        # The subgradient: who is inside a cluster pays more for it, others less where it is paid for in full.
        norm = 0.0
        for client in range(len(chosen)):
            entry, last = dual.offsets[client], dual.offsets[client + 1]
            while entry < last:
                cluster = dual.entry_cluster[entry]
                inside = False
                for position in range(dual.member_offsets[cluster], dual.member_offsets[cluster + 1]):
                    if dual.members[position] == chosen[client]:
                        inside = True
                        break
                while entry < last and dual.entry_cluster[entry] == cluster:
                    slot = dual.entry_slot[entry]
                    full = 1 if paid[slot] > float(dual.budgets[slot]) else 0
                    sign = (1 if inside else 0) - full
                    if shares[entry] <= 0.0 and sign < 0:
                        sign = 0
                    signs[entry] = sign
                    norm += float(sign * sign)
                    entry += 1
        # Loads and shares have different units: prices of room move as if a unit of load were one unit of share.
        for broker in range(num_brokers):
            over = loads[broker] - float(dual.capacities[broker])
            if over > 0.0 or room_prices[broker] > 0.0:
                norm += over * over
        if norm == 0.0:
            break
        step = boldness * max(0.0, target - value) / norm
        for entry in range(len(shares)):
            if signs[entry] != 0:
                shares[entry] = max(0.0, shares[entry] + step * float(signs[entry]))
        for broker in range(num_brokers):
            over = loads[broker] - float(dual.capacities[broker])
            if over > 0.0 or room_prices[broker] > 0.0:
                room_prices[broker] = max(0.0, room_prices[broker] + step * over)
    room_prices[:] = best_prices
    shares[:] = best_shares
    return best


@kernel
def charge_nearest(dual: Dual, room_prices: Floats, slots_left: Floats, shares: Floats) -> None:
    """Let clients pay for the clusters around their cheapest broker, as far as they would still not leave it.

    A client pays for the clusters around its broker, the smallest first: so much in all, for those up to some cluster,
    as the cheapest broker outside that one would cost it more. Shares are filled until a cluster and channel is paid.
    """
    num_brokers = len(dual.capacities)
    costs = np.empty(num_brokers, dtype=np.float64)
    is_member = np.zeros(num_brokers, dtype=np.bool_)
    for client in range(len(dual.demand)):
        first, last = dual.offsets[client], dual.offsets[client + 1]
        if first == last:
            continue
        row, demand = dual.prices[dual.group[client]], float(dual.demand[client])
        for broker in range(num_brokers):
            costs[broker] = demand * (float(row[broker]) + room_prices[broker]) if row[broker] >= 0 else np.inf
        home = np.argmin(costs)
        paid, size = 0.0, 0
        while True:
            # The smallest cluster around the broker that is larger than the last one.
            chosen, chosen_size = -1, num_brokers + 1
            entry = first
            while entry < last:
                cluster = dual.entry_cluster[entry]
                length = dual.member_offsets[cluster + 1] - dual.member_offsets[cluster]
                if size < length < chosen_size:
                    for position in range(dual.member_offsets[cluster], dual.member_offsets[cluster + 1]):
                        if dual.members[position] == home:
                            chosen, chosen_size = entry, length
                            break
                while entry < last and dual.entry_cluster[entry] == cluster:
                    entry += 1
            if chosen < 0:
                break
            size = chosen_size
            cluster = dual.entry_cluster[chosen]
            is_member[:] = False
            for position in range(dual.member_offsets[cluster], dual.member_offsets[cluster + 1]):
                is_member[dual.members[position]] = True
            elsewhere = np.inf
            for broker in range(num_brokers):
                if not is_member[broker]:
                    elsewhere = min(elsewhere, costs[broker])
            room = elsewhere - costs[home] - paid
            entry = chosen
            while entry < last and dual.entry_cluster[entry] == cluster and room > 0.0:
                share = min(room, slots_left[dual.entry_slot[entry]])
                shares[entry] += share
                slots_left[dual.entry_slot[entry]] -= share
                room -= share
                paid += share
                entry += 1
