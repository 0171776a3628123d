"""Clusters of clients that talk much with each other, at brokers that are cheap for them."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.federate.kernels.attaching import UNATTACHED, Field
from pubplan.workload import Int32Array, Int64Array


@kernel
def _ratio(traffic: int, price: int) -> float:
    """Traffic per price: what is free is best, the more traffic the better."""
    return float(traffic) / float(price) if price > 0 else float(traffic) * 1e18


@kernel
def _one_way(field: Field, sender: int, receiver: int) -> int:
    """Messages from one client to another: both lists of channels are ascending."""
    total = 0
    wanted, last_wanted = field.wanted_offsets[receiver], field.wanted_offsets[receiver + 1]
    for entry in range(field.published_offsets[sender], field.published_offsets[sender + 1]):
        while wanted < last_wanted and field.wanted[wanted] < field.published[entry]:
            wanted += 1
        if wanted == last_wanted:
            break
        if field.wanted[wanted] == field.published[entry]:
            total += field.counts[entry]
    return total


@kernel
def _short_list(field: Field, brokers: Int32Array, broker: int, length: int, listed: Int64Array) -> int:
    """Clients that are attached nowhere with the most traffic per price to a broker, the best first; their number."""
    ratios = np.empty(length, dtype=np.float64)
    size = 0
    for client in range(len(brokers)):
        price = field.group_prices[field.group[client], broker]
        if brokers[client] != UNATTACHED or price < 0 or field.demand[client] > field.capacities[broker]:
            continue
        ratio = _ratio(field.demand[client], price)
        if size == length and ratio <= ratios[size - 1]:
            continue
        slot = size if size < length else length - 1
        while slot > 0 and ratios[slot - 1] < ratio:
            ratios[slot], listed[slot] = ratios[slot - 1], listed[slot - 1]
            slot -= 1
        ratios[slot], listed[slot] = ratio, client
        size = min(size + 1, length)
    return size


@kernel
def seed_clusters(field: Field, brokers: Int32Array, loads: Int64Array, length: int) -> None:
    """Give every broker the two clients with the most traffic between them per price to it, if they fit (Alg. 2, first
    loop). Pairs are compared among the ``length`` clients that have the most traffic per price in all.
    """
    listed = np.empty(length, dtype=np.int64)
    for broker in range(len(loads)):
        size = _short_list(field, brokers, broker, length, listed)
        best, first, second = -1.0, -1, -1
        for position in range(size):
            client = listed[position]
            for other_position in range(position + 1, size):
                other = listed[other_position]
                if field.demand[client] > field.capacities[broker] - field.demand[other]:
                    continue
                traffic = _one_way(field, client, other) + _one_way(field, other, client)
                price = field.group_prices[field.group[client], broker] + field.group_prices[field.group[other], broker]
                ratio = _ratio(traffic, price)
                if ratio > best:
                    best, first, second = ratio, client, other
        if first >= 0 and best > 0:
            for client in (first, second):
                brokers[client] = broker
                loads[broker] += field.demand[client]


@kernel
def join_clusters(field: Field, clients: Int64Array, num_channels: int, brokers: Int32Array, loads: Int64Array) -> int:
    """Attach clients in order, each where it has the most traffic with the cluster per price (Alg. 2, second loop; the
    listing says argmin, the text means the maximum). Without any traffic, the cheapest broker. How many found no room.
    """
    num_brokers = len(loads)
    subscribers = np.zeros((num_channels, num_brokers), dtype=np.int64)
    traffic = np.zeros((num_channels, num_brokers), dtype=np.int64)
    for client in range(len(brokers)):
        if brokers[client] != UNATTACHED:
            _count(field, client, brokers[client], subscribers, traffic)
    num_left = 0
    common = np.empty(num_brokers, dtype=np.int64)
    for client in clients:
        if brokers[client] != UNATTACHED:
            continue
        common[:] = 0
        for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
            common += traffic[field.wanted[entry]]
        for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
            common += field.counts[entry] * subscribers[field.published[entry]]
        prices = field.group_prices[field.group[client]]
        best, most = -1, -1.0
        for broker in range(num_brokers):
            if prices[broker] < 0 or field.demand[client] > field.capacities[broker] - loads[broker]:
                continue
            ratio = _ratio(common[broker], prices[broker])
            is_cheaper = ratio == most and prices[broker] < prices[best]
            if best < 0 or ratio > most or is_cheaper:
                best, most = broker, ratio
        brokers[client] = best
        if best < 0:
            num_left += 1
            continue
        loads[best] += field.demand[client]
        _count(field, client, best, subscribers, traffic)
    return num_left


@kernel
def _count(field: Field, client: int, broker: int, subscribers: Int64Array, traffic: Int64Array) -> None:
    for entry in range(field.wanted_offsets[client], field.wanted_offsets[client + 1]):
        subscribers[field.wanted[entry], broker] += 1
    for entry in range(field.published_offsets[client], field.published_offsets[client + 1]):
        traffic[field.published[entry], broker] += field.counts[entry]
