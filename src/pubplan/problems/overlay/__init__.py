"""``overlay``: topic-connected overlays in which no node has many neighbours (MinMax-TCO).

C. Chen, R. Vitenberg, H.-A. Jacobsen: Scaling Construction of Low Fan-out Overlays for Topic-based Publish/Subscribe
Systems. ICDCS 2011.
"""

from __future__ import annotations

from functools import partial

from pubplan.planning import Bound, Family, solve_problem, verify_plan
from pubplan.problems.overlay import dcb_m, dcbr_m, dcbr_repair, gm_m, minmax_oda, naive_dc, ring_per_topic
from pubplan.problems.overlay.bound import forced_bound, overlap_bounds
from pubplan.problems.overlay.compare import compare_overlays
from pubplan.problems.overlay.explain import explain_link, explain_node, explain_topic
from pubplan.problems.overlay.measures import Measures, measures_of
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
from pubplan.problems.overlay.verify import verify as evaluate

_METHODS = tuple(module.METHOD for module in (gm_m, minmax_oda, naive_dc, dcb_m, dcbr_m, dcbr_repair, ring_per_topic))
_BOUNDS = (
    Bound("forced", forced_bound, evidence=("links",)),
    Bound("node", overlap_bounds),
    Bound("joins", overlap_bounds, beside=("forced", "node"), evidence=("joins", "reached_with_one_less")),
)

FAMILY = Family(
    name="overlay",
    question="Brokers form a peer overlay. Which links keep every topic connected while no node has many neighbours?",
    methods={method.name: method for method in _METHODS},
    default_method=lambda problem: dcbr_repair.METHOD.name,
    bounds={bound.name: bound for bound in _BOUNDS},
    default_bound="joins",
    verify=evaluate,
    restore=Problem.restore,
    decisions={
        LINKS: (LINKS_SCHEMA, None),
        NODES: (NODES_SCHEMA, None),
        TOPICS: (TOPICS_SCHEMA, None),
        DIVISION: (DIVISION_SCHEMA, None),
    },
    blocks={FORWARDING: FORWARDING_SCHEMA},
    trajectory=TRAJECTORY_SCHEMA,
    explain={"link": explain_link, "node": explain_node, "topic": explain_topic},
    compare=compare_overlays,
)


solve = partial(solve_problem, FAMILY)
verify = partial(verify_plan, FAMILY)

__all__ = [
    "DIVISION",
    "FAMILY",
    "FORWARDING",
    "LINKS",
    "NODES",
    "TOPICS",
    "Measures",
    "Problem",
    "measures_of",
    "solve",
    "verify",
]
