"""Trees that span the clients of a channel and brokers, with clients as leaves."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.trees import INFINITE
from pubplan.workload import Int32Array, Int64Array


@kernel
def span_channel(prices: Int64Array, group_prices: Int64Array, groups: Int32Array, entries: Int32Array) -> None:
    """Grow a tree over groups of clients and brokers, the nearest group first (Alg. 3); fills ``entries`` with the
    broker that each group enters the tree by.

    The way from a group to the tree leads to a broker and from there, if need be, over one link: brokers are a metric.
    The tree begins with the first group at its cheapest broker. Clients of one group have the same ways, so one
    stands for all. Groups that enter by a broker of the tree change nothing for others, so only those are looked for
    that bring a new broker; all that are nearer are in by then.

    Args:
        groups: those that have clients in the channel.
    """
    num_brokers, number = len(prices), len(groups)
    to_tree = np.full(num_brokers, INFINITE, dtype=np.int64)  # from every broker
    length = np.full(number, INFINITE, dtype=np.int64)
    is_in = np.zeros(number, dtype=np.bool_)
    changed = np.empty(num_brokers, dtype=np.int32)
    current = 0
    least = INFINITE
    for broker in range(num_brokers):
        price = group_prices[groups[0], broker]
        if 0 <= price < least:
            least, entries[0] = price, broker
    while current >= 0:
        # 1. A broker joins: others may be nearer to the tree now.
        is_in[current] = True
        joined = entries[current]
        num_changed = 0
        for broker in range(num_brokers):
            if prices[joined, broker] < to_tree[broker]:
                to_tree[broker] = prices[joined, broker]
                changed[num_changed] = broker
                num_changed += 1
        # 2. So may the groups, by way of those.
        for position in range(number):
            if is_in[position]:
                continue
            row = group_prices[groups[position]]
            for entry in range(num_changed):
                broker = changed[entry]
                way = row[broker] + to_tree[broker]
                is_shorter = way < length[position] or (way == length[position] and broker < entries[position])
                if row[broker] >= 0 and is_shorter:
                    length[position], entries[position] = way, broker
        # 3. The nearest group that brings another broker is next; those before it are in.
        current = -1
        for position in range(number):
            is_new = not is_in[position] and to_tree[entries[position]] > 0
            if is_new and (current < 0 or length[position] < length[current]):
                current = position
        for position in range(number):
            if current >= 0 and length[position] <= length[current] and to_tree[entries[position]] == 0:
                is_in[position] = True
