"""Re-evaluates the bounds of a plan from their certificates, with NumPy alone.

Every bound is looked at once per block of subscribers and concluded from what was seen. The bounds are duals: any
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
from pubplan.errors import InputError, Reason
from pubplan.planning import Plan
from pubplan.problems.select.plan import MULTIPLIERS, MULTIPLIERS_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.verify_search import SearchCheck
from pubplan.workload import Int32Array, Int64Array

FloatArray = npt.NDArray[np.float64]
Curve = Callable[[Int64Array], FloatArray]

_ONE = 2**32
_UNIT = 2**20
_SHORT = 8


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
    """One bound of a plan, on its way to a conclusion."""

    def look(self, rows: BlockRows) -> Any:
        """What the bound needs to know of a block."""

    def conclude(self, seen: list[Any]) -> tuple[list[Reason], Curve]:
        """What is wrong, and the bound for other capacities."""


def bound_checks(
    problem: Problem, plan: Plan, rates: Int64Array, costs: Int64Array
) -> tuple[list[BoundCheck], list[Reason]]:
    """The checks of all bounds whose evidence can be read, and what is wrong with the others."""
    checks: list[BoundCheck] = []
    trouble: list[Reason] = []
    makers: dict[str, Callable[[], BoundCheck | Reason]] = {
        "paper": lambda: _paper_check(problem, plan),
        "lagrangian": lambda: _lagrangian_check(problem, plan, costs),
        "search": lambda: SearchCheck(problem, plan, costs),
    }
    for name in plan.record["bounds"]:
        made = makers[name]()
        if isinstance(made, Reason):
            trouble.append(made)
        else:
            checks.append(made)
    return checks, trouble


def _below(problem: Problem, plan: Plan, name: str, needed: int) -> list[Reason]:
    """Whether the stored bound is below what its certificate gives, in units of the objective."""
    stored = plan.certificate(name).bound
    needed = min(needed, problem.total_weight * problem.scale)
    if stored.scale == problem.scale and stored.value >= needed:
        return []
    return [Reason("bound follows from its certificate", needed, stored.value, f"certificate/{name}.json")]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_INT64


@dataclass(frozen=True)
class _SeenByPaper:
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
    cut_need: int | None
    cut_weight: int | None

    def look(self, rows: BlockRows) -> _SeenByPaper:
        least = np.maximum(rows.needed, _smallest_positive(rows.events, rows.offsets))
        needed = np.maximum(rows.needed, 1)
        excess = np.where(rows.needed > 0, -(-_ONE // needed) * needed - _ONE, 0)
        return _SeenByPaper(np.where(rows.needed > 0, least, 0), rows.weights, exact_dot(excess, rows.weights))

    def conclude(self, seen: list[_SeenByPaper]) -> tuple[list[Reason], Curve]:
        problem = self.problem
        needs = np.concatenate([np.empty(0, np.int64), *(part.needs for part in seen)])
        weights = np.concatenate([np.empty(0, np.int64), *(part.weights for part in seen)])
        excess = sum(part.excess for part in seen) if problem.objective == "fb3m" else 0

        def curve(capacities: Int64Array) -> FloatArray:
            return _filled(weights, needs, capacities) + excess / _ONE

        if self.cut_need is None or self.cut_weight is None:
            return _below(problem, self.plan, "paper", problem.total_weight * problem.scale), curve
        dual = Fraction(self.cut_weight * problem.capacity_cost, self.cut_need)
        for weight in np.unique(weights):
            limit = -(-int(weight) * self.cut_need // self.cut_weight)  # pays when it needs less
            paying = needs[(weights == weight) & (needs < min(limit, MAX_INT64))]
            dual += len(paying) * int(weight) - Fraction(self.cut_weight * exact_sum(paying), self.cut_need)
        needed = floor(dual) if problem.objective == "b3m" else ceil(dual * _ONE) + excess
        return _below(problem, self.plan, "paper", needed), curve


def _paper_check(problem: Problem, plan: Plan) -> BoundCheck | Reason:
    evidence = plan.certificate("paper").evidence
    cut = (evidence.get("cut_need"), evidence.get("cut_weight"))
    if problem.cost is not None:
        return Reason("costs are rate x subscribers", "no column", problem.cost, "certificate/paper.json")
    if cut != (None, None) and not all(map(_is_count, cut)):
        return Reason("cut item is positive", "1 or more", str(cut), "certificate/paper.json")
    return _PaperCheck(problem, plan, *cut)


@dataclass(frozen=True)
class _SeenByLagrangian:
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
    price: float

    def look(self, rows: BlockRows) -> _SeenByLagrangian:
        table = self.plan.certificate_block("lagrangian", MULTIPLIERS, rows.block, MULTIPLIERS_SCHEMA)
        if table.num_rows != len(rows.topics):
            raise InputError(f"{self.plan.path}: the multipliers of block {rows.block} are not one per interest.")
        multipliers = table["multiplier"].to_numpy().astype(np.int64)
        if multipliers.min(initial=0) < 0:
            return _SeenByLagrangian(0, np.empty(0, np.int32), np.empty(0, np.int64), False)
        worths = _worths(rows, multipliers, is_whole=self.problem.objective == "b3m")
        lengths = np.diff(rows.offsets)
        topics, places = np.unique(rows.topics, return_inverse=True)
        paid = np.zeros(len(topics), dtype=np.int64)
        np.add.at(paid, places, multipliers * np.repeat(rows.weights, lengths))
        return _SeenByLagrangian(exact_dot(worths, rows.weights), topics, paid, True)

    def conclude(self, seen: list[_SeenByLagrangian]) -> tuple[list[Reason], Curve]:
        problem, costs = self.problem, self.costs
        paid = np.zeros(len(costs), dtype=np.int64)
        for part in seen:
            paid[part.topics] += part.paid
        worth = sum(part.worth for part in seen) + exact_sum(paid[problem.first_choices])
        left = problem.capacity_cost - exact_sum(costs[problem.first_choices])
        may = problem.is_open & (costs <= left)

        def curve(capacities: Int64Array) -> FloatArray:
            rest = np.maximum(0, capacities - exact_sum(costs[problem.first_choices]))
            return (worth + _filled(paid[may], costs[may], rest)) / _UNIT

        if not all(part.is_sound for part in seen):
            where = "certificate/lagrangian-multipliers"
            return [Reason("multipliers", "0 … 2^31 - 1", "others", where)], curve
        # Rounded so that no topic gets more rent than it should.
        rents = np.floor(costs[may].astype(np.float64) * self.price * (1 - 2.0**-50))
        surplus = paid[may] - np.minimum(rents, paid[may]).astype(np.int64)
        value = worth + exact_sum(surplus) + ceil(Fraction(self.price) * left)
        needed = value // _UNIT if problem.objective == "b3m" else value * (_ONE // _UNIT)
        return _below(problem, self.plan, "lagrangian", needed), curve


def _lagrangian_check(problem: Problem, plan: Plan, costs: Int64Array) -> BoundCheck | Reason:
    price = plan.certificate("lagrangian").evidence.get("price")
    if not isinstance(price, float) or not isfinite(price) or price < 0:
        return Reason("price per cost", "0 or more", str(price), "certificate/lagrangian.json")
    return _LagrangianCheck(problem, plan, costs, price)


def _worths(rows: BlockRows, multipliers: Int64Array, *, is_whole: bool) -> Int64Array:
    """The most that each row is worth, in units of 2^-20: rows of one length at a time, all sets of up to 8 topics."""
    lengths = np.diff(rows.offsets)
    worths = np.zeros(len(lengths), dtype=np.int64)
    for length in range(_SHORT + 1):
        picked = np.flatnonzero(lengths == length)
        entries = rows.offsets[picked][:, None] + np.arange(length)
        needed = rows.needed[picked][:, None]
        received = np.zeros((len(picked), 1), dtype=np.int64)
        paid = np.zeros((len(picked), 1), dtype=np.int64)
        for place in range(length):
            received = np.hstack([received, received + np.minimum(rows.events[entries[:, [place]]], 2**31 - 1)])
            paid = np.hstack([paid, paid + multipliers[entries[:, [place]]]])
        reached = np.where(received >= needed, _UNIT, 0 if is_whole else _part(np.minimum(received, needed), needed))
        worths[picked] = np.maximum(0, (reached - paid).max(axis=1))
    long = np.flatnonzero(lengths > _SHORT)
    if len(long):
        worths[long] = _long_worths(rows, multipliers, long)
    return np.where(rows.needed > 0, worths, _UNIT)


def _part(received: Int64Array, needed: Int64Array) -> Int64Array:
    """The part of a subscriber that so many events satisfy, in units of 2^-20, rounded up."""
    return (-(-_ONE // np.maximum(needed, 1)) * received + 2**12 - 1) >> 12


def _long_worths(rows: BlockRows, multipliers: Int64Array, picked: Int64Array) -> Int64Array:
    """The worth of rows with many topics, which may be served in part: cheapest events first until a row is full.

    A unit is added for what the float order of nearly equal prices can cost.
    """
    lengths = np.diff(rows.offsets)[picked]
    row = np.repeat(np.arange(len(picked)), lengths)
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    entries = np.arange(lengths.sum()) - first[row] + rows.offsets[picked][row]
    needed = np.maximum(rows.needed[picked], 1)
    slope = -(-_ONE // needed)
    events = np.minimum(rows.events[entries], needed[row])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(events > 0, multipliers[entries] / events, np.inf)
    order = np.lexsort((ratios, row))
    row, paid = row[order], multipliers[entries][order]
    brings = (slope[row] * events[order]).astype(np.int64)
    pays = ratios[order] * _ONE < (slope * _UNIT).astype(np.float64)[row]
    running = np.cumsum(brings) - brings
    before = running - running[first][row]
    whole = pays & (before + brings < _ONE)
    split = np.flatnonzero(pays & (before < _ONE) & (before + brings >= _ONE))
    filled, spent = np.zeros(len(picked), np.int64), np.zeros(len(picked), np.int64)
    np.add.at(filled, row[whole], brings[whole])
    np.add.at(spent, row[whole], paid[whole])
    worths = ((filled + 2**12 - 1) >> 12) + 1 - spent
    at = row[split]
    worths[at] = _UNIT + 1 - spent[at] - paid[split] * (_ONE - filled[at]) // brings[split]
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
