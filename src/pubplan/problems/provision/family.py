"""The family ``provision``: its methods, bounds, tables and everything that reads its plans."""

from __future__ import annotations

from pubplan.planning import BlockSchema, Bound, Family, solve_function, verify_function
from pubplan.problems.provision.bound import (
    mandatory_bound,
    outgoing_bound,
    paper_bound,
    paper_refusal,
    prices_bound,
    prices_refusal,
)
from pubplan.problems.provision.compare import compare_fleets
from pubplan.problems.provision.draft import FleetDraft, within_budget
from pubplan.problems.provision.explain import explain_subscriber, explain_topic, explain_vm
from pubplan.problems.provision.export import EXPORTS
from pubplan.problems.provision.plan import (
    CHARGED,
    CHARGED_SCHEMA,
    PLACEMENTS,
    PLACEMENTS_SCHEMA,
    PRICES_SCHEMA,
    PRICES_TOPICS,
    SPLITS,
    SPLITS_SCHEMA,
    TYPES,
    TYPES_SCHEMA,
    VMS,
    VMS_SCHEMA,
)
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.request import Request
from pubplan.problems.provision.stages import DEFAULT_METHOD, METHODS
from pubplan.problems.provision.verifier.evaluate import verify as evaluate

_BOUNDS = (
    Bound("paper", paper_bound, paper_refusal),
    Bound("outgoing", outgoing_bound, computed_with=("paper",)),
    Bound("mandatory", mandatory_bound, computed_with=("paper", "outgoing")),
    Bound(
        "prices",
        prices_bound,
        prices_refusal,
        computed_with=("paper", "outgoing", "mandatory"),
        evidence=("weights", "unit"),
        tables={PRICES_TOPICS: BlockSchema(PRICES_SCHEMA, "topics"), CHARGED: BlockSchema(CHARGED_SCHEMA)},
    ),
)

FAMILY: Family[Problem, FleetDraft] = Family(
    name="provision",
    question="Every subscriber must be satisfied. How many VMs of which type, and which of them sends what to whom?",
    methods={method.name: method for method in METHODS},
    default_method=lambda problem: DEFAULT_METHOD,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="prices",
    verify=evaluate,
    request=Request,
    decisions={
        VMS: (VMS_SCHEMA, None),
        SPLITS: (SPLITS_SCHEMA, None),
        TYPES: (TYPES_SCHEMA, None),
    },
    blocks={PLACEMENTS: PLACEMENTS_SCHEMA},
    explain={"vm": explain_vm, "topic": explain_topic, "subscriber": explain_subscriber},
    exports=EXPORTS,
    defaults={DEFAULT_METHOD: "default"},
    compare=compare_fleets,
    complete=within_budget,
)


solve = solve_function(FAMILY)
verify = verify_function(FAMILY)
