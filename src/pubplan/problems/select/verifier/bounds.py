"""Re-evaluates the bounds of a plan from their certificates, with NumPy alone.

Every bound scans each block of subscribers once and finishes with what the scans gave. The bounds are duals: any
evidence gives a valid bound, so all there is to check is that the stored one is not below what its evidence gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pubplan.engine import MAX_INT64, exact_dot, exact_sum
from pubplan.errors import InputError, Violation
from pubplan.planning import Plan
from pubplan.problems.select.plan import MULTIPLIERS, MULTIPLIERS_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.verifier.search import SearchCheck
from pubplan.workload import Int32Array, Int64Array

FloatArray = npt.NDArray[np.float64]
Curve = Callable[[Int64Array], FloatArray]

FIXED_POINT_ONE = 2**32
MULTIPLIER_SCALE = 2**20
_MAX_ENUMERATED_TOPICS = 8
_TO_MULTIPLIER_SCALE = 12
"""Bits from units of 2^-32 to units of 2^-20."""


@dataclass(frozen=True)
class BlockRows:
    """One block of subscribers: topics as CSR, the events of each interest, what satisfies each row, its weight."""

    block: int
    offsets: Int64Array
    topics: Int32Array
    events: Int64Array
    needed: Int64Array
    weights: Int64Array


class BoundCheck(Protocol):
    """The check of one bound of a plan."""

    def scan_block(self, rows: BlockRows) -> Any:
        """What the bound needs to know of a block."""

    def finish(self, scans: list[Any]) -> tuple[list[Violation], Curve]:
        """What is wrong after all blocks were scanned, and the bound for other capacities."""


def bound_checks(
    problem: Problem, plan: Plan, costs: Int64Array, capacity: int
) -> tuple[list[BoundCheck], list[Violation]]:
    """The checks of all bounds whose evidence can be read, and what is wrong with the others."""
    checks: list[BoundCheck] = []
    violations: list[Violation] = []
    makers: dict[str, Callable[[], BoundCheck | Violation]] = {
        "paper": lambda: _paper_check(problem, plan, capacity),
        "lagrangian": lambda: _lagrangian_check(problem, plan, costs, capacity),
        "search": lambda: SearchCheck(problem, plan, costs, capacity),
    }
    for name in plan.record["bounds"]:
        check = makers[name]()
        if isinstance(check, Violation):
            violations.append(check)
        else:
            checks.append(check)
    return checks, violations


def _below(problem: Problem, plan: Plan, name: str, needed: int) -> list[Violation]:
    """Whether the stored bound is below what its certificate gives, in units of the objective."""
    stored = plan.certificate(name).bound
    needed = min(needed, problem.total_weight * problem.scale)
    if stored.scale == problem.scale and stored.value >= needed:
        return []
    return [
        Violation(
            "bound below what its certificate proves",
            f"certificate/{name}.json",
            stated=f"{stored.value:,} / {stored.scale:,}",
            expected=f"at least {needed:,} / {problem.scale:,}",
        )
    ]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_INT64


@dataclass(frozen=True)
class _PaperScan:
    needs: Int64Array
    weights: Int64Array
    excess: int


@dataclass(frozen=True)
class _PaperCheck:
    """The dual of the knapsack over subscribers at the price of the cut item:

    sum over v of max(0, w_v - price * c_v) + price * capacity, with price = cut_weight / cut_need.
    """

    problem: Problem
    plan: Plan
    capacity: int
    cut_need: int | None
    cut_weight: int | None

    def scan_block(self, rows: BlockRows) -> _PaperScan:
        deliveries = np.maximum(rows.needed, _smallest_positive(rows.events, rows.offsets))
        needed = np.maximum(rows.needed, 1)
        excess = np.where(rows.needed > 0, -(-FIXED_POINT_ONE // needed) * needed - FIXED_POINT_ONE, 0)
        return _PaperScan(np.where(rows.needed > 0, deliveries, 0), rows.weights, exact_dot(excess, rows.weights))

    def finish(self, scans: list[_PaperScan]) -> tuple[list[Violation], Curve]:
        problem = self.problem
        needs = np.concatenate([np.empty(0, np.int64), *(scan.needs for scan in scans)])
        weights = np.concatenate([np.empty(0, np.int64), *(scan.weights for scan in scans)])
        excess = sum(scan.excess for scan in scans) if problem.objective == "fb3m" else 0

        def curve(capacities: Int64Array) -> FloatArray:
            return _filled(weights, needs, capacities) + excess / FIXED_POINT_ONE

        if self.cut_need is None or self.cut_weight is None:
            return _below(problem, self.plan, "paper", problem.total_weight * problem.scale), curve
        dual = Fraction(self.cut_weight * self.capacity, self.cut_need)
        for weight in np.unique(weights):
            limit = -(-int(weight) * self.cut_need // self.cut_weight)  # pays when it needs less
            paying = needs[(weights == weight) & (needs < min(limit, MAX_INT64))]
            dual += len(paying) * int(weight) - Fraction(self.cut_weight * exact_sum(paying), self.cut_need)
        needed = floor(dual) if problem.objective == "b3m" else ceil(dual * FIXED_POINT_ONE) + excess
        return _below(problem, self.plan, "paper", needed), curve


def _paper_check(problem: Problem, plan: Plan, capacity: int) -> BoundCheck | Violation:
    evidence = plan.certificate("paper").evidence
    cut = (evidence.get("cut_need"), evidence.get("cut_weight"))
    if problem.cost is not None:
        return Violation("bound that does not hold for costs of a column", "certificate/paper.json")
    if cut != (None, None) and not all(map(_is_count, cut)):
        return Violation("cut item that is not positive", "certificate/paper.json", stated=str(cut))
    return _PaperCheck(problem, plan, capacity, *cut)


@dataclass(frozen=True)
class _LagrangianScan:
    worth: int
    topics: Int32Array
    paid: Int64Array
    is_sound: bool


@dataclass(frozen=True)
class _LagrangianCheck:
    """What subscribers are worth when they pay their multipliers, and a knapsack of what topics are paid."""

    problem: Problem
    plan: Plan
    costs: Int64Array
    capacity: int
    price: float

    def scan_block(self, rows: BlockRows) -> _LagrangianScan:
        table = self.plan.certificate_block("lagrangian", MULTIPLIERS, rows.block, MULTIPLIERS_SCHEMA)
        if table.num_rows != len(rows.topics):
            raise InputError(f"{self.plan.path}: the multipliers of block {rows.block} are not one per interest.")
        multipliers = table["multiplier"].to_numpy().astype(np.int64)
        if multipliers.min(initial=0) < 0:
            return _LagrangianScan(0, np.empty(0, np.int32), np.empty(0, np.int64), False)
        worths = _worths(rows, multipliers, is_whole=self.problem.objective == "b3m")
        lengths = np.diff(rows.offsets)
        topics, inverse = np.unique(rows.topics, return_inverse=True)
        paid = np.zeros(len(topics), dtype=np.int64)
        np.add.at(paid, inverse, multipliers * np.repeat(rows.weights, lengths))
        return _LagrangianScan(exact_dot(worths, rows.weights), topics, paid, True)

    def finish(self, scans: list[_LagrangianScan]) -> tuple[list[Violation], Curve]:
        problem, costs = self.problem, self.costs
        paid = np.zeros(len(costs), dtype=np.int64)
        for scan in scans:
            paid[scan.topics] += scan.paid
        worth = sum(scan.worth for scan in scans) + exact_sum(paid[problem.first_choices])
        left = self.capacity - exact_sum(costs[problem.first_choices])
        may = problem.is_open & (costs <= left)

        def curve(capacities: Int64Array) -> FloatArray:
            rest = np.maximum(0, capacities - exact_sum(costs[problem.first_choices]))
            return (worth + _filled(paid[may], costs[may], rest)) / MULTIPLIER_SCALE

        if not all(scan.is_sound for scan in scans):
            where = "certificate/lagrangian-multipliers"
            return [Violation("negative multipliers", where)], curve
        # A topic is charged for its cost at the price; rounded down, so that the bound never comes out too low:
        # three roundings of 2^-53 are less than 2^-50.
        charges = np.floor(costs[may].astype(np.float64) * self.price * (1 - 2.0**-50))
        reduced_costs = paid[may] - np.minimum(charges, paid[may]).astype(np.int64)
        value = worth + exact_sum(reduced_costs) + ceil(Fraction(self.price) * left)
        is_whole = problem.objective == "b3m"
        needed = value // MULTIPLIER_SCALE if is_whole else value * (FIXED_POINT_ONE // MULTIPLIER_SCALE)
        return _below(problem, self.plan, "lagrangian", needed), curve


def _lagrangian_check(problem: Problem, plan: Plan, costs: Int64Array, capacity: int) -> BoundCheck | Violation:
    price = plan.certificate("lagrangian").evidence.get("price")
    if not isinstance(price, float) or not isfinite(price) or price < 0:
        fault = "price per cost that is not a number from 0 on"
        return Violation(fault, "certificate/lagrangian.json", stated=str(price))
    return _LagrangianCheck(problem, plan, costs, capacity, price)


def _worths(rows: BlockRows, multipliers: Int64Array, *, is_whole: bool) -> Int64Array:
    """The most that each row is worth after payment, in units of 2^-20.

    Rows of up to 8 topics, all rows of one length at a time: column s of ``received`` and ``paid`` is the set of topics
    whose bits s has. Each topic doubles the columns: the sets without it, then the same sets with it.
    """
    lengths = np.diff(rows.offsets)
    worths = np.zeros(len(lengths), dtype=np.int64)
    for length in range(_MAX_ENUMERATED_TOPICS + 1):
        picked = np.flatnonzero(lengths == length)
        entries = rows.offsets[picked][:, None] + np.arange(length)
        needed = rows.needed[picked][:, None]
        received = np.zeros((len(picked), 1), dtype=np.int64)
        paid = np.zeros((len(picked), 1), dtype=np.int64)
        for position in range(length):
            # Events are cut to the largest threshold: no sum of 8 leaves 64 bits.
            events = np.minimum(rows.events[entries[:, [position]]], 2**31 - 1)
            received = np.hstack([received, received + events])
            paid = np.hstack([paid, paid + multipliers[entries[:, [position]]]])
        partial = 0 if is_whole else _part(np.minimum(received, needed), needed)
        reached = np.where(received >= needed, MULTIPLIER_SCALE, partial)
        worths[picked] = np.maximum(0, (reached - paid).max(axis=1))
    long = np.flatnonzero(lengths > _MAX_ENUMERATED_TOPICS)
    if len(long):
        worths[long] = _long_worths(rows, multipliers, long)
    return np.where(rows.needed > 0, worths, MULTIPLIER_SCALE)


def _part(received: Int64Array, needed: Int64Array) -> Int64Array:
    """The part of a subscriber that these events satisfy, in units of 2^-20, rounded up."""
    return _coarser(-(-FIXED_POINT_ONE // np.maximum(needed, 1)) * received)


def _coarser(amounts: Int64Array) -> Int64Array:
    """From units of 2^-32 to units of 2^-20, rounded up."""
    return np.asarray((amounts + 2**_TO_MULTIPLIER_SCALE - 1) >> _TO_MULTIPLIER_SCALE)


def _long_worths(rows: BlockRows, multipliers: Int64Array, picked: Int64Array) -> Int64Array:
    """The worth of rows with many topics, which may be served in part: cheapest events first until a row is full.

    1. All interests of these rows, by row and then by what an event costs.
    2. What a row has received, in units of 2^-32, before each of its topics: running sums minus those of earlier rows.
    3. Topics that cost less than they bring are taken whole, as long as the row is not full with them.
    4. The topic that fills the row, if there is one, is taken and paid in part.

    A unit is added for what the float order of nearly equal prices can cost.
    """
    lengths = np.diff(rows.offsets)[picked]
    row = np.repeat(np.arange(len(picked)), lengths)
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    entries = np.arange(lengths.sum()) - first[row] + rows.offsets[picked][row]
    needed = np.maximum(rows.needed[picked], 1)
    slope = -(-FIXED_POINT_ONE // needed)
    events = np.minimum(rows.events[entries], needed[row])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(events > 0, multipliers[entries] / events, np.inf)
    order = np.lexsort((ratios, row))  # 1
    row, paid = row[order], multipliers[entries][order]
    brings = (slope[row] * events[order]).astype(np.int64)
    pays = ratios[order] * FIXED_POINT_ONE < (slope * MULTIPLIER_SCALE).astype(np.float64)[row]
    running = np.cumsum(brings) - brings  # 2
    before = running - running[first][row]
    whole = pays & (before + brings < FIXED_POINT_ONE)  # 3
    split = np.flatnonzero(pays & (before < FIXED_POINT_ONE) & (before + brings >= FIXED_POINT_ONE))
    filled, spent = np.zeros(len(picked), np.int64), np.zeros(len(picked), np.int64)
    np.add.at(filled, row[whole], brings[whole])
    np.add.at(spent, row[whole], paid[whole])
    worths = _coarser(filled) + 1 - spent
    at = row[split]  # 4
    worths[at] = MULTIPLIER_SCALE + 1 - spent[at] - paid[split] * (FIXED_POINT_ONE - filled[at]) // brings[split]
    return np.asarray(np.maximum(0, worths))


def _smallest_positive(values: Int64Array, offsets: Int64Array) -> Int64Array:
    """The smallest positive value per row, 0 where there is none."""
    positive = np.where(values > 0, values, MAX_INT64)
    smallest = np.zeros(len(offsets) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        smallest[filled] = np.minimum.reduceat(positive, offsets[filled])
    return np.asarray(np.where(smallest == MAX_INT64, 0, smallest))


def _filled(values: Int64Array, sizes: Int64Array, capacities: Int64Array) -> FloatArray:
    """A fractional knapsack of these items, for every capacity."""
    counts = values > 0
    values, sizes = values[counts], sizes[counts]
    with np.errstate(divide="ignore"):
        order = np.argsort(sizes / values, kind="stable")
    size = np.concatenate([[0.0], np.cumsum(sizes[order], dtype=np.float64)])
    value = np.concatenate([[0.0], np.cumsum(values[order], dtype=np.float64)])
    last = np.append(size[1:] > size[:-1], True)
    return np.asarray(np.interp(capacities, size[last], value[last]))
