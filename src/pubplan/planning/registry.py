"""Families and their methods: one table that the command line, the docs and the property tests read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pubplan.errors import InputError, NotApplicable, unknown_name
from pubplan.planning.parameters import NoParameters
from pubplan.planning.values import Certificate, Draft, Problem, Verdict
from pubplan.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning.plan import Plan


@dataclass(frozen=True)
class Method:
    """A named algorithm.

    Attributes:
        run: takes the problem, the method's parameters, the seed and a Spark session or None.
        guarantee: what is proven about the answer, in words.
        ratio: the proven share of the best possible objective, or None.
        complexity: time, in workload symbols: T topics, V subscribers, P pairs.
        paper: where it is described.
        applies: for which problems it is meant, in words.
        refusal: says why the method cannot answer a problem, or None when it can.
        parameters: the dataclass of its own parameters.
    """

    name: str
    run: Callable[[Any, Any, int, SparkSession | None], Draft]
    guarantee: str
    ratio: float | None
    complexity: str
    paper: str
    applies: str
    refusal: Callable[[Any], str | None] = lambda problem: None
    parameters: type = NoParameters


@dataclass(frozen=True)
class Family:
    """One question that pubplan answers, with everything needed to answer, check and compare.

    Attributes:
        bounds: by name, a function of the problem and a Spark session or None.
        verify: recomputes a plan on disk: the objective and all violations.
        restore: the problem that a plan's parameters describe, on a given workload.
        decisions: for each table of decisions its schema, and the column with the ids by which plans are compared.
    """

    name: str
    question: str
    methods: Mapping[str, Method]
    default_method: str
    bounds: Mapping[str, Callable[[Any, SparkSession | None], Certificate]]
    default_bound: str
    verify: Callable[[Any, Plan, SparkSession | None], Verdict]
    restore: Callable[[Workload, Mapping[str, Any]], Problem]
    decisions: Mapping[str, tuple[pa.Schema, str]]

    def method_for(self, problem: Problem, name: str | None) -> Method:
        """The method of that name, or the default one.

        Raises:
            InputError: there is no such method.
            NotApplicable: it cannot answer this problem.
        """
        method = self.methods.get(name or self.default_method)
        if method is None:
            raise InputError(unknown_name(f"method of {self.name}", str(name), self.methods))
        refusal = method.refusal(problem)
        if refusal is not None:
            raise NotApplicable(f"{method.name} cannot answer this: {refusal}")
        return method

    def bounds_named(self, name: str | None) -> tuple[str, ...]:
        """The names of the bounds to compute: the one named, the default, or nothing for ``none``.

        Raises:
            InputError: there is no such bound.
        """
        name = name or self.default_bound
        if name not in self.bounds and name != "none":
            raise InputError(unknown_name(f"bound of {self.name}", name, [*self.bounds, "none"]))
        return () if name == "none" else (name,)

    def read_decisions(self, plan: Plan, table: str) -> pa.Table:
        """A table of a plan's decisions.

        Raises:
            InputError: it does not have the columns that such a table has.
        """
        found, expected = plan.decisions(table), self.decisions[table][0]
        if not found.schema.equals(expected) or any(column.null_count for column in found.columns):
            names = ", ".join(f"{field.name} {field.type}" for field in found.schema)
            raise InputError(f"{plan.path}: the decisions '{table}' are damaged; their columns are {names}.")
        return found
