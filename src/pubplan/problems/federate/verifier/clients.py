"""Recomputes, block by block, what clients send and receive, where they are attached, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import block_range, exact_dot, map_blocks
from pubplan.errors import Violation
from pubplan.planning import Plan
from pubplan.problems.federate.plan import ATTACHMENTS, ATTACHMENTS_SCHEMA
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.verifier.content import Cut, Prices, read_rows
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Traffic:
    """Who wants and sends what where.

    Attributes:
        wanting: by channel, clients that want it.
        messages: by channel, messages that somebody other than their publisher wants.
        subscribers: by channel (row) and broker.
        sent: by channel and broker, messages that clients publish there.
        clients: by broker.
        loads: by broker, messages to and from its clients.
        access: prices times messages between clients and brokers.
        violations: attachments that cannot be.
    """

    wanting: Int64Array
    messages: Int64Array
    subscribers: Int64Array
    sent: Int64Array
    clients: Int64Array
    loads: Int64Array
    access: int
    violations: list[Violation]


def read_attachments(problem: Problem, plan: Plan, num_brokers: int) -> tuple[list[Int64Array], list[Violation]]:
    """The broker of every client, by block; and what is wrong with the table."""
    brokers, unlisted, homeless = [], 0, 0
    for block in range(problem.workload.num_blocks):
        table = plan.decisions_block(ATTACHMENTS, block, ATTACHMENTS_SCHEMA)
        first, last = block_range(block, problem.workload.counts.clients)
        expected = np.arange(first, last)
        listed = table["client"].to_numpy()
        if not np.array_equal(listed, expected):
            unlisted += max(1, len(np.setxor1d(listed, expected)))
        some = table["broker"].to_numpy().astype(np.int64)
        homeless += int(np.count_nonzero((some < 0) | (some >= num_brokers)))
        brokers.append(some)
    counts = {
        "clients missing, listed twice or out of order": unlisted,
        "clients at a broker that does not exist": homeless,
    }
    return brokers, [Violation(fault, ATTACHMENTS, cases=cases) for fault, cases in counts.items() if cases]


def scan_clients(
    problem: Problem, cut: Cut, prices: Prices, attached: list[Int64Array], spark: SparkSession | None
) -> Traffic:
    """Look at all clients three times: who wants what, what is sent for others, what each sends and receives."""
    number, num_blocks = cut.number, problem.workload.num_blocks
    wanting = _sum_over(lambda block: _count_wanting(problem, cut, block), num_blocks, spark, (number,))
    shape = (2, number, prices.num_brokers)

    def count_sent(block: int) -> Int64Array:
        totals = np.zeros(shape, dtype=np.int64)
        for rows in read_rows(problem, cut, block):
            brokers = _brokers_of(attached, rows.first, len(rows.sites))
            np.add.at(totals[0].T, brokers, rows.wants)
            np.add.at(totals[1].T, brokers, kept(rows.wants, rows.published, wanting))
        return totals

    subscribers, sent = _sum_over(count_sent, num_blocks, spark, shape)
    messages = sent.sum(axis=1)

    def add_access(block: int) -> tuple[Int64Array, int, int]:
        loads, cost, forbidden = np.zeros(prices.num_brokers, dtype=np.int64), 0, 0
        for rows in read_rows(problem, cut, block):
            brokers = _brokers_of(attached, rows.first, len(rows.sites))
            demand = demand_of(rows.wants, rows.published, wanting, messages)
            np.add.at(loads, brokers, demand)
            cost += exact_dot(demand, prices.sites[rows.sites, brokers])
            if rows.allowed is not None:
                forbidden += sum(
                    broker not in some for broker, some in zip(brokers.tolist(), rows.allowed, strict=True)
                )
        return loads, cost, forbidden

    loads, access, forbidden = np.zeros(prices.num_brokers, dtype=np.int64), 0, 0
    for some_loads, cost, cases in map_blocks(add_access, num_blocks, spark):
        loads, access, forbidden = loads + some_loads, access + cost, forbidden + cases
    violations = []
    if forbidden:
        violations.append(Violation("clients at a broker that they may not use", ATTACHMENTS, cases=forbidden))
    over = np.flatnonzero((prices.capacities > 0) & (loads > prices.capacities))
    if len(over):
        violations.append(Violation("brokers with more traffic than their capacity", ATTACHMENTS, cases=len(over)))
    clients = np.bincount(np.concatenate([np.empty(0, np.int64), *attached]), minlength=prices.num_brokers)
    return Traffic(wanting, messages, subscribers, sent, clients.astype(np.int64), loads, access, violations)


def kept(wants: np.ndarray, published: Int64Array, wanting: Int64Array) -> Int64Array:
    """Of what clients publish, the messages that somebody else wants."""
    return np.where(wanting - wants > 0, published, 0)


def demand_of(wants: np.ndarray, published: Int64Array, wanting: Int64Array, messages: Int64Array) -> Int64Array:
    """What each client sends for others, and receives of what others send."""
    sent = kept(wants, published, wanting)
    received = np.where(wants, messages - sent, 0)
    demand: Int64Array = (sent + received).sum(axis=1)
    return demand


def _count_wanting(problem: Problem, cut: Cut, block: int) -> Int64Array:
    total = np.zeros(cut.number, dtype=np.int64)
    for rows in read_rows(problem, cut, block):
        total += rows.wants.sum(axis=0)
    return total


def _sum_over(function, num_blocks: int, spark: SparkSession | None, shape: tuple[int, ...]) -> Int64Array:  # type: ignore[no-untyped-def]
    total = np.zeros(shape, dtype=np.int64)
    for some in map_blocks(function, num_blocks, spark):
        total += some
    return total


def _brokers_of(attached: list[Int64Array], first: int, number: int) -> Int64Array:
    block, row = divmod(first, 1 << 16)
    return attached[block][row : row + number]
