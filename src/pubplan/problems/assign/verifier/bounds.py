"""Recomputes the bounds of a plan from their certificates, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import map_blocks
from pubplan.errors import Violation
from pubplan.files import digest_value
from pubplan.planning import Exact, Plan
from pubplan.problems.assign.plan import LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.verifier.cases import Cases
from pubplan.problems.assign.verifier.clients import Scan
from pubplan.problems.assign.verifier.depths import integral, lines_of
from pubplan.problems.assign.verifier.evidence import Forced
from pubplan.problems.assign.verifier.tree import Tree
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_NOT_WITH = {"capacity": LOAD_BROKEN, "forced": LATENCY_BROKEN}
"""Bounds that a plan can be below that breaks a limit."""


@dataclass(frozen=True)
class BoundCheck:
    """What bounds are recomputed from.

    Attributes:
        capacities: what every broker may serve.
        density: messages by cell, with an axis per attribute; ``widths`` are the grid steps of a cell.
        num_boxes: what filters may have at most.
    """

    plan: Plan
    tree: Tree
    scan: Scan
    capacities: Int64Array
    density: Int64Array
    widths: tuple[int, ...]
    scale: int
    num_boxes: int

    def violations(self, forced: Forced | None, broken: set[str], spark: SparkSession | None) -> Iterator[Violation]:
        """Bounds whose value or evidence is not as recomputed, and those that the plan's broken limits exclude."""
        unions: dict[str, int] = {}  # the measure of all subscriptions, by strides
        for name in sorted(self.plan.record["bounds"]):
            where = f"certificate/{name}.json"
            if _NOT_WITH.get(name) in broken:
                yield Violation("bound that does not hold for plans that break a limit", where, stated=_NOT_WITH[name])
                continue
            evidence = self.plan.certificate(name).evidence
            lines = self._lines(evidence.get("strides"))
            if lines is None:
                yield Violation(
                    "strides that give no grid, or one too fine", where, stated=str(evidence.get("strides"))
                )
                continue
            if name == "capacity":
                yield from self._wrong_capacity(evidence, lines)
                continue
            strides = str(evidence["strides"])
            if strides not in unions:
                ones = np.ones_like(self.scan.rectangles.weights)
                unions[strides] = self._integral(lines, ones, np.zeros(1, dtype=np.int64))
            if name == "union":
                yield from self._wrong_union(evidence, unions[strides])
            elif forced is not None:
                yield from self._wrong_forced(unions[strides], forced, spark)

    @cached_property
    def num_common_levels(self) -> int:
        """How many levels the paths to all leaves cross."""
        return int(self.tree.levels[self.tree.is_leaf].min())

    def _lines(self, strides: Any) -> list[Int64Array] | None:
        rectangles = self.scan.rectangles
        is_list = isinstance(strides, list) and len(strides) == len(self.widths)
        if not is_list or not all(type(stride) is int and 1 <= stride < 2**31 for stride in strides):
            return None
        return lines_of(rectangles.lows, rectangles.highs, strides)

    def _integral(self, lines: list[Int64Array], weights: Int64Array, thresholds: Int64Array) -> int:
        rectangles = self.scan.rectangles
        if not len(rectangles.lows):
            return 0
        return integral(rectangles.lows, rectangles.highs, weights, self.density, self.widths, lines, thresholds)

    def _wrong_union(self, evidence: Mapping[str, Any], measure: int) -> Iterator[Violation]:
        expected = {"levels": self.num_common_levels, "measure": measure, "strides": evidence["strides"]}
        yield from self._wrong("union", self.num_common_levels * measure, expected)

    def _wrong_capacity(self, evidence: Mapping[str, Any], lines: list[Int64Array]) -> Iterator[Violation]:
        levels = []
        served = self.capacities
        tree = self.tree
        for level in range(int(tree.levels.max()), 0, -1):
            here = np.flatnonzero(tree.levels == level)
            if level <= self.num_common_levels:
                largest_first = sorted(served[here].tolist(), reverse=True)
                thresholds = [sum(largest_first[:count]) for count in range(len(largest_first))]
                weights = self.scan.rectangles.weights
                levels.append(self._integral(lines, weights, np.array(thresholds)))
            if level > 1:  # what is below a broker counts for it
                served = served.copy()
                np.add.at(served, tree.parents[here], served[here])
        expected = {"levels": levels[::-1], "strides": evidence["strides"]}
        yield from self._wrong("capacity", sum(levels), expected)

    def _wrong_forced(self, union: int, forced: Forced, spark: SparkSession | None) -> Iterator[Violation]:
        """Witnesses have no other leaves, filters around them measure what is said, and all cases reach the bound."""
        brokers, witnesses, tree = forced.brokers, self.scan.witnesses, self.tree
        free = 0
        for broker, clients in zip(brokers, forced.clients, strict=True):
            is_below = tree.is_below(int(broker))
            some = [witnesses[client].leaves for client in clients.tolist()]
            free += sum(not len(leaves) or not is_below[leaves].all() for leaves in some)
        if free:
            yield Violation("witnesses that are not forced through their broker", "certificate/forced", cases=free)
            return
        if not all(len(witnesses[client].leaves) for client in forced.shared.tolist()):
            yield Violation("shared clients that no leaf may serve", "certificate/forced")
            return
        cases = Cases(tree, witnesses, forced, union, self.num_common_levels, self.density, self.widths, self.num_boxes)
        proven = list(map_blocks(cases.is_proven, len(brokers), spark))
        if not all(proven):
            where = f"certificate/forced, broker {brokers[proven.index(False)]}"
            fault = "measures of filters that witnesses do not prove"
            yield Violation(fault, where, cases=proven.count(False))
            return
        stated = self.plan.certificate("forced").bound
        if stated.scale != self.scale or not cases.reach(stated.value):
            yield Violation("bound above the best of its cases", "certificate/forced", stated=float(stated))

    def _wrong(self, name: str, value: int, evidence: Mapping[str, Any]) -> Iterator[Violation]:
        """Whether the certificate of a bound says what was recomputed."""
        stated = self.plan.certificate(name)
        if stated.bound != Exact(value, self.scale):
            expected = float(Exact(value, self.scale))
            yield Violation("wrong bound", name, stated=float(stated.bound), expected=expected)
        if digest_value(dict(stated.evidence)) != digest_value(evidence):  # == takes true for 1
            yield Violation("wrong evidence", name, stated=_shown(stated.evidence), expected=_shown(evidence))


def _shown(evidence: Mapping[str, Any]) -> str:
    text = str(dict(evidence))
    return text if len(text) <= 200 else text[:199] + "…"
