"""The family ``federate``: its methods, bounds, tables and everything that reads its plans."""

from __future__ import annotations

from pubplan.planning import BlockSchema, Bound, Draft, Family, solve_function, verify_function
from pubplan.problems.federate.bound import access_bound, laminar_bound
from pubplan.problems.federate.compare import compare_federations
from pubplan.problems.federate.exhaustive import size_refusal
from pubplan.problems.federate.explain import explain_broker, explain_channel, explain_client, explain_link
from pubplan.problems.federate.export import EXPORTS
from pubplan.problems.federate.methods import (
    clustering,
    exact,
    greedy_packing,
    local_moves,
    random,
    steiner_mixing,
)
from pubplan.problems.federate.plan import (
    ATTACHMENTS,
    ATTACHMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    CHANNELS,
    CHANNELS_SCHEMA,
    CLUSTERS,
    CLUSTERS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    PRICES,
    PRICES_SCHEMA,
    SEARCH,
    SHARES,
    SHARES_SCHEMA,
    TREES,
    TREES_SCHEMA,
)
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.request import Request
from pubplan.problems.federate.verifier.evaluate import verify as evaluate

_METHODS = tuple(module.METHOD for module in (local_moves, greedy_packing, clustering, steiner_mixing, random, exact))
_BOUNDS = (
    Bound("access", access_bound, evidence=("scale",), tables={PRICES: BlockSchema(PRICES_SCHEMA, by="evidence")}),
    Bound(
        "laminar",
        laminar_bound,
        computed_with=("access",),
        evidence=("scale",),
        tables={
            PRICES: BlockSchema(PRICES_SCHEMA, by="evidence"),
            CLUSTERS: BlockSchema(CLUSTERS_SCHEMA, by="evidence"),
            SHARES: BlockSchema(SHARES_SCHEMA, by="evidence"),
        },
    ),
    Bound(SEARCH, exact.search_bound, refusal=size_refusal),
)

FAMILY: Family[Problem, Draft] = Family(
    name="federate",
    question="Which broker does each client attach to, and how do brokers route, at the least cost?",
    methods={method.name: method for method in _METHODS},
    default_method=lambda problem: local_moves.METHOD.name,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="laminar",
    verify=evaluate,
    request=Request,
    kind="content",
    decisions={
        LINKS: (LINKS_SCHEMA, None),
        TREES: (TREES_SCHEMA, None),
        CHANNELS: (CHANNELS_SCHEMA, None),
        BROKERS: (BROKERS_SCHEMA, None),
    },
    blocks={ATTACHMENTS: ATTACHMENTS_SCHEMA},
    explain={
        "client": explain_client,
        "broker": explain_broker,
        "link": explain_link,
        "channel": explain_channel,
    },
    exports=EXPORTS,
    defaults={local_moves.METHOD.name: "default"},
    compare=compare_federations,
)


solve = solve_function(FAMILY)
verify = verify_function(FAMILY)
