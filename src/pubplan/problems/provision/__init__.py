"""``provision``: the cheapest fleet that satisfies everybody (MCSS).

V. Setty, R. Vitenberg, G. Kreitz, G. Urdaneta, M. van Steen: Cost-Effective Resource Allocation for Deploying Pub/Sub
on Cloud. ICDCS 2014, doi 10.1109/ICDCS.2014.63.
"""

from __future__ import annotations

from functools import partial

from pubplan.planning import BlockSchema, Bound, Family, solve_problem, verify_plan
from pubplan.problems.provision.bound import (
    mandatory_bound,
    outgoing_bound,
    paper_bound,
    paper_refusal,
    prices_bound,
    prices_refusal,
)
from pubplan.problems.provision.catalogue import VmType, all_vm_types, find_vm_types
from pubplan.problems.provision.compare import compare_fleets
from pubplan.problems.provision.explain import explain_subscriber, explain_topic, explain_vm
from pubplan.problems.provision.methods import DEFAULT_METHOD, METHODS
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
    within_budget,
)
from pubplan.problems.provision.problem import DEFAULT_VM_TYPE, Problem
from pubplan.problems.provision.verify import verify as evaluate
from pubplan.problems.provision.whatif import Case
from pubplan.problems.provision.whatif import what_if as _what_if

_BOUNDS = (
    Bound("paper", paper_bound, paper_refusal),
    Bound("outgoing", outgoing_bound, beside=("paper",)),
    Bound("mandatory", mandatory_bound, beside=("paper", "outgoing")),
    Bound(
        "prices",
        prices_bound,
        prices_refusal,
        beside=("paper", "outgoing", "mandatory"),
        evidence=("weights", "unit"),
        tables={PRICES_TOPICS: BlockSchema(PRICES_SCHEMA, "topics"), CHARGED: BlockSchema(CHARGED_SCHEMA)},
    ),
)

FAMILY = Family(
    name="provision",
    question="Everybody must be satisfied. How many VMs of which type, and which of them sends what to whom?",
    methods={method.name: method for method in METHODS},
    default_method=lambda problem: DEFAULT_METHOD,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="prices",
    verify=evaluate,
    restore=Problem.restore,
    decisions={
        VMS: (VMS_SCHEMA, None),
        SPLITS: (SPLITS_SCHEMA, None),
        TYPES: (TYPES_SCHEMA, None),
    },
    blocks={PLACEMENTS: PLACEMENTS_SCHEMA},
    explain={"vm": explain_vm, "topic": explain_topic, "subscriber": explain_subscriber},
    compare=compare_fleets,
    finish=within_budget,
)


solve = partial(solve_problem, FAMILY)
verify = partial(verify_plan, FAMILY)
what_if = partial(_what_if, FAMILY)

__all__ = [
    "DEFAULT_VM_TYPE",
    "FAMILY",
    "PLACEMENTS",
    "SPLITS",
    "TYPES",
    "VMS",
    "Case",
    "Problem",
    "VmType",
    "all_vm_types",
    "find_vm_types",
    "solve",
    "verify",
    "what_if",
]
