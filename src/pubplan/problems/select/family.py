"""The family ``select``: its methods, bounds, tables and everything that reads its plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pubplan.planning import BlockSchema, Bound, Certificate, Draft, Exact, Family, solve_function, verify_function
from pubplan.problems.select.bound import lagrangian_bound, paper_bound, paper_refusal
from pubplan.problems.select.draft import with_bound_curve
from pubplan.problems.select.explain import explain_subscriber, explain_topic
from pubplan.problems.select.export import EXPORTS
from pubplan.problems.select.methods import (
    blockwise,
    enumerate_fb3m,
    exact,
    greedy_b3m,
    greedy_fb3m,
    greedy_fb3m_eager,
    greedy_fb3m_slow,
    greedy_max,
    improved_b3m,
)
from pubplan.problems.select.plan import (
    MULTIPLIERS,
    MULTIPLIERS_SCHEMA,
    SEARCH,
    SERVED,
    SERVED_SCHEMA,
    TRAJECTORY_SCHEMA,
    TREE,
    TREE_SCHEMA,
    VECTORS,
    VECTORS_SCHEMA,
    measures,
)
from pubplan.problems.select.problem import DEFAULT_METHODS, Problem
from pubplan.problems.select.request import Request
from pubplan.problems.select.verifier.evaluate import verify as evaluate

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_METHODS = {
    method.name: method
    for method in (
        *(module.METHOD for module in (greedy_fb3m, greedy_fb3m_eager, greedy_fb3m_slow, greedy_max)),
        *(module.METHOD for module in (enumerate_fb3m, greedy_b3m, improved_b3m, exact)),
        *blockwise.METHODS,
    )
}


def _from_reached(
    find: Callable[[Problem, Exact, SparkSession | None], Certificate],
) -> Callable[[Problem, Draft, SparkSession | None], tuple[Certificate, ...]]:
    """A bound that needs to know of a draft only what it reached."""
    return lambda problem, draft, spark: (find(problem, draft.claimed, spark),)


_BOUNDS = (
    Bound("paper", _from_reached(paper_bound), paper_refusal, evidence=("cut_need", "cut_weight")),
    Bound(
        "lagrangian",
        _from_reached(lagrangian_bound),
        computed_with=("paper",),
        evidence=("price",),
        tables={MULTIPLIERS: BlockSchema(MULTIPLIERS_SCHEMA)},
    ),
    Bound(
        SEARCH,
        _from_reached(exact.search_bound),
        exact.size_refusal,
        tables={
            TREE: BlockSchema(TREE_SCHEMA, by="evidence"),
            VECTORS: BlockSchema(VECTORS_SCHEMA, by="evidence"),
        },
    ),
)

FAMILY: Family[Problem, Draft] = Family(
    name="select",
    question="A back-end has a limited capacity. Which topics should it serve so that most subscribers are satisfied?",
    methods=_METHODS,
    default_method=lambda problem: DEFAULT_METHODS[problem.objective],
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="lagrangian",
    verify=evaluate,
    request=Request,
    decisions={SERVED: (SERVED_SCHEMA, "topic_id")},
    trajectory=TRAJECTORY_SCHEMA,
    explain={"topic": partial(explain_topic, _METHODS), "subscriber": explain_subscriber},
    exports=EXPORTS,
    defaults={method: f"default for {objective}" for objective, method in DEFAULT_METHODS.items()},
    measures=measures,
    complete=with_bound_curve,
)


solve = solve_function(FAMILY)
verify = verify_function(FAMILY)
