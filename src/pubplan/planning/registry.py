"""Families and their methods: one table that the command line, the docs and the property tests read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pubplan.errors import InputError, NotApplicable, unknown_name
from pubplan.planning.parameters import NoParameters
from pubplan.planning.values import Certificate, Draft, Explanation, Problem, Verdict
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
        certificates: the bounds without which a plan may not go under the method's name, because they prove what the
            name promises; the method computes them itself.
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
    certificates: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockSchema:
    """A table of evidence in blocks: its columns, and what its rows are numbered by.

    Rows that belong to neither topics nor subscribers are the evidence's: it has as many blocks as it takes.
    """

    schema: pa.Schema
    by: Literal["topics", "subscribers", "evidence"] = "subscribers"


@dataclass(frozen=True)
class Bound:
    """A way to find what no plan can beat.

    Attributes:
        run: takes the problem, a method's draft and a Spark session or None; may find other bounds along the way.
        refusal: says why the bound does not hold for a problem, or None when it does.
        beside: bounds that are computed along with this one where they hold.
        evidence: the keys of its evidence.
        tables: the tables of its evidence.
    """

    name: str
    run: Callable[[Any, Draft, SparkSession | None], tuple[Certificate, ...]]
    refusal: Callable[[Any], str | None] = lambda problem: None
    beside: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    tables: Mapping[str, BlockSchema] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """One question that pubplan answers, with everything needed to answer, check and compare.

    Attributes:
        default_method: the name of the method for a problem when none is named.
        explain: by kind of thing (a topic, a subscriber …), why a plan treats the one with a given id as it does.
        measures: numbers about each decision of a table, in its order, that a comparison of plans shows.
        finish: completes a draft with what its certificates tell.
        verify: recomputes a plan on disk: the objective and all violations.
        restore: the problem that a plan's parameters describe, on a given workload.
        decisions: for each table of decisions its schema, and the column with the ids by which plans are compared, if
            they are compared row by row.
        blocks: the schemas of tables of decisions that are written in blocks of subscribers.
        trajectory: the schema of the order of choice, which every plan then has, or None.
        compare: what else changes from one plan to another, or None if nothing does.
    """

    name: str
    question: str
    methods: Mapping[str, Method]
    default_method: Callable[[Any], str]
    bounds: Mapping[str, Bound]
    default_bound: str
    verify: Callable[[Any, Plan, SparkSession | None], Verdict]
    restore: Callable[[Workload, Mapping[str, Any]], Problem]
    decisions: Mapping[str, tuple[pa.Schema, str | None]]
    blocks: Mapping[str, pa.Schema] = field(default_factory=dict)
    trajectory: pa.Schema | None = None
    explain: Mapping[str, Callable[[Any, Plan, str, SparkSession | None], Explanation]] = field(default_factory=dict)
    measures: Callable[[Plan, str], Mapping[str, pa.ChunkedArray]] = lambda plan, table: {}
    compare: Callable[[Plan, Plan], Explanation | None] = lambda old, new: None
    finish: Callable[[Any, Draft, tuple[Certificate, ...]], Draft] = lambda problem, draft, certificates: draft

    def method_for(self, problem: Problem, name: str | None) -> Method:
        """The method of that name, or the default one.

        Raises:
            InputError: there is no such method.
            NotApplicable: it cannot answer this problem.
        """
        method = self.methods.get(name or self.default_method(problem))
        if method is None:
            raise InputError(unknown_name(f"method of {self.name}", str(name), self.methods))
        refusal = method.refusal(problem)
        if refusal is not None:
            raise NotApplicable(f"{method.name} cannot answer this: {refusal}")
        return method

    def bounds_for(self, problem: Problem, name: str | None) -> tuple[Bound, ...]:
        """The bounds to compute: the one named or the default, with those beside it; nothing for ``none``.

        Where the default one does not hold, those beside it do.

        Raises:
            InputError: there is no such bound.
            NotApplicable: the one named does not hold for this problem.
        """
        is_named, name = name is not None, name or self.default_bound
        if name == "none":
            return ()
        if name not in self.bounds:
            raise InputError(unknown_name(f"bound of {self.name}", name, [*self.bounds, "none"]))
        refusal = self.bounds[name].refusal(problem)
        if refusal is not None and is_named:
            raise NotApplicable(f"The bound '{name}' cannot be used here: {refusal}")
        chosen = [self.bounds[other] for other in (*self.bounds[name].beside, name)]
        return tuple(bound for bound in chosen if bound.refusal(problem) is None)

    def read_decisions(self, plan: Plan, table: str) -> pa.Table:
        """A table of a plan's decisions.

        Raises:
            InputError: it does not have the columns that such a table has.
        """
        return plan.decisions(table, self.decisions[table][0])
