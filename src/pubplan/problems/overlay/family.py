"""The family ``overlay``: its methods, bounds, tables and everything that reads its plans."""

from __future__ import annotations

from pubplan.planning import Bound, Draft, Family, solve_function, verify_function
from pubplan.problems.overlay.bound import forced_bound, overlap_bounds
from pubplan.problems.overlay.compare import compare_overlays
from pubplan.problems.overlay.explain import explain_link, explain_node, explain_topic
from pubplan.problems.overlay.export import EXPORTS
from pubplan.problems.overlay.methods import dcb_m, dcbr_m, dcbr_repair, gm_m, minmax_oda, naive_dc, ring_per_topic
from pubplan.problems.overlay.plan import (
    DIVISION,
    DIVISION_SCHEMA,
    FORWARDING,
    FORWARDING_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    NODES,
    NODES_SCHEMA,
    TOPICS,
    TOPICS_SCHEMA,
    TRAJECTORY_SCHEMA,
)
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.request import Request
from pubplan.problems.overlay.verifier.evaluate import verify as evaluate

_METHODS = tuple(module.METHOD for module in (gm_m, minmax_oda, naive_dc, dcb_m, dcbr_m, dcbr_repair, ring_per_topic))
_BOUNDS = (
    Bound("forced", forced_bound, evidence=("links",)),
    Bound("node", overlap_bounds),
    Bound("joins", overlap_bounds, computed_with=("forced", "node"), evidence=("joins", "reached_with_one_less")),
)

FAMILY: Family[Problem, Draft] = Family(
    name="overlay",
    question="Brokers form a peer overlay. Which links keep every topic connected while no node has many neighbours?",
    methods={method.name: method for method in _METHODS},
    default_method=lambda problem: dcbr_repair.METHOD.name,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="joins",
    verify=evaluate,
    request=Request,
    decisions={
        LINKS: (LINKS_SCHEMA, None),
        NODES: (NODES_SCHEMA, None),
        TOPICS: (TOPICS_SCHEMA, None),
        DIVISION: (DIVISION_SCHEMA, None),
    },
    blocks={FORWARDING: FORWARDING_SCHEMA},
    trajectory=TRAJECTORY_SCHEMA,
    explain={"link": explain_link, "node": explain_node, "topic": explain_topic},
    exports=EXPORTS,
    defaults={dcbr_repair.METHOD.name: "default"},
    compare=compare_overlays,
)


solve = solve_function(FAMILY)
verify = verify_function(FAMILY)
