"""``select``: most satisfied subscribers under a capacity (B3M and F-B3M).

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pubplan.planning import BlockSchema, Bound, Certificate, Draft, Exact, Family, solve_problem, verify_plan
from pubplan.problems.select import (
    enumerate_fb3m,
    exact,
    greedy_b3m,
    greedy_fb3m,
    greedy_fb3m_eager,
    greedy_fb3m_slow,
    greedy_max,
    improved_b3m,
    threshold,
)
from pubplan.problems.select.bound import lagrangian_bound, paper_bound, paper_refusal
from pubplan.problems.select.curve import Curve, curve_of, least_capacity
from pubplan.problems.select.explain import explain_subscriber, explain_topic
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
    with_bound_curve,
)
from pubplan.problems.select.problem import OBJECTIVES, Problem
from pubplan.problems.select.verify import verify as evaluate

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_METHODS = (
    *(module.METHOD for module in (greedy_fb3m, greedy_fb3m_eager, greedy_fb3m_slow, greedy_max)),
    *(module.METHOD for module in (enumerate_fb3m, greedy_b3m, improved_b3m, exact)),
    *threshold.METHODS,
)


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
        beside=("paper",),
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

FAMILY = Family(
    name="select",
    question="A back-end has a limited capacity. Which topics should it serve so that most subscribers are satisfied?",
    methods={method.name: method for method in _METHODS},
    default_method=lambda problem: "greedy-fb3m" if problem.objective == "fb3m" else "greedy-b3m",
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="lagrangian",
    verify=evaluate,
    restore=Problem.restore,
    decisions={SERVED: (SERVED_SCHEMA, "topic_id")},
    trajectory=TRAJECTORY_SCHEMA,
    explain={"topic": explain_topic, "subscriber": explain_subscriber},
    measures=measures,
    finish=with_bound_curve,
)


solve = partial(solve_problem, FAMILY)
verify = partial(verify_plan, FAMILY)

__all__ = [
    "FAMILY",
    "OBJECTIVES",
    "SERVED",
    "Curve",
    "Problem",
    "curve_of",
    "least_capacity",
    "solve",
    "verify",
]
