"""What the universal properties need to know of each family: instances, problems and the best possible answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from oracles import select as select_oracle

import pubplan
from pubplan.planning import Exact, Problem
from pubplan.problems.select import OBJECTIVES


@dataclass(frozen=True)
class Oracle:
    """One family for the property tests.

    Attributes:
        cases: a strategy for small instances.
        plain: one instance with nothing odd about it.
        problem: writes a case below a directory, its ids changed by a function, and asks about it; takes a variant.
        variants: the kinds of problem that every method must answer or refuse.
        best: the objective of the best plan, by trying all of them.
        mutations: by name, changes of a decision table that break a promise or change the objective, or None where
            the table leaves no room for one.
    """

    cases: st.SearchStrategy[Any]
    plain: Any
    problem: Callable[[Any, Path, Callable[[str], str], str], Problem]
    variants: tuple[str, ...]
    best: Callable[[Any, Problem], Exact]
    mutations: Mapping[str, tuple[str, Callable[[Any, pa.Table], pa.Table | None]]]


def _select_problem(
    case: select_oracle.Case, directory: Path, rename: Callable[[str], str], variant: str
) -> pubplan.select.Problem:
    return case.problem(directory, variant, rename)


def _served(topics: list[tuple[int, str, int]]) -> pa.Table:
    numbers, names, costs = ([row[place] for row in topics] for place in range(3))
    return pa.table(
        {
            "topic": pa.array(numbers, pa.int32()),
            "topic_id": pa.array(names, pa.string()),
            "cost": pa.array(costs, pa.int64()),
        }
    )


def _rows(table: pa.Table) -> list[tuple[int, str, int]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def _serve_everything(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    everything = [(number, topic, case.cost(topic)) for number, topic in enumerate(case.topics)]
    return _served(everything) if case.must_not_serve or case.total_cost(case.topics) > case.capacity else None


def _drop_one(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    """Drop a served topic: it must be served, or the trajectory still chooses it."""
    return table.slice(1) if table.num_rows else None


def _serve_nobody(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    return _served([*_rows(table), (len(case.topics), "ghost", 0)])


SELECT = Oracle(
    cases=select_oracle.cases(),
    plain=select_oracle.Case({"a": 2, "b": 3}, {"x": ("a", "b"), "y": ("b",)}, threshold=3, capacity=6),
    problem=_select_problem,
    variants=OBJECTIVES,
    best=lambda case, problem: Exact(select_oracle.best_value(case, problem.objective), problem.scale),
    mutations={
        "serve everything": ("served", _serve_everything),
        "drop a topic": ("served", _drop_one),
        "serve a topic that does not exist": ("served", _serve_nobody),
        "repeat a topic": ("served", lambda case, t: _served([*_rows(t), *_rows(t)]) if t.num_rows else None),
    },
)

ORACLES = {"select": SELECT}
