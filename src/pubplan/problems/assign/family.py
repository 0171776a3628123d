"""The family ``assign``: its methods, bounds, tables and everything that reads its plans."""

from __future__ import annotations

from pubplan.planning import BlockSchema, Bound, Draft, Family, solve_function, verify_function
from pubplan.problems.assign.bound import capacity_bound, forced_bound, union_bound
from pubplan.problems.assign.compare import compare_assignments
from pubplan.problems.assign.explain import explain_broker, explain_client
from pubplan.problems.assign.export import EXPORTS
from pubplan.problems.assign.methods import (
    balance,
    closest,
    closest_unbalanced,
    gr,
    gr_no_latency,
    gr_star,
    refined,
)
from pubplan.problems.assign.plan import (
    ASSIGNMENTS,
    ASSIGNMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    FILTERS,
    FILTERS_SCHEMA,
    FORCED,
    FORCED_SCHEMA,
    SHARED,
    SHARED_SCHEMA,
    WITNESSES,
    WITNESSES_SCHEMA,
)
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.request import Request
from pubplan.problems.assign.verifier.evaluate import verify as evaluate

_METHODS = tuple(
    module.METHOD for module in (refined, gr_star, gr, gr_no_latency, closest, closest_unbalanced, balance)
)
_BOUNDS = (
    Bound("union", union_bound, evidence=("levels", "measure", "strides")),
    Bound("capacity", capacity_bound, evidence=("levels", "strides")),
    Bound(
        "forced",
        forced_bound,
        computed_with=("union", "capacity"),
        evidence=("strides",),
        tables={
            SHARED: BlockSchema(SHARED_SCHEMA, by="evidence"),
            WITNESSES: BlockSchema(WITNESSES_SCHEMA, by="evidence"),
            FORCED: BlockSchema(FORCED_SCHEMA, by="evidence"),
        },
    ),
)

FAMILY: Family[Problem, Draft] = Family(
    name="assign",
    question="Which broker serves which content subscriber, within latency and load limits, with the least bandwidth?",
    methods={method.name: method for method in _METHODS},
    default_method=lambda problem: refined.METHOD.name,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="forced",
    verify=evaluate,
    request=Request,
    kind="content",
    decisions={FILTERS: (FILTERS_SCHEMA, None), BROKERS: (BROKERS_SCHEMA, None)},
    blocks={ASSIGNMENTS: ASSIGNMENTS_SCHEMA},
    explain={"client": explain_client, "broker": explain_broker},
    exports=EXPORTS,
    defaults={refined.METHOD.name: "default"},
    compare=compare_assignments,
)


solve = solve_function(FAMILY)
verify = verify_function(FAMILY)
