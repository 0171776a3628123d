"""``select``: most satisfied subscribers under a capacity (B3M and F-B3M).

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from functools import partial

from pubplan.planning import Family, solve_problem, verify_plan
from pubplan.problems.select import greedy_fb3m
from pubplan.problems.select.bound import paper_bound
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA
from pubplan.problems.select.problem import OBJECTIVES, Problem
from pubplan.problems.select.verify import verify as evaluate

FAMILY = Family(
    name="select",
    question="A back-end has a limited capacity. Which topics should it serve so that most subscribers are satisfied?",
    methods={method.name: method for method in [greedy_fb3m.METHOD]},
    default_method="greedy-fb3m",
    bounds={"paper": paper_bound},
    default_bound="paper",
    verify=evaluate,
    restore=Problem.restore,
    decisions={SERVED: (SERVED_SCHEMA, "topic_id")},
)


solve = partial(solve_problem, FAMILY)
verify = partial(verify_plan, FAMILY)

__all__ = ["FAMILY", "OBJECTIVES", "SERVED", "Problem", "solve", "verify"]
