"""Families and their methods: one table that the command line, the docs and the property tests read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import pyarrow as pa

from pubplan.errors import InputError, NotApplicable, unknown_name
from pubplan.planning.parameters import NoParameters
from pubplan.planning.values import Certificate, Draft, Explanation, Problem, Verdict

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning.export import Export
    from pubplan.planning.plan import Plan
    from pubplan.planning.request import Request

P = TypeVar("P", bound=Problem)
D = TypeVar("D", bound=Draft)
Q = TypeVar("Q")


@dataclass(frozen=True)
class Method(Generic[P, D, Q]):
    """A named algorithm.

    Attributes:
        run: takes the problem, the method's parameters, the seed and a Spark session or None.
        guarantee: what is proven about the answer, in words.
        ratio: the proven share of the best possible objective, or None.
        complexity: time, in workload symbols: T topics, V subscribers, P pairs.
        paper: where it is described.
        applies: for which problems it is meant, in words.
        refusal: says why the method cannot answer a problem, or None when it can.
        parameters: the dataclass of its parameters.
        stops_early: whether it hands back its best draft so far when :func:`pubplan.engine.is_time_over`.
        certificates: the bounds without which a plan may not go under the method's name, because they prove what the
            name promises; the method computes them itself.
        may_break: the limits that the method does not promise to keep. A plan that breaks one says so in its reasons,
            as often as it does.
    """

    name: str
    run: Callable[[P, Q, int, SparkSession | None], D]
    guarantee: str
    ratio: float | None
    complexity: str
    paper: str
    applies: str
    refusal: Callable[[P], str | None] = lambda problem: None
    parameters: type[Q] = NoParameters  # type: ignore[assignment]
    stops_early: bool = False
    certificates: tuple[str, ...] = ()
    may_break: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BlockSchema:
    """A table of evidence in blocks: its columns, and what its rows are numbered by.

    They are numbered as topics are, or as the rows that passes over the workload go through (subscribers or clients).
    Others are the evidence's: it has as many blocks as it takes.
    """

    schema: pa.Schema
    by: Literal["topics", "rows", "evidence"] = "rows"


@dataclass(frozen=True)
class Bound(Generic[P, D]):
    """A way to find what no plan can beat.

    Attributes:
        run: takes the problem, a method's draft and a Spark session or None; may find other bounds along the way.
        refusal: says why the bound does not hold for a problem, or None when it does.
        computed_with: bounds that are computed along with this one where they hold.
        evidence: the keys of its evidence.
        tables: the tables of its evidence.
    """

    name: str
    run: Callable[[P, D, SparkSession | None], tuple[Certificate, ...]]
    refusal: Callable[[P], str | None] = lambda problem: None
    computed_with: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    tables: Mapping[str, BlockSchema] = field(default_factory=dict)


@dataclass(frozen=True)
class Family(Generic[P, D]):
    """One question that pubplan answers, with everything needed to answer, check and compare.

    Attributes:
        default_method: the name of the method for a problem when none is named.
        defaults: the methods that may be the default one, and for what, in words.
        explain: by kind of thing (a topic, a subscriber …), why a plan treats the one with a given id as it does.
        measures: numbers about each decision of a table, in its order, that a comparison of plans shows.
        complete: completes a draft with what its certificates prove, or raises Infeasible if they prove that there is
            no plan; None if drafts are complete.
        verify: recomputes a plan on disk: the objective and all violations.
        request: what can be asked; its parser reads the command line, files and the parameters of plans.
        kind: the kind of workload that it plans for.
        decisions: for each table of decisions its schema, and the column with the ids by which plans are compared, if
            they are compared row by row.
        blocks: the schemas of tables of decisions that are written in blocks of subscribers or clients.
        trajectory: the schema of the order of choice, which every plan then has, or None.
        exports: by name, the tables that are written for other programs: all decisions, and what follows from them.
        compare: what else changes from one plan to another, or None if nothing does.
    """

    name: str
    question: str
    methods: Mapping[str, Method[P, D, Any]]
    default_method: Callable[[P], str]
    bounds: Mapping[str, Bound[P, D]]
    default_bound: str
    verify: Callable[[P, Plan, SparkSession | None], Verdict]
    request: type[Request[P]]
    decisions: Mapping[str, tuple[pa.Schema, str | None]]
    blocks: Mapping[str, pa.Schema] = field(default_factory=dict)
    trajectory: pa.Schema | None = None
    explain: Mapping[str, Callable[[P, Plan, str, SparkSession | None], Explanation]] = field(default_factory=dict)
    measures: Callable[[Plan, str], Mapping[str, pa.ChunkedArray]] = lambda plan, table: {}
    compare: Callable[[Plan, Plan], Explanation | None] = lambda old, new: None
    complete: Callable[[P, D, tuple[Certificate, ...]], D] | None = None
    kind: str = "topic"
    exports: Mapping[str, Export[P]] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)

    def named_method(self, name: str) -> Method[P, D, Any]:
        """The method of that name.

        Raises:
            InputError: there is no such method.
        """
        if name not in self.methods:
            raise InputError(unknown_name(f"method of {self.name}", name, self.methods, self.defaults))
        return self.methods[name]

    @property
    def early_stopping(self) -> str:
        """Which methods hand back their best draft when time is over, as the end of a refusal."""
        names = [method.name for method in self.methods.values() if method.stops_early]
        return f"These stop early with the best plan so far: {', '.join(names)}." if names else "No method stops early."

    def method_for(self, problem: P, name: str | None) -> Method[P, D, Any]:
        """The method of that name, or the default one.

        Raises:
            InputError: there is no such method.
            NotApplicable: it cannot answer this problem.
        """
        method = self.named_method(name or self.default_method(problem))
        refusal = method.refusal(problem)
        if refusal is not None:
            raise NotApplicable(f"{method.name} cannot answer this: {refusal}")
        return method

    def bounds_for(self, problem: P, name: str | None) -> tuple[Bound[P, D], ...]:
        """The bounds to compute: the one named or the default, with those computed with it; nothing for ``none``.

        Where the default one does not hold, the others still do.

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
        chosen = [self.bounds[other] for other in (*self.bounds[name].computed_with, name)]
        return tuple(bound for bound in chosen if bound.refusal(problem) is None)

    @property
    def breakable(self) -> frozenset[str]:
        """The limits that some method does not promise to keep: a reason with one of them says that it is broken."""
        return frozenset[str]().union(*(method.may_break for method in self.methods.values()))

    def read_decisions(self, plan: Plan, table: str) -> pa.Table:
        """A table of a plan's decisions.

        Raises:
            InputError: it does not have the columns that such a table has.
        """
        return plan.decisions(table, self.decisions[table][0])
