"""Recomputes, block by block, whether every client is served as promised, and what leaves serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, map_blocks
from pubplan.errors import InputError, Violation
from pubplan.planning import Plan
from pubplan.problems.assign.plan import ASSIGNMENTS, ASSIGNMENTS_SCHEMA
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.verifier.boxes import BoolArray, is_inside
from pubplan.problems.assign.verifier.tree import Limits, Tree
from pubplan.workload import Int64Array, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Filters:
    """The boxes of every broker, as a row per broker of a row per box; unused boxes are empty."""

    lows: Int64Array
    highs: Int64Array


@dataclass(frozen=True)
class Rectangles:
    """Distinct rectangles, and what the clients weigh that want each."""

    lows: Int64Array
    highs: Int64Array
    weights: Int64Array


@dataclass(frozen=True)
class Witness:
    """A client that is asked for by number: its rectangle, and the leaves that may serve it."""

    low: Int64Array
    high: Int64Array
    leaves: Int64Array


@dataclass(frozen=True)
class Scan:
    """What all clients of one block, or of all, amount to.

    Attributes:
        unlisted: clients that are missing, listed twice or out of order.
        homeless: clients on a broker that does not exist or is not a leaf.
        uncovered: clients whose rectangle is not inside the filter of their leaf.
        late: clients on a leaf that may not serve them.
        weight: what all clients weigh together.
        loads: what the clients of every broker weigh together.
        witnesses: the clients that were asked for, by number.
    """

    unlisted: int
    homeless: int
    uncovered: int
    late: int
    weight: int
    loads: Int64Array
    rectangles: Rectangles
    witnesses: dict[int, Witness]


def scan_clients(
    problem: Problem,
    plan: Plan,
    tree: Tree,
    limits: Limits,
    filters: Filters,
    wanted: Int64Array,
    spark: SparkSession | None,
) -> Scan:
    """Look at every client once.

    Args:
        wanted: clients that are witnesses of a bound, ascending.
    """
    workload = problem.workload
    num_clients, steps = workload.counts.clients, [attribute.steps for attribute in workload.space.attributes]
    corners = [f"{side}_{axis}" for side in ("low", "high") for axis in range(len(steps))]
    present = workload.column_names("clients")
    has_weight = "weight" in present
    names = [name for name in ("limit", "allowed", "weight") if name in present]

    def scan(block: int) -> Scan:
        table = workload.block("clients", block, "site", *corners, *names)
        first, last = block_range(block, num_clients)
        if table.num_rows != last - first:
            raise InputError(f"Block {block} of {workload.path}/clients lacks clients.")
        lows, highs = (_matrix(table, names) for names in (corners[: len(steps)], corners[len(steps) :]))
        weights = table["weight"].to_numpy() if has_weight else np.ones(last - first, dtype=np.int64)
        rectangles, rectangle_of = _distinct(lows, highs, weights, steps)
        asked = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, last)] - first
        leaves_of = _leaves_of(table, tree, limits, asked)
        witnesses = {
            int(row) + first: Witness(lows[row], highs[row], some) for row, some in zip(asked, leaves_of, strict=True)
        }
        decided = plan.decisions_block(ASSIGNMENTS, block, ASSIGNMENTS_SCHEMA)
        clients, brokers = decided["client"].to_numpy(), decided["broker"].to_numpy().astype(np.int64)
        loads: Int64Array = np.zeros(tree.num_brokers, dtype=np.int64)
        weight = int(weights.sum())
        if not np.array_equal(clients, np.arange(first, last)):
            unlisted = max(1, len(np.setxor1d(clients, np.arange(first, last))))
            return Scan(unlisted, 0, 0, 0, weight, loads, rectangles, witnesses)
        exists = (brokers >= 0) & (brokers < tree.num_brokers)
        exists[exists] = tree.is_leaf[brokers[exists]]
        housed, leaves = np.flatnonzero(exists), brokers[exists]
        np.add.at(loads, leaves, weights[housed])
        # Many clients want the same of the same leaf: look at each such pair once.
        pairs, pair_of = np.unique(rectangle_of[housed] * tree.num_brokers + leaves, return_inverse=True)
        rectangle, leaf = np.divmod(pairs, tree.num_brokers)
        covered = is_inside(
            rectangles.lows[rectangle], rectangles.highs[rectangle], filters.lows[leaf], filters.highs[leaf]
        )
        return Scan(
            unlisted=0,
            homeless=int(np.count_nonzero(~exists)),
            uncovered=int(np.count_nonzero(~covered[pair_of])),
            late=int(np.count_nonzero(~_is_served_in_time(table, tree, limits, housed, leaves))),
            weight=weight,
            loads=loads,
            rectangles=rectangles,
            witnesses=witnesses,
        )

    return _together(list(map_blocks(scan, workload.num_blocks, spark)), tree.num_brokers, steps)


def faults_of(scan: Scan) -> list[Violation]:
    """What is wrong with the assignment of clients, apart from limits that some methods may break."""
    counts = {
        "clients missing, listed twice or out of order": scan.unlisted,
        "clients on a broker that does not exist or is not a leaf": scan.homeless,
        "clients whose subscription is not inside the filter of their leaf": scan.uncovered,
    }
    return [Violation(fault, ASSIGNMENTS, cases=cases) for fault, cases in counts.items() if cases]


def _matrix(table: pa.Table, names: list[str]) -> Int64Array:
    return np.column_stack([table[name].to_numpy().astype(np.int64) for name in names])


def _distinct(
    lows: Int64Array, highs: Int64Array, weights: Int64Array, steps: list[int]
) -> tuple[Rectangles, Int64Array]:
    """The distinct rectangles in the order of their corners, and which of them each row is."""
    number_of: Int64Array = np.zeros(len(lows), dtype=np.int64)
    for column, extent in zip((*lows.T, *highs.T), (*steps, *steps), strict=True):
        # Numbered so far below 2^31, corners below 2^31: the key fits 64 bits.
        _, number_of = np.unique(number_of * (extent + 1) + column, return_inverse=True)
        number_of = number_of.reshape(-1)
    _, firsts = np.unique(number_of, return_index=True)
    total: Int64Array = np.zeros(len(firsts), dtype=np.int64)
    np.add.at(total, number_of, weights)
    return Rectangles(lows[firsts], highs[firsts], total), number_of


def _limits_of(table: pa.Table, limits: Limits, rows: Int64Array) -> Int64Array:
    if limits.by_site is None:
        of_clients: Int64Array = table["limit"].to_numpy()[rows]
        return of_clients
    by_site: Int64Array = limits.by_site[table["site"].to_numpy()[rows]]
    return by_site


def _is_served_in_time(table: pa.Table, tree: Tree, limits: Limits, rows: Int64Array, leaves: Int64Array) -> BoolArray:
    """Whether each of these clients may be served by its leaf."""
    sites = table["site"].to_numpy()[rows]
    in_time = (limits.latencies[sites, leaves] <= _limits_of(table, limits, rows)) & (tree.shares[leaves] > 0)
    if limits.has_list:
        offsets, allowed = list_column(table, "allowed")
        leaf_of: Int64Array = np.full(table.num_rows, -1, dtype=np.int64)
        leaf_of[rows] = leaves
        client_of = np.repeat(np.arange(table.num_rows), np.diff(offsets))
        is_listed = np.zeros(table.num_rows, dtype=bool)
        is_listed[client_of[allowed == leaf_of[client_of]]] = True
        in_time &= is_listed[rows]
    return np.asarray(in_time)


def _leaves_of(table: pa.Table, tree: Tree, limits: Limits, rows: Int64Array) -> list[Int64Array]:
    """The leaves that may serve each of these clients."""
    if not len(rows):
        return []
    sites, accepted = table["site"].to_numpy()[rows], _limits_of(table, limits, rows)
    offsets, allowed = list_column(table, "allowed") if limits.has_list else (None, None)
    leaves_of = []
    for row, site, limit in zip(rows, sites, accepted, strict=True):
        may_serve = (limits.latencies[site] <= limit) & tree.is_leaf & (tree.shares > 0)
        leaves = np.flatnonzero(may_serve)
        if offsets is not None and allowed is not None:
            leaves = np.intersect1d(leaves, allowed[offsets[row] : offsets[row + 1]])
        leaves_of.append(leaves)
    return leaves_of


def _together(scans: list[Scan], num_brokers: int, steps: list[int]) -> Scan:
    """The blocks' scans as one."""
    none = np.empty((0, len(steps)), dtype=np.int64)
    lows = np.concatenate([none, *(scan.rectangles.lows for scan in scans)])
    highs = np.concatenate([none, *(scan.rectangles.highs for scan in scans)])
    weights = np.concatenate([np.empty(0, np.int64), *(scan.rectangles.weights for scan in scans)])
    witnesses: dict[int, Witness] = {}
    for scan in scans:
        witnesses |= scan.witnesses
    return Scan(
        unlisted=sum(scan.unlisted for scan in scans),
        homeless=sum(scan.homeless for scan in scans),
        uncovered=sum(scan.uncovered for scan in scans),
        late=sum(scan.late for scan in scans),
        weight=sum(scan.weight for scan in scans),
        loads=sum((scan.loads for scan in scans), np.zeros(num_brokers, dtype=np.int64)),
        rectangles=_distinct(lows, highs, weights, steps)[0],
        witnesses=witnesses,
    )
