"""A plan of ``assign`` with its tables, and with what its workload tells about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems import problem_of
from pubplan.problems.assign import BROKERS, FAMILY, FILTERS, Measures, Problem, copies, measures_of
from pubplan.text import digits_down, digits_up
from pubplan.workload import ContentWorkload, Int64Array


@dataclass(frozen=True)
class Measured:
    """What is known of a plan together with its workload."""

    problem: Problem
    measures: Measures

    @property
    def workload(self) -> ContentWorkload:
        return self.problem.workload

    @property
    def event(self) -> str:
        """What goes into brokers, in the singular."""
        return "message" if self.workload.space.cells else "event"

    def copies(self, measure: float) -> float:
        """How many brokers an event goes into on average, given an unscaled measure of filters."""
        return copies(self.problem, measure)


@dataclass(frozen=True)
class Tables:
    """A plan with its tables, read once; ``measured`` is None where its workload is not there."""

    plan: Plan
    brokers: pa.Table
    filters: pa.Table
    measured: Measured | None

    @classmethod
    def read(cls, plan: Plan, workload: ContentWorkload | None) -> Tables:
        """Raises InputError if a table is damaged."""
        brokers, filters = (FAMILY.read_decisions(plan, name) for name in (BROKERS, FILTERS))
        owners = filters["broker"].to_numpy()
        if len(owners) and not 0 <= owners.min() <= owners.max() < brokers.num_rows:
            raise InputError(
                f"{plan.path}: the decisions '{FILTERS}' are damaged: they name brokers that do not exist."
            )
        if workload is None:
            return cls(plan, brokers, filters, None)
        problem = problem_of(plan, workload)
        assert isinstance(problem, Problem)
        return cls(plan, brokers, filters, Measured(problem, measures_of(problem, plan)))

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Which brokers may serve clients: those with a limit; others that serve some break it."""
        is_leaf: npt.NDArray[np.bool_] = (self.brokers["limit"].to_numpy() > 0) | (
            self.brokers["clients"].to_numpy() > 0
        )
        return is_leaf

    @property
    def fills(self) -> npt.NDArray[np.float64]:
        """What each leaf serves, as a share of what it may."""
        clients, limits = (self.brokers[name].to_numpy()[self.is_leaf] for name in ("clients", "limit"))
        fills: npt.NDArray[np.float64] = clients / np.maximum(limits, 1)
        return fills

    @cached_property
    def num_boxes(self) -> Int64Array:
        """How many boxes the filter of each broker has."""
        slots = self.filters.select(["broker", "box"]).group_by(["broker", "box"]).aggregate([])
        return np.bincount(slots["broker"].to_numpy(), minlength=self.brokers.num_rows)

    def lets_through(self, volume: int) -> str:
        """What a filter lets through: a share of all events, or without the workload in the unit of the plan."""
        if self.measured is None:
            return f"{digits_up(volume / self.plan.exact.scale)} {self.plan.record['unit']}"
        return f"{digits_up(100 * self.measured.copies(volume))} %"

    def average(self, value: int) -> str:
        """A measure of filters, as brokers per event on average, or without the workload in the unit of the plan."""
        if self.measured is None:
            return f"{digits_up(value / self.plan.exact.scale)} {self.plan.record['unit']}"
        return digits_up(self.measured.copies(value))

    def bound(self) -> str:
        """What no assignment is below, written as the plan's objective is."""
        bound = self.plan.record["bound"]
        if bound is None:
            return "no bound"
        if self.plan.record["gap"] == 0:
            return self.average(self.plan.exact.value)
        if self.measured is None:
            return f"{digits_down(bound)} {self.plan.record['unit']}"
        return digits_down(self.measured.copies(bound * self.plan.exact.scale))
