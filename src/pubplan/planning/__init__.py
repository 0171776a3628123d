"""The shape all families share: problems, methods, drafts, certificates, verdicts, plans on disk."""

from pubplan.errors import Infeasible, Reason
from pubplan.planning.covers import MAX_ENUMERATED, cheapest_cover
from pubplan.planning.diff import Diff, TableDiff, diff_plans
from pubplan.planning.parameters import NoParameters, make_parameters, read_parameters
from pubplan.planning.plan import PLAN, Plan, read_plan
from pubplan.planning.recompute import sums_by_row, wrong_columns
from pubplan.planning.registry import BlockSchema, Bound, Family, Method
from pubplan.planning.replan import replan
from pubplan.planning.seconds import planning_seconds, stage_seconds
from pubplan.planning.solve import Result, solve_problem
from pubplan.planning.values import (
    BlockTable,
    Certificate,
    Draft,
    Exact,
    Explanation,
    Problem,
    Sense,
    Verdict,
    gap,
    tightest,
)
from pubplan.planning.verify import check_answers, check_fresh, verify_plan

__all__ = [
    "MAX_ENUMERATED",
    "PLAN",
    "BlockSchema",
    "BlockTable",
    "Bound",
    "Certificate",
    "Diff",
    "Draft",
    "Exact",
    "Explanation",
    "Family",
    "Infeasible",
    "Method",
    "NoParameters",
    "Plan",
    "Problem",
    "Reason",
    "Result",
    "Sense",
    "TableDiff",
    "Verdict",
    "cheapest_cover",
    "check_answers",
    "check_fresh",
    "diff_plans",
    "gap",
    "make_parameters",
    "planning_seconds",
    "read_parameters",
    "read_plan",
    "replan",
    "solve_problem",
    "stage_seconds",
    "sums_by_row",
    "tightest",
    "verify_plan",
    "wrong_columns",
]
